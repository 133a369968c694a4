// setQuerySettings and removeQuerySettings. A shape is named by a query that has it or by its hash. Codes as MongoDB's.
// Follows the manual's pages of both commands.

import { CommandError } from '../../base/errors.ts';
import { BsonArray, Document, Regex, type Value } from '../../bson/index.ts';
import { namespaceOf } from '../../catalog/index.ts';
import { compilePipeline } from '../../exec/index.ts';
import { compileFilter } from '../../query/index.ts';
import { AGGREGATE_FIELDS, aggregateNamespace } from '../data/aggregate-fields.ts';
import { DISTINCT_FIELDS } from '../data/count.ts';
import { FIND_FIELDS } from '../data/find-fields.ts';
import { findRequest } from '../data/find.ts';
import { defineCommand, type Command, type CommandContext } from '../command.ts';
import { objectField, parseFields, required, typeText, type Field, type RequiredField } from '../fields.ts';
import { collationFor, queryOptions } from '../query-options.ts';
import { queryShapeOf, shapedCommand, type ShapedCommand } from './query-shape.ts';
import { QuerySettings } from './settings.ts';

/** A shape as a command names it. */
interface NamedShape {
  readonly hash: string;
  readonly query: Document | undefined;
}

const HASH_DIGITS = 64;

function hashIn(text: string): string {
  if (text.length % 2 !== 0 || !/^[0-9A-Fa-f]*$/.test(text)) throw new CommandError(2, 'BadValue', 'The hash of a query shape is written in hexadecimal digits');
  if (text.length !== HASH_DIGITS) throw new CommandError(16, 'InvalidLength', `The hash of a query shape has ${String(HASH_DIGITS)} digits, not ${String(text.length)}`);
  return text.toUpperCase();
}

const shapeField: RequiredField<Document | string> = {
  ...required<Document | string>({
    types: ['string', 'object'],
    required: false,
    nullIsWrong: true,
    read: (value: Value, at: string) => {
      if (typeof value === 'string' || value instanceof Document) return value;
      throw new CommandError(14, 'TypeMismatch', `BSON field '${at}' is the wrong type '${typeText(value)}', expected types '[string, object]'`);
    },
  } satisfies Field<Document | string>),
};

/** Databases whose queries are the server's own. */
const OWN_DATABASES: ReadonlySet<string> = new Set(['admin', 'config', 'local']);

type Check = (context: CommandContext, db: string, query: Document) => string;

/** Each reads the query by the fields of its command, so that one that means nothing has no settings, and gives its collection. */
const CHECKS: Readonly<Record<ShapedCommand, Check>> = {
  find: (context, db, query) => {
    const fields = parseFields('find', query, FIND_FIELDS, 'generic');
    findRequest(fields, queryOptions(context, fields.let, collationFor(fields.collation, undefined)));
    return namespaceOf(db, fields.find).collection;
  },
  distinct: (context, db, query) => {
    const fields = parseFields('distinct', query, DISTINCT_FIELDS, 'generic');
    compileFilter(fields.query ?? Document.empty, queryOptions(context, undefined, collationFor(fields.collation, undefined)));
    return namespaceOf(db, fields.distinct).collection;
  },
  aggregate: (context, db, query) => {
    const fields = parseFields('aggregate', query, AGGREGATE_FIELDS, 'generic');
    const { ns } = aggregateNamespace(db, fields);
    const options = queryOptions(context, fields.let, collationFor(fields.collation, undefined));
    compilePipeline(fields.pipeline, { ...options, database: db, collection: ns.collection });
    return ns.collection;
  },
};

/** Whether a filter asks for one `_id` and nothing else. */
function asksForId(filter: Value | undefined): boolean {
  if (!(filter instanceof Document)) return false;
  const [name, value] = filter.first ?? ['', null];
  if (filter.fields.length !== 1 || name !== '_id' || value instanceof BsonArray || value instanceof Regex) return false;
  if (!(value instanceof Document)) return true;
  const operators = value.keys().filter((key) => key.startsWith('$'));
  return operators.length === 0 || (operators.length === 1 && value.fields.length === 1 && operators[0] === '$eq');
}

/** Refuses settings for what is the server's own, and for what is answered without a planner. */
function checkSettable(command: ShapedCommand, { db, collection }: { readonly db: string; readonly collection: string }, query: Document): void {
  if (OWN_DATABASES.has(db)) throw new CommandError(8584900, 'Location8584900', `queries of the database '${db}' cannot have settings`);
  if (collection.startsWith('system.')) throw new CommandError(8584901, 'Location8584901', `queries of the collection '${collection}' cannot have settings`);
  if (command === 'find' && asksForId(query.get('filter'))) throw new CommandError(7746606, 'Location7746606', 'queries for one _id are answered without a planner and have no settings');
}

function shapeOfQuery(context: CommandContext, owner: string, query: Document): NamedShape {
  const isSet = owner === 'setQuerySettings';
  const command = shapedCommand(query);
  if (command === undefined) throw new CommandError(7746402, 'Location7746402', `QueryShape can not be computed for command: ${query.first?.[0] ?? ''}`);
  const db = query.get('$db') ?? null;
  if (db === null) throw new CommandError(40414, 'Location40414', `BSON field '${owner}.$db' is missing but a required field`);
  if (typeof db !== 'string') throw new CommandError(14, 'TypeMismatch', `BSON field '${owner}.$db' is the wrong type '${typeText(db)}', expected type 'string'`);
  if (db === '') throw new CommandError(73, 'InvalidNamespace', `Invalid database name: ''`);
  const collection = CHECKS[command](context, db, query);
  if (isSet) checkSettable(command, { db, collection }, query);
  return { hash: queryShapeOf(command, db, query).hash, query };
}

function namedShape(context: CommandContext, owner: string, named: Document | string): NamedShape {
  return typeof named === 'string' ? { hash: hashIn(named), query: undefined } : shapeOfQuery(context, owner, named);
}

const setQuerySettings: Command = defineCommand({
  name: 'setQuerySettings',
  access: 'admin',
  adminOnly: true,
  about: 'what applies to all queries of a shape',
  fields: { setQuerySettings: shapeField, settings: required(objectField) },
  run: async (context, { setQuerySettings: named, settings: given }) => {
    const { hash, query } = namedShape(context, 'setQuerySettings', named);
    const after = await context.server.querySettings.change(hash, (before) => ({
      hash,
      settings: QuerySettings.read(given, before?.settings),
      query: query ?? before?.query,
    }));
    return { queryShapeHash: hash, representativeQuery: after?.query, settings: after?.settings.document };
  },
});

const removeQuerySettings: Command = defineCommand({
  name: 'removeQuerySettings',
  access: 'admin',
  adminOnly: true,
  about: 'removes what applies to all queries of a shape',
  fields: { removeQuerySettings: shapeField },
  run: async (context, { removeQuerySettings: named }) => {
    const { hash } = namedShape(context, 'removeQuerySettings', named);
    await context.server.querySettings.change(hash, () => undefined);
    return {};
  },
});

export const QUERY_SETTINGS_COMMANDS: readonly Command[] = [setQuerySettings, removeQuerySettings];
