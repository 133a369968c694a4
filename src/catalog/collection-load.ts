// A bulk load of a collection that is not there yet (TokuMX: `beginLoad`, `commitLoad`, `abortLoad`). Documents and index entries go past the log
// into dictionaries that nobody knows; the transaction of the load then names them in one commit. A row of dictionary 1 (`l`) tells of them from
// the commit that makes them to the one that names them, so that what a crash or an abort leaves is dropped.

import { EngineError } from '../base/errors.ts';
import { Document } from '../bson/index.ts';
import type { Binary } from '../bson/index.ts';
import type { DictionaryId, Environment, Load, LoadedTotals, Soon } from '../engine/index.ts';
import type { Env } from '../env/index.ts';
import type { DefinitionChanges } from './definition-changes.ts';
import { encodeLoad, loadKey, multikeyKey, readyIndex } from './entry.ts';
import type { NameEntry } from './entry.ts';
import { dictionaryOptionsOf } from './dictionary-option.ts';
import { newIndexes } from './index-spec.ts';
import type { Namespace } from './namespace.ts';
import type { Named } from './name-table.ts';
import type { ObjectMaker } from './object-maker.ts';
import { primaryKeyPatternOf } from './primary-key.ts';
import { duplicateKey, invalidOptions, location, shownKey } from './refusal.ts';
import { StoredCollection } from './stored-collection.ts';
import type { StoredIndex } from './stored-index.ts';
import type { StoredTransaction } from './transaction.ts';
import type { CollectionLoad } from './types.ts';

const pollMs = 100;
const empty = new Uint8Array(0);

/** What a load needs of the catalog. */
export interface LoadParts {
  readonly catalog: Pick<DefinitionChanges, 'run'>;
  readonly engine: Environment;
  readonly env: Env;
  readonly maker: ObjectMaker;
  /** Puts the entry of a new name with the transaction, which has locked it. */
  readonly put: (txn: StoredTransaction, ns: Namespace, entry: NameEntry) => Promise<Named>;
}

type CollectionEntry = Extract<NameEntry, { readonly kind: 'collection' }>;

/** One dictionary that is loaded: that of the documents, or an index. */
interface Target {
  readonly index: StoredIndex | undefined;
  readonly dictionary: DictionaryId;
  readonly load: Load;
  readonly flags: Set<number>;
}

/** The collection as it will be. */
export interface WantedLoad {
  readonly ns: Namespace;
  readonly uuid: Binary;
  readonly options: Document;
  readonly specs: readonly Document[];
}

/** Refuses what is not loaded: 16998, 16999, 17247, 72. */
export function checkLoadable(ns: Namespace, options: Document): void {
  if (ns.collection.startsWith('system.')) throw location(16998, 'Cannot bulk load a system collection');
  if (options.has('capped')) throw location(16999, 'Cannot bulk load a capped collection');
  if (options.has('partitioned')) throw location(17247, 'Should not bulk load partitioned collections');
  for (const other of ['viewOn', 'timeseries']) if (options.has(other)) throw invalidOptions(`a collection with the option '${other}' is not loaded`);
}

/** Makes the dictionaries of a load and begins it. */
export async function beginCollectionLoad(parts: LoadParts, txn: StoredTransaction, { ns, uuid, options, specs }: WantedLoad): Promise<CollectionLoad> {
  const hasIdIndex = primaryKeyPatternOf(options) !== undefined;
  const definitions = newIndexes(undefined, specs, ns.text);
  const entry = await parts.catalog.run(async ({ engine }) => {
    const made: CollectionEntry = {
      kind: 'collection', uuid, options,
      dictionary: engine.createDictionary(dictionaryOptionsOf(options)),
      idIndex: hasIdIndex ? engine.createDictionary() : undefined,
      indexes: definitions.map(({ spec }) => readyIndex(spec, engine.createDictionary(dictionaryOptionsOf(spec)))),
    };
    await engine.put(parts.engine.catalogDictionary, loadKey(made.dictionary), encodeLoad(dictionariesOf(made)));
    return made;
  });
  txn.loading = ns.text;
  return new StoredLoad(parts, txn, ns, entry);
}

function dictionariesOf({ dictionary, idIndex, indexes }: CollectionEntry): readonly DictionaryId[] {
  return [dictionary, ...(idIndex === undefined ? [] : [idIndex]), ...indexes.map((index) => index.dictionary)];
}

/** The one implementation of CollectionLoad. */
class StoredLoad implements CollectionLoad {
  readonly ns: Namespace;
  documents = 0;
  #documentBytes = 0;
  readonly #parts: LoadParts;
  readonly #txn: StoredTransaction;
  readonly #entry: CollectionEntry;
  readonly #collection: StoredCollection;
  readonly #targets: readonly Target[];
  #ended = false;

  constructor(parts: LoadParts, txn: StoredTransaction, ns: Namespace, entry: CollectionEntry) {
    this.ns = ns;
    this.#parts = parts;
    this.#txn = txn;
    this.#entry = entry;
    const named = parts.maker.make(ns, entry);
    if (!(named instanceof StoredCollection)) throw new EngineError('closed', 'a collection is loaded');
    this.#collection = named;
    const places = [{ index: undefined, dictionary: named.dictionary }, ...named.secondaries.map((index) => ({ index, dictionary: index.dictionary }))];
    this.#targets = places.map(({ index, dictionary }) => ({ index, dictionary, load: parts.engine.load(dictionary, places.length), flags: new Set<number>() }));
  }

  insert(document: Document): Soon<void> {
    const prepared = this.#collection.prepare(document);
    this.#collection.checkNew(prepared.document);
    const rows = this.#targets.map(({ index }) => index?.rowsOf(prepared.document, prepared.key));
    let full: Promise<void> | undefined;
    const add = (load: Load, key: Uint8Array, value: Uint8Array): void => {
      const waits = load.add(key, value);
      if (waits !== undefined) full = full === undefined ? waits : Promise.all([full, waits]).then(() => undefined);
    };
    for (const [i, { load, flags }] of this.#targets.entries()) {
      const found = rows[i];
      if (found === undefined) add(load, prepared.key, prepared.document.toBytes());
      for (const row of found?.rows ?? []) add(load, row.key, row.value);
      for (const flag of found?.flags ?? []) flags.add(flag);
    }
    this.documents += 1;
    this.#documentBytes += prepared.document.byteLength;
    return full;
  }

  async finish(checkInterrupt: () => Soon<void>): Promise<void> {
    try {
      const totals: LoadedTotals[] = [];
      for (const target of this.#targets) totals.push(await this.#finish(target, checkInterrupt));
      await this.#name(this.#txn, totals);
    } catch (error) {
      await this.abort();
      throw error;
    } finally {
      this.#txn.loading = undefined;
    }
  }

  /** Ends one load, looking now and then whether somebody wants it to stop. */
  async #finish({ load, index }: Target, checkInterrupt: () => Soon<void>): Promise<LoadedTotals> {
    const ended = new AbortController();
    const finished = load.finish().finally(() => {
      ended.abort();
    });
    try {
      while (!ended.signal.aborted) {
        await Promise.race([finished, this.#parts.env.clock.sleep(pollMs, ended.signal)]);
        await checkInterrupt();
      }
      return await finished;
    } catch (error) {
      load.abort();
      await finished.catch((cause: unknown) => cause);
      throw this.#inWords(error, index);
    }
  }

  #inWords(error: unknown, index: StoredIndex | undefined): unknown {
    if (!(error instanceof EngineError) || error.code !== 'duplicate') return error;
    const { fromKey: key, value } = error.place;
    if (key === undefined || value === undefined) return error;
    if (index !== undefined) return duplicateKey(this.ns, index, index.keyValue({ key, value }));
    const [primary] = this.#collection.indexes;
    const id = Document.fromBytes(value.slice()).get('_id') ?? null;
    return primary === undefined ? error : duplicateKey(this.ns, primary, Document.of({ _id: shownKey(id, this.#collection.options.collation) }));
  }

  /** The collection, whole, with the transaction. */
  async #name(txn: StoredTransaction, totals: readonly LoadedTotals[]): Promise<void> {
    const { engine, put } = this.#parts;
    await put(txn, this.ns, this.#entry);
    for (const [i, { index, dictionary, flags }] of this.#targets.entries()) {
      const { rows, bytes } = totals[i] ?? { rows: 0, bytes: 0 };
      // Of documents the bytes without their keys count, as everywhere.
      txn.engine.count(dictionary, rows, index === undefined ? this.#documentBytes : bytes);
      if (index !== undefined) await this.#putFlags(txn, index, flags);
    }
    await txn.engine.removeCovered(engine.catalogDictionary, loadKey(this.#entry.dictionary));
  }

  async #putFlags(txn: StoredTransaction, index: StoredIndex, flags: ReadonlySet<number>): Promise<void> {
    for (const flag of flags) {
      index.flags.raise(flag);
      txn.addFlag(index.flags, flag);
      await txn.engine.putCovered(this.#parts.engine.catalogDictionary, multikeyKey(index.flagRow(flag)), empty);
    }
  }

  async abort(): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    this.#txn.loading = undefined;
    for (const { load } of this.#targets) load.abort();
    try {
      await this.#parts.catalog.run(async ({ engine }) => {
        for (const dictionary of dictionariesOf(this.#entry)) engine.dropDictionary(dictionary);
        await engine.remove(this.#parts.engine.catalogDictionary, loadKey(this.#entry.dictionary));
      });
    } catch (error) {
      // The next opening drops what a closed or poisoned environment could not.
      if (!(error instanceof EngineError)) throw error;
    }
    for (const dictionary of dictionariesOf(this.#entry)) this.#parts.maker.forget(dictionary);
  }
}
