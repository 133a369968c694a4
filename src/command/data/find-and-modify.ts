// findAndModify: changes or removes the first document in an order, and answers with it as it was or as it is now.

import { CommandError } from '../../base/errors.ts';
import { Document, type BsonArray, type Value } from '../../bson/index.ts';
import { namespaceOf } from '../../catalog/index.ts';
import { inSlices } from '../../env/index.ts';
import { compileProjection, compileSort, type QueryOptions } from '../../query/index.ts';
import { defineCommand, type Command, type CommandContext, type Reply } from '../command.ts';
import {
  anyField,
  boolField,
  collectionField,
  hintField,
  objectField,
  objectsField,
  updateField,
  type FieldsOf,
} from '../fields.ts';
import { checkCollation, collationFor, queryOptions } from '../query-options.ts';
import { WriteSeries } from '../write-series.ts';
import type { DocumentChange } from './document-change.ts';
import { statementFilter } from './id-filter.ts';
import { checkRetriedFindAndModify, kindOf } from './retry-check.ts';
import { SingleWrite, type SingleResult } from './single-write.ts';
import { compileUpdateChange } from './update-change.ts';

/** What the command says. */
export interface FindAndModifyFields {
  readonly findAndModify: string;
  readonly query?: Document | undefined;
  readonly sort?: Document | undefined;
  readonly remove?: boolean | undefined;
  readonly update?: Document | BsonArray | undefined;
  readonly new?: boolean | undefined;
  readonly fields?: Document | undefined;
  readonly upsert?: boolean | undefined;
  readonly bypassDocumentValidation?: boolean | undefined;
  readonly arrayFilters?: readonly Document[] | undefined;
  readonly hint?: Document | string | undefined;
  readonly collation?: Document | undefined;
  readonly let?: Document | undefined;
  readonly collectionUUID?: Value | undefined;
  readonly sampleId?: Value | undefined;
}

/** How the command is read. */
export const FIND_AND_MODIFY_FIELDS: FieldsOf<FindAndModifyFields> = {
  findAndModify: collectionField,
  query: objectField,
  sort: objectField,
  remove: boolField,
  update: updateField,
  new: boolField,
  fields: objectField,
  upsert: boolField,
  bypassDocumentValidation: boolField,
  arrayFilters: objectsField,
  hint: hintField,
  collation: objectField,
  let: objectField,
  collectionUUID: anyField,
  sampleId: anyField,
};

function failedToParse(text: string): CommandError {
  return new CommandError(9, 'FailedToParse', text);
}

function checkFields(fields: FindAndModifyFields): void {
  if (fields.remove === true) {
    if (fields.update !== undefined) throw failedToParse('Cannot specify both an update and remove=true');
    if (fields.upsert === true) throw failedToParse('Cannot specify both upsert=true and remove=true');
    if (fields.new === true) {
      throw failedToParse("Cannot specify both new=true and remove=true; 'remove' always returns the deleted document");
    }
    return;
  }
  if (fields.update === undefined) throw failedToParse('Either an update or remove=true must be specified');
  if (fields.arrayFilters !== undefined && !(fields.update instanceof Document)) {
    throw failedToParse('Cannot specify arrayFilters and a pipeline update');
  }
}

/** Compiles the command; CommandError where MongoDB refuses it. */
export function compileFindAndModify(context: CommandContext, fields: FindAndModifyFields, options: QueryOptions): DocumentChange {
  checkFields(fields);
  const query = fields.query ?? Document.empty;
  const sort = fields.sort === undefined || fields.sort.isEmpty ? undefined : compileSort(fields.sort, options.collation);
  if (fields.update !== undefined) {
    const statement = { filter: query, update: fields.update, upsert: fields.upsert, arrayFilters: fields.arrayFilters, hint: fields.hint };
    const bypassValidation = fields.bypassDocumentValidation ?? false;
    return { ...compileUpdateChange(context, statement, { options, bypassValidation }), sort };
  }
  return {
    filter: statementFilter(query, options),
    filterDocument: query,
    collation: options.collation,
    sort,
    hint: fields.hint,
    bypassValidation: true,
    apply: () => ({ after: undefined, modified: true }),
  };
}

/** `lastErrorObject` and `value`. */
function describe(result: SingleResult, fields: FindAndModifyFields, project: (document: Document) => Document): Reply {
  const { before, after, upserted } = result;
  const n = before !== undefined || upserted ? 1 : 0;
  const removing = fields.remove === true;
  const lastErrorObject = Document.of({
    n,
    updatedExisting: removing ? undefined : before !== undefined,
    upserted: upserted ? after?.get('_id') : undefined,
  });
  const shown = fields.new === true ? after : before;
  return { lastErrorObject, value: shown === undefined ? null : project(shown) };
}

async function run(context: CommandContext, fields: FindAndModifyFields): Promise<Reply> {
  checkFields(fields);
  checkCollation(fields.collation);
  const earlier = context.retry?.earlier(0);
  if (earlier !== undefined) {
    const reply = checkRetriedFindAndModify(earlier, fields);
    context.server.counters.retriedStatements += 1;
    return { lastErrorObject: reply.get('lastErrorObject'), value: reply.get('value') ?? null, retriedStmtId: 0 };
  }
  const ns = namespaceOf(context.db, fields.findAndModify);
  const series = new WriteSeries(context, ns);
  const inherited = series.collation();
  const options = queryOptions(context, fields.let, collationFor(fields.collation, inherited instanceof Promise ? await inherited : inherited));
  const compiling = inSlices(context.operation, () => {
    const compiled = compileFindAndModify(context, fields, options);
    return { change: compiled, projection: fields.fields === undefined ? undefined : compileProjection(fields.fields, { ...options, filter: compiled.filter }) };
  });
  const { change, projection } = compiling instanceof Promise ? await compiling : compiling;
  let reply: Reply = {};
  let refusal: CommandError | undefined;
  const write = new SingleWrite({
    context,
    series,
    change,
    onResult: (result) => {
      reply = describe(result, fields, (document) => projection?.apply(document) ?? document);
      if (result.before !== undefined || result.upserted) {
        const upserted = result.upserted ? result.after?.get('_id') : undefined;
        context.retry?.done(0, { kind: kindOf(result), n: 1, nModified: result.modified ? 1 : 0, upserted, reply: Document.of(reply), showsAfter: fields.new });
      }
    },
    onError: (error) => {
      refusal = error;
      return false;
    },
    onUndo: () => {
      refusal = undefined;
      context.retry?.undone(0);
    },
  });
  const added = series.add(write);
  if (added !== undefined) await added;
  const finished = series.finish();
  if (finished !== undefined) await finished;
  if (refusal !== undefined) throw refusal;
  return reply;
}

export const findAndModify: Command = defineCommand({
  name: 'findAndModify',
  aliases: ['findandmodify'],
  access: 'write',
  inTransaction: 'yes',
  retryable: true,
  about: 'changes or removes one document and gives it back',
  fields: FIND_AND_MODIFY_FIELDS,
  run: (context, fields) => {
    context.server.counters.operations.command += 1;
    return run(context, fields);
  },
});
