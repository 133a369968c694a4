// reIndex, as in TokuMX: an index, or all of a collection, written anew beside its readers and writers, with other options where they are said.
// Options change in one commit with the definition that shows them; writing anew changes nothing that anybody reads, so it may be cut off.

import { describeValue, Document } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';
import type { DictionaryId, DictionaryOptions, Environment } from '../engine/index.ts';
import type { DefinitionChanges } from './definition-changes.ts';
import { checkDictionaryOption, dictionaryOptionNames, dictionaryOptionsOf } from './dictionary-option.ts';
import type { NameEntry } from './entry.ts';
import { equalKeys } from './index-spec.ts';
import type { Namespace } from './namespace.ts';
import { indexNotFound, invalidOptions, location, noCollection } from './refusal.ts';
import type { StoredCollection } from './stored-collection.ts';
import type { StoredIndex } from './stored-index.ts';
import type { IndexKept, Reindexing } from './types.ts';

type CollectionEntry = Extract<NameEntry, { readonly kind: 'collection' }>;

/** What reIndex needs of the catalog. */
export interface ReindexParts {
  readonly catalog: Pick<DefinitionChanges, 'run' | 'lockName' | 'replaceEntry'>;
  readonly engine: Environment;
}

/** Does it; how the indexes were kept before. 26, 27, 17232, and 2, 14, 72 for the options. */
export async function reIndex({ catalog, engine }: ReindexParts, ns: Namespace, { which, options, checkInterrupt }: Reindexing): Promise<readonly IndexKept[]> {
  for (const [name, value] of options) {
    if (!dictionaryOptionNames.includes(name)) throw invalidOptions(`reIndex changes ${dictionaryOptionNames.join(', ')}, not '${name}'`);
    checkDictionaryOption(name, value, `reIndex.options.${name}`);
  }
  const { was, dictionaries } = await catalog.run(async (txn) => {
    const named = await catalog.lockName(txn, ns);
    if (named?.kind !== 'collection') throw noCollection(ns);
    if (named.state.build !== undefined) throw location(17232, `${ns.text}: cannot rebuild indexes, a background index build in progress`);
    const indexes = chosen(named, which);
    const places = indexes.flatMap((index) => index.dictionaries);
    const before = indexes.map((index) => ({ name: index.name, options: keptOf(engine, index) }));
    if (options.isEmpty) return { was: before, dictionaries: places };
    for (const dictionary of places) txn.engine.changeDictionary(dictionary, dictionaryOptionsOf(options));
    await catalog.replaceEntry(txn, named, withOptions(named.entry, indexes, options));
    return { was: before, dictionaries: places };
  });
  for (const dictionary of dictionaries) await engine.rewrite(dictionary, checkInterrupt);
  return was;
}

function keptOf(engine: Environment, { dictionaries }: StoredIndex): DictionaryOptions | undefined {
  const [first] = dictionaries;
  return first === undefined ? undefined : engine.dictionaryStatistics(first).options;
}

/** The indexes that are meant: all, or that of a name or of a key pattern. */
function chosen({ indexes }: StoredCollection, which: string | Document): readonly StoredIndex[] {
  if (which === '*') return indexes;
  const found = indexes.find((index) => (which instanceof Document ? equalKeys(index.key, which) : index.name === which));
  if (found === undefined) throw indexNotFound(`index not found: ${describeValue(which)}`);
  return [found];
}

/** The entry in which the definitions of these indexes say the options; those of the documents are the collection's. */
function withOptions(entry: CollectionEntry, indexes: readonly StoredIndex[], options: Document): CollectionEntry {
  const changed = new Set<DictionaryId>(indexes.map(({ dictionary }) => dictionary));
  return {
    ...entry,
    options: indexes.some(({ isPrimary }) => isPrimary) ? merged(entry.options, options) : entry.options,
    indexes: entry.indexes.map((row) => (changed.has(row.dictionary) ? { ...row, spec: merged(row.spec, options) } : row)),
  };
}

function merged(before: Document, changes: Document): Document {
  const kept = before.fields.filter(([name]) => !changes.has(name));
  return Document.fromEntries([...kept, ...changes.fields] satisfies (readonly [string, Value])[]);
}
