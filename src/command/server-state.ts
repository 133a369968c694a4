// What all commands of one server share.

import type { NumberTable } from '../base/number-table.ts';
import type { ObjectId, ObjectIdGenerator, Value } from '../bson/index.ts';
import type { Catalog } from '../catalog/index.ts';
import type { Env } from '../env/index.ts';
import type { WorkMemory } from '../exec/index.ts';
import type { ClusterClock, ConnectionContext, CursorRegistry, OperationContext, ServerCounters, ServerLog, SessionRegistry } from '../session/index.ts';
import type { FailPoints } from './fail-points.ts';
import type { RetryStore } from './retry-store.ts';
import type { TimeStore } from './time-store.ts';
import type { SnapshotStore } from './snapshot-store.ts';
import type { EngineReport } from './engine-report.ts';
import type { LargeWork } from './large-work.ts';
import type { ConnectionTransactions } from './connection-transactions.ts';
import type { DefaultConcerns } from './monitor/default-concerns.ts';
import type { IndexFilters } from './monitor/index-filters.ts';
import type { SettingsStore } from './query-settings/settings-store.ts';
import type { OperationMonitor } from './monitor/operation-monitor.ts';
import type { WriteGate } from './monitor/write-gate.ts';
import type { AccessControl } from './users/access-control.ts';

/** How the server was started, as clients are told. */
export interface ServerOptions {
  /** Version of this product. */
  readonly version: string;
  /** Presents a standalone server to tools that want one, instead of a replica set of one member. */
  readonly standalone: boolean;
  readonly replicaSetName: string;
  /** The words of the command line, and the options they gave. */
  readonly commandLine: readonly string[];
  readonly dbPath: string;
  readonly port: number;
  /** Whether clients may make commands fail (enableTestCommands). */
  readonly testCommands: boolean;
  /** Whether users must log in, and may do what their roles say. */
  readonly authorization: boolean;
  /** Most bytes of the documents of one reply of a cursor that goes on: a client that wants more asks again. `BATCH_BYTES_MAX` where absent. */
  readonly batchBytesMax?: number;
  /** Where replies that their clients have not taken come near to so many bytes, cursors give smaller batches. */
  readonly unsentBytesMax?: number;
  /** Most bytes that sorts and groups of all operations hold in memory together; 256 MiB where absent. */
  readonly workBytesMax?: number;
  /** Most bytes of large documents that are changed at a time; 64 MiB where absent. */
  readonly largeBytesMax?: number;
  /** Milliseconds from which a command is slow. */
  readonly slowMs: number;
  /** What was said at the start, by its path in the configuration file. */
  readonly parsedOptions: ReadonlyMap<string, string>;
}

/** What the surroundings of the server do for it. */
export interface ServerControl {
  /** Stops the server once this command has been answered. */
  shutdown(): void;
  /** Goes on with a new file of the log. */
  rotateLog(): void;
}

/** The one state of a server. */
export interface ServerState {
  readonly catalog: Catalog;
  readonly env: Env;
  readonly engine: EngineReport;
  readonly options: ServerOptions;
  readonly counters: ServerCounters;
  readonly log: ServerLog;
  readonly control: ServerControl;
  readonly access: AccessControl;
  readonly defaults: DefaultConcerns;
  readonly monitor: OperationMonitor;
  readonly gate: WriteGate;
  readonly indexFilters: IndexFilters;
  readonly querySettings: SettingsStore;
  readonly connectionTransactions: ConnectionTransactions;
  /** Parameters that were set and are only kept. */
  readonly parameters: Map<string, Value>;
  readonly sessions: SessionRegistry;
  readonly cursors: CursorRegistry;
  readonly time: ClusterClock;
  readonly retries: RetryStore;
  readonly failPoints: FailPoints;
  readonly snapshots: SnapshotStore;
  readonly times: TimeStore;
  readonly ids: ObjectIdGenerator;
  /** What sorts and groups of all operations hold in memory. */
  readonly workMemory: WorkMemory;
  /** Changes of large documents pass it. */
  readonly largeWork: LargeWork;
  readonly operations: Pick<NumberTable<OperationContext>, 'size' | 'get' | 'values'>;
  /** Connections that have said hello and are open. */
  readonly connections: Set<ConnectionContext>;
  /** Different for each process: what a client knows of another one it does not know of this. */
  readonly processId: ObjectId;
  /** Milliseconds since 1970 at which the server started. */
  readonly startedMs: number;
  /** Seconds after which an open transaction is aborted (transactionLifetimeLimitSeconds). */
  transactionLifetimeSeconds: number;
}
