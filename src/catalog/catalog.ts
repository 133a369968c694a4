// The catalog of one environment: names, collections and indexes in dictionary 1, changed by ordinary commits. Every change locks the row of
// the name first, so two that change one name come one after the other, and then sees whether the row is still what it looked at.

import { AssertionError } from '../base/errors.ts';
import { must } from '../base/assert.ts';
import { Binary, Document, equalValues } from '../bson/index.ts';
import type { DictionaryId, Environment, KeyRange, Soon, TransactionMode } from '../engine/index.ts';
import type { Collation } from '../collation/index.ts';
import type { Env } from '../env/index.ts';
import { nameKey, nameRange, namespaceOfKey, readyIndex } from './entry.ts';
import type { NameEntry } from './entry.ts';
import { IndexBuilds } from './index-build.ts';
import type { BuildParts } from './index-build.ts';
import { newIndexes } from './index-spec.ts';
import { isDryRun, modifyEntry } from './modify.ts';
import type { Namespace } from './namespace.ts';
import { checkCreatable } from './namespace.ts';
import { NameRows } from './name-rows.ts';
import type { Named, NameTable } from './name-table.ts';
import type { ObjectMaker } from './object-maker.ts';
import { noteDropDatabase, noteModify } from './oplog/definition-notes.ts';
import type { Oplog } from './oplog/oplog.ts';
import { checkValidated } from './definition-check.ts';
import { dictionaryOptionsOf, smallValues } from './dictionary-option.ts';
import { parseCreateOptions } from './options.ts';
import { attemptsMax, changedMeanwhile, invalidOptions, isTransient, isView, location, namespaceExists, noCollection, notSupportedInTransaction } from './refusal.ts';
import { whileHeld } from './hold.ts';
import { addPartition, convertToPartitioned, dropPartition } from './partition/change-partitions.ts';
import { withFirstPart, withoutIndexes } from './partition/partition-entry.ts';
import { primaryKeyPatternOf } from './primary-key.ts';
import { describeKey } from './describe-key.ts';
import { reIndex } from './reindex.ts';
import { renameCollection } from './rename.ts';
import { canUpdateFast, updateFast } from './fast-write.ts';
import { canRemoveRange, removeRange } from './range-removal.ts';
import { afterSoon } from './soon.ts';
import { StoredCollection } from './stored-collection.ts';
import { indexCount } from './time-series-index.ts';
import { firstIndexSpec, timeSeriesOf } from './time-series.ts';
import { checkConvertible } from './unique-violations.ts';
import { checkView } from './view-check.ts';
import { StoredTransaction, storedTransaction } from './transaction.ts';
import { chooseIndexes } from './index-choice.ts';
import { copyAsCapped } from './capped-copy.ts';
import { beginCollectionLoad, checkLoadable } from './collection-load.ts';
import type { CappedCopy, Catalog, CatalogTransaction, Collection, CollectionLoad, IndexBuild, IndexChoice, IndexesCreated, IndexKept, RecordKey, Reindexing, RenameChoices, View } from './types.ts';

/** The one implementation of Catalog. Made by `openCatalog`. */
export class StoredCatalog implements Catalog {
  readonly #engine: Environment;
  readonly #env: Env;
  readonly #names: NameTable;
  readonly #maker: ObjectMaker;
  readonly #rows: NameRows;
  readonly #builds: IndexBuilds;

  readonly oplog: Oplog;

  constructor(parts: Omit<BuildParts, 'catalog'> & { readonly oplog: Oplog }) {
    this.oplog = parts.oplog;
    this.#engine = parts.engine;
    this.#env = parts.env;
    this.#names = parts.names;
    this.#maker = parts.maker;
    this.#rows = new NameRows({ engine: parts.engine, names: parts.names, maker: parts.maker, lookup: (txn, ns) => this.lookup(txn, ns) });
    this.#builds = new IndexBuilds({ ...parts, catalog: this });
  }

  begin(mode: TransactionMode, from?: CatalogTransaction): StoredTransaction {
    return new StoredTransaction(this.#engine.begin(mode, from?.engine), this.#names, this.oplog);
  }

  async run<T>(work: (txn: StoredTransaction) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const txn = this.begin('statement');
      try {
        const result = await work(txn);
        await txn.commit();
        return result;
      } catch (error) {
        txn.abort();
        if (!isTransient(error) || attempt === attemptsMax) throw error;
        await this.#env.tasks.pause();
      }
    }
  }

  collationOf(ns: Namespace): Collation | undefined {
    const named = this.#names.newest(ns.text);
    return named?.kind === 'collection' ? named.options.collation : named?.collation;
  }

  lookup(txn: CatalogTransaction, ns: Namespace): Soon<Named | undefined> {
    const stored = storedTransaction(txn);
    const found = this.#names.lookup(stored, ns);
    return stored.isIsolated ? this.#alone(stored, ns, found) : found;
  }

  /** Keeps others from what the name stands for, as far as the transaction can still have it. */
  async #alone(txn: StoredTransaction, ns: Namespace, found: Soon<Named | undefined>): Promise<Named | undefined> {
    const named = await found;
    if (named === undefined) await txn.engine.lock(this.#engine.catalogDictionary, nameKey(ns));
    if (named?.kind !== 'collection' || named.owner === txn) return named;
    for (const dictionary of named.partitions?.parts.map((part) => part.dictionary) ?? [named.dictionary]) {
      if (txn.isolated?.has(dictionary) === true) continue;
      await txn.engine.lockRange(dictionary, {});
      if (this.#engine.lastWrite(dictionary, txn.snapshot) === undefined) throw changedMeanwhile(ns.text);
      (txn.isolated ??= new Set()).add(dictionary);
    }
    return named;
  }

  collection(txn: CatalogTransaction, ns: Namespace): Soon<StoredCollection | undefined> {
    const found = this.lookup(txn, ns);
    return found instanceof Promise ? found.then((named) => asCollection(ns, named)) : asCollection(ns, found);
  }

  async ensureCollection(txn: CatalogTransaction, ns: Namespace): Promise<StoredCollection> {
    const existing = await this.collection(txn, ns);
    return existing ?? must(asCollection(ns, await this.create(txn, ns, Document.empty)), 'just made');
  }

  async databases(txn: CatalogTransaction): Promise<readonly string[]> {
    const names = new Set<string>();
    await this.#rows.each(txn, nameRange(), (key) => names.add(namespaceOfKey(key).db));
    return [...names].sort();
  }

  async collections(txn: CatalogTransaction, db: string): Promise<readonly (Collection | View)[]> {
    const spaces: Namespace[] = [];
    await this.#rows.each(txn, nameRange(db), (key) => spaces.push(namespaceOfKey(key)));
    const log = this.oplog.collection;
    const found: (Collection | View)[] = log?.ns.db === db ? [log] : [];
    for (const ns of spaces) {
      const named = await this.lookup(txn, ns);
      if (named !== undefined) found.push(named);
    }
    return found;
  }

  async create(txn: CatalogTransaction, ns: Namespace, given: Document): Promise<Named> {
    checkCreatable(ns);
    const options = parseCreateOptions(given, this.#nowSeconds());
    checkValidated(ns, options);
    const stored = storedTransaction(txn);
    if (stored.loading === ns.text) throw location(16867, `Cannot use ${ns.text} but for insert: it is under-going bulk load`);
    const before = await this.#rows.lock(stored, ns);
    if (before !== undefined && equalValues(before.entry.options, options)) return before;
    if (before !== undefined) throw namespaceExists(`namespace ${ns.text} already exists, but with different options`);
    await checkView(stored, this, ns, options);
    const entry = options.has('viewOn') ? ({ kind: 'view', options } as const) : this.#newCollection(stored, options);
    return this.#rows.put(stored, ns, undefined, entry);
  }

  #newCollection(txn: StoredTransaction, options: Document): NameEntry {
    const dictionary = txn.engine.createDictionary(dictionaryOptionsOf(options));
    const idIndex = options.get('capped') === true || options.has('timeseries') || primaryKeyPatternOf(options) !== undefined ? txn.engine.createDictionary(smallValues) : undefined;
    const timeSeries = timeSeriesOf(options);
    const first = timeSeries === undefined ? undefined : firstIndexSpec(timeSeries);
    const indexes = first === undefined ? [] : [readyIndex(first, txn.engine.createDictionary(smallValues))];
    const entry = { kind: 'collection', uuid: this.#uuid(), dictionary, idIndex, options, indexes } as const;
    return options.get('partitioned') === true ? withFirstPart(txn, entry, this.#env.clock.nowMs()) : entry;
  }

  #nowSeconds(): number {
    return Math.floor(this.#env.clock.nowMs() / 1000);
  }

  #uuid(): Binary {
    const bytes = this.#env.random.bytes(16).slice();
    bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
    bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
    return new Binary(bytes, 4);
  }

  async drop(txn: CatalogTransaction, ns: Namespace): Promise<{ readonly nIndexesWas: number }> {
    const stored = storedTransaction(txn);
    const named = await this.#rows.lock(stored, ns);
    if (named === undefined) throw noCollection(ns);
    await this.#rows.remove(stored, ns, named);
    return { nIndexesWas: named.kind === 'collection' ? named.indexes.length : 0 };
  }

  async dropDatabase(txn: CatalogTransaction, db: string): Promise<boolean> {
    const all = await this.collections(txn, db);
    for (const { ns } of all) await this.drop(txn, ns);
    if (all.length > 0) noteDropDatabase(storedTransaction(txn), db);
    return all.length > 0;
  }

  async rename(txn: CatalogTransaction, from: Namespace, to: Namespace, choices: RenameChoices): Promise<void> {
    await renameCollection({ catalog: this, rows: this.#rows }, storedTransaction(txn), { from, to, choices });
  }

  async modify(txn: CatalogTransaction, ns: Namespace, changes: Document): Promise<Document> {
    const stored = storedTransaction(txn);
    const named = await this.#rows.lock(stored, ns);
    if (named === undefined) throw noCollection(ns);
    const { entry, reply } = modifyEntry(ns, named.entry, { changes, nowSeconds: this.#nowSeconds() });
    checkValidated(ns, entry.options);
    if (entry.kind === 'view') await checkView(stored, this, ns, entry.options);
    noteModify(stored, named, changes);
    await this.#rows.put(stored, ns, named, entry);
    return reply;
  }

  async makeUnique(ns: Namespace, changes: Document, checkInterrupt: () => Soon<void>): Promise<Document | undefined> {
    const txn = this.begin('read');
    try {
      const named = await this.lookup(txn, ns);
      if (named?.kind !== 'collection') return undefined;
      const { unique, reply } = modifyEntry(ns, named.entry, { changes, nowSeconds: this.#nowSeconds() });
      const index = unique === undefined ? undefined : named.indexes.find(({ name }) => name === unique);
      if (index === undefined) return undefined;
      if (named.partitions !== undefined) throw invalidOptions('an index of a partitioned collection cannot be made unique');
      await checkConvertible(txn, named, index);
      if (isDryRun(changes)) return Document.empty;
      await this.#builds.makeUnique(named, index, checkInterrupt);
      return reply;
    } finally {
      txn.abort();
    }
  }

  async copyAsCapped(copy: CappedCopy): Promise<void> {
    await copyAsCapped(this, copy);
  }

  async createIndexes(
    ns: Namespace,
    specs: readonly Document[],
    choices?: { readonly checkInterrupt?: () => Soon<void> },
  ): Promise<IndexesCreated> {
    return this.#builds.create(ns, specs, choices?.checkInterrupt ?? (() => undefined));
  }

  /** In a transaction indexes are made of collections that it has made itself, while they are empty. */
  async #checkIndexable(txn: CatalogTransaction, collection: Collection): Promise<void> {
    const { ns } = collection;
    if (collection.totals(txn).rows > 0) throw notSupportedInTransaction(`Cannot create new indexes on non-empty collection ${ns.text} in a multi-document transaction.`);
    const committed = this.begin('read');
    try {
      if ((await this.collection(committed, ns))?.uuid !== undefined) throw notSupportedInTransaction(`Cannot create new indexes on existing collection ${ns.text} in a multi-document transaction.`);
    } finally {
      committed.abort();
    }
  }

  async createIndexesIn(txn: CatalogTransaction, ns: Namespace, specs: readonly Document[]): Promise<IndexesCreated> {
    const stored = storedTransaction(txn);
    const existing = await this.collection(txn, ns);
    const collection = existing ?? (await this.ensureCollection(txn, ns));
    if (collection.state.build !== undefined) throw changedMeanwhile(ns.text);
    const wanted = newIndexes(collection, specs, ns.text);
    if (wanted.length > 0 && existing !== undefined) await this.#checkIndexable(txn, existing);
    if (wanted.length > 0) await this.#builds.addEmpty(stored, collection, wanted);
    const before = indexCount(collection);
    return { createdCollectionAutomatically: existing === undefined, before, after: before + wanted.length };
  }

  async dropIndexes(txn: CatalogTransaction, ns: Namespace, which: IndexChoice): Promise<{ readonly nIndexesWas: number }> {
    const stored = storedTransaction(txn);
    const named = await this.#rows.lock(stored, ns);
    const collection = asCollection(ns, named);
    if (collection === undefined) throw noCollection(ns);
    const gone = new Set(chooseIndexes(collection, which).map((index) => index.dictionary));
    for (const id of gone) await this.#rows.dropIndex(stored, id);
    if (gone.size > 0) await this.#rows.put(stored, ns, collection, withoutIndexes(stored, collection.entry, gone));
    return { nIndexesWas: indexCount(collection) };
  }

  canRemoveRange(collection: Collection, range: KeyRange): boolean {
    return collection instanceof StoredCollection && canRemoveRange(collection, range);
  }

  updateFast(txn: CatalogTransaction, collection: Collection, key: RecordKey, { update, bypassValidation }: { readonly update: Document; readonly bypassValidation: boolean }): Soon<boolean> {
    if (!(collection instanceof StoredCollection) || this.oplog.logs(collection.ns.db) || !canUpdateFast(collection, update, bypassValidation)) return false;
    return afterSoon(updateFast(storedTransaction(txn), collection, key, update), () => true);
  }

  async removeRange(txn: CatalogTransaction, collection: Collection, range: KeyRange, checkInterrupt: () => Soon<void>): Promise<number> {
    if (!(collection instanceof StoredCollection)) throw new AssertionError('a collection of this catalog');
    return removeRange(storedTransaction(txn), { collection, range, engine: this.#engine, checkInterrupt });
  }

  async beginLoad(txn: CatalogTransaction, ns: Namespace, { specs, options: given }: { readonly specs: readonly Document[]; readonly options: Document }): Promise<CollectionLoad> {
    checkCreatable(ns);
    const options = parseCreateOptions(given, this.#nowSeconds());
    checkValidated(ns, options);
    checkLoadable(ns, options);
    const stored = storedTransaction(txn);
    if ((await this.#rows.lock(stored, ns)) !== undefined) throw location(16873, 'Cannot bulk load a collection that already exists.');
    const put = (within: StoredTransaction, name: Namespace, entry: NameEntry): Promise<Named> => this.#rows.put(within, name, undefined, entry);
    return beginCollectionLoad({ catalog: this, engine: this.#engine, env: this.#env, maker: this.#maker, put }, stored, { ns, uuid: this.#uuid(), options, specs });
  }

  async reIndex(ns: Namespace, reindexing: Reindexing): Promise<readonly IndexKept[]> {
    return reIndex({ catalog: this, engine: this.#engine }, ns, reindexing);
  }

  async addPartition(ns: Namespace, newMax: Document | undefined, txn?: CatalogTransaction): Promise<void> {
    return this.#betweenWrites(ns, txn, (within) => addPartition(this, within, { ns, newMax, nowMs: this.#env.clock.nowMs() }));
  }

  async convertToPartitioned(ns: Namespace, txn?: CatalogTransaction): Promise<void> {
    return this.#betweenWrites(ns, txn, (within) => convertToPartitioned(this, within, { ns, nowMs: this.#env.clock.nowMs() }));
  }

  /** With a transaction, or in one of its own while the writers of the collection are held. */
  #betweenWrites(ns: Namespace, txn: CatalogTransaction | undefined, work: (within: StoredTransaction) => Promise<void>): Promise<void> {
    if (txn !== undefined) return work(storedTransaction(txn));
    const newest = this.#names.newest(ns.text);
    return newest?.kind === 'collection' ? whileHeld(newest.state, () => this.run(work)) : this.run(work);
  }

  async appendNote(o: Document): Promise<void> {
    await this.run((txn) => {
      txn.note({ kind: 'note', space: { ns: '', uuid: undefined }, o });
      return Promise.resolve();
    });
  }

  async dropPartition(txn: CatalogTransaction, ns: Namespace, id: number): Promise<void> {
    await dropPartition(this, storedTransaction(txn), { ns, id });
  }

  describeKey(dictionary: DictionaryId, key: Uint8Array | undefined): { readonly index: string; readonly values: Document } | undefined {
    return describeKey(this.#names.all(), dictionary, key);
  }

  builds(): readonly IndexBuild[] {
    return this.#builds.running;
  }

  /** Puts an entry in the place of `before` with the transaction; the name's row must be locked by it. */
  async replaceEntry(txn: StoredTransaction, before: StoredCollection, entry: NameEntry): Promise<Named> {
    return this.#rows.put(txn, before.ns, before, entry);
  }

  /** Drops an index's dictionary and its flags with the transaction. */
  async dropIndex(txn: StoredTransaction, id: StoredCollection['dictionary']): Promise<void> {
    await this.#rows.dropIndex(txn, id);
  }

  /** Locks the row of a name and gives what it stands for; `write-conflict` where that has changed since the snapshot. */
  async lockName(txn: StoredTransaction, ns: Namespace): Promise<Named | undefined> {
    return this.#rows.lock(txn, ns);
  }
}

function asCollection(ns: Namespace, named: Named | undefined): StoredCollection | undefined {
  if (named?.kind === 'view') throw isView(ns);
  return named;
}
