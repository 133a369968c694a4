// explain for writes: how the documents to change would be found, and from executionStats on how many would be changed. Nothing is changed.
// Follows the manual's page "Explain Results".

import { CommandError } from '../../base/errors.ts';
import { Document, type Value } from '../../bson/index.ts';
import { namespaceOf } from '../../catalog/index.ts';
import { planQuery, type ExplainVerbosity, type OuterStage, type QueryRequest } from '../../plan/index.ts';
import { sourceOf } from '../../session/index.ts';
import type { CommandContext } from '../command.ts';
import { parseFields, type FieldTable, type Parsed } from '../fields.ts';
import { watched } from '../plan-watch.ts';
import { collationFor, queryOptions } from '../query-options.ts';
import { resolveTarget, type ResolvedTarget } from '../query-target.ts';
import { reading } from '../storage-scope.ts';
import { compileDeleteChange, DELETE_FIELDS, DELETE_STATEMENT_FIELDS } from './delete.ts';
import type { DocumentChange } from './document-change.ts';
import { serverInfo } from './explain-reply.ts';
import { compileFindAndModify, FIND_AND_MODIFY_FIELDS } from './find-and-modify.ts';
import { UPDATE_FIELDS, UPDATE_STATEMENT_FIELDS } from './update.ts';
import { compileUpdateChange } from './update-change.ts';

/** A write that is explained. */
interface ExplainedWrite {
  readonly collection: string;
  readonly isDelete: boolean;
  /** Whether only the first document is changed. */
  readonly single: boolean;
  /** How many documents the command gives back; undefined: as many as it finds. */
  readonly returned: number | undefined;
  readonly compile: (target: ResolvedTarget) => DocumentChange;
}

function requestOf(change: DocumentChange, single: boolean): QueryRequest {
  const { filter, collation, sort, hint, filterDocument } = change;
  return { purpose: 'keyed', filter, collation, sort, hint, given: { filter: filterDocument }, limit: single ? 1 : undefined };
}

interface Counts {
  readonly matched: number;
  readonly modified: number;
  readonly upserted: number;
}

function countsShown({ matched, modified, upserted }: Counts, isDelete: boolean): [string, Value][] {
  if (isDelete) return [['nWouldDelete', matched]];
  return [['nMatched', matched], ['nWouldModify', modified], ['nWouldUpsert', upserted]];
}

async function explainWrite(context: CommandContext, write: ExplainedWrite, verbosity: ExplainVerbosity): Promise<Document> {
  return reading(context, async (txn) => {
    const target = await resolveTarget(context, txn, namespaceOf(context.db, write.collection));
    if (target.isView) throw new CommandError(166, 'CommandNotSupportedOnView', `Namespace ${target.asked.text} is a view, not a collection`);
    const change = write.compile(target);
    const plan = await planQuery({ txn, ns: target.ns, collection: target.collection, watch: watched(context, target.ns.text) }, requestOf(change, write.single), context.operation);
    const counts = { matched: 0, modified: 0, upserted: 0 };
    if (verbosity !== 'queryPlanner') {
      const found = target.collection === undefined ? sourceOf([]) : plan.open();
      try {
        for (let batch = await found.next(context.operation); batch !== undefined; batch = await found.next(context.operation)) {
          counts.matched += batch.length;
          if (!write.isDelete) counts.modified += batch.filter((document) => change.apply(document).modified).length;
        }
      } finally {
        found.close();
      }
      if (counts.matched === 0 && change.upsert !== undefined) counts.upserted = 1;
    }
    const outer: OuterStage = { name: write.isDelete ? 'DELETE' : 'UPDATE', details: [], counts: countsShown(counts, write.isDelete), ...(write.returned === undefined ? {} : { returned: write.returned }) };
    return Document.fromEntries([...(await plan.explain(context.operation, verbosity, outer)), ...serverInfo(context)]);
  });
}

/** The one statement of a command that takes several. */
function onlyStatement<F extends FieldTable>(owner: string, statements: readonly Document[], fields: F): Parsed<F> {
  const [only] = statements;
  if (only === undefined || statements.length > 1) throw new CommandError(72, 'InvalidOptions', 'explained write batches must be of size 1');
  return parseFields(owner, only, fields);
}

type WriteExplainer = (context: CommandContext, body: Document, verbosity: ExplainVerbosity) => Promise<Document>;

export const explainUpdate: WriteExplainer = (context, body, verbosity) => {
  const fields = parseFields('update', body, UPDATE_FIELDS, 'generic');
  const statement = onlyStatement('update.updates', fields.updates, UPDATE_STATEMENT_FIELDS);
  const compile = (target: ResolvedTarget): DocumentChange => {
    const constants = [...(fields.let?.fields ?? []), ...(statement.c?.fields ?? [])];
    const options = queryOptions(context, Document.fromEntries(constants), collationFor(statement.collation, target.collation));
    return compileUpdateChange(context, { ...statement, filter: statement.q, update: statement.u }, { options, bypassValidation: true });
  };
  return explainWrite(context, { collection: fields.update, isDelete: false, single: statement.multi !== true, returned: 0, compile }, verbosity);
};

export const explainDelete: WriteExplainer = (context, body, verbosity) => {
  const fields = parseFields('delete', body, DELETE_FIELDS, 'generic');
  const statement = onlyStatement('delete.deletes', fields.deletes, DELETE_STATEMENT_FIELDS);
  const compile = (target: ResolvedTarget): DocumentChange => compileDeleteChange(statement, queryOptions(context, fields.let, collationFor(statement.collation, target.collation)));
  return explainWrite(context, { collection: fields.delete, isDelete: true, single: statement.limit === 1, returned: 0, compile }, verbosity);
};

export const explainFindAndModify: WriteExplainer = (context, body, verbosity) => {
  const renamed = Document.fromEntries(body.fields.map(([name, value]) => [name === 'findandmodify' ? 'findAndModify' : name, value]));
  const fields = parseFields('findAndModify', renamed, FIND_AND_MODIFY_FIELDS, 'generic');
  const compile = (target: ResolvedTarget): DocumentChange => compileFindAndModify(context, fields, queryOptions(context, fields.let, collationFor(fields.collation, target.collation)));
  return explainWrite(context, { collection: fields.findAndModify, isDelete: fields.remove === true, single: true, returned: undefined, compile }, verbosity);
};
