// The planner: from a query to documents by the cheapest way through a collection's indexes (server.md, "Queries").

export { distinctQuery, distinctValues } from './distinct.ts';
export { expireDocuments } from './expire.ts';
export { planQuery } from './plan-query.ts';
export { queryShape } from './shape-hash.ts';
export { logRange } from './log-range.ts';
export { primaryRange } from './primary-range.ts';
export type {
  DistinctRequest,
  ExplainVerbosity,
  IndexFilterLookup,
  KeyedDocument,
  KeyedSource,
  OuterStage,
  Plan,
  PlannedQuery,
  PlanRun,
  PlanWatch,
  QueryRequest,
  QueryTarget,
  ReleasableSource,
} from './types.ts';
export type { Interruptible, Renewal } from './row.ts';
