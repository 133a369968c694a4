// Building indexes on a collection that has documents. Small collections are built in the one transaction that registers the index, with the
// writers of the collection held back for that moment: nothing that wrote it commits until then, and what was written under the old definition
// does not commit at all (law 29). Larger ones are built beside their writers (online-build.ts). One build of a collection at a time.

import { compareBytes, equalBytes } from '../base/bytes.ts';
import { Document } from '../bson/index.ts';
import type { DictionaryId, Environment, Soon } from '../engine/index.ts';
import type { Env } from '../env/index.ts';
import { deferred } from './deferred.ts';
import type { DefinitionChanges } from './definition-changes.ts';
import { whileHeld } from './hold.ts';
import { multikeyKey, readyIndex } from './entry.ts';
import type { IndexRow } from './index-row.ts';
import { defineIndex, newIndexes } from './index-spec.ts';
import { indexCount } from './time-series-index.ts';
import type { NameTable } from './name-table.ts';
import type { CollectionState, StoredTransaction } from './transaction.ts';
import type { Namespace } from './namespace.ts';
import type { ObjectMaker } from './object-maker.ts';
import { withIndexes } from './partition/partition-entry.ts';
import { OnlineBuild } from './online-build.ts';
import { indexDictionaryOptionsOf } from './dictionary-option.ts';
import { attemptsMax, duplicateKey, isTransient, noCollection } from './refusal.ts';
import type { StoredCollection } from './stored-collection.ts';
import type { StoredIndex } from './stored-index.ts';
import type { CatalogChoices, IndexBuild, IndexDefinition, IndexesCreated } from './types.ts';

/** Collections up to this many documents are built in one transaction, unless somebody says otherwise. */
const inlineDocumentsMaxDefault = 1000;
/** Rows are sorted and put in pieces: the memory a build takes, well below what one transaction may write (an eighth of the cache). */
const batchShare = 32;
const batchBytesMin = 1 << 16;
const batchBytesMax = 1 << 20;
const scanLimit = { rows: 256, bytes: 1 << 20 };
const empty = new Uint8Array(0);

/** What builds need of the catalog. */
export interface BuildParts {
  readonly catalog: DefinitionChanges;
  readonly engine: Environment;
  readonly env: Env;
  readonly names: NameTable;
  readonly maker: ObjectMaker;
  readonly choices: CatalogChoices;
}

class RunningBuild implements IndexBuild {
  readonly ns: Namespace;
  readonly names: readonly string[];
  readonly documentsTotal: number;
  documentsDone = 0;

  constructor(ns: Namespace, wanted: readonly IndexDefinition[], documentsTotal: number) {
    this.ns = ns;
    this.names = wanted.map((definition) => definition.name);
    this.documentsTotal = documentsTotal;
  }
}

interface NewRow {
  readonly index: StoredIndex;
  readonly row: IndexRow;
}

/** One build: what, where, and who may stop it. */
interface Job {
  readonly collection: StoredCollection;
  readonly wanted: readonly IndexDefinition[];
  readonly build: RunningBuild;
  readonly checkInterrupt: () => Soon<void>;
}

/** All index builds of one catalog. */
export class IndexBuilds {
  readonly #parts: BuildParts;
  readonly #running: Set<RunningBuild> = new Set();

  constructor(parts: BuildParts) {
    this.#parts = parts;
  }

  get running(): readonly IndexBuild[] {
    return [...this.#running];
  }

  /** Makes the indexes among `specs` that are not there. */
  async create(ns: Namespace, specs: readonly Document[], checkInterrupt: () => Soon<void>): Promise<IndexesCreated> {
    const { catalog } = this.#parts;
    for (let attempt = 1; ; attempt++) {
      const early = await catalog.run((txn) => this.#withoutDocuments(txn, ns, specs));
      if (early !== undefined) return early;
      try {
        const done = await this.#onExisting(ns, specs, checkInterrupt);
        if (done !== undefined) return done;
      } catch (error) {
        // Somebody else changed the definition while the documents were read.
        if (!isTransient(error) || attempt === attemptsMax) throw error;
      }
    }
  }

  /** Registers indexes of a collection that has no document in this transaction. */
  async addEmpty(txn: StoredTransaction, collection: StoredCollection, wanted: readonly IndexDefinition[]): Promise<void> {
    txn.requireQuiet(collection.state);
    await this.#register(txn, collection, wanted);
  }

  /** Puts new indexes into the collection's entry; gives them as they are in it. */
  async #register(txn: StoredTransaction, collection: StoredCollection, wanted: readonly IndexDefinition[]): Promise<readonly StoredIndex[]> {
    await this.#parts.catalog.lockName(txn, collection.ns);
    const rows = wanted.map(({ spec }) => readyIndex(spec, txn.engine.createDictionary(indexDictionaryOptionsOf(spec))));
    const named = await this.#parts.catalog.replaceEntry(txn, collection, withIndexes(txn, collection.entry, rows));
    if (named.kind !== 'collection') throw noCollection(collection.ns);
    const fresh = new Set(rows.map(({ dictionary }) => dictionary));
    return named.secondaries.filter(({ dictionary }) => fresh.has(dictionary));
  }

  /** Where no document has to be looked at, one transaction does all; undefined: there are documents. */
  async #withoutDocuments(txn: StoredTransaction, ns: Namespace, specs: readonly Document[]): Promise<IndexesCreated | undefined> {
    const { catalog } = this.#parts;
    const existing = await catalog.collection(txn, ns);
    const wanted = newIndexes(existing, specs, ns.text);
    const before = existing === undefined ? 1 : indexCount(existing);
    if (existing !== undefined && wanted.length > 0) return undefined;
    if (existing === undefined) {
      const made = await catalog.ensureCollection(txn, ns);
      if (wanted.length > 0) await this.addEmpty(txn, made, wanted);
    }
    return { createdCollectionAutomatically: existing === undefined, before, after: before + wanted.length };
  }

  /** Makes an index of a collection unique: builds one beside the writers, which takes its place. */
  async makeUnique(collection: StoredCollection, index: StoredIndex, checkInterrupt: () => Soon<void>): Promise<void> {
    const { state } = collection;
    while (state.build !== undefined) await state.build;
    await whileBuilding(state, async () => {
      const spec = Document.fromEntries([...index.spec.fields.filter(([name]) => name !== 'prepareUnique'), ['unique', true]]);
      const wanted = [defineIndex(spec)];
      const job = { collection, wanted, replaces: index.dictionary, checkInterrupt, progress: () => undefined };
      await new OnlineBuild(this.#parts, job).run();
      this.#parts.maker.forget(index.dictionary);
    });
  }

  /** Builds; undefined: somebody else was building, look again. */
  async #onExisting(ns: Namespace, specs: readonly Document[], checkInterrupt: () => Soon<void>): Promise<IndexesCreated | undefined> {
    const { names } = this.#parts;
    const newest = names.newest(ns.text);
    if (newest?.kind !== 'collection') return undefined;
    const { state } = newest;
    if (state.build !== undefined) {
      await state.build;
      return undefined;
    }
    return whileBuilding(state, () => this.#build(ns, specs, checkInterrupt));
  }

  async #build(ns: Namespace, specs: readonly Document[], checkInterrupt: () => Soon<void>): Promise<IndexesCreated | undefined> {
    const txn = this.#parts.catalog.begin('statement');
    let total: number;
    let collection: StoredCollection;
    try {
      const found = await this.#parts.catalog.collection(txn, ns);
      if (found === undefined) return undefined;
      collection = found;
      total = collection.totals(txn).rows;
    } finally {
      txn.abort();
    }
    const wanted = newIndexes(collection, specs, ns.text);
    const before = indexCount(collection);
    const build = new RunningBuild(ns, wanted, total);
    this.#running.add(build);
    try {
      const job: Job = { collection, wanted, build, checkInterrupt };
      if (wanted.length === 0) return { createdCollectionAutomatically: false, before, after: before };
      const inlineDocumentsMax = this.#parts.choices.inlineDocumentsMax ?? inlineDocumentsMaxDefault;
      // As in TokuMX, the indexes of a partitioned collection are built with its writers held back.
      if (total <= inlineDocumentsMax || collection.partitions !== undefined) await whileHeld(collection.state, () => this.#inline(job));
      else await new OnlineBuild(this.#parts, { ...job, progress: (documents) => (build.documentsDone += documents) }).run();
    } finally {
      this.#running.delete(build);
    }
    return { createdCollectionAutomatically: false, before, after: before + wanted.length };
  }

  async #inline(job: Job): Promise<void> {
    const txn = this.#parts.catalog.begin('statement');
    try {
      const indexes = await this.#register(txn, await this.#current(txn, job), job.wanted);
      const flags = await this.#rows(txn, job, indexes, (rows) => putRows(txn, job.collection, rows));
      await this.#putFlags(txn, flags);
      await txn.commit();
    } catch (error) {
      txn.abort();
      throw error;
    }
  }

  get #catalogDictionary(): DictionaryId {
    return this.#parts.engine.catalogDictionary;
  }

  /** The collection as the transaction sees it: writers are held, but its name may have changed. */
  async #current(txn: StoredTransaction, { collection }: Job): Promise<StoredCollection> {
    const named = await this.#parts.catalog.lockName(txn, collection.ns);
    if (named?.kind !== 'collection' || !equalBytes(named.uuid.bytes, collection.uuid.bytes)) throw noCollection(collection.ns);
    return named;
  }

  /** Gives the rows of all documents, in pieces sorted by index and key; the flags they need. */
  async #rows(txn: StoredTransaction, job: Job, indexes: readonly StoredIndex[], give: (rows: readonly NewRow[]) => Promise<void>): Promise<Flags> {
    const flags: Flags = new Map(indexes.map((index) => [index, new Set<number>()]));
    const { cacheBytesMax } = this.#parts.engine.statistics();
    const batchBytes = Math.min(batchBytesMax, Math.max(batchBytesMin, cacheBytesMax / batchShare));
    const cursor = job.collection.scan(txn, {}, 1);
    let rows: NewRow[] = [];
    let bytes = 0;
    try {
      for (;;) {
        await job.checkInterrupt();
        const batch = await cursor.nextBatch(scanLimit);
        for (let i = 0; i < batch.length; i++) {
          bytes += addRows(rows, flags, batch.key(i), Document.fromBytes(batch.value(i)));
        }
        job.build.documentsDone += batch.length;
        if (bytes >= batchBytes || batch.length === 0) {
          await give(rows.sort(byPlace));
          rows = [];
          bytes = 0;
        }
        if (batch.length === 0) return flags;
      }
    } finally {
      cursor.close();
    }
  }

  async #putFlags(txn: StoredTransaction, flags: Flags): Promise<void> {
    for (const [index, set] of flags) {
      for (const flag of set) {
        index.flags.raise(flag);
        txn.addFlag(index.flags, flag);
        await txn.engine.putCovered(this.#catalogDictionary, multikeyKey(index.flagRow(flag)), empty);
      }
    }
  }
}

/** Does `work` as the one build of the collection. */
async function whileBuilding<T>(state: CollectionState, work: () => Promise<T>): Promise<T> {
  const { promise, end } = deferred();
  state.build = promise;
  try {
    return await work();
  } finally {
    state.build = undefined;
    end();
  }
}

type Flags = Map<StoredIndex, Set<number>>;

/** Adds the rows of one document, which copy what they keep of it; the bytes they take. */
function addRows(rows: NewRow[], flags: Flags, recordKey: Uint8Array, document: Document): number {
  let bytes = 0;
  for (const [index, set] of flags) {
    const found = index.rowsOf(document, recordKey);
    for (const flag of found.flags) set.add(flag);
    for (const row of found.rows) {
      rows.push({ index: index.shareFor(recordKey), row });
      bytes += row.key.length + row.value.length + 64;
    }
  }
  return bytes;
}

function byPlace(a: NewRow, b: NewRow): number {
  return a.index.dictionary - b.index.dictionary || compareBytes(a.row.key, b.row.key);
}

/** Puts rows of an index that nobody sees yet; 11000 where a unique one has the key already. */
async function putRows(txn: StoredTransaction, collection: StoredCollection, rows: readonly NewRow[]): Promise<void> {
  const { engine } = txn;
  for (const { index, row } of rows) {
    if (index.unique) await checkAbsent(txn, collection, index, row);
    const put = engine.putCovered(index.dictionary, row.key, row.value);
    if (put instanceof Promise) await put;
    engine.count(index.dictionary, 1, row.key.length + row.value.length);
  }
}

async function checkAbsent(txn: StoredTransaction, collection: StoredCollection, index: StoredIndex, row: IndexRow): Promise<void> {
  const found = await txn.engine.get(index.dictionary, row.key);
  if (found === undefined) return;
  throw duplicateKey(collection.ns, index, index.keyValue(row));
}
