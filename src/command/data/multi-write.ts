// Changes every document that matches. Candidates come from one snapshot, taken after what the command wrote before; each is locked, read
// again, tested again and written by itself, so a large statement is cut between documents into a series of engine transactions.

import { CommandError } from '../../base/errors.ts';
import type { CatalogTransaction, RecordKey } from '../../catalog/index.ts';
import { inSlices, type Paced } from '../../env/index.ts';
import { planQuery, type KeyedSource } from '../../plan/index.ts';
import type { CommandContext } from '../command.ts';
import { watched } from '../plan-watch.ts';
import type { WriteSeries, WriteStep } from '../write-series.ts';
import type { DocumentChange } from './document-change.ts';
import { lockedDocument, writeChange } from './single-write.ts';

/** Counts of a statement. */
export interface MultiCounts {
  matched: number;
  modified: number;
}

interface MultiWrite {
  readonly series: WriteSeries;
  readonly change: DocumentChange;
  readonly counts: MultiCounts;
  readonly pace: Paced;
  error: CommandError | undefined;
}

/** The change of one of the documents. */
class MultiStep implements WriteStep {
  readonly #write: MultiWrite;
  readonly #key: RecordKey;
  #matched = 0;
  #modified = 0;

  constructor(write: MultiWrite, key: RecordKey) {
    this.#write = write;
    this.#key = key;
  }

  async run(txn: CatalogTransaction): Promise<boolean> {
    const { change, series, counts } = this.#write;
    const collection = await series.collection(txn);
    if (collection === undefined) return true;
    const mark = txn.mark();
    try {
      const before = await lockedDocument(txn, collection, this.#key);
      if (before === undefined) return true;
      const changing = inSlices(this.#write.pace, () => (change.filter.matches(before) ? change.apply(before) : undefined));
      const changed = changing instanceof Promise ? await changing : changing;
      if (changed === undefined) return true;
      const { bypassValidation, shape } = change;
      await writeChange(txn, collection, { key: this.#key, before, changed }, { bypassValidation, shape });
      series.weigh(before.byteLength + (changed.after?.byteLength ?? 0));
      this.#matched = 1;
      this.#modified = changed.modified ? 1 : 0;
      counts.matched += this.#matched;
      counts.modified += this.#modified;
      return true;
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      series.rollback(txn, mark);
      this.#write.error = error;
      return true;
    }
  }

  undo(): void {
    this.#write.counts.matched -= this.#matched;
    this.#write.counts.modified -= this.#modified;
    this.#matched = 0;
    this.#modified = 0;
    this.#write.error = undefined;
  }
}

/** Runs the statement. Throws the CommandError of the document that refused its change; those before it stay changed. */
export async function changeAll(context: CommandContext, series: WriteSeries, change: DocumentChange): Promise<MultiCounts> {
  const counts = { matched: 0, modified: 0 };
  const write: MultiWrite = { series, change, counts, pace: context.operation, error: undefined };
  if (context.transaction !== undefined) {
    await changeFrom(context, context.transaction.storage, write);
  } else {
    await series.finish();
    const snapshot = context.server.catalog.begin('read');
    try {
      await changeFrom(context, snapshot, write);
    } finally {
      snapshot.abort();
    }
  }
  // A part that is done again may bring the error of a document only now.
  await series.finish();
  if (write.error !== undefined) throw write.error;
  return counts;
}

async function changeFrom(context: CommandContext, snapshot: CatalogTransaction, write: MultiWrite): Promise<void> {
  const source = await candidates(context, snapshot, write);
  if (source === undefined) return;
  try {
    for (;;) {
      const batch = await source.next(context.operation);
      if (batch === undefined) return;
      for (const { key } of batch) {
        await write.series.add(new MultiStep(write, key));
        if (write.error !== undefined) return;
      }
    }
  } finally {
    source.close();
  }
}

async function candidates(context: CommandContext, snapshot: CatalogTransaction, { series, change }: MultiWrite): Promise<KeyedSource | undefined> {
  const collection = await series.collectionIn(snapshot);
  if (collection === undefined) return undefined;
  if (collection.options.timeSeries !== undefined) change.checkTimeSeries?.(collection.options.timeSeries);
  const target = { txn: snapshot, ns: collection.ns, collection, watch: watched(context, collection.ns.text) };
  const plan = await planQuery(target, { filter: change.filter, collation: change.collation, hint: change.hint, purpose: 'keyed' }, context.operation);
  return plan.openKeyed();
}
