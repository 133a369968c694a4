// Server parameters by name: what each is, and what it may be set to. Those that this server heeds read and change its state; the others are
// kept and told, because tools ask for them, and have no effect. A name that is not here does not exist.

import { CommandError } from '../../base/errors.ts';
import { BsonArray, Document, Double, isNumber, toDouble, type Value } from '../../bson/index.ts';
import { CURSOR_TIMEOUT_MS, SESSION_TIMEOUT_MINUTES } from '../../session/index.ts';
import { truthyField } from '../fields.ts';
import { FEATURE_VERSION } from '../product-version.ts';
import { toInt64Truncated } from '../number-fields.ts';
import type { ServerState } from '../server-state.ts';

/** One parameter. */
export interface Parameter {
  readonly get: (server: ServerState) => Value;
  /** Absent: it cannot be set while the server runs. Gives or keeps the new value. */
  readonly set?: (server: ServerState, value: Value) => void;
  /** Whether it may be set when the server starts. */
  readonly atStartup: boolean;
}

function badValue(text: string): CommandError {
  return new CommandError(2, 'BadValue', text);
}

/** A value that never changes. */
function constant(value: Value, atStartup = false): Parameter {
  return { get: () => value, atStartup };
}

/** A whole number within bounds, as MongoDB reads it: a fraction is cut off. */
function wholeNumber(name: string, value: Value, { low, high }: { low: number; high: number }): number {
  const number = isNumber(value) || typeof value === 'boolean' ? Number(typeof value === 'boolean' ? value : toInt64Truncated(value)) : Number.NaN;
  if (number >= low && number <= high) return number;
  const text = Number.isNaN(number) ? 'it is no number' : number < low ? `${String(number)} is not greater than or equal to ${String(low)}` : `${String(number)} is not less than or equal to ${String(high)}`;
  throw badValue(`Invalid value for parameter ${name}: ${text}`);
}

/** A number that is kept in `server.parameters` and has no effect. */
function keptNumber(name: string, fallback: number, bounds: { low: number; high: number }): Parameter {
  return {
    get: (server) => server.parameters.get(name) ?? fallback,
    set: (server, value) => {
      server.parameters.set(name, wholeNumber(name, value, bounds));
    },
    atStartup: true,
  };
}

function keptFlag(name: string, fallback: boolean): Parameter {
  return {
    get: (server) => server.parameters.get(name) ?? fallback,
    set: (server, value) => {
      server.parameters.set(name, truthyField.read(value, name));
    },
    atStartup: true,
  };
}

const INT32_MAX = 0x7fffffff;

/** Components of the log, with those below them. */
const COMPONENTS: Readonly<Record<string, readonly string[]>> = {
  accessControl: [], assert: [], command: [], control: [], executor: [], geo: [], index: [], network: ['bridge', 'asio', 'connectionPool'], query: ['rejected', 'optimizer'], replication: ['election', 'heartbeats', 'initialSync', 'rollback'],
  sharding: ['rangeDeleter', 'shardingCatalogRefresh', 'migration'], storage: ['journal', 'recovery', 'wt'], streams: [], tenantMigration: [], transaction: [], write: [],
};

function verbosity(value: Value, at: string): number {
  const number = isNumber(value) ? Math.trunc(toDouble(value)) : Number.NaN;
  if (number >= -1 && number <= 5) return number;
  throw badValue(`Expected ${at} to be a number between -1 and 5`);
}

/** Takes `{ command: { verbosity: 2 } }` or `{ command: 2 }`, and what it says, apart: names with dots and their numbers. */
function componentVerbosities(value: Value): [string, number][] {
  if (!(value instanceof Document)) throw new CommandError(14, 'TypeMismatch', 'logComponentVerbosity is not an object');
  const said: [string, number][] = [];
  const read = (document: Document, known: readonly string[], path: string): void => {
    for (const [name, inner] of document) {
      if (name === 'verbosity') said.push([path, verbosity(inner, `${path}.verbosity`)]);
      else if (!known.includes(name)) throw badValue(`Invalid component name ${path}${path === '' ? '' : '.'}${name}`);
      else if (isNumber(inner)) said.push([path === '' ? name : `${path}.${name}`, verbosity(inner, name)]);
      else if (inner instanceof Document) read(inner, path === '' ? (COMPONENTS[name] ?? []) : [], path === '' ? name : `${path}.${name}`);
      else throw badValue(`Expected ${name} to be a number or an object`);
    }
  };
  read(value, Object.keys(COMPONENTS), '');
  return said;
}

function componentDocument(server: ServerState): Document {
  const level = (name: string): Value => server.parameters.get(`log.${name}`) ?? (name === '' ? (server.parameters.get('logLevel') ?? 0) : -1);
  const rows = Object.entries(COMPONENTS).map(([name, below]): [string, Value] => [
    name,
    Document.fromEntries([['verbosity', level(name)], ...below.map((inner): [string, Value] => [inner, Document.of({ verbosity: level(`${name}.${inner}`) })])]),
  ]);
  return Document.fromEntries([['verbosity', level('')], ...rows]);
}

const logComponentVerbosity: Parameter = {
  get: componentDocument,
  set: (server, value) => {
    for (const [name, number] of componentVerbosities(value)) server.parameters.set(`log.${name}`, number);
  },
  atStartup: true,
};

const DESCRIPTOR_CHARS_MAX = 64;

const automationServiceDescriptor: Parameter = {
  get: (server) => server.parameters.get('automationServiceDescriptor') ?? '',
  set: (server, value) => {
    if (typeof value !== 'string') throw new CommandError(14, 'TypeMismatch', 'Value for parameter automationServiceDescriptor must be of type string');
    if (value.length > DESCRIPTOR_CHARS_MAX) throw new CommandError(15, 'Overflow', `Value for parameter automationServiceDescriptor must be no more than ${String(DESCRIPTOR_CHARS_MAX)} bytes`);
    server.parameters.set('automationServiceDescriptor', value);
  },
  atStartup: true,
};

const transactionLifetimeLimitSeconds: Parameter = {
  get: (server) => server.transactionLifetimeSeconds,
  set: (server, value) => {
    server.transactionLifetimeSeconds = wholeNumber('transactionLifetimeLimitSeconds', value, { low: 1, high: INT32_MAX });
  },
  atStartup: true,
};

const whole = { low: 0, high: INT32_MAX };
const positive = { low: 1, high: INT32_MAX };

/** The table. */
export const PARAMETERS: ReadonlyMap<string, Parameter> = new Map<string, Parameter>([
  ['allowDiskUseByDefault', keptFlag('allowDiskUseByDefault', true)],
  ['atomicStatements', keptFlag('atomicStatements', false)],
  ['fastUpdates', keptFlag('fastUpdates', false)],
  ['authSchemaVersion', constant(5)],
  ['authenticationMechanisms', constant(BsonArray.of(['MONGODB-X509', 'SCRAM-SHA-1', 'SCRAM-SHA-256']), true)],
  ['automationServiceDescriptor', automationServiceDescriptor],
  ['connPoolMaxConnsPerHost', constant(200, true)],
  ['cursorTimeoutMillis', constant(BigInt(CURSOR_TIMEOUT_MS), true)],
  ['enableLocalhostAuthBypass', constant(true, true)],
  ['enableTestCommands', { get: (server) => server.options.testCommands, atStartup: true }],
  ['featureCompatibilityVersion', { get: (server) => Document.of({ version: server.parameters.get('featureCompatibilityVersion') ?? FEATURE_VERSION }), atStartup: false }],
  ['internalDocumentSourceGroupMaxMemoryBytes', constant(104_857_600n)],
  ['internalQueryMaxBlockingSortMemoryUsageBytes', constant(104_857_600n)],
  ['internalQueryMaxAddToSetBytes', constant(104_857_600)],
  ['internalQueryMaxPushBytes', constant(104_857_600)],
  ['KeysRotationIntervalSec', constant(7_776_000, true)],
  ['localLogicalSessionTimeoutMinutes', constant(SESSION_TIMEOUT_MINUTES, true)],
  ['logComponentVerbosity', logComponentVerbosity],
  ['logLevel', keptNumber('logLevel', 0, { low: 0, high: 5 })],
  ['logicalSessionRefreshMillis', constant(300_000, true)],
  ['maxBSONDepth', constant(180, true)],
  ['maxTransactionLockRequestTimeoutMillis', keptNumber('maxTransactionLockRequestTimeoutMillis', 5, { low: -1, high: INT32_MAX })],
  ['minSnapshotHistoryWindowInSeconds', keptNumber('minSnapshotHistoryWindowInSeconds', 300, whole)],
  ['notablescan', constant(false)],
  ['opensslCipherConfig', constant('', true)],
  ['quiet', keptFlag('quiet', false)],
  ['redactClientLogData', constant(false)],
  ['requireApiVersion', constant(false)],
  ['ShardingTaskExecutorPoolReplicaSetMatching', constant('automatic', true)],
  ['saslHostName', constant('', true)],
  ['saslServiceName', constant('', true)],
  ['scramIterationCount', constant(10_000)],
  ['scramSHA256IterationCount', constant(15_000)],
  ['storageEngineConcurrencyAdjustmentAlgorithm', constant('none')],
  ['supportedMechanisms', constant(BsonArray.empty)],
  ['syncdelay', constant(new Double(60))],
  ['transactionLifetimeLimitSeconds', transactionLifetimeLimitSeconds],
  ['ttlMonitorEnabled', constant(true)],
  ['ttlMonitorSleepSecs', keptNumber('ttlMonitorSleepSecs', 60, positive)],
]);
