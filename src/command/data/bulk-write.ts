// bulkWrite: inserts, updates and deletes on several collections, in order or not, in one command (manual: "bulkWrite"). Each operation is
// one statement as in the commands of its name; a run of operations on one collection is one series of engine transactions. What became of
// each comes back through a cursor.

import { CommandError } from '../../base/errors.ts';
import { Document, Double, type Value } from '../../bson/index.ts';
import type { Namespace } from '../../catalog/index.ts';
import { sourceOf } from '../../session/index.ts';
import { checkCollectionUuid } from '../collection-uuid.ts';
import { defineCommand, type Command, type CommandContext, type Reply } from '../command.ts';
import { replyWithCursor } from '../cursor-reply.ts';
import { boolField, boundedField, anyField, objectField, objectsField, parseFields, required, strictBoolField, type FieldTable, type Parsed } from '../fields.ts';
import { detailFields } from '../translate-error.ts';
import { queryOptions } from '../query-options.ts';
import { WriteSeries } from '../write-series.ts';
import { readOperations, readTargets, type BulkOperation, type BulkTarget } from './bulk-write-ops.ts';
import { runDelete } from './delete.ts';
import { insertOne } from './insert.ts';
import { endsCommand, runUpdate } from './update.ts';
import { checkBatchSize, WriteOutcome, type StatementOutcome } from './write-outcome.ts';

const FIELDS = {
  bulkWrite: anyField,
  ops: required(objectsField),
  nsInfo: required(objectsField),
  ordered: strictBoolField,
  errorsOnly: strictBoolField,
  bypassDocumentValidation: boolField,
  let: objectField,
  cursor: objectField,
  bypassEmptyTsReplacement: boolField,
} satisfies FieldTable;

const CURSOR_FIELDS = { batchSize: boundedField(0) } satisfies FieldTable;

const CURSOR_NAMESPACE = 'admin.$cmd.bulkWrite';

/** The operations of one command on their way. */
class BulkRun {
  readonly outcome: WriteOutcome = new WriteOutcome();
  readonly #context: CommandContext;
  readonly #fields: Parsed<typeof FIELDS>;
  readonly #targets: readonly BulkTarget[];
  readonly #refused: Map<number, CommandError> = new Map();
  #series: { readonly target: number; readonly writes: WriteSeries } | undefined;

  constructor(context: CommandContext, fields: Parsed<typeof FIELDS>, targets: readonly BulkTarget[]) {
    this.#context = context;
    this.#fields = fields;
    this.#targets = targets;
  }

  async run(operations: readonly BulkOperation[]): Promise<void> {
    await this.#checkTargets();
    for (const [index, operation] of operations.entries()) {
      if (!(await this.#one(index, operation)) && this.#ordered) break;
    }
    await this.#series?.writes.finish();
  }

  get #ordered(): boolean {
    return this.#fields.ordered ?? true;
  }

  /** Notes which namespaces are not the collections that the client believes. */
  async #checkTargets(): Promise<void> {
    for (const [target, { ns, uuid }] of this.#targets.entries()) {
      if (uuid === undefined) continue;
      try {
        await checkCollectionUuid(this.#context, ns, uuid);
      } catch (error) {
        if (!(error instanceof CommandError)) throw error;
        this.#refused.set(target, error);
      }
    }
  }

  /** The series of a namespace. Another one's is finished first: two open at a time would wait for each other's locks. */
  async #seriesOf(target: number): Promise<WriteSeries> {
    if (this.#series?.target === target) return this.#series.writes;
    await this.#series?.writes.finish();
    const writes = new WriteSeries(this.#context, this.#namespace(target));
    this.#series = { target, writes };
    return writes;
  }

  #namespace(target: number): Namespace {
    return (this.#targets[target] as BulkTarget).ns;
  }

  /** Runs one operation; false: it failed. */
  async #one(index: number, operation: BulkOperation): Promise<boolean> {
    const { outcome } = this;
    try {
      const refusal = this.#refused.get(operation.target);
      if (refusal !== undefined) throw refusal;
      await this.#dispatch(index, operation, await this.#seriesOf(operation.target));
    } catch (error) {
      if (!(error instanceof CommandError) || (endsCommand(error) && error.code !== 166)) throw error;
      outcome.set(index, { n: 0, nModified: 0, error });
    }
    return outcome.of(index).error === undefined;
  }

  /** Whether to go on is asked of the outcome, so each statement runs as one of an unordered command. */
  async #dispatch(index: number, operation: BulkOperation, series: WriteSeries): Promise<void> {
    const context = this.#context;
    const { outcome } = this;
    const { operations } = context.server.counters;
    const bypassValidation = this.#fields.bypassDocumentValidation ?? false;
    operations[operation.kind] += 1;
    const shared = { context, series, outcome, ordered: false };
    if (operation.kind === 'insert') await insertOne({ ...shared, bypassValidation }, index, operation.document);
    else if (operation.kind === 'update') await runUpdate({ ...shared, bypassValidation, letFields: this.#fields.let }, index, operation.statement);
    else await runDelete({ ...shared, ns: this.#namespace(operation.target), options: queryOptions(context, this.#fields.let) }, index, operation.statement);
  }
}

/** The counts of the reply. */
interface Totals {
  nErrors: number;
  nInserted: number;
  nMatched: number;
  nModified: number;
  nUpserted: number;
  nDeleted: number;
}

function add(totals: Totals, { kind }: BulkOperation, { n, nModified, upserted, error }: StatementOutcome): void {
  if (error !== undefined) totals.nErrors += 1;
  else if (kind === 'insert') totals.nInserted += n;
  else if (kind === 'delete') totals.nDeleted += n;
  else if (upserted !== undefined) totals.nUpserted += 1;
  else {
    totals.nMatched += n;
    totals.nModified += nModified;
  }
}

/** What the cursor tells of one operation. */
function describe(index: number, { kind }: BulkOperation, { n, nModified, upserted, error }: StatementOutcome): Document {
  const fields: [string, Value][] = [['ok', new Double(error === undefined ? 1 : 0)], ['idx', index]];
  if (error !== undefined) fields.push(['code', error.code], ['errmsg', error.message], ...detailFields(error));
  fields.push(['n', n]);
  if (kind === 'update') fields.push(['nModified', nModified]);
  if (upserted !== undefined) fields.push(['upserted', Document.of({ _id: upserted })]);
  return Document.fromEntries(fields);
}

/** In a multi-statement transaction all namespaces must be of databases that may be part of one. */
function checkDatabases(context: CommandContext, targets: readonly BulkTarget[]): void {
  if (context.transaction === undefined) return;
  const barred = targets.find(({ ns: { db } }) => db === 'local' || db === 'config' || db === 'admin');
  if (barred === undefined) return;
  throw new CommandError(263, 'OperationNotSupportedInTransaction', `Cannot run command against the '${barred.ns.db}' database in a transaction.`);
}

async function run(context: CommandContext, fields: Parsed<typeof FIELDS>): Promise<Reply> {
  checkBatchSize(fields.ops.length);
  const targets = readTargets(fields.nsInfo);
  const operations = readOperations(fields.ops, targets.length);
  checkDatabases(context, targets);
  const cursor = fields.cursor === undefined ? undefined : parseFields('bulkWrite.cursor', fields.cursor, CURSOR_FIELDS);
  const bulk = new BulkRun(context, fields, targets);
  await bulk.run(operations);
  bulk.outcome.settle(context);
  if (context.generic.writeConcern?.w === 0) return {};
  const totals: Totals = { nErrors: 0, nInserted: 0, nMatched: 0, nModified: 0, nUpserted: 0, nDeleted: 0 };
  const results: Document[] = [];
  bulk.outcome.each((index, outcome) => {
    const operation = operations[index] as BulkOperation;
    add(totals, operation, outcome);
    if (fields.errorsOnly !== true || outcome.error !== undefined) results.push(describe(index, operation, outcome));
  });
  const request = { namespace: CURSOR_NAMESPACE, batchSize: cursor?.batchSize ?? Number.POSITIVE_INFINITY };
  const reply = await replyWithCursor(context, sourceOf(results), request);
  return { ...reply, ...totals, retriedStmtIds: bulk.outcome.retriedIds(context) };
}

export const bulkWrite: Command = defineCommand({
  name: 'bulkWrite',
  access: 'write',
  adminOnly: true,
  inTransaction: 'yes',
  retryable: true,
  about: 'inserts, updates and deletes on several collections',
  fields: FIELDS,
  run,
});
