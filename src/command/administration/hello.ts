// hello, isMaster and ismaster: who this server is. By default a replica set of one member, because drivers refuse transactions, change
// streams and retryable writes on a standalone (compatibility.md 4.2). There is no `topologyVersion`: it would make drivers expect a
// streamed answer (4.3). `hosts` is the address by which the client came, for that is one it can reach.

import { CommandError } from '../../base/errors.ts';
import { BsonArray, DateTime, Document, ObjectId, type Value } from '../../bson/index.ts';
import { SESSION_TIMEOUT_MINUTES, type ConnectionContext } from '../../session/index.ts';
import { defineCommand, type Command, type CommandContext, type Reply } from '../command.ts';
import { anyField, arrayField, mappedField, objectField, boolField, stringField, type FieldTable, type Parsed } from '../fields.ts';
import { WIRE_VERSION_MAX } from '../product-version.ts';

/** Most bytes of a client's description of itself. */
const METADATA_BYTES_MAX = 512;

const COMPRESSORS: ReadonlySet<string> = new Set(['zlib', 'zstd']);

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
  maxAwaitTimeMS: anyField,
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
    throw new CommandError(182, 'ClientMetadataDocumentTooLarge', text);
  }
  const application = client.get('application');
  const name = application instanceof Document ? application.get('name') : undefined;
  connection.metadata = { appName: typeof name === 'string' ? name : '', document: client };
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

function answer(context: CommandContext, parsed: Parsed<typeof FIELDS>, legacyName: boolean): Reply {
  const { server, operation } = context;
  const { connection } = operation;
  if (parsed.client !== undefined) rememberClient(connection, parsed.client);
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
  };
}

export const hello: Command = defineCommand({
  name: 'hello',
  access: 'none',
  inTransaction: 'no',
  about: 'describes this server and its role',
  fields: FIELDS,
  lax: true,
  run: (context, parsed) => Promise.resolve(answer(context, parsed, false)),
});

export const isMaster: Command = defineCommand({
  name: 'isMaster',
  aliases: ['ismaster'],
  access: 'none',
  inTransaction: 'no',
  about: 'the older name of hello',
  fields: { ...FIELDS, isMaster: anyField },
  lax: true,
  run: (context, parsed) => Promise.resolve(answer(context, parsed, true)),
});
