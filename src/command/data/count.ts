// count and distinct. A count of everything is the total that travels with every commit.

import { BsonArray, collated, Document, encodeKey, isNumber, parsePath, visitPath, type Path, type TextOrder, type Value } from '../../bson/index.ts';
import { namespaceOf, type CatalogTransaction, type Namespace } from '../../catalog/index.ts';
import { inSlices } from '../../env/index.ts';
import { CommandError } from '../../base/errors.ts';
import { distinctValues, planQuery, type QueryRequest } from '../../plan/index.ts';
import { compileFilter } from '../../query/index.ts';
import type { BatchSource } from '../../session/index.ts';
import { defineCommand, type Command, type CommandContext } from '../command.ts';
import { watched } from '../plan-watch.ts';
import { anyField, boundedField, collectionField, hintField, objectField, required, stringField, type Field, type FieldsOf } from '../fields.ts';
import { isInt64, isIntegral, toInt64Truncated } from '../number-fields.ts';
import { applySettings } from '../query-settings/apply.ts';
import { checkCollation, queryOptions, targetCollation } from '../query-options.ts';
import { resolveTarget, type ResolvedTarget } from '../query-target.ts';
import { beginRead, reading } from '../storage-scope.ts';
import { openPipeline } from './pipeline-run.ts';

/** What a count says. */
export interface CountFields {
  readonly count: string;
  readonly query?: Document | undefined;
  readonly limit?: number | undefined;
  readonly skip?: number | undefined;
  readonly hint?: Document | string | undefined;
  readonly collation?: Document | undefined;
  readonly fields?: Value | undefined;
}

/** A whole number that int64 holds; anything else is a bad value and not a wrong type. */
const limitField: Field<number> = {
  types: ['number'],
  required: false,
  nullIsWrong: true,
  read: (value) => {
    if (isNumber(value) && !(isIntegral(value) && isInt64(value))) throw new CommandError(9, 'FailedToParse', "Failed to parse: limit: Expected an integer that 64 bits hold");
    if (isNumber(value) && value !== -(2n ** 63n)) return Number(toInt64Truncated(value));
    throw new CommandError(2, 'BadValue', "BSON field 'limit' must be an integer that 64 bits hold");
  },
};

/** How they are read. */
export const COUNT_FIELDS: FieldsOf<CountFields> = {
  count: collectionField,
  query: objectField,
  limit: limitField,
  skip: boundedField(0),
  hint: { ...hintField, nullIsWrong: true },
  collation: objectField,
  fields: anyField,
};

/** What a distinct says. */
export interface DistinctFields {
  readonly distinct: string;
  readonly key: string;
  readonly query?: Document | undefined;
  readonly hint?: Document | string | undefined;
  readonly collation?: Document | undefined;
  readonly unwindKey?: Value | undefined;
}

/** How they are read. */
export const DISTINCT_FIELDS: FieldsOf<DistinctFields> = {
  distinct: collectionField,
  key: required(stringField),
  query: objectField,
  hint: { ...hintField, nullIsWrong: true },
  collation: objectField,
  unwindKey: anyField,
};

async function drain(context: CommandContext, source: BatchSource, take: (batch: readonly Document[]) => void): Promise<void> {
  try {
    for (;;) {
      const batch = await source.next(context.operation);
      if (batch === undefined) return;
      take(batch);
      await context.operation.turn();
    }
  } finally {
    source.close();
  }
}

/** The request behind a count. */
export function countRequest(context: CommandContext, fields: CountFields, target: ResolvedTarget): QueryRequest {
  const limit = Math.abs(fields.limit ?? 0);
  const collation = targetCollation(fields.collation, target);
  return {
    filter: compileFilter(fields.query ?? Document.empty, { ...queryOptions(context, undefined, collation), timeless: true }),
    collation,
    given: { filter: fields.query ?? Document.empty },
    skip: fields.skip,
    limit: limit === 0 ? undefined : limit,
    hint: fields.hint,
    purpose: 'count',
  };
}

function within(total: number, fields: CountFields): number {
  const limit = Math.abs(fields.limit ?? 0);
  const left = Math.max(0, total - (fields.skip ?? 0));
  return limit === 0 ? left : Math.min(left, limit);
}

async function countView(
  context: CommandContext,
  fields: CountFields,
  { txn, target }: { txn: CatalogTransaction; target: ResolvedTarget },
): Promise<number> {
  const stages = fields.query === undefined ? [] : [Document.fromEntries([['$match', fields.query]])];
  const scope = { txn, end: () => undefined };
  const source = await openPipeline(context, BsonArray.of(stages), { scope, target, options: queryOptions(context, undefined, targetCollation(fields.collation, target)), hint: fields.hint });
  let total = 0;
  await drain(context, source, (batch) => {
    total += batch.length;
  });
  return within(total, fields);
}

async function countIn(context: CommandContext, fields: CountFields, ns: Namespace): Promise<number> {
  return reading(context, async (txn) => {
    const target = await resolveTarget(context, txn, ns);
    if (target.isView) return countView(context, fields, { txn, target });
    const { collection } = target;
    const everything = fields.query === undefined || fields.query.isEmpty;
    if (everything && fields.hint === undefined) return within(collection?.totals(txn).rows ?? 0, fields);
    const request = await inSlices(context.operation, () => countRequest(context, fields, target));
    const plan = await planQuery({ txn, ns, collection, watch: watched(context, ns.text) }, request, context.operation);
    return plan.count(context.operation);
  });
}

const count: Command = defineCommand({
  name: 'count',
  access: 'read',
  readConcern: 'without-snapshot',
  about: 'how many documents match',
  fields: COUNT_FIELDS,
  run: async (context, fields) => {
    context.server.counters.operations.command += 1;
    checkCollation(fields.collation);
    const n = await countIn(context, fields, namespaceOf(context.db, fields.count));
    return { n: n <= 0x7fffffff ? n : BigInt(n) };
  },
});

/** Values met, each once: numbers that are equal are one value, whatever their types. */
class DistinctValues {
  readonly #seen: Map<string, Value> = new Map();
  /** One character a byte. */
  readonly #text = new TextDecoder('latin1');
  readonly #order: TextOrder | undefined;
  #bytes = 0;

  constructor(order: TextOrder | undefined) {
    this.#order = order;
  }

  add(value: Value): void {
    const key = this.#text.decode(encodeKey([collated(value, this.#order)], [1]));
    if (this.#seen.has(key)) return;
    this.#seen.set(key, value);
    this.#bytes += key.length;
    if (this.#bytes > 16 * 1024 * 1024) throw new CommandError(17217, 'Location17217', 'distinct too big, 16mb cap');
  }

  found(): readonly Value[] {
    return [...this.#seen.values()];
  }
}

const distinct: Command = defineCommand({
  name: 'distinct',
  access: 'read',
  readConcern: 'all',
  inTransaction: 'yes',
  about: 'the different values of a field',
  fields: DISTINCT_FIELDS,
  run: async (context, fields) => {
    context.server.counters.operations.command += 1;
    checkCollation(fields.collation);
    applySettings(context);
    if (fields.key.includes('\0')) throw new CommandError(31032, 'Location31032', "The field name 'key' must not contain null bytes");
    const scope = beginRead(context);
    try {
      const values = await distinctIn(context, fields, scope.txn);
      return { values: BsonArray.of(values), atClusterTime: scope.atClusterTime };
    } finally {
      scope.end();
    }
  },
});

async function distinctIn(context: CommandContext, fields: DistinctFields, txn: CatalogTransaction): Promise<readonly Value[]> {
  const ns = namespaceOf(context.db, fields.distinct);
  const target = await resolveTarget(context, txn, ns);
  if (target.isView) return distinctOfView(context, fields, { txn, target });
  const collation = targetCollation(fields.collation, target);
  const filter = await inSlices(context.operation, () => compileFilter(fields.query ?? Document.empty, { ...queryOptions(context, undefined, collation), timeless: true }));
  const request = { field: fields.key, filter, collation, hint: fields.hint };
  return distinctValues({ txn, ns, collection: target.collection, watch: watched(context, ns.text) }, request, context.operation);
}

async function distinctOfView(
  context: CommandContext,
  fields: DistinctFields,
  { txn, target }: { txn: CatalogTransaction; target: ResolvedTarget },
): Promise<readonly Value[]> {
  const collation = targetCollation(fields.collation, target);
  const values = new DistinctValues(collation);
  const path = parsePath(fields.key);
  const stages = fields.query === undefined ? [] : [Document.fromEntries([['$match', fields.query]])];
  const scope = { txn, end: () => undefined };
  const source = await openPipeline(context, BsonArray.of(stages), { scope, target, options: queryOptions(context, undefined, collation) });
  await drain(context, source, (batch) => {
    for (const document of batch) collect(document, path, values);
  });
  return values.found();
}

function collect(document: Document, path: Path, values: DistinctValues): void {
  visitPath(document, path, (value) => {
    if (value instanceof BsonArray) for (const item of value.items()) values.add(item);
    else if (value !== undefined) values.add(value);
    return false;
  });
}

export const COUNT_COMMANDS: readonly Command[] = [count, distinct];
