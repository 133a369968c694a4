// insert: documents in order, each whole or not at all. An ordered batch ends at its first error and keeps what came before.

import { CommandError } from '../../base/errors.ts';
import { DocumentList } from '../../bson/index.ts';
import type { Document, Documents } from '../../bson/index.ts';
import { afterSoon, namespaceOf, type CatalogTransaction, type Collection, type CollectionLoad, type Soon } from '../../catalog/index.ts';
import { defineCommand, type Command, type CommandContext, type Reply } from '../command.ts';
import { boolField, strictBoolField, collectionField, documentListField, required, anyField } from '../fields.ts';
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

const INSERTED = { kind: 'insert', n: 1, nModified: 0 } as const;

/** The insertion of each of some documents: a place is the number of the statement. */
class InsertStep implements WriteStep {
  readonly #batch: InsertBatch;
  readonly #documents: Documents;
  /** The statement that inserts the first. */
  readonly #first: number;

  constructor(batch: InsertBatch, documents: Documents, first: number) {
    this.#batch = batch;
    this.#documents = documents;
    this.#first = first;
  }

  run(txn: CatalogTransaction, index: number): Soon<boolean> {
    const mark = txn.mark();
    const document = this.#documents.at(index - this.#first);
    let inserting: Soon<void>;
    try {
      const collection = this.#batch.series.ensureCollection(txn);
      inserting = collection instanceof Promise ? collection.then((made) => this.#insert(txn, made, { document, index })) : this.#insert(txn, collection, { document, index });
    } catch (error) {
      return this.#refused(txn, { mark, index, error });
    }
    if (inserting === undefined) return this.#inserted(index, document.byteLength);
    return inserting.then(() => this.#inserted(index, document.byteLength), (error: unknown) => this.#refused(txn, { mark, index, error }));
  }

  #insert(txn: CatalogTransaction, collection: Collection, { document, index }: { document: Document; index: number }): Soon<void> {
    const { bypassValidation, context } = this.#batch;
    return collection.insert(txn, collection.prepare(document), { bypassValidation, statement: context.retry?.idOf(index) });
  }

  #refused(txn: CatalogTransaction, { mark, index, error }: { mark: number; index: number; error: unknown }): boolean {
    if (!(error instanceof CommandError)) throw error;
    const { series, outcome, ordered } = this.#batch;
    series.rollback(txn, mark);
    outcome.set(index, { n: 0, nModified: 0, error });
    return !ordered;
  }

  #inserted(index: number, bytes: number): true {
    const { series, outcome, context } = this.#batch;
    series.weigh(bytes);
    outcome.set(index, INSERTED);
    context.retry?.done(index, INSERTED);
    return true;
  }

  undo(index: number): void {
    this.#batch.outcome.forget(index);
    this.#batch.context.retry?.undone(index);
  }
}

/** Inserts one document by a step that has it, unless it was inserted before. */
function insertBy(step: InsertStep, batch: InsertBatch, index: number): Soon<void> {
  const { context, series, outcome } = batch;
  const earlier = context.retry?.earlier(index);
  if (earlier === undefined) return series.add(step, index);
  outcome.set(index, { n: earlier.n, nModified: 0 });
  return undefined;
}

/** Inserts one document, unless it was before. */
export function insertOne(batch: InsertBatch, index: number, document: Document): Soon<void> {
  return insertBy(new InsertStep(batch, DocumentList.of([document]), index), batch, index);
}

function insertAll(batch: InsertBatch, documents: Documents): Soon<void> {
  const { series } = batch;
  const step = new InsertStep(batch, documents, 0);
  for (let index = 0; index < documents.length && !series.stopped; index++) {
    const added = insertBy(step, batch, index);
    if (added !== undefined) return insertRest(added, batch, { step, from: index + 1, to: documents.length });
  }
  return series.finish();
}

async function insertRest(added: Promise<void>, batch: InsertBatch, { step, from, to }: { step: InsertStep; from: number; to: number }): Promise<void> {
  const { series } = batch;
  await added;
  for (let index = from; index < to && !series.stopped; index++) {
    const next = insertBy(step, batch, index);
    if (next !== undefined) await next;
  }
  const finished = series.finish();
  if (finished !== undefined) await finished;
}

/** Documents of a bulk load; one that is refused ends the transaction, and the load with it. */
async function insertIntoLoad(context: CommandContext, load: CollectionLoad, documents: Documents): Promise<Reply> {
  for (const document of documents) {
    await context.operation.turn();
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
    documents: required(documentListField),
    ordered: strictBoolField,
    atomic: strictBoolField,
    bypassDocumentValidation: boolField,
    collectionUUID: anyField,
  },
  run: (context, { insert: name, documents, ordered, bypassDocumentValidation }) => {
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
    return afterSoon(insertAll(batch, documents), () => outcome.reply(context, { nModified: false }));
  },
});
