// `frond salvage`: everything that can be read of a damaged directory, into a fresh one. Documents are copied collection by collection and
// indexes are built anew, so that what is lost of an index costs nothing. The damaged directory is only read.

import { CommandError, EngineError } from '../base/errors.ts';
import { describeValue, Document, validateDocument } from '../bson/index.ts';
import { namespaceOf, openCatalog, salvagedName, updateTable } from '../catalog/index.ts';
import type { Catalog, Collection, SalvagedName } from '../catalog/index.ts';
import { finishDirectory, openEnvironment, readDirectory } from '../engine/index.ts';
import type { Damage, DictionaryId, DirectoryReader, FoundRow } from '../engine/index.ts';
import type { Env } from '../env/index.ts';

/** What was done. */
export interface SalvageReport {
  readonly collections: number;
  readonly views: number;
  readonly documents: number;
  /** Indexes built anew, `_id_` not counted. */
  readonly indexes: number;
  /** Everything that was lost, in words. */
  readonly losses: readonly string[];
}

/** Where from and where to, and who is told as it goes on. */
export interface SalvageOrder {
  readonly from: string;
  /** Must hold no data yet. */
  readonly to: string;
  readonly cacheBytes: number;
  readonly progress?: (ns: string, documents: number) => void;
}

const catalogDictionary = 1 as DictionaryId;
/** Database for documents whose collection's name is lost. */
const lostDatabase = 'salvaged';
const batchDocuments = 500;
const batchBytes = 4 * 1024 * 1024;

/** Copies what can be read. `locked` when a server has the directory open, `corruption` when no checkpoint can be read, `io` when `to` holds data. */
export async function salvageDirectory(env: Env, order: SalvageOrder): Promise<SalvageReport> {
  if (!(await env.files.exists(`${order.from}/data.frond`))) throw new EngineError('io', `there is no FrondDB data in ${order.from}`);
  if (await env.files.exists(`${order.to}/data.frond`)) throw new EngineError('io', `${order.to} holds data already`);
  const damages: Damage[] = [];
  const reader = await readDirectory(env, order.from, (damage) => damages.push(damage), updateTable.functions);
  try {
    const report = await copyInto(env, reader, order, damages);
    // What was cut off before does not open: nobody shall take a part of the documents for all of them.
    await finishDirectory(env, order.to);
    return report;
  } finally {
    await reader.close();
  }
}

async function copyInto(env: Env, reader: DirectoryReader, order: SalvageOrder, damages: readonly Damage[]): Promise<SalvageReport> {
  const engine = await openEnvironment(env, order.to, { cacheBytes: order.cacheBytes, updates: updateTable, unfinished: true });
  try {
    const salvage = new Salvage(reader, await openCatalog(engine, env), order);
    await salvage.run(() => damages.some(({ dictionary }) => dictionary === catalogDictionary));
    return { ...salvage.counts, losses: [...damages.map(inWords), ...salvage.losses] };
  } finally {
    await engine.close();
  }
}

function inWords({ message, file, offset, dictionary }: Damage): string {
  const place = file === undefined ? '' : `${file}${offset === undefined ? '' : ` at ${String(offset)}`}: `;
  return `${place}${dictionary === undefined ? '' : `dictionary ${String(dictionary)}: `}${message}`;
}

class Salvage {
  readonly losses: string[] = [];
  readonly counts: { collections: number; views: number; documents: number; indexes: number } = { collections: 0, views: 0, documents: 0, indexes: 0 };
  readonly #reader: DirectoryReader;
  readonly #catalog: Catalog;
  readonly #order: SalvageOrder;

  constructor(reader: DirectoryReader, catalog: Catalog, order: SalvageOrder) {
    this.#reader = reader;
    this.#catalog = catalog;
    this.#order = order;
  }

  /** `isCatalogHurt`: asked when all names are read; then dictionaries that nobody names are taken for collections. */
  async run(isCatalogHurt: () => boolean): Promise<void> {
    const names = await this.#names();
    for (const name of names) if (name.dictionary !== undefined) await this.#collection(name, name.dictionary);
    // Views last: they stand on collections, and are checked against them.
    for (const name of names) if (name.dictionary === undefined) await this.#view(name);
    if (isCatalogHurt()) await this.#orphans(names);
  }

  async #names(): Promise<SalvagedName[]> {
    const names: SalvagedName[] = [];
    for await (const rows of this.#reader.rows(catalogDictionary)) {
      for (const { key, value } of rows) {
        const name = salvagedName(key, value);
        if (typeof name === 'string') this.losses.push(name);
        else if (name !== undefined) names.push(name);
      }
    }
    return names;
  }

  async #view({ ns, options }: SalvagedName): Promise<void> {
    if (await this.#attempt(`view ${ns.text}`, () => this.#catalog.run((txn) => this.#catalog.create(txn, ns, options)))) this.counts.views += 1;
  }

  async #collection(name: SalvagedName, dictionary: DictionaryId): Promise<void> {
    const { ns, options } = name;
    if (!(await this.#attempt(`collection ${ns.text}`, () => this.#catalog.run((txn) => this.#catalog.create(txn, ns, options))))) return;
    this.counts.collections += 1;
    for (const id of [dictionary, ...name.partDictionaries]) await this.#documents(name, id);
    for (const spec of name.indexes) {
      const what = `index ${describeValue(spec.get('name') ?? null)} of ${ns.text}`;
      if (await this.#attempt(what, () => this.#catalog.createIndexes(ns, [spec]))) this.counts.indexes += 1;
    }
  }

  async #documents({ ns }: Pick<SalvagedName, 'ns'>, dictionary: DictionaryId): Promise<void> {
    let documents = 0;
    for await (const rows of this.#reader.rows(dictionary)) {
      for (const batch of batches(rows)) {
        documents += await this.#insert(ns, batch);
        this.#order.progress?.(ns.text, documents);
      }
    }
    this.counts.documents += documents;
  }

  /** Inserts the documents of rows in one transaction; gives how many there were. */
  async #insert(ns: SalvagedName['ns'], rows: readonly FoundRow[]): Promise<number> {
    const good: Document[] = [];
    for (const { value } of rows) {
      const document = await this.#attempt(`a document of ${ns.text}`, () => readDocument(value));
      if (document !== undefined) good.push(document);
    }
    return await this.#catalog.run(async (txn) => {
      const collection = await this.#catalog.collection(txn, ns);
      let inserted = 0;
      for (const document of good) {
        const put = async (into: Collection | undefined): Promise<true> => {
          await into?.insert(txn, into.prepare(document), { bypassValidation: true });
          return true;
        };
        if (await this.#attempt(`a document of ${ns.text}`, () => put(collection))) inserted += 1;
      }
      return inserted;
    });
  }

  /** Dictionaries without a name that hold documents. */
  async #orphans(names: readonly SalvagedName[]): Promise<void> {
    const named = new Set<DictionaryId>([catalogDictionary]);
    for (const { dictionary, partDictionaries, indexDictionaries } of names) for (const id of [dictionary, ...partDictionaries, ...indexDictionaries]) if (id !== undefined) named.add(id);
    for (const id of this.#reader.dictionaries) {
      if (named.has(id) || !(await this.#holdsDocuments(id))) continue;
      const ns = namespaceOf(lostDatabase, `dictionary_${String(id)}`);
      this.losses.push(`the name of dictionary ${String(id)} is lost: its documents are in ${ns.text}`);
      await this.#catalog.run((txn) => this.#catalog.ensureCollection(txn, ns));
      this.counts.collections += 1;
      await this.#documents({ ns }, id);
    }
  }

  async #holdsDocuments(id: DictionaryId): Promise<boolean> {
    for await (const rows of this.#reader.rows(id)) {
      const [first] = rows;
      if (first === undefined) continue;
      try {
        return readDocument(first.value).has('_id');
      } catch (error) {
        if (!isRefusal(error)) throw error;
        return false;
      }
    }
    return false;
  }

  /** What `work` gives; undefined, and a loss noted, where it is refused. */
  async #attempt<T>(what: string, work: () => T | Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (!isRefusal(error)) throw error;
      this.losses.push(`${what}: ${error.message}`);
      return undefined;
    }
  }
}

/** A document as a row keeps it; CommandError where the bytes are none. */
function readDocument(value: Uint8Array): Document {
  validateDocument(value, 0, value.length);
  return Document.fromBytes(value);
}

/** Whether an error says that the thing itself is wrong: the disk, and what the engine has, are not. */
function isRefusal(error: unknown): error is CommandError {
  return error instanceof CommandError;
}

function* batches(rows: readonly FoundRow[]): Generator<readonly FoundRow[]> {
  let batch: FoundRow[] = [];
  let bytes = 0;
  for (const row of rows) {
    batch.push(row);
    bytes += row.value.length;
    if (batch.length < batchDocuments && bytes < batchBytes) continue;
    yield batch;
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) yield batch;
}
