// Changes one document: the first that matches. A statement by itself finds candidates in its snapshot, locks each, reads it again as it is
// newest, tests the filter again, and only then writes (server.md, "Transactions"); where every candidate has become another document
// meanwhile it looks again in a new snapshot. In a multi-statement transaction the snapshot stands and a conflict is an error at once.

import { CommandError, EngineError } from '../../base/errors.ts';
import { Document, hasText, readInt32 } from '../../bson/index.ts';
import { afterSoon, type CatalogTransaction, type Collection, type InsertChoices, type RecordKey, type Soon } from '../../catalog/index.ts';
import { sameCollation } from '../../collation/index.ts';
import { inSlices } from '../../env/index.ts';
import { planQuery, type KeyedDocument, type QueryRequest } from '../../plan/index.ts';
import type { CommandContext } from '../command.ts';
import { largeDocumentBytes } from '../large-work.ts';
import { watched } from '../plan-watch.ts';
import type { WriteSeries, WriteStep } from '../write-series.ts';
import type { Changed, DocumentChange } from './document-change.ts';
import { exactId, IdFilter } from './id-filter.ts';

/** What became of a statement. */
export interface SingleResult {
  readonly before: Document | undefined;
  readonly after: Document | undefined;
  readonly modified: boolean;
  /** Whether `after` was inserted because nothing matched. */
  readonly upserted: boolean;
  /** It was written without a read: whether there is such a document is not known. */
  readonly unread?: boolean;
}

const NOTHING: SingleResult = { before: undefined, after: undefined, modified: false, upserted: false };

/** As TokuMX told it: one document, changed. */
const UNREAD: SingleResult = { before: undefined, after: undefined, modified: true, upserted: false, unread: true };

/** Collections in which a large document was met. */
const holdLarge = new WeakSet<Collection>();
/** A document begins with its length. */
const lengthBytes = 4;

/** How often an upsert that met a duplicate looks again for the document it then must find. */
const UPSERT_TRIES_MAX = 10;

/** What a single write needs of its statement. */
export interface SingleWriteOptions {
  readonly context: CommandContext;
  readonly series: WriteSeries;
  readonly change: DocumentChange;
  readonly onResult: (result: SingleResult) => void;
  /** A refusal of the document; true: go on with further statements. */
  readonly onError: (error: CommandError) => boolean;
  readonly onUndo: () => void;
  /** Its place among the statements of a retryable write. */
  readonly index?: number | undefined;
}

/** One statement that changes at most one document. */
export class SingleWrite implements WriteStep {
  readonly #options: SingleWriteOptions;
  #upsertTries = 0;

  constructor(options: SingleWriteOptions) {
    this.#options = options;
  }

  run(txn: CatalogTransaction): Soon<boolean> {
    const mark = txn.mark();
    const accept = (result: SingleResult): true => {
      this.#options.onResult(result);
      return true;
    };
    try {
      const changing = this.#change(txn);
      return changing instanceof Promise ? changing.then(accept).catch((error: unknown) => this.#refused(txn, mark, error)) : accept(changing);
    } catch (error) {
      return this.#refused(txn, mark, error);
    }
  }

  #refused(txn: CatalogTransaction, mark: number, error: unknown): boolean {
    if (!(error instanceof CommandError)) throw error;
    const { series, onError } = this.#options;
    series.rollback(txn, mark);
    return onError(error);
  }

  undo(): void {
    this.#options.onUndo();
  }

  #choices(): InsertChoices {
    const { change, context, index = 0 } = this.#options;
    const { bypassValidation, shape } = change;
    return { bypassValidation, shape, statement: context.retry?.idOf(index) };
  }

  #change(txn: CatalogTransaction): Soon<SingleResult> {
    return afterSoon(this.#options.series.collection(txn), (collection) => {
      if (collection === undefined) return this.#upsert(txn);
      const { change } = this.#options;
      if (collection.options.timeSeries !== undefined) change.checkTimeSeries?.(collection.options.timeSeries);
      return afterSoon(this.#changeFirst(txn, collection), (done) => done ?? this.#upsert(txn));
    });
  }

  #upsert(txn: CatalogTransaction): Soon<SingleResult> {
    const inserted = this.#options.change.upsert?.();
    return inserted === undefined ? NOTHING : this.#insert(txn, inserted);
  }

  /** Undefined when nothing matches. */
  #changeFirst(txn: CatalogTransaction, collection: Collection): Soon<SingleResult | undefined> {
    const { change } = this.#options;
    const isPlain = collection.isKeyedById && change.sort === undefined && change.hint === undefined && !change.filterDocument.has('$text');
    const id = isPlain ? exactId(change.filterDocument) : undefined;
    if (id !== undefined && (!hasText(id) || sameCollation(change.collation, collection.options.collation))) return this.#tryKey(txn, collection, collection.keyOf(id));
    return this.#searchFirst(txn, collection);
  }

  async #searchFirst(txn: CatalogTransaction, collection: Collection): Promise<SingleResult | undefined> {
    let stale = false;
    for await (const candidate of this.#candidates(txn, collection)) {
      const done = await this.#tryKey(txn, collection, candidate.key);
      if (done !== undefined) return done;
      stale = true;
    }
    // Others changed what matched: the snapshot is too old to tell what matches now.
    if (stale) throw new EngineError('write-conflict', 'documents that matched were changed meanwhile');
    return undefined;
  }

  async *#candidates(txn: CatalogTransaction, collection: Collection): AsyncGenerator<KeyedDocument, void> {
    const { change, context } = this.#options;
    const request: QueryRequest = { filter: change.filter, collation: change.collation, sort: change.sort, hint: change.hint, purpose: 'keyed' };
    const plan = await planQuery({ txn, ns: collection.ns, collection, watch: watched(context, collection.ns.text) }, request, context.operation);
    const source = plan.openKeyed();
    try {
      for (;;) {
        const batch = await source.next(context.operation);
        if (batch === undefined) return;
        yield* batch;
      }
    } finally {
      source.close();
    }
  }

  /** Locks the document, reads it as it is now, and changes it if it still matches. */
  #tryKey(txn: CatalogTransaction, collection: Collection, key: RecordKey): Soon<SingleResult | undefined> {
    const { fast } = this.#options.change;
    if (fast === undefined) return this.#changeKey(txn, collection, key);
    return this.#updateFast(txn, collection, key, fast).then((isDone) => (isDone ? UNREAD : this.#changeKey(txn, collection, key)));
  }

  #changeKey(txn: CatalogTransaction, collection: Collection, key: RecordKey): Soon<SingleResult | undefined> {
    const entering = this.#enterLarge(txn, collection, key);
    return entering === undefined ? this.#changeLocked(txn, collection, key) : entering.then(() => this.#changeLocked(txn, collection, key));
  }

  /** Where large documents have been met it is asked first how long this one is: a large one waits for room before it is read. */
  #enterLarge(txn: CatalogTransaction, collection: Collection, key: RecordKey): Soon<void> {
    if (!holdLarge.has(collection)) return undefined;
    return afterSoon(collection.peek(txn, key, { from: 0, to: lengthBytes }), (beginning) =>
      beginning === undefined || beginning.length < lengthBytes ? undefined : this.#options.series.enterLarge(readInt32(beginning, 0)),
    );
  }

  #changeLocked(txn: CatalogTransaction, collection: Collection, key: RecordKey): Soon<SingleResult | undefined> {
    // What lies under the key of an `_id` has that `_id`.
    const isFound = this.#options.change.filter instanceof IdFilter && collection.isKeyedById;
    return afterSoon(lockedDocument(txn, collection, key), (before) => {
      if (before === undefined) return undefined;
      if (before.byteLength >= largeDocumentBytes) holdLarge.add(collection);
      const { change, context } = this.#options;
      const changing = inSlices(context.operation, () => (isFound || change.filter.matches(before) ? change.apply(before) : undefined));
      return afterSoon(changing, (changed) => (changed === undefined ? undefined : this.#write(txn, collection, { key, before, changed })));
    });
  }

  #write(txn: CatalogTransaction, collection: Collection, change: { readonly key: RecordKey; readonly before: Document; readonly changed: Changed }): Soon<SingleResult> {
    const { before, changed } = change;
    const write = (): Soon<SingleResult> =>
      afterSoon(writeChange(txn, collection, change, this.#choices()), () => {
        this.#options.series.weigh(before.byteLength + (changed.after?.byteLength ?? 0));
        return { before, after: changed.after, modified: changed.modified, upserted: false };
      });
    const turn = before.byteLength < largeDocumentBytes ? undefined : this.#options.context.operation.turn();
    return turn === undefined ? write() : turn.then(write);
  }

  /** Writes the update without a read, where the collection lets it. */
  async #updateFast(txn: CatalogTransaction, collection: Collection, key: RecordKey, update: Document): Promise<boolean> {
    const { change, series, context } = this.#options;
    const { fastUpdates } = context.server.counters;
    fastUpdates.eligible += 1;
    if (!(await context.server.catalog.updateFast(txn, collection, key, { update, bypassValidation: change.bypassValidation }))) return false;
    fastUpdates.performed += 1;
    series.weigh(update.byteLength);
    return true;
  }

  async #insert(txn: CatalogTransaction, document: Document): Promise<SingleResult> {
    const { series } = this.#options;
    const collection = await series.ensureCollection(txn);
    const prepared = collection.prepare(document);
    try {
      await collection.insert(txn, prepared, this.#choices());
    } catch (error) {
      if (!this.#mayLookAgain(txn, error)) throw error;
      throw new EngineError('write-conflict', 'another upsert was first', { cause: error });
    }
    series.weigh(prepared.document.byteLength);
    return { before: undefined, after: prepared.document, modified: false, upserted: true };
  }

  /** A duplicate of what the filter asks for: somebody inserted it since the snapshot, so a new look will find it. */
  #mayLookAgain(txn: CatalogTransaction, error: unknown): boolean {
    if (!(error instanceof CommandError) || error.code !== 11000 || txn.mode === 'snapshot') return false;
    const pattern = error.details.get('keyPattern');
    if (!(pattern instanceof Document)) return false;
    const { filterDocument } = this.#options.change;
    this.#upsertTries += 1;
    return this.#upsertTries <= UPSERT_TRIES_MAX && pattern.keys().every((name) => filterDocument.has(name));
  }
}

/** The document under its lock: newest for a statement by itself, of the snapshot in a transaction. */
export function lockedDocument(txn: CatalogTransaction, collection: Collection, key: RecordKey): Soon<Document | undefined> {
  if (txn.mode === 'statement') return afterSoon(collection.lock(txn, key), () => collection.getLatest(txn, key));
  return afterSoon(collection.get(txn, key), (found) => (found === undefined ? undefined : afterSoon(collection.lock(txn, key), () => found)));
}

/** Writes what became of a locked document. */
export function writeChange(
  txn: CatalogTransaction,
  collection: Collection,
  { key, before, changed }: { key: RecordKey; before: Document; changed: Changed },
  choices: InsertChoices,
): Soon<void> {
  if (changed.after === undefined) return collection.remove(txn, key, before, choices);
  return changed.modified ? collection.update(txn, key, { before, after: changed.after }, choices) : undefined;
}
