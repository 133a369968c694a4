// Where a reading command looks: a collection, or a view made out into the pipeline over the collection it stands on.

import { CommandError } from '../base/errors.ts';
import type { Value } from '../bson/index.ts';
import { namespaceOf, type CatalogTransaction, type Collection, type Namespace } from '../catalog/index.ts';
import type { Collation } from '../collation/index.ts';
import type { CommandContext } from './command.ts';
import { namesViews, viewDefinitions, viewDefinitionsStage } from './schema/system-views.ts';

/** Most views on views. */
const VIEW_DEPTH_MAX = 20;

/** A collection, with the stages of the views that were between it and the name. */
export interface ResolvedTarget {
  /** The name that was asked for. */
  readonly asked: Namespace;
  readonly ns: Namespace;
  /** Undefined: there is no such collection; everything about it is empty. */
  readonly collection: Collection | undefined;
  /** Stages to run before those of the command, outermost collection first. */
  readonly viewStages: readonly Value[];
  /** Whether the name is that of a view. */
  readonly isView: boolean;
  /** Whether the first of the stages makes documents, so that no collection is read. */
  readonly makesDocuments?: boolean;
  /** How texts are compared where the command does not say it. */
  readonly collation: Collation | undefined;
}

/** Makes out a name as the transaction sees it. */
export async function resolveTarget(context: CommandContext, txn: CatalogTransaction, ns: Namespace): Promise<ResolvedTarget> {
  const log = context.server.catalog.oplog.collection;
  if (log !== undefined && ns.text === log.ns.text) return { asked: ns, ns, collection: log, collation: undefined, viewStages: [], isView: false };
  let at = ns;
  let viewStages: readonly Value[] = [];
  let collation: Collation | undefined;
  for (let depth = 0; depth <= VIEW_DEPTH_MAX; depth++) {
    const entry = await context.server.catalog.lookup(txn, at);
    const rows = entry === undefined && namesViews(at) ? await viewDefinitions(context, txn, at.db) : undefined;
    if (entry === undefined) await refuseBuckets(context, txn, at);
    if (rows !== undefined) return { asked: ns, ns: at, collection: undefined, viewStages: [viewDefinitionsStage(rows), ...viewStages], isView: true, makesDocuments: true, collation: undefined };
    if (entry?.kind !== 'view') return { asked: ns, ns: at, collection: entry, viewStages, isView: depth > 0, collation: depth > 0 ? collation : entry?.options.collation };
    if (depth === 0) collation = entry.collation;
    viewStages = [...entry.pipeline, ...viewStages];
    at = namespaceOf(at.db, entry.viewOn);
  }
  throw new CommandError(165, 'ViewDepthLimitExceeded', `View depth too deep or view cycle detected; maximum depth is ${String(VIEW_DEPTH_MAX)}`);
}

const BUCKETS = 'system.buckets.';

/** Who copies a time series by its buckets must not take it for empty (115). */
async function refuseBuckets(context: CommandContext, txn: CatalogTransaction, ns: Namespace): Promise<void> {
  if (!ns.collection.startsWith(BUCKETS)) return;
  const series = ns.collection.slice(BUCKETS.length);
  const entry = series === '' ? undefined : await context.server.catalog.lookup(txn, namespaceOf(ns.db, series));
  if (entry?.kind !== 'collection' || entry.options.timeSeries === undefined) return;
  throw new CommandError(115, 'CommandNotSupported', `a time series is kept without buckets here: ${ns.db}.${series} has its documents`);
}
