// From entries of dictionary 1 to objects: collections with their indexes, and views. Objects of one dictionary share one StoredIndex, so
// that a multikey flag raised through one is known to all.

import { equalBytes } from '../base/bytes.ts';
import { Roster } from '../base/roster.ts';
import { DateTime, ObjectIdGenerator, Timestamp } from '../bson/index.ts';
import type { DictionaryId, Environment } from '../engine/index.ts';
import type { Env } from '../env/index.ts';
import type { QueryOptions } from '../query/index.ts';
import { multikeyOfKey, multikeyRangeOf } from './entry.ts';
import { UnsizedFlag } from './unsized-flag.ts';
import type { NameEntry } from './entry.ts';
import { IncomingDocuments } from './incoming.ts';
import { defineIndex, primarySpec, primarySpecOf } from './index-spec.ts';
import type { Namespace } from './namespace.ts';
import { collationOf } from './options.ts';
import { MultikeyFlags } from './multikey-flags.ts';
import { primaryKeyPatternOf, primaryKeySpec } from './primary-key.ts';
import type { Named } from './name-table.ts';
import type { CollectionState, StoredTransaction } from './transaction.ts';
import { eachRow } from './rows.ts';
import { StoredCollection } from './stored-collection.ts';
import type { CollectionParts, CollectionServices } from './stored-collection.ts';
import { StoredIndex } from './stored-index.ts';
import { partitionsOf } from './partition/make-partitions.ts';
import { StoredView } from './stored-view.ts';

const primaryDefinition = defineIndex(primarySpec, [1]);

/** Version of objects that are for reading only: their definition is not the newest. */
const readOnlyVersion = -1;

/** Makes the objects of one catalog. */
export class ObjectMaker {
  readonly #services: CollectionServices;
  readonly #indexes: Map<DictionaryId, StoredIndex> = new Map();

  constructor(engine: Environment, env: Env) {
    const sources = { ids: new ObjectIdGenerator({ clock: env.clock, random: env.random }), clock: env.clock };
    this.#services = {
      incoming: new IncomingDocuments(sources),
      catalogDictionary: engine.catalogDictionary,
      beginRead: () => engine.begin('read'),
      dictionaryStatistics: (id) => engine.dictionaryStatistics(id),
      treeLevels: (id) => engine.treeLevels(id),
      lastWrite: (id, snapshot) => engine.lastWrite(id, snapshot),
      queryOptions: (): QueryOptions => {
        const now = env.clock.nowMs();
        return { now: new DateTime(now), clusterTime: new Timestamp(Math.floor(now / 1000), 1) };
      },
    };
  }

  get queryOptions(): QueryOptions {
    return this.#services.queryOptions();
  }

  /** The object of an entry that follows `before` (same collection, other definition or name), or begins. */
  make(ns: Namespace, entry: NameEntry, before?: Named): Named {
    if (entry.kind === 'view') return new StoredView(ns, entry.options);
    const state =
      before?.kind === 'collection' && before.dictionary === entry.dictionary
        ? before.state
        : freshState();
    return this.#collection({ ns, entry, building: this.#buildingOf(entry), state, version: state.version }, this.#indexesOf(entry));
  }

  /** The object of an entry as a snapshot has it, for reading only. */
  async load(txn: StoredTransaction, ns: Namespace, entry: NameEntry): Promise<Named> {
    if (entry.kind === 'view') return new StoredView(ns, entry.options);
    const indexes = this.#indexesOf(entry);
    for (const index of indexes) await loadFlags(txn, this.#services.catalogDictionary, index);
    const state = freshState();
    return this.#collection({ ns, entry, building: [], state, version: readOnlyVersion }, indexes);
  }

  #collection(parts: Omit<CollectionParts, 'indexes' | 'partitions'>, indexes: readonly StoredIndex[]): StoredCollection {
    const { ns, entry } = parts;
    if (entry.partitions === undefined) return new StoredCollection({ ...parts, indexes }, this.#services);
    const whole = partitionsOf({ ns, entry, partitions: entry.partitions, indexes, catalogDictionary: this.#services.catalogDictionary, beginRead: this.#services.beginRead, queryOptions: this.queryOptions });
    return new StoredCollection({ ...parts, ...whole }, this.#services);
  }

  #indexesOf(entry: Extract<NameEntry, { readonly kind: 'collection' }>): readonly StoredIndex[] {
    const place = {
      dictionary: entry.idIndex ?? entry.dictionary,
      isPrimary: entry.idIndex === undefined,
      flags: new MultikeyFlags(primaryDefinition.paths),
    };
    const collation = collationOf(entry.options);
    const definition = collation === undefined ? primaryDefinition : defineIndex(primarySpecOf(collation), [1]);
    const primary = new StoredIndex({ ...definition, unique: entry.idIndex !== undefined && !entry.options.has('timeseries') }, place, this.queryOptions);
    const ready = entry.indexes.filter(({ building }) => !building);
    const own = this.#primaryKeyOf(entry);
    return [primary, ...(own === undefined ? [] : [own]), ...ready.map(({ spec, dictionary }) => this.#index(defineIndex(spec), dictionary))];
  }

  /** The primary key that the collection has chosen, as the index that it is: the collection's own dictionary. */
  #primaryKeyOf({ options, dictionary }: Extract<NameEntry, { readonly kind: 'collection' }>): StoredIndex | undefined {
    const pattern = primaryKeyPatternOf(options);
    if (pattern === undefined) return undefined;
    const definition = defineIndex(primaryKeySpec(pattern, collationOf(options)));
    return new StoredIndex(definition, { dictionary, isPrimary: true, flags: new MultikeyFlags(definition.paths) }, this.queryOptions);
  }

  /** What writers keep of indexes that are being built. */
  #buildingOf(entry: Extract<NameEntry, { readonly kind: 'collection' }>): readonly StoredIndex[] {
    return entry.indexes.filter(({ building }) => building).map(({ spec, dictionary, side }) => {
      const definition = defineIndex(spec);
      const index = this.#index(definition, dictionary);
      if (side === undefined) return index;
      return new StoredIndex({ ...definition, unique: false }, { dictionary: side, isPrimary: false, flags: index.flags, sideOf: dictionary }, this.queryOptions);
    });
  }

  #index(definition: ReturnType<typeof defineIndex>, dictionary: DictionaryId): StoredIndex {
    const known = this.#indexes.get(dictionary);
    if (known !== undefined && equalBytes(known.spec.toBytes(), definition.spec.toBytes())) return known;
    const flags = known?.flags ?? new MultikeyFlags(definition.paths);
    const made = new StoredIndex(definition, { dictionary, isPrimary: false, flags }, this.queryOptions);
    this.#indexes.set(dictionary, made);
    return made;
  }

  /** An index object for a build, before its entry is there. */
  indexFor(definition: ReturnType<typeof defineIndex>, dictionary: DictionaryId): StoredIndex {
    return this.#index(definition, dictionary);
  }

  /** The flags of an index as they were found at open. */
  raise(dictionary: DictionaryId, flags: readonly number[]): void {
    this.#indexes.get(dictionary)?.flags.flagsCommitted(flags);
  }

  /** Forgets index objects of dictionaries that are gone. */
  forget(dictionary: DictionaryId): void {
    this.#indexes.delete(dictionary);
  }
}

function freshState(): CollectionState {
  return { version: 0, held: undefined, build: undefined, committing: new Roster(), lastWrite: 0, unsized: new UnsizedFlag(), lastRecord: undefined };
}

async function loadFlags(txn: StoredTransaction, dictionary: DictionaryId, index: StoredIndex): Promise<void> {
  if (index.isPrimary) return;
  const flags: number[] = [];
  await eachRow(txn.engine.cursor(dictionary, multikeyRangeOf(index.dictionary), 1), (key) => {
    const { field, component } = multikeyOfKey(key);
    flags.push(field * 256 + component);
  });
  for (const flag of flags) index.flags.raise(flag);
}
