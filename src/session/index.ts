// The public face of sessions: operations, logical sessions, client cursors and logical time. Storage-free.

export { sourceOf } from './batch-source.ts';
export type { BatchSource, Tail } from './batch-source.ts';
export { BATCH_BYTES_MAX, ClientCursor } from './client-cursor.ts';
export type { ClientBatchLimit, ClientCursorOptions } from './client-cursor.ts';
export { ClusterClock } from './cluster-clock.ts';
export { CURSOR_TIMEOUT_MS, CursorRegistry } from './cursor-registry.ts';
export type { CursorCounts } from './cursor-registry.ts';
export type { Interruptible, InterruptReason } from './interrupt.ts';
export { LogicalSession } from './logical-session.ts';
export type { TransactionUse } from './logical-session.ts';
export type { OpenTransaction, TransactionState } from './open-transaction.ts';
export { OperationContext } from './operation-context.ts';
export type { OperationOptions, OperationTimes, PlanAccount, QueryAdvice, Unfinished } from './operation-context.ts';
export type { ClientMetadata, CommandAnswer, CommandRequest, ConnectionContext } from './request.ts';
export { RetryRecord } from './retry-record.ts';
export type { RecordedOutcome, StatementKind, StatementResult } from './retry-record.ts';
export { ServerCounters } from './server-counters.ts';
export type { OperationCounts } from './server-counters.ts';
export { ServerLog } from './server-log.ts';
export type { LogComponent, LogMessage, LogSink, Severity } from './server-log.ts';
export { SESSION_TIMEOUT_MINUTES, SessionRegistry } from './session-registry.ts';
export { Turns } from './turns.ts';
