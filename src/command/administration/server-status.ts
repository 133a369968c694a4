// serverStatus: counters of the whole server. Types matter more than values: tools stop on a fractional `uptime` and read opcounters,
// network, mem, connections and globalLock (compatibility.md 4.4). Sections can be left out by `name: 0`.

import { fastUpdateErrors } from '../../catalog/index.ts';
import { BsonArray, DateTime, Document, Double, type Value } from '../../bson/index.ts';
import type { OperationCounts } from '../../session/index.ts';
import { defineCommand, type Command } from '../command.ts';
import { anyField } from '../fields.ts';
import { engineSection } from '../engine-report.ts';
import { MONGODB_VERSION } from '../product-version.ts';
import { catalogStatistics, commandCounts, operationLatencies } from './status-metrics.ts';
import type { ServerState } from '../server-state.ts';

const MEGABYTE = 1024 * 1024;

/** Connections the process still takes, as an int32. */
function connections(server: ServerState): Document {
  const { connectionsCurrent, connectionsMax, connectionsCreated, connectionsRejected } = server.counters;
  return Document.of({
    current: connectionsCurrent,
    available: Math.max(0, connectionsMax - connectionsCurrent),
    totalCreated: connectionsCreated,
    rejected: connectionsRejected,
    active: server.operations.size,
  });
}

function network(server: ServerState): Document {
  const { bytesIn, bytesOut, requests } = server.counters;
  return Document.of({ bytesIn: BigInt(bytesIn), bytesOut: BigInt(bytesOut), numRequests: BigInt(requests) });
}

function operationCounters(counts: OperationCounts): Document {
  return Document.of(Object.fromEntries(Object.entries(counts).map(([name, count]: [string, number]) => [name, BigInt(count)])));
}

function globalLock(server: ServerState, uptimeMs: number): Document {
  const active = server.operations.size;
  return Document.of({
    totalTime: BigInt(Math.floor(uptimeMs * 1000)),
    currentQueue: Document.of({ total: 0, readers: 0, writers: 0 }),
    activeClients: Document.of({ total: active, readers: active, writers: 0 }),
  });
}

function memory(server: ServerState): Document {
  const resident = Math.floor(server.env.host.residentBytes() / MEGABYTE);
  return Document.of({ bits: 64, resident, virtual: resident, supported: true });
}

/** As TokuMX counted them: asked for, written without a read, and refused by their documents as far as this thread has met it. */
function fastUpdates({ counters }: ServerState): Document {
  const { eligible, performed } = counters.fastUpdates;
  return Document.of({ eligible: BigInt(eligible), performed: BigInt(performed), errors: BigInt(fastUpdateErrors.count) });
}

function metrics(server: ServerState): Document {
  const cursors = server.cursors.counts();
  const open = Document.of({ noTimeout: 0n, pinned: 0n, total: BigInt(cursors.open) });
  return Document.of({
    commands: commandCounts(server),
    cursor: Document.of({ timedOut: BigInt(cursors.timedOut), totalOpened: BigInt(cursors.opened), open }),
    document: Document.of({ deleted: BigInt(server.counters.operations.delete), inserted: BigInt(server.counters.operations.insert), updated: BigInt(server.counters.operations.update) }),
    fastUpdates: fastUpdates(server),
  });
}

function transactions(server: ServerState): Document {
  const { transactionsStarted, transactionsCommitted, transactionsAborted, retriedStatements } = server.counters;
  const open = server.sessions.all().filter((session) => session.transaction !== undefined).length;
  return Document.of({
    retriedCommandsCount: 0n,
    retriedStatementsCount: BigInt(retriedStatements),
    transactionsCollectionWriteCount: 0n,
    currentActive: 0n,
    currentInactive: BigInt(open),
    currentOpen: BigInt(open),
    totalAborted: BigInt(transactionsAborted),
    totalCommitted: BigInt(transactionsCommitted),
    totalStarted: BigInt(transactionsStarted),
  });
}

function repl(server: ServerState, me: string): Document | undefined {
  if (server.options.standalone) return undefined;
  const { replicaSetName } = server.options;
  return Document.of({ setName: replicaSetName, setVersion: 1, isWritablePrimary: true, secondary: false, hosts: BsonArray.of([me]), primary: me, me });
}

const NO_OPERATIONS: OperationCounts = { insert: 0, query: 0, update: 0, delete: 0, getmore: 0, command: 0 };

/** All sections, in their order. */
function sections(server: ServerState, me: string): Record<string, Value | undefined> {
  const { env, counters } = server;
  const nowMs = env.clock.nowMs();
  const uptimeMs = Math.max(0, nowMs - server.startedMs);
  return {
    host: env.host.hostname,
    version: MONGODB_VERSION,
    process: 'frond',
    service: BsonArray.of(['frond']),
    pid: BigInt(env.host.pid),
    uptime: new Double(Math.floor(uptimeMs / 1000)),
    uptimeMillis: BigInt(Math.floor(uptimeMs)),
    uptimeEstimate: BigInt(Math.floor(uptimeMs / 1000)),
    localTime: new DateTime(nowMs),
    asserts: Document.of({ regular: 0, warning: 0, msg: 0, user: server.monitor.userErrors | 0, tripwire: 0, rollovers: 0 }),
    connections: connections(server),
    extra_info: Document.of({ note: 'fields vary by platform', page_faults: 0n }),
    globalLock: globalLock(server, uptimeMs),
    logicalSessionRecordCache: Document.of({ activeSessionsCount: server.sessions.size }),
    network: network(server),
    opcounters: operationCounters(counters.operations),
    opLatencies: operationLatencies(server),
    opcountersRepl: operationCounters(NO_OPERATIONS),
    repl: repl(server, me),
    storageEngine: Document.of({ name: 'frond', supportsCommittedReads: true, supportsSnapshotReadConcern: true, readOnly: false, persistent: true }),
    transactions: transactions(server),
    frond: engineSection(server.engine),
    mem: memory(server),
    metrics: metrics(server),
  };
}

function isOff(value: Value | undefined): boolean {
  return value === 0 || value === null || value === false || (value instanceof Double && value.value === 0);
}

export const serverStatus: Command = defineCommand({
  name: 'serverStatus',
  access: 'admin',
  about: 'counters of the server',
  fields: { serverStatus: anyField },
  lax: true,
  run: async (context) => {
    const { server, operation, request } = context;
    const reply = sections(server, operation.connection.local);
    if (!isOff(request.body.get('catalogStats'))) reply['catalogStats'] = await catalogStatistics(context);
    const mirrored = request.body.get('mirroredReads');
    if (mirrored !== undefined && !isOff(mirrored)) reply['mirroredReads'] = Document.of({ seen: 0n, sent: 0n });
    for (const name of Object.keys(reply)) if (isOff(request.body.get(name))) reply[name] = undefined;
    return reply;
  },
});
