// delete: statements in order, each on the first document that matches (limit 1) or on all of them (limit 0).

import { CommandError } from '../../base/errors.ts';
import type { Document, Value } from '../../bson/index.ts';
import { afterSoon, namespaceOf, type Namespace, type Soon } from '../../catalog/index.ts';
import type { Collation } from '../../collation/index.ts';
import { inSlices } from '../../env/index.ts';
import type { QueryOptions } from '../../query/index.ts';
import { defineCommand, type Command, type CommandContext } from '../command.ts';
import {
  anyField,
  boolField,
  strictBoolField,
  collectionField,
  hintField,
  mappedField,
  numberField,
  objectField,
  objectsField,
  parseFields,
  required,
  type FieldsOf,
} from '../fields.ts';
import { checkCollation, collationFor, queryOptions } from '../query-options.ts';
import { WriteSeries } from '../write-series.ts';
import type { DocumentChange } from './document-change.ts';
import { statementFilter } from './id-filter.ts';
import { changeAll } from './multi-write.ts';
import { removeMatchingRange } from './range-removal.ts';
import { SingleWrite } from './single-write.ts';
import { refused } from './update.ts';
import { checkBatchSize, parsedOnce, WriteOutcome } from './write-outcome.ts';

/** How one statement is read. */
export const DELETE_STATEMENT_FIELDS: FieldsOf<DeleteStatement> = {
  q: required(objectField),
  limit: required(
    mappedField(numberField, (limit) => {
      if (limit === 0 || limit === 1) return limit;
      throw new CommandError(9, 'FailedToParse', `The limit field in delete objects must be 0 or 1. Got ${String(limit)}`);
    }),
  ),
  hint: hintField,
  collation: objectField,
  sampleId: anyField,
};

/** Things that all statements of one command share. */
export interface DeleteBatch {
  readonly ns: Namespace;
  readonly context: CommandContext;
  readonly series: WriteSeries;
  readonly outcome: WriteOutcome;
  readonly ordered: boolean;
  readonly options: QueryOptions;
}

function deleteOne(batch: DeleteBatch, index: number, change: DocumentChange): Soon<void> {
  const { context, series, outcome } = batch;
  return series.add(
    new SingleWrite({
      context,
      series,
      change,
      index,
      onResult: (result) => {
        const n = result.before === undefined ? 0 : 1;
        outcome.set(index, { n, nModified: 0 });
        if (n > 0) context.retry?.done(index, { kind: 'delete', n, nModified: 0 });
      },
      onError: (error) => {
        outcome.set(index, { n: 0, nModified: 0, error });
        return !batch.ordered;
      },
      onUndo: () => {
        outcome.forget(index);
        context.retry?.undone(index);
      },
    }),
  );
}

/** Removes everything that matches: at once where that is one range, else one by one. */
async function deleteAll({ context, series, ns }: DeleteBatch, change: DocumentChange): Promise<number> {
  if (change.hint === undefined) {
    // What came before it in the command is committed before it.
    await series.finish();
    const removed = await removeMatchingRange(context, ns, change.filter);
    if (removed !== undefined) return removed;
  }
  return (await changeAll(context, series, change)).matched;
}

/** One statement. */
export interface DeleteStatement {
  readonly q: Document;
  /** 1: the first document that matches; 0: all. */
  readonly limit: number;
  readonly hint?: Document | string | undefined;
  readonly collation?: Document | undefined;
  readonly sampleId?: Value | undefined;
}

/** Compiles a statement; the options hold the collation that it is under. */
export function compileDeleteChange({ q, hint }: DeleteStatement, options: QueryOptions): DocumentChange {
  return {
    filter: statementFilter(q, options),
    filterDocument: q,
    collation: options.collation,
    hint,
    bypassValidation: true,
    apply: () => ({ after: undefined, modified: true }),
  };
}

function parseStatement(document: Document): DeleteStatement {
  const statement = parseFields('delete.deletes', document, DELETE_STATEMENT_FIELDS);
  checkCollation(statement.collation);
  return statement;
}

/** Runs one statement, unless it was done before; true: go on with the next. */
export function runDelete(batch: DeleteBatch, index: number, statement: DeleteStatement): Soon<boolean> {
  const { context, series, outcome } = batch;
  const earlier = context.retry?.earlier(index);
  if (earlier !== undefined) {
    outcome.set(index, { n: earlier.n, nModified: 0 });
    return true;
  }
  try {
    if (statement.limit === 0 && context.retry !== undefined) {
      throw new CommandError(72, 'InvalidOptions', 'Cannot use retryable writes with limit=0');
    }
    const done = afterSoon(series.collation(), (collation) => deleteMatching(batch, index, statement, collationFor(statement.collation, collation)));
    return done === undefined ? !series.stopped : done.then(() => !series.stopped).catch((error: unknown) => refused(batch, index, error));
  } catch (error) {
    return refused(batch, index, error);
  }
}

function deleteMatching(batch: DeleteBatch, index: number, { q, limit, hint }: DeleteStatement, collation: Collation | undefined): Soon<void> {
  const compiling = inSlices(batch.context.operation, () => compileDeleteChange({ q, limit, hint }, { ...batch.options, collation }));
  return afterSoon(compiling, (change) => {
    if (limit === 1) return deleteOne(batch, index, change);
    return deleteAll(batch, change).then((n) => {
      batch.outcome.set(index, { n, nModified: 0 });
    });
  });
}

/** What the command says. */
export interface DeleteFields {
  readonly delete: string;
  readonly deletes: readonly Document[];
  readonly ordered?: boolean | undefined;
  readonly atomic?: boolean | undefined;
  readonly let?: Document | undefined;
  readonly bypassDocumentValidation?: boolean | undefined;
  readonly collectionUUID?: Value | undefined;
}

/** How the command is read. */
export const DELETE_FIELDS: FieldsOf<DeleteFields> = {
  delete: collectionField,
  deletes: required(objectsField),
  ordered: strictBoolField,
  atomic: strictBoolField,
  let: objectField,
  bypassDocumentValidation: boolField,
  collectionUUID: anyField,
};

export const deleteCommand: Command = defineCommand({
  name: 'delete',
  access: 'write',
  inTransaction: 'yes',
  retryable: true,
  about: 'removes documents that match',
  fields: DELETE_FIELDS,
  run: async (context, fields) => {
    const ns = namespaceOf(context.db, fields.delete);
    checkBatchSize(fields.deletes.length);
    context.server.counters.operations.delete += fields.deletes.length;
    const statements = parsedOnce(fields.deletes, parseStatement);
    const batch: DeleteBatch = {
      context,
      ns,
      series: new WriteSeries(context, ns),
      outcome: new WriteOutcome(),
      ordered: fields.ordered ?? true,
      options: queryOptions(context, fields.let),
    };
    for (const [index, document] of fields.deletes.entries()) {
      const goesOn = runDelete(batch, index, statements[index] ?? parseStatement(document));
      if (!(goesOn instanceof Promise ? await goesOn : goesOn)) break;
    }
    const finished = batch.series.finish();
    if (finished !== undefined) await finished;
    return batch.outcome.reply(context, { nModified: false });
  },
});
