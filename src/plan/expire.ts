// Time to live: documents whose date in a TTL index is old enough go, as ordinary deletes in small batches (manual: "TTL Indexes"). A field that
// is no date expires nothing; of an array the earliest date counts. Each document is looked at again under its lock.

import { BsonArray, DateTime, Document } from '../bson/index.ts';
import type { Catalog, Collection, Index, Namespace } from '../catalog/index.ts';
import { compileFilter } from '../query/index.ts';
import type { Filter } from '../query/index.ts';
import { planQuery } from './plan-query.ts';
import type { Interruptible } from './row.ts';

const batchDocuments = 100;

/** Removes what has expired at `nowMs` from all collections; how many documents that were. What fails throws: the rest is met the next time. */
export async function expireDocuments(catalog: Catalog, nowMs: number, context: Interruptible): Promise<number> {
  let removed = 0;
  for (const { ns, name } of await timedIndexes(catalog)) {
    for (;;) {
      context.checkInterrupt();
      const batch = await catalog.run((txn) => expireBatch({ catalog, txn, ns, name }, nowMs, context));
      removed += batch;
      if (batch < batchDocuments) break;
    }
  }
  return removed;
}

async function timedIndexes(catalog: Catalog): Promise<readonly { readonly ns: Namespace; readonly name: string }[]> {
  const txn = catalog.begin('read');
  try {
    const found: { ns: Namespace; name: string }[] = [];
    for (const db of await catalog.databases(txn)) {
      for (const named of await catalog.collections(txn, db)) {
        const indexes = named.kind === 'collection' ? named.indexes : [];
        const timed = indexes.filter((index) => index.expireAfterSeconds !== undefined);
        found.push(...timed.map((index) => ({ ns: named.ns, name: index.name })));
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
  readonly name: string;
}

async function expireBatch({ catalog, txn, ns, name }: Place, nowMs: number, context: Interruptible): Promise<number> {
  const collection = await catalog.collection(txn, ns);
  const index = collection?.indexes.find((each) => each.name === name);
  if (collection === undefined || index?.expireAfterSeconds === undefined) return 0;
  const filter = expired(index, nowMs - index.expireAfterSeconds * 1000, nowMs);
  const hint = index.hidden ? undefined : name;
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

/** What has a date of `thresholdMs` or before, and is in the index. */
function expired(index: Index, thresholdMs: number, nowMs: number): Filter {
  const [path = ''] = index.paths;
  const old = Document.fromEntries([[path, Document.of({ $lte: new DateTime(thresholdMs) })]]);
  const parts = index.partialFilter === undefined ? [old] : [old, index.partialFilter];
  return compileFilter(Document.of({ $and: BsonArray.of(parts) }), { now: new DateTime(nowMs) });
}
