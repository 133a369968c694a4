// A statement of update or findAndModify made into the change of one document.

import { Document, type BsonArray, type Value } from '../../bson/index.ts';
import { shapeOfUpdate, type ChangeShape } from '../../catalog/index.ts';
import { compileSort, compileUpdate, type QueryOptions, type Update } from '../../query/index.ts';
import type { CommandContext } from '../command.ts';
import { checkTimeSeriesUpdate } from './time-series-update.ts';
import type { DocumentChange } from './document-change.ts';
import { statementFilter } from './id-filter.ts';

/** The parts of a statement that say what to change and how. */
export interface ChangeStatement {
  readonly filter: Document;
  readonly update: Document | BsonArray;
  readonly upsert?: boolean | undefined;
  readonly multi?: boolean | undefined;
  readonly arrayFilters?: readonly Document[] | undefined;
  readonly hint?: Value | undefined;
  /** Which of the documents that match is the first. */
  readonly sort?: Document | undefined;
}

/** Compiles a statement; CommandError where MongoDB refuses it. */
export function compileUpdateChange(
  context: CommandContext,
  statement: ChangeStatement,
  { options, bypassValidation }: { options: QueryOptions; bypassValidation: boolean },
): DocumentChange {
  const { server } = context;
  const filter = statementFilter(statement.filter, options);
  const update = compileUpdate(statement.update, { ...options, arrayFilters: statement.arrayFilters ?? [] });
  const surroundings = { now: options.now, timestamp: server.time.clusterTime };
  return {
    filter,
    filterDocument: statement.filter,
    collation: options.collation,
    hint: statement.hint,
    sort: statement.sort === undefined || statement.sort.isEmpty ? undefined : compileSort(statement.sort),
    bypassValidation,
    checkTimeSeries: (series) => {
      checkTimeSeriesUpdate(statement, series);
    },
    shape: server.catalog.oplog.isOn ? shapeOf(statement.update, update.kind) : undefined,
    apply: (before) => {
      const position = update.needsPosition ? filter.place(before) : undefined;
      const { doc, modified } = update.apply(before, { ...surroundings, position });
      // A replacement counts as a modification even when it says what was there.
      return { after: doc, modified: modified || update.kind === 'replacement' };
    },
    fast: isFastStatement(context, statement) && statement.update instanceof Document && update.kind === 'operators' && !update.needsPosition ? statement.update : undefined,
    upsert: statement.upsert === true ? () => update.forUpsert(filter, { ...surroundings, newId: () => server.ids.next() }) : undefined,
  };
}

/** Whether the statement asks, by itself or by the server's parameter, for an update without a read, and says nothing that would need one. */
function isFastStatement({ request, server }: CommandContext, { filter, upsert, multi, sort, hint, arrayFilters }: ChangeStatement): boolean {
  const asked = request.body.get('fastUpdate') ?? server.parameters.get('fastUpdates');
  if (asked !== true || upsert === true || multi === true || sort !== undefined || hint !== undefined || (arrayFilters?.length ?? 0) > 0) return false;
  return filter.keys().join() === '_id';
}

function shapeOf(update: Document | BsonArray, kind: Update['kind']): ChangeShape | 'replacement' | undefined {
  if (kind === 'replacement') return 'replacement';
  return kind === 'operators' && update instanceof Document ? shapeOfUpdate(update) : undefined;
}
