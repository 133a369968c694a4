// insert: documents in order, each whole or not at all. An ordered batch ends at its first error and keeps what came before.

import { CommandError } from '../../base/errors.ts';
import type { Document } from '../../bson/index.ts';
import { namespaceOf, type CatalogTransaction, type Collection, type CollectionLoad, type Soon } from '../../catalog/index.ts';
import { defineCommand, type Command, type CommandContext, type Reply } from '../command.ts';
import { boolField, strictBoolField, collectionField, objectsField, required, anyField } from '../fields.ts';
import { WriteSeries, type WriteStep } from '../write-series.ts';
import { checkBatchSize, WriteOutcome } from './write-outcome.ts';

/** Things that all documents of one command share. */
export interface InsertBatch {
  readonly context: CommandContext;
  readonly series: WriteSeries;
  readonly outcome: WriteOutcome;
  readonly ordered: boolean;
  readonly bypassValidation: boolean;
}

const INSERTED = { n: 1, nModified: 0 } as const;

/** The insertion of one document. */
class InsertStep implements WriteStep {
  readonly #batch: InsertBatch;
  readonly #index: number;
  readonly #document: Document;

  constructor(batch: InsertBatch, index: number, document: Document) {
    this.#batch = batch;
    this.#index = index;
    this.#document = document;
  }

  run(txn: CatalogTransaction): Soon<boolean> {
    const mark = txn.mark();
    let inserting: Soon<void>;
    try {
      const collection = this.#batch.series.ensureCollection(txn);
      inserting = collection instanceof Promise ? collection.then((made) => this.#insert(txn, made)) : this.#insert(txn, collection);
    } catch (error) {
      return this.#refused(txn, mark, error);
    }
    return inserting instanceof Promise ? inserting.then(() => this.#inserted(), (error: unknown) => this.#refused(txn, mark, error)) : this.#inserted();
  }

  #insert(txn: CatalogTransaction, collection: Collection): Soon<void> {
    const { bypassValidation, context } = this.#batch;
    return collection.insert(txn, collection.prepare(this.#document), { bypassValidation, statement: context.retry?.idOf(this.#index) });
  }

  #refused(txn: CatalogTransaction, mark: number, error: unknown): boolean {
    if (!(error instanceof CommandError)) throw error;
    const { series, outcome, ordered } = this.#batch;
    series.rollback(txn, mark);
    outcome.set(this.#index, { n: 0, nModified: 0, error });
    return !ordered;
  }

  #inserted(): true {
    const { series, outcome, context } = this.#batch;
    series.weigh(this.#document.byteLength);
    outcome.set(this.#index, INSERTED);
    context.retry?.done(this.#index, INSERTED);
    return true;
  }

  undo(): void {
    this.#batch.outcome.forget(this.#index);
    this.#batch.context.retry?.undone(this.#index);
  }
}

/** Inserts one document, unless it was before. */
export function insertOne(batch: InsertBatch, index: number, document: Document): Soon<void> {
  const { context, series, outcome } = batch;
  const earlier = context.retry?.earlier(index);
  if (earlier === undefined) return series.add(new InsertStep(batch, index, document));
  outcome.set(index, { n: earlier.n, nModified: 0 });
  return undefined;
}

async function insertAll(batch: InsertBatch, documents: readonly Document[]): Promise<void> {
  const { series } = batch;
  let index = 0;
  for (const document of documents) {
    const added = insertOne(batch, index++, document);
    if (added !== undefined) await added;
    if (series.stopped) break;
  }
  const finished = series.finish();
  if (finished !== undefined) await finished;
}

/** Documents of a bulk load; one that is refused ends the transaction, and the load with it. */
async function insertIntoLoad(context: CommandContext, load: CollectionLoad, documents: readonly Document[]): Promise<Reply> {
  for (const document of documents) {
    context.operation.checkInterrupt();
    const full = load.insert(document);
    if (full !== undefined) await full;
  }
  return { n: documents.length };
}

export const insert: Command = defineCommand({
  name: 'insert',
  access: 'write',
  inTransaction: 'yes',
  retryable: true,
  about: 'inserts documents',
  fields: {
    insert: collectionField,
    documents: required(objectsField),
    ordered: strictBoolField,
    atomic: strictBoolField,
    bypassDocumentValidation: boolField,
    collectionUUID: anyField,
  },
  run: async (context, { insert: name, documents, ordered, bypassDocumentValidation }) => {
    const ns = namespaceOf(context.db, name);
    checkBatchSize(documents.length);
    context.server.counters.operations.insert += documents.length;
    const load = context.transaction?.load;
    if (load?.ns.text === ns.text) return insertIntoLoad(context, load, documents);
    const outcome = new WriteOutcome();
    const batch: InsertBatch = {
      context,
      series: new WriteSeries(context, ns),
      outcome,
      ordered: ordered ?? true,
      bypassValidation: bypassDocumentValidation ?? false,
    };
    await insertAll(batch, documents);
    return outcome.reply(context, { nModified: false });
  },
});
