// update: statements in order, each on the first document that matches or on all of them.

import { CommandError } from '../../base/errors.ts';
import { type BsonArray, Document, type Value } from '../../bson/index.ts';
import { afterSoon, namespaceOf, type Soon } from '../../catalog/index.ts';
import { inSlices } from '../../env/index.ts';
import type { QueryOptions } from '../../query/index.ts';
import { defineCommand, type Command, type CommandContext } from '../command.ts';
import {
  anyField,
  boolField,
  collectionField,
  hintField,
  objectField,
  objectsField,
  parseFields,
  updateField,
  required,
  strictBoolField,
  type FieldsOf,
} from '../fields.ts';
import { checkCollation, collationFor, queryOptions } from '../query-options.ts';
import { WriteSeries } from '../write-series.ts';
import type { DocumentChange } from './document-change.ts';
import { changeAll } from './multi-write.ts';
import { checkRetriedUpdate, kindOf } from './retry-check.ts';
import { SingleWrite, type SingleResult } from './single-write.ts';
import { compileUpdateChange } from './update-change.ts';
import { checkBatchSize, parsedOnce, WriteOutcome } from './write-outcome.ts';

/** One statement. */
export interface UpdateStatement {
  readonly q: Document;
  readonly u: Document | BsonArray;
  readonly c?: Document | undefined;
  readonly multi?: boolean | undefined;
  readonly upsert?: boolean | undefined;
  readonly upsertSupplied?: boolean | undefined;
  readonly sort?: Document | undefined;
  readonly arrayFilters?: readonly Document[] | undefined;
  readonly hint?: Document | string | undefined;
  readonly collation?: Document | undefined;
  readonly sampleId?: Value | undefined;
}

/** How one statement is read. */
export const UPDATE_STATEMENT_FIELDS: FieldsOf<UpdateStatement> = {
  q: required(objectField),
  u: required(updateField),
  c: objectField,
  multi: boolField,
  upsert: boolField,
  upsertSupplied: boolField,
  sort: objectField,
  arrayFilters: objectsField,
  hint: hintField,
  collation: objectField,
  sampleId: anyField,
};

/** Things that all statements of one command share. */
export interface UpdateBatch {
  readonly context: CommandContext;
  readonly series: WriteSeries;
  readonly outcome: WriteOutcome;
  readonly ordered: boolean;
  readonly bypassValidation: boolean;
  readonly letFields: Document | undefined;
}

function parseStatement(document: Document): UpdateStatement {
  const statement = parseFields('update.updates', document, UPDATE_STATEMENT_FIELDS);
  checkCollation(statement.collation);
  return statement;
}

function isReplacement(update: Document | BsonArray): boolean {
  return update instanceof Document && update.first?.[0].startsWith('$') !== true;
}

function checkStatement(context: CommandContext, statement: UpdateStatement): void {
  if (statement.c !== undefined && statement.u instanceof Document) {
    throw new CommandError(51198, 'Location51198', 'Constant values may only be specified for pipeline updates');
  }
  if (statement.multi !== true) return;
  if (statement.sort !== undefined) throw new CommandError(9, 'FailedToParse', "Cannot specify sort with multi=true");
  if (isReplacement(statement.u)) throw new CommandError(9, 'FailedToParse', 'multi update is not supported for replacement-style update');
  if (context.retry !== undefined) throw new CommandError(72, 'InvalidOptions', 'Cannot use retryable writes with multi=true');
}

function noteResult(batch: UpdateBatch, index: number, result: SingleResult): void {
  const upserted = result.upserted ? (result.after?.get('_id') ?? null) : undefined;
  const n = result.before !== undefined || result.upserted || result.unread === true ? 1 : 0;
  const nModified = result.modified ? 1 : 0;
  batch.outcome.set(index, { n, nModified, upserted });
  if (n > 0) batch.context.retry?.done(index, { kind: kindOf(result), n, nModified, upserted });
}

/** What a statement is compiled with. */
function optionsOf({ context, series, letFields }: UpdateBatch, statement: UpdateStatement): Soon<QueryOptions> {
  return afterSoon(series.collation(), (collation) => queryOptions(context, mergeLet(letFields, statement.c), collationFor(statement.collation, collation)));
}

function compiled({ context, bypassValidation }: UpdateBatch, statement: UpdateStatement, options: QueryOptions): Soon<DocumentChange> {
  return inSlices(context.operation, () => compileUpdateChange(context, { ...statement, filter: statement.q, update: statement.u }, { options, bypassValidation }));
}

function updateOne(batch: UpdateBatch, index: number, statement: UpdateStatement): Soon<void> {
  return afterSoon(optionsOf(batch, statement), (options) => afterSoon(compiled(batch, statement, options), (change) => updateOneBy(batch, index, change)));
}

function updateOneBy(batch: UpdateBatch, index: number, change: DocumentChange): Soon<void> {
  const { context, series, outcome, ordered } = batch;
  return series.add(
    new SingleWrite({
      context,
      series,
      change,
      index,
      onResult: (result) => {
        noteResult(batch, index, result);
      },
      onError: (error) => {
        outcome.set(index, { n: 0, nModified: 0, error });
        return !ordered;
      },
      onUndo: () => {
        outcome.forget(index);
        context.retry?.undone(index);
      },
    }),
  );
}

async function updateMany(batch: UpdateBatch, index: number, statement: UpdateStatement): Promise<void> {
  const { context, series, outcome } = batch;
  const options = await optionsOf(batch, statement);
  const change = await compiled(batch, statement, options);
  const counts = await changeAll(context, series, change);
  if (counts.matched > 0 || change.upsert === undefined) {
    outcome.set(index, { n: counts.matched, nModified: counts.modified });
    return;
  }
  await updateOne(batch, index, statement);
}

/** The constants of a statement come beside the command's variables. */
function mergeLet(letFields: Document | undefined, constants: Document | undefined): Document | undefined {
  if (constants === undefined) return letFields;
  return Document.fromEntries([...(letFields?.fields ?? []), ...constants.fields]);
}

/** Runs one statement, unless it was done before; true: go on with the next. */
export function runUpdate(batch: UpdateBatch, index: number, statement: UpdateStatement): Soon<boolean> {
  const { context, outcome } = batch;
  const earlier = context.retry?.earlier(index);
  if (earlier !== undefined) {
    checkRetriedUpdate(earlier);
    outcome.set(index, earlier);
    return true;
  }
  try {
    checkStatement(context, statement);
    const done = statement.multi === true ? updateMany(batch, index, statement) : updateOne(batch, index, statement);
    return done === undefined ? !batch.series.stopped : done.then(() => !batch.series.stopped).catch((error: unknown) => refused(batch, index, error));
  } catch (error) {
    return refused(batch, index, error);
  }
}

/** Notes the error of one statement; true: go on with the next. */
export function refused({ outcome, ordered }: Pick<UpdateBatch, 'outcome' | 'ordered'>, index: number, error: unknown): boolean {
  if (!(error instanceof CommandError) || endsCommand(error)) throw error;
  outcome.set(index, { n: 0, nModified: 0, error });
  return !ordered;
}

/** Errors that are not of one statement but of the whole command: its time is over, or it was told to stop. */
export function endsCommand(error: CommandError): boolean {
  return error.code === 50 || error.code === 11600 || error.code === 11601 || error.code === 166;
}

/** What the command says. */
export interface UpdateFields {
  readonly update: string;
  readonly updates: readonly Document[];
  readonly ordered?: boolean | undefined;
  readonly atomic?: boolean | undefined;
  readonly bypassDocumentValidation?: boolean | undefined;
  readonly let?: Document | undefined;
  readonly collectionUUID?: Value | undefined;
  readonly runtimeConstants?: Value | undefined;
  readonly isTimeseriesNamespace?: boolean | undefined;
  readonly fastUpdate?: boolean | undefined;
}

/** How the command is read. */
export const UPDATE_FIELDS: FieldsOf<UpdateFields> = {
  update: collectionField,
  updates: required(objectsField),
  ordered: strictBoolField,
  atomic: strictBoolField,
  bypassDocumentValidation: boolField,
  let: objectField,
  collectionUUID: anyField,
  runtimeConstants: anyField,
  isTimeseriesNamespace: strictBoolField,
  fastUpdate: strictBoolField,
};

export const update: Command = defineCommand({
  name: 'update',
  access: 'write',
  inTransaction: 'yes',
  retryable: true,
  about: 'changes documents that match',
  fields: UPDATE_FIELDS,
  run: async (context, fields) => {
    const ns = namespaceOf(context.db, fields.update);
    checkBatchSize(fields.updates.length);
    context.server.counters.operations.update += fields.updates.length;
    const statements = parsedOnce(fields.updates, parseStatement);
    const batch: UpdateBatch = {
      context,
      series: new WriteSeries(context, ns),
      outcome: new WriteOutcome(),
      ordered: fields.ordered ?? true,
      bypassValidation: fields.bypassDocumentValidation ?? false,
      letFields: fields.let,
    };
    for (const [index, document] of fields.updates.entries()) {
      const goesOn = runUpdate(batch, index, statements[index] ?? parseStatement(document));
      if (!(goesOn instanceof Promise ? await goesOn : goesOn)) break;
    }
    const finished = batch.series.finish();
    if (finished !== undefined) await finished;
    return batch.outcome.reply(context, { nModified: true });
  },
});

