// Logging in: saslStart and saslContinue (SCRAM), authenticate (MONGODB-X509), logout. A connection has one exchange under way at most; a
// failed one is forgotten. Why it failed stands in the log, and is not told to whoever tried.

import { freshNonce, parseClientFirst, readCredential, ScramConversation, type ScramMechanism } from '../../auth/index.ts';
import { decodeBase64 } from '../../base/base64.ts';
import { CommandError } from '../../base/errors.ts';
import { Binary, Document, type Value } from '../../bson/index.ts';
import type { ConnectionContext } from '../../session/index.ts';
import { defineCommand, type Command, type Reply } from '../command.ts';
import { anyField, mappedField, objectField, required, stringField, typedField, boolField, numberField, type Field } from '../fields.ts';
import type { ServerState } from '../server-state.ts';
import type { StoredUser } from './stored-user.ts';

const MECHANISMS: ReadonlySet<string> = new Set(['SCRAM-SHA-1', 'SCRAM-SHA-256']);

const CONVERSATION_ID = 1;

/** An exchange under way. */
interface Exchange {
  readonly conversation: ScramConversation;
  readonly user: StoredUser;
  readonly mechanism: string;
  readonly skipEmptyExchange: boolean;
  /** Whether the proof was right, and only the empty last message is missing. */
  proved: boolean;
}

const exchanges: WeakMap<ConnectionContext, Exchange> = new WeakMap();

/** Bytes, or, as old clients send them, their base64. */
const payloadField: Field<Binary> = mappedField(
  typedField(['binData', 'string'], (value): value is Binary | string => value instanceof Binary || typeof value === 'string'),
  (value) => (typeof value === 'string' ? new Binary(decodeBase64(value) ?? new Uint8Array(0), 0) : value),
);

function failed(): CommandError {
  return new CommandError(18, 'AuthenticationFailed', 'Authentication failed.');
}

function textOf(payload: Binary): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(payload.bytes);
  } catch (cause) {
    throw new CommandError(18, 'AuthenticationFailed', 'Authentication failed.', { cause });
  }
}

function stepReply(text: string, done: boolean): Reply {
  return { conversationId: CONVERSATION_ID, done, payload: new Binary(new TextEncoder().encode(text), 0) };
}

/** Writes down who tried to come in, from where, and how it went. */
function audit(server: ServerState, connection: ConnectionContext, what: { user: string; db: string; mechanism: string; result: string }): void {
  const went = what.result === 'ok';
  const message = went ? 'Successfully authenticated' : 'Failed to authenticate';
  server.log.write(went ? { severity: 'I', component: 'ACCESS', id: 5286306, message } : { severity: 'W', component: 'ACCESS', id: 5286307, message }, {
    client: connection.remote, connectionId: connection.id, user: what.user, db: what.db, mechanism: what.mechanism, result: went ? undefined : what.result,
  });
}

/** What begins an exchange, in saslStart or ahead of it in hello. */
interface SaslStart {
  readonly mechanism: string;
  readonly payload: Binary;
  readonly db: string;
  readonly skipEmptyExchange: boolean;
}

/** Begins an exchange: takes the client's first message, gives the server's. */
async function beginExchange(server: ServerState, connection: ConnectionContext, start: SaslStart): Promise<Reply> {
  exchanges.delete(connection);
  const { mechanism, db } = start;
  if (!MECHANISMS.has(mechanism)) {
    throw new CommandError(334, 'MechanismUnavailable', `Received authentication for mechanism ${mechanism} which is unknown or not enabled`);
  }
  const clientFirst = parseClientFirst(textOf(start.payload));
  const user = await server.access.store.user(clientFirst.user, db);
  const credential = user?.credentials.get(mechanism);
  if (user === undefined || !(credential instanceof Document)) {
    audit(server, connection, { user: clientFirst.user, db, mechanism, result: user === undefined ? 'user not found' : 'no credentials for the mechanism' });
    throw failed();
  }
  // eslint-disable-next-line frond/no-unsafe-assertion -- looked up in MECHANISMS, which are these
  const conversation = new ScramConversation(mechanism as ScramMechanism, readCredential(credential), clientFirst, freshNonce(server.env.random));
  exchanges.set(connection, { conversation, user, mechanism, skipEmptyExchange: start.skipEmptyExchange, proved: false });
  return stepReply(conversation.serverFirst, false);
}

async function continueExchange(server: ServerState, connection: ConnectionContext, payload: Binary): Promise<Reply> {
  const exchange = exchanges.get(connection);
  if (exchange === undefined) throw new CommandError(17, 'ProtocolError', 'No SASL session state found');
  const { user, mechanism } = exchange;
  if (exchange.proved) {
    exchanges.delete(connection);
    await server.access.login(connection, user);
    audit(server, connection, { user: user.user, db: user.db, mechanism, result: 'ok' });
    return stepReply('', true);
  }
  try {
    const serverFinal = exchange.conversation.finish(textOf(payload));
    exchange.proved = true;
    if (!exchange.skipEmptyExchange) return stepReply(serverFinal, false);
    await continueExchange(server, connection, payload);
    return stepReply(serverFinal, true);
  } catch (error) {
    exchanges.delete(connection);
    audit(server, connection, { user: user.user, db: user.db, mechanism, result: 'wrong proof' });
    throw error;
  }
}

function skipsEmpty(options: Document | undefined): boolean {
  return options?.get('skipEmptyExchange') === true;
}

const saslStart: Command = defineCommand({
  name: 'saslStart',
  access: 'none',
  about: 'begins to log in',
  fields: { saslStart: anyField, mechanism: required(stringField), payload: required(payloadField), autoAuthorize: anyField, options: objectField, db: anyField },
  run: ({ server, operation, db }, { mechanism, payload, options }) =>
    beginExchange(server, operation.connection, { mechanism, payload, db, skipEmptyExchange: skipsEmpty(options) }),
});

const saslContinue: Command = defineCommand({
  name: 'saslContinue',
  access: 'none',
  about: 'goes on logging in',
  fields: { saslContinue: anyField, conversationId: required(numberField), payload: required(payloadField), db: anyField },
  run: ({ server, operation }, { conversationId, payload }) => {
    if (conversationId !== CONVERSATION_ID) return Promise.reject(new CommandError(17, 'ProtocolError', 'sasl: Mismatched conversation id'));
    return continueExchange(server, operation.connection, payload);
  },
});

/** Logs in by the certificate that the connection showed. */
async function byCertificate(server: ServerState, connection: ConnectionContext, name: string | undefined): Promise<Reply> {
  const subject = connection.certificateSubject;
  const db = '$external';
  const mechanism = 'MONGODB-X509';
  const user = subject === undefined || (name !== undefined && name !== subject) ? undefined : await server.access.store.user(subject, db);
  if (subject === undefined || user === undefined) {
    audit(server, connection, { user: subject ?? name ?? '', db, mechanism, result: subject === undefined ? 'no certificate' : 'no such user' });
    throw failed();
  }
  await server.access.login(connection, user);
  audit(server, connection, { user: subject, db, mechanism, result: 'ok' });
  return { dbname: db, user: subject };
}

const authenticate: Command = defineCommand({
  name: 'authenticate',
  access: 'none',
  about: 'logs in by the certificate of the connection (MONGODB-X509)',
  fields: { authenticate: anyField, mechanism: stringField, user: stringField, db: anyField, nonce: anyField, key: anyField, hasPassword: boolField },
  run: ({ server, operation, db }, { mechanism, user }) => {
    if (mechanism !== 'MONGODB-X509' || db !== '$external') {
      audit(server, operation.connection, { user: user ?? '', db, mechanism: mechanism ?? '', result: 'not a mechanism of this command' });
      return Promise.reject(failed());
    }
    return byCertificate(server, operation.connection, user);
  },
});

const logout: Command = defineCommand({
  name: 'logout',
  access: 'none',
  about: 'ends the authentication of this connection',
  fields: { logout: anyField },
  run: ({ server, operation }) => {
    exchanges.delete(operation.connection);
    server.access.logout(operation.connection);
    return Promise.resolve({});
  },
});

/** What a hello that logs in ahead is answered; nothing where that fails, for the client then tries the plain way and is told. */
export async function speculate(server: ServerState, connection: ConnectionContext, asked: Document): Promise<Value | undefined> {
  const [mechanism, payload, db, options, user] = ['mechanism', 'payload', 'db', 'options', 'user'].map((name) => asked.get(name));
  try {
    if (asked.first?.[0] === 'authenticate') {
      if (mechanism !== 'MONGODB-X509') return undefined;
      return Document.of(await byCertificate(server, connection, typeof user === 'string' ? user : undefined));
    }
    if (typeof mechanism !== 'string' || !(payload instanceof Binary)) return undefined;
    const skipEmptyExchange = skipsEmpty(options instanceof Document ? options : undefined);
    return Document.of(await beginExchange(server, connection, { mechanism, payload, db: typeof db === 'string' ? db : 'admin', skipEmptyExchange }));
  } catch (error) {
    if (error instanceof CommandError) return undefined;
    throw error;
  }
}

/** The mechanisms by which a user `db.name` may log in; undefined where there is no such user. */
export async function mechanismsOf(server: ServerState, dottedName: string): Promise<readonly string[] | undefined> {
  const dot = dottedName.indexOf('.');
  const db = dottedName.slice(0, dot);
  const user = await server.access.store.user(dottedName.slice(dot + 1), db);
  if (user === undefined) return undefined;
  return db === '$external' ? ['MONGODB-X509'] : [...MECHANISMS].filter((name) => user.credentials.has(name));
}

export const SASL_COMMANDS: readonly Command[] = [saslStart, saslContinue, authenticate, logout];
