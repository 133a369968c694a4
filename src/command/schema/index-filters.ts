// planCacheSetFilter, planCacheListFilters, planCacheClearFilters and planCacheClear.

import { CommandError } from '../../base/errors.ts';
import { BsonArray, Document, type Value } from '../../bson/index.ts';
import { namespaceOf, type Namespace } from '../../catalog/index.ts';
import { parseCollation } from '../../collation/index.ts';
import { compileFilter } from '../../query/index.ts';
import { defineCommand, type Command, type CommandContext } from '../command.ts';
import { anyField, collectionField } from '../fields.ts';
import { shapeText, type IndexFilter } from '../monitor/index-filters.ts';
import { queryOptions } from '../query-options.ts';
import { reading } from '../storage-scope.ts';

const SHAPE_FIELDS = { query: anyField, sort: anyField, projection: anyField, collation: anyField, indexes: anyField };

function badValue(text: string): CommandError {
  return new CommandError(2, 'BadValue', text);
}

/** A document that is part of a shape; an array counts as the document of its places. */
function documentIn(value: Value | undefined, name: string): Document {
  if (value === undefined) return Document.empty;
  if (value instanceof Document) return value;
  if (value instanceof BsonArray) return Document.fromEntries(value.items().map((item, at) => [String(at), item]));
  throw badValue(`optional field ${name} must be an object`);
}

interface SaidShape {
  readonly query?: Value | undefined;
  readonly sort?: Value | undefined;
  readonly projection?: Value | undefined;
  readonly collation?: Value | undefined;
}

interface Shape extends Omit<IndexFilter, 'indexes'> {
  readonly text: string;
}

/** The shape that a command names. */
function shapeOf(context: CommandContext, said: SaidShape): Shape {
  if (said.query === undefined || said.query === null) throw badValue('required field query missing');
  const query = documentIn(said.query, 'query');
  const sort = documentIn(said.sort, 'sort');
  const projection = documentIn(said.projection, 'projection');
  const given = said.collation === undefined ? undefined : documentIn(said.collation, 'collation');
  if (given?.isEmpty === true) throw badValue('optional field collation cannot be empty');
  const collation = given === undefined ? undefined : parseCollation(given);
  try {
    const filter = compileFilter(query, queryOptions(context, undefined, collation));
    return { query, sort, projection, collation: given, text: shapeText({ filter, sort, projection, collation }) };
  } catch (cause) {
    if (!(cause instanceof CommandError)) throw cause;
    throw new CommandError(2, 'BadValue', cause.message, { cause });
  }
}

function indexesIn(value: Value | undefined): readonly Value[] {
  if (value === undefined) throw badValue('required field indexes missing');
  if (!(value instanceof BsonArray)) throw badValue('required field indexes must be an array');
  if (value.isEmpty) throw badValue('required field indexes must contain at least one index');
  for (const index of value.items()) {
    if (typeof index === 'string') continue;
    if (!(index instanceof Document)) throw badValue('each item in indexes must be an object or a string');
    if (index.isEmpty) throw badValue('index specification cannot be empty');
  }
  return value.items();
}

/** Whether the collection is there; a view is 166, and so is a time series. */
async function exists(context: CommandContext, ns: Namespace): Promise<boolean> {
  return reading(context, async (txn) => {
    const collection = await context.server.catalog.collection(txn, ns);
    if (collection?.options.timeSeries !== undefined) throw new CommandError(166, 'CommandNotSupportedOnView', `${ns.text} is a time series`);
    return collection !== undefined;
  });
}

const planCacheSetFilter: Command = defineCommand({
  name: 'planCacheSetFilter',
  access: 'write',
  writeConcern: false,
  about: 'the indexes that queries of a shape may use',
  fields: { planCacheSetFilter: collectionField, ...SHAPE_FIELDS },
  lax: true,
  run: async (context, { planCacheSetFilter: name, ...said }) => {
    const ns = namespaceOf(context.db, name);
    if (!(await exists(context, ns))) throw badValue(`no such collection ${ns.text}`);
    const { text, ...shape } = shapeOf(context, said);
    context.server.indexFilters.set(ns.text, text, { ...shape, indexes: indexesIn(said.indexes) });
    context.server.monitor.plans.clear(ns.text, text);
    return {};
  },
});

const planCacheListFilters: Command = defineCommand({
  name: 'planCacheListFilters',
  access: 'read',
  about: 'the index filters of a collection',
  fields: { planCacheListFilters: collectionField },
  lax: true,
  run: async (context, { planCacheListFilters: name }) => {
    const ns = namespaceOf(context.db, name);
    await exists(context, ns);
    const rows = context.server.indexFilters.list(ns.text).map(({ query, sort, projection, collation, indexes }) =>
      Document.of({ query, sort, projection, collation, indexes: BsonArray.of([...indexes]) }),
    );
    return { filters: BsonArray.of(rows) };
  },
});

/** Refuses what belongs to a shape but comes without its query. */
function checkAlone(said: SaidShape): void {
  const extra = [said.sort, said.projection, said.collation].some((value) => value !== undefined);
  if (extra) throw badValue('sort, projection or collation provided without query');
}

const planCacheClearFilters: Command = defineCommand({
  name: 'planCacheClearFilters',
  access: 'write',
  writeConcern: false,
  about: 'removes index filters',
  fields: { planCacheClearFilters: collectionField, ...SHAPE_FIELDS },
  lax: true,
  run: async (context, { planCacheClearFilters: name, ...said }) => {
    const ns = namespaceOf(context.db, name);
    if (!(await exists(context, ns))) return {};
    if (said.query === undefined) {
      checkAlone(said);
      context.server.indexFilters.clear(ns.text);
    } else {
      context.server.indexFilters.clear(ns.text, shapeOf(context, said).text);
    }
    return {};
  },
});

const planCacheClear: Command = defineCommand({
  name: 'planCacheClear',
  access: 'write',
  writeConcern: false,
  about: 'forgets the plans that a collection is known to take: each query is planned anew in any case',
  fields: { planCacheClear: collectionField, ...SHAPE_FIELDS },
  lax: true,
  run: async (context, { planCacheClear: name, ...said }) => {
    const ns = namespaceOf(context.db, name);
    if (!(await exists(context, ns))) return {};
    const { plans } = context.server.monitor;
    if (said.query === undefined) {
      checkAlone(said);
      plans.clear(ns.text);
    } else {
      plans.clear(ns.text, shapeOf(context, said).text);
    }
    return {};
  },
});

export const INDEX_FILTER_COMMANDS: readonly Command[] = [planCacheSetFilter, planCacheListFilters, planCacheClearFilters, planCacheClear];
