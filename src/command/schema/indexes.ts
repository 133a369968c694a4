// createIndexes, listIndexes and dropIndexes.

import { CommandError } from '../../base/errors.ts';
import { BsonArray, Document, type Value } from '../../bson/index.ts';
import { describeDictionaryOptions, namespaceOf, type Collection, type IndexChoice, type IndexKept } from '../../catalog/index.ts';
import { sourceOf } from '../../session/index.ts';
import { defineCommand, type Command, type Reply } from '../command.ts';
import { replyWithCursor } from '../cursor-reply.ts';
import { anyField, boolField, collectionField, objectField, objectsField, parseFields, required, boundedField, typeText } from '../fields.ts';
import { changing, reading } from '../storage-scope.ts';
import { namesViews, viewDefinitions, VIEWS_INDEX } from './system-views.ts';

const createIndexes: Command = defineCommand({
  name: 'createIndexes',
  access: 'write',
  inTransaction: 'yes',
  about: 'builds indexes, all or none',
  fields: {
    createIndexes: collectionField,
    indexes: required(objectsField),
    commitQuorum: anyField,
    ignoreUnknownIndexOptions: boolField,
  },
  run: async (context, { createIndexes: name, indexes }): Promise<Reply> => {
    const { server, transaction, operation } = context;
    const ns = namespaceOf(context.db, name);
    if (indexes.length === 0) throw new CommandError(2, 'BadValue', 'Must specify at least one index to create');
    const built = await (transaction === undefined
      ? server.catalog.createIndexes(ns, indexes, { checkInterrupt: () => operation.turn() })
      : server.catalog.createIndexesIn(transaction.storage, ns, indexes));
    const changed = built.after !== built.before || built.createdCollectionAutomatically;
    if (changed && transaction === undefined) server.time.tick();
    if (changed) server.monitor.plans.clear(ns.text);
    return {
      numIndexesBefore: built.before,
      numIndexesAfter: built.after,
      createdCollectionAutomatically: built.createdCollectionAutomatically,
      commitQuorum: transaction === undefined && changed ? 'votingMembers' : undefined,
      note: built.after === built.before ? 'all indexes already exist' : undefined,
    };
  },
});

const CURSOR_TABLE = { batchSize: boundedField(0) };

/** The option `cursor: { batchSize }` of the list commands. */
export function batchSizeOf(command: string, cursor: Document | undefined): number | undefined {
  return cursor === undefined ? undefined : parseFields(`${command}.cursor`, cursor, CURSOR_TABLE).batchSize;
}

/** The index on `_id`: a time series has none, and that of a clustered collection says so. */
function shownPrimary({ options }: Collection): { clusteredIndex: Document | undefined; isTimeSeries: boolean } {
  const clustered = options.shown.get('clusteredIndex');
  const clusteredIndex = clustered instanceof Document ? Document.fromEntries([...clustered.fields, ['clustered', true]]) : undefined;
  return { clusteredIndex, isTimeSeries: options.timeSeries !== undefined };
}

const listIndexes: Command = defineCommand({
  name: 'listIndexes',
  access: 'read',
  about: 'the indexes of a collection',
  fields: { listIndexes: collectionField, cursor: objectField, includeBuildUUIDs: boolField, includeIndexBuildInfo: boolField },
  run: async (context, { listIndexes: name, cursor, includeIndexBuildInfo }) => {
    const ns = namespaceOf(context.db, name);
    const specs = await reading(context, async (txn) => {
      const collection = await context.server.catalog.collection(txn, ns);
      if (collection === undefined && namesViews(ns) && (await viewDefinitions(context, txn, ns.db)) !== undefined) return [VIEWS_INDEX];
      if (collection === undefined) throw new CommandError(26, 'NamespaceNotFound', `ns does not exist: ${ns.text}`);
      const { clusteredIndex, isTimeSeries } = shownPrimary(collection);
      const shown = collection.indexes.filter((index) => !isTimeSeries || index.name !== '_id_');
      // A primary key comes before the index on `_id`.
      const indexes = [...shown].sort((a, b) => Number(b.isPrimary) - Number(a.isPrimary));
      return indexes.map((index) => (index.name === '_id_' && clusteredIndex !== undefined ? clusteredIndex : index.spec));
    });
    const shown = includeIndexBuildInfo === true ? specs.map((spec) => Document.of({ spec })) : specs;
    return replyWithCursor(context, sourceOf(shown), { namespace: ns.text, batchSize: batchSizeOf('listIndexes', cursor) });
  },
});

/** Which indexes the command names. */
function choiceOf(value: Value): IndexChoice {
  if (typeof value === 'string' || value instanceof Document) return value;
  if (value instanceof BsonArray) {
    const names = value.items();
    if (names.every((name) => typeof name === 'string')) return names;
    const wrong = names.findIndex((name) => typeof name !== 'string');
    const text = `BSON field 'dropIndexes.index.${String(wrong)}' is the wrong type '${typeText(names[wrong] ?? null)}', expected type 'string'`;
    throw new CommandError(14, 'TypeMismatch', text);
  }
  const text = `BSON field 'dropIndexes.index' is the wrong type '${typeText(value)}', expected types '[string, object]'`;
  throw new CommandError(14, 'TypeMismatch', text);
}

const dropIndexes: Command = defineCommand({
  name: 'dropIndexes',
  aliases: ['deleteIndexes'],
  access: 'write',
  about: 'drops indexes',
  fields: { dropIndexes: collectionField, index: required(anyField) },
  run: async (context, { dropIndexes: name, index }) => {
    const ns = namespaceOf(context.db, name);
    const choice = choiceOf(index);
    const { nIndexesWas } = await changing(context, (txn) => context.server.catalog.dropIndexes(txn, ns, choice));
    context.server.monitor.plans.clear(ns.text);
    return {
      nIndexesWas,
      msg: choice === '*' ? 'non-_id indexes dropped for collection' : undefined,
    };
  },
});

/** How an index was kept before, as TokuMX tells it. */
function shownBefore({ name, options }: IndexKept): Document {
  return Document.fromEntries([['name', name], ...(options === undefined ? [] : describeDictionaryOptions(options).fields)]);
}

const reIndex: Command = defineCommand({
  name: 'reIndex',
  access: 'write',
  about: 'writes the indexes of a collection anew, with other options where they are said',
  fields: { reIndex: collectionField, index: anyField, options: objectField },
  run: async (context, { reIndex: name, index = '*', options = Document.empty }) => {
    const { server, operation } = context;
    const ns = namespaceOf(context.db, name);
    if (typeof index !== 'string' && !(index instanceof Document)) {
      throw new CommandError(14, 'TypeMismatch', `BSON field 'reIndex.index' is the wrong type '${typeText(index)}', expected types '[string, object]'`);
    }
    const was = await server.catalog.reIndex(ns, { which: index, options, checkInterrupt: () => operation.turn() });
    const specs = await reading(context, async (txn) => {
      const collection = await server.catalog.collection(txn, ns);
      return (collection?.indexes ?? []).map(({ spec }) => spec);
    });
    const shown = was.map(shownBefore);
    return {
      nIndexesWas: specs.length,
      was: options.isEmpty ? undefined : index === '*' ? BsonArray.of(shown) : shown[0],
      nIndexes: specs.length,
      indexes: BsonArray.of(specs),
    };
  },
});

export const INDEX_COMMANDS: readonly Command[] = [createIndexes, listIndexes, dropIndexes, reIndex];
