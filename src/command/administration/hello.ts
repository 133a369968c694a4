// hello, isMaster and ismaster: who this server is. By default a replica set of one member, because drivers refuse transactions, change
// streams and retryable writes on a standalone (compatibility.md 4.2). `hosts` is the address by which the client came, for that is one it
// can reach. A client that knows the present `topologyVersion` may let the answer wait for a change (4.3); here nothing changes until the
// server closes, so it is given when the client's time is over, and again and again where the client takes further answers unasked.

import { CommandError } from '../../base/errors.ts';
import { BsonArray, DateTime, Document, ObjectId, type Value } from '../../bson/index.ts';
import { SESSION_TIMEOUT_MINUTES, type ConnectionContext } from '../../session/index.ts';
import { defineCommand, type Command, type CommandContext, type Reply } from '../command.ts';
import { anyField, arrayField, mappedField, parseFields, required, typedField, longField, objectField, boolField, stringField, type FieldTable, type Parsed } from '../fields.ts';
import type { ServerState } from '../server-state.ts';
import { WIRE_VERSION_MAX } from '../product-version.ts';
import { mechanismsOf, speculate } from '../users/sasl.ts';

/** Most bytes of a client's description of itself. */
const METADATA_BYTES_MAX = 512;

const COMPRESSORS: ReadonlySet<string> = new Set(['zlib', 'zstd']);

/** Counts the changes of the topology; a set of one member that is primary from its start has had six when MongoDB's is. */
const TOPOLOGY_COUNTER = 6n;

const VERSION_FIELDS = {
  processId: required(typedField(['objectId'], (value) => value instanceof ObjectId)),
  counter: required(longField),
} satisfies FieldTable;

const ELECTION = ObjectId.from('7fffffff0000000000000001');

/** `db.user`: whose mechanisms are asked for. */
const userNameField = mappedField(stringField, (name) => {
  if (name.includes('.')) return name;
  throw new CommandError(2, 'BadValue', 'UserName must contain a \'.\' separated database.user pair');
});

const FIELDS = {
  hello: anyField,
  client: objectField,
  compression: arrayField,
  helloOk: boolField,
  hostInfo: anyField,
  loadBalanced: boolField,
  saslSupportedMechs: userNameField,
  speculativeAuthenticate: objectField,
  topologyVersion: objectField,
  maxAwaitTimeMS: longField,
  internalClient: objectField,
  hangUpOnStepDown: anyField,
  forShell: anyField,
} satisfies FieldTable;

function rememberClient(connection: ConnectionContext, client: Document): void {
  if (connection.metadata !== undefined) {
    const text = 'The client metadata document may only be sent in the first hello';
    throw new CommandError(186, 'ClientMetadataCannotBeMutated', text);
  }
  if (client.byteLength > METADATA_BYTES_MAX) {
    const text = `The client metadata document must be less then or equal to ${String(METADATA_BYTES_MAX)} bytes`;
    throw new CommandError(185, 'ClientMetadataDocumentTooLarge', text);
  }
  const application = client.get('application');
  const name = application instanceof Document ? application.get('name') : undefined;
  connection.metadata = { appName: typeof name === 'string' ? name : '', document: client };
}

/** Remembers the connection until it goes, for lists of what is idle. */
function keepConnection({ connections }: ServerState, connection: ConnectionContext): void {
  if (connections.has(connection) || connection.signal.aborted) return;
  connections.add(connection);
  connection.signal.addEventListener('abort', () => connections.delete(connection), { once: true });
}

/** Those of the client's compressors that this server has too, in the client's order. */
function agreeOnCompression(connection: ConnectionContext, offered: BsonArray | undefined): BsonArray | undefined {
  if (offered === undefined) return undefined;
  const agreed = offered.items().filter((name): name is string => typeof name === 'string' && COMPRESSORS.has(name));
  connection.compressors = agreed;
  return agreed.length === 0 ? undefined : BsonArray.of(agreed);
}

function replicaSetFields(context: CommandContext): Record<string, Value> {
  const { server } = context;
  const me = context.operation.connection.local;
  const at = server.time.operationTime;
  const opTime = Document.of({ ts: at, t: 1n });
  const date = new DateTime(at.seconds * 1000);
  return {
    hosts: BsonArray.of([me]),
    setName: server.options.replicaSetName,
    setVersion: 1,
    secondary: false,
    primary: me,
    me,
    electionId: ELECTION,
    lastWrite: Document.of({ opTime, lastWriteDate: date, majorityOpTime: opTime, majorityWriteDate: date }),
  };
}

/** The state of the topology, as far as this process knows it: there is one. */
function topologyVersion(server: ServerState): Document {
  return Document.of({ processId: server.processId, counter: TOPOLOGY_COUNTER });
}

function refused(code: number, text: string): CommandError {
  return new CommandError(code, `Location${String(code)}`, text);
}

/** How long the answer may wait; undefined: it is given now. */
function awaitTime(server: ServerState, { topologyVersion: known, maxAwaitTimeMS }: Parsed<typeof FIELDS>): number | undefined {
  if (known === undefined && maxAwaitTimeMS === undefined) return undefined;
  if (maxAwaitTimeMS === undefined) throw refused(31368, "A request with a 'topologyVersion' must include 'maxAwaitTimeMS'");
  if (known === undefined) throw refused(51758, "A request with 'maxAwaitTimeMS' must include a 'topologyVersion'");
  if (maxAwaitTimeMS < 0n) throw refused(31373, 'maxAwaitTimeMS must be a non-negative integer');
  const { processId, counter } = parseFields('topologyVersion', known, VERSION_FIELDS);
  if (counter < 0n) throw refused(31372, 'topologyVersion must have a non-negative counter');
  if (!processId.equals(server.processId) || counter < TOPOLOGY_COUNTER) return undefined;
  if (counter > TOPOLOGY_COUNTER) {
    throw refused(31382, `Received a topology version with counter: ${String(counter)} which is greater than the server topology version counter: ${String(TOPOLOGY_COUNTER)}`);
  }
  return Number(maxAwaitTimeMS);
}

/** Lets the answer wait where the client asked for that. Where it takes more answers, the next one is asked for by what this one tells. */
async function awaitChange(context: CommandContext, parsed: Parsed<typeof FIELDS>): Promise<void> {
  const { server, operation, request, stream } = context;
  const ms = awaitTime(server, parsed);
  if (stream !== undefined && parsed.maxAwaitTimeMS !== undefined) {
    // What a client says of itself it says once.
    const kept = request.body.fields.filter(([name]) => name !== 'client');
    stream.next = Document.fromEntries(kept.map(([name, value]) => [name, name === 'topologyVersion' ? topologyVersion(server) : value]));
  }
  if (ms === undefined) return;
  await operation.idle(ms);
  operation.checkInterrupt();
}

async function run(context: CommandContext, parsed: Parsed<typeof FIELDS>, legacyName: boolean): Promise<Reply> {
  await awaitChange(context, parsed);
  return answer(context, parsed, legacyName);
}

async function answer(context: CommandContext, parsed: Parsed<typeof FIELDS>, legacyName: boolean): Promise<Reply> {
  const { server, operation } = context;
  const { connection } = operation;
  if (parsed.client !== undefined) rememberClient(connection, parsed.client);
  keepConnection(server, connection);
  const mechanisms = parsed.saslSupportedMechs === undefined ? undefined : await mechanismsOf(server, parsed.saslSupportedMechs);
  return {
    helloOk: parsed.helloOk === true ? true : undefined,
    ...(legacyName ? { ismaster: true } : { isWritablePrimary: true }),
    ...(server.options.standalone ? {} : replicaSetFields(context)),
    maxBsonObjectSize: 16 * 1024 * 1024,
    maxMessageSizeBytes: 48_000_000,
    maxWriteBatchSize: 100_000,
    localTime: new DateTime(server.env.clock.nowMs()),
    logicalSessionTimeoutMinutes: SESSION_TIMEOUT_MINUTES,
    connectionId: connection.id,
    minWireVersion: 0,
    maxWireVersion: WIRE_VERSION_MAX,
    readOnly: false,
    compression: agreeOnCompression(connection, parsed.compression),
    saslSupportedMechs: mechanisms === undefined ? undefined : BsonArray.of([...mechanisms]),
    speculativeAuthenticate: parsed.speculativeAuthenticate === undefined ? undefined : await speculate(server, connection, parsed.speculativeAuthenticate),
    topologyVersion: topologyVersion(server),
  };
}

export const hello: Command = defineCommand({
  name: 'hello',
  access: 'none',
  inTransaction: 'no',
  about: 'describes this server and its role',
  fields: FIELDS,
  lax: true,
  run: (context, parsed) => run(context, parsed, false),
});

export const isMaster: Command = defineCommand({
  name: 'isMaster',
  aliases: ['ismaster'],
  access: 'none',
  inTransaction: 'no',
  about: 'the older name of hello',
  fields: { ...FIELDS, isMaster: anyField },
  lax: true,
  run: (context, parsed) => run(context, parsed, true),
});
