// Time to live: documents whose date in a TTL index is old enough go, as ordinary deletes in small batches (manual: "TTL Indexes"). A field that
// is no date expires nothing; of an array the earliest date counts. Each document is looked at again under its lock.

import { EngineError } from '../base/errors.ts';
import { BsonArray, DateTime, Document } from '../bson/index.ts';
import type { Catalog, CatalogTransaction, Collection, KeyRange, Namespace } from '../catalog/index.ts';
import { compileFilter } from '../query/index.ts';
import type { Filter } from '../query/index.ts';
import { planQuery } from './plan-query.ts';
import { primaryRange } from './primary-range.ts';
import type { Interruptible } from './row.ts';

const batchDocuments = 100;
/** Fewer are removed one by one. */
const rangeDocumentsMin = 1000;

/** Removes what has expired at `nowMs` from all collections; how many documents that were. What fails throws: the rest is met the next time. */
export async function expireDocuments(catalog: Catalog, nowMs: number, context: Interruptible): Promise<number> {
  let removed = 0;
  for (const { ns, name } of await timedPlaces(catalog)) {
    if (name === undefined) removed += await expireRange(catalog, ns, { nowMs, context });
    for (;;) {
      context.checkInterrupt();
      const batch = await catalog.run((txn) => expireBatch({ catalog, txn, ns, name }, nowMs, context));
      removed += batch;
      if (batch < batchDocuments) break;
    }
  }
  return removed;
}

/** Places whose documents have a time to live: indexes by name, and whole collections. */
async function timedPlaces(catalog: Catalog): Promise<readonly { readonly ns: Namespace; readonly name: string | undefined }[]> {
  const txn = catalog.begin('read');
  try {
    const found: { ns: Namespace; name: string | undefined }[] = [];
    for (const db of await catalog.databases(txn)) {
      for (const named of await catalog.collections(txn, db)) {
        const indexes = named.kind === 'collection' ? named.indexes : [];
        const timed = indexes.filter((index) => index.expireAfterSeconds !== undefined);
        found.push(...timed.map((index) => ({ ns: named.ns, name: index.name })));
        if (named.kind === 'collection' && named.options.expireAfterSeconds !== undefined) found.push({ ns: named.ns, name: undefined });
      }
    }
    return found;
  } finally {
    txn.abort();
  }
}

interface Place {
  readonly catalog: Catalog;
  readonly txn: Parameters<Collection['get']>[0];
  readonly ns: Namespace;
  /** The index; undefined: the time to live is the collection's. */
  readonly name: string | undefined;
}

/** Where what has expired is a range of the documents' order, as in a clustered collection, much of it goes at once; how much. */
async function expireRange(catalog: Catalog, ns: Namespace, { nowMs, context }: { readonly nowMs: number; readonly context: Interruptible }): Promise<number> {
  const txn = catalog.begin('statement');
  try {
    const collection = await catalog.collection(txn, ns);
    const rule = collection === undefined ? undefined : ruleOf(collection, undefined);
    const range = collection === undefined || rule === undefined ? undefined : primaryRange(collection, expired(rule, nowMs));
    if (collection === undefined || range === undefined || !catalog.canRemoveRange(collection, range)) return 0;
    if (!(await isMuch(txn, collection, range))) return 0;
    const removed = await catalog.removeRange(txn, collection, range, () => context.turn());
    await txn.commit();
    return removed;
  } catch (error) {
    // Others are writing: the documents go one by one.
    if (error instanceof EngineError && passing.has(error.code)) return 0;
    throw error;
  } finally {
    txn.abort();
  }
}

const passing: ReadonlySet<string> = new Set(['write-conflict', 'deadlock', 'locked', 'no-space']);

/** Whether a range has more than a few batches. */
async function isMuch(txn: CatalogTransaction, collection: Collection, range: KeyRange): Promise<boolean> {
  const cursor = collection.scan(txn, range, 1);
  let rows = 0;
  try {
    while (rows <= rangeDocumentsMin) {
      const batch = await cursor.nextBatch({ rows: rangeDocumentsMin, bytes: 1 << 20 });
      if (batch.length === 0) return false;
      rows += batch.length;
    }
    return true;
  } finally {
    cursor.close();
  }
}

async function expireBatch({ catalog, txn, ns, name }: Place, nowMs: number, context: Interruptible): Promise<number> {
  const collection = await catalog.collection(txn, ns);
  const rule = collection === undefined ? undefined : ruleOf(collection, name);
  if (collection === undefined || rule === undefined) return 0;
  const filter = expired(rule, nowMs);
  const { hint } = rule;
  const plan = await planQuery({ txn, ns, collection }, { filter, hint, purpose: 'keyed', limit: batchDocuments }, context);
  const source = plan.openKeyed();
  let removed = 0;
  try {
    for (;;) {
      const batch = await source.next(context);
      if (batch === undefined) return removed;
      for (const { key } of batch) {
        await collection.lock(txn, key);
        const newest = await collection.getLatest(txn, key);
        if (newest === undefined || !filter.matches(newest)) continue;
        await collection.remove(txn, key, newest);
        removed += 1;
      }
    }
  } finally {
    source.close();
  }
}

interface Rule {
  readonly path: string;
  readonly seconds: number;
  readonly partialFilter?: Document | undefined;
  readonly hint?: string | undefined;
}

/** What expires by an index, or by the collection itself: a time series by its time, a clustered collection by `_id`. */
function ruleOf({ indexes, options }: Collection, name: string | undefined): Rule | undefined {
  if (name === undefined) {
    const seconds = options.expireAfterSeconds;
    return seconds === undefined ? undefined : { path: options.timeSeries?.timeField ?? '_id', seconds };
  }
  const index = indexes.find((each) => each.name === name);
  if (index?.expireAfterSeconds === undefined) return undefined;
  const [path = ''] = index.paths;
  return { path, seconds: index.expireAfterSeconds, partialFilter: index.partialFilter, hint: index.hidden ? undefined : name };
}

/** What has a date of `seconds` ago or before, and is in the index. */
function expired({ path, seconds, partialFilter }: Rule, nowMs: number): Filter {
  const old = Document.fromEntries([[path, Document.of({ $lte: new DateTime(nowMs - seconds * 1000) })]]);
  const all = partialFilter === undefined ? old : Document.of({ $and: BsonArray.of([old, partialFilter]) });
  return compileFilter(all, { now: new DateTime(nowMs) });
}
