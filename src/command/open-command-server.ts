// Puts the state of a server together and gives its dispatcher: what `bin` and the in-process server start from.

import { NumberTable } from '../base/number-table.ts';
import { ObjectIdGenerator } from '../bson/index.ts';
import type { Catalog } from '../catalog/index.ts';
import type { Env } from '../env/index.ts';
import { WorkMemory } from '../exec/index.ts';
import { ClusterClock, CursorRegistry, SessionRegistry, type OperationContext, type ServerCounters, type ServerLog } from '../session/index.ts';
import { CommandDispatcher, type CommandDispatcherOptions } from './command-dispatcher.ts';
import type { EngineReport } from './engine-report.ts';
import { FailPoints } from './fail-points.ts';
import { LargeWork } from './large-work.ts';
import { RetryStore } from './retry-store.ts';
import type { ServerControl, ServerOptions, ServerState } from './server-state.ts';
import { TimeStore } from './time-store.ts';
import { SnapshotStore } from './snapshot-store.ts';
import { ConnectionTransactions } from './connection-transactions.ts';
import { DefaultConcerns } from './monitor/default-concerns.ts';
import { IndexFilters } from './monitor/index-filters.ts';
import { OperationMonitor } from './monitor/operation-monitor.ts';
import { Profiler } from './monitor/profiler.ts';
import { WriteGate } from './monitor/write-gate.ts';
import { SettingsStore } from './query-settings/settings-store.ts';
import { AccessControl } from './users/access-control.ts';
import { UserStore } from './users/user-store.ts';

/** What a command server stands on. */
export interface CommandServerParts {
  readonly catalog: Catalog;
  readonly env: Env;
  readonly engine: EngineReport;
  readonly counters: ServerCounters;
  readonly log: ServerLog;
  readonly control: ServerControl;
  readonly options: ServerOptions;
}

const TRANSACTION_LIFETIME_SECONDS = 60;
const WORK_BYTES_MAX = 256 * 1024 * 1024;
const LARGE_BYTES_MAX = 64 * 1024 * 1024;

/** The dispatcher of all commands over a catalog. */
export async function openCommandServer(parts: CommandServerParts, options: CommandDispatcherOptions): Promise<CommandDispatcher> {
  const { env, catalog } = parts;
  const running = new NumberTable<OperationContext>();
  const times = new TimeStore(catalog);
  const time = new ClusterClock(env.clock, await times.load());
  const ids = new ObjectIdGenerator(env);
  const cursors = new CursorRegistry(env.clock, env.random);
  const server: ServerState = {
    ...parts,
    defaults: new DefaultConcerns(catalog),
    monitor: new OperationMonitor(parts.log, new Profiler(catalog, env, { log: parts.log, slowMs: parts.options.slowMs })),
    gate: new WriteGate(),
    indexFilters: new IndexFilters(),
    querySettings: new SettingsStore(catalog),
    parameters: new Map(),
    access: new AccessControl(new UserStore(catalog), parts.options.authorization),
    sessions: new SessionRegistry(env.clock),
    cursors,
    connectionTransactions: new ConnectionTransactions(cursors),
    time,
    times,
    retries: new RetryStore(catalog, env.clock),
    failPoints: new FailPoints(() => env.random.uint32() / 0x1_0000_0000),
    snapshots: new SnapshotStore(catalog, env.clock, time),
    ids,
    largeWork: new LargeWork(parts.options.largeBytesMax ?? LARGE_BYTES_MAX, env.clock),
    workMemory: new WorkMemory(parts.options.workBytesMax ?? WORK_BYTES_MAX),
    processId: ids.next(),
    operations: running,
    connections: new Set(),
    startedMs: env.clock.nowMs(),
    transactionLifetimeSeconds: TRANSACTION_LIFETIME_SECONDS,
  };
  await server.times.keepAhead(time.operationTime);
  await server.retries.open();
  await server.defaults.load();
  await server.querySettings.load();
  catalog.oplog.start(time);
  return new CommandDispatcher(server, running, options);
}
