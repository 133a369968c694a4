// Building indexes on a collection beside its writers (law 29). From the commit that registers an index every writer keeps it; the documents of
// that commit's snapshot are loaded beneath what writers add since. A unique index is kept by writers in a side dictionary, under unique part
// and record key; its last step holds the writers back, takes the side over and looks for duplicates. What is registered and not ready is
// known to writers only; a failure takes it back, and after a crash the next opening does.

import { compareBytes, equalBytes } from '../base/bytes.ts';
import { EngineError } from '../base/errors.ts';
import { Document } from '../bson/index.ts';
import type { DictionaryId, Environment, Load, LoadedTotals, Soon } from '../engine/index.ts';
import type { Env } from '../env/index.ts';
import { whileHeld } from './hold.ts';
import { multikeyKey, readyIndex } from './entry.ts';
import type { IndexEntryRow } from './entry.ts';
import type { DefinitionChanges } from './definition-changes.ts';
import { readSide } from './side-row.ts';
import type { ObjectMaker } from './object-maker.ts';
import { indexDictionaryOptionsOf, smallValues } from './dictionary-option.ts';
import { buildAborted, duplicateKey } from './refusal.ts';
import type { StoredCollection } from './stored-collection.ts';
import type { StoredIndex } from './stored-index.ts';
import type { StoredTransaction } from './transaction.ts';
import type { IndexDefinition } from './types.ts';

const scanLimit = { rows: 1024, bytes: 1 << 20 };
/** Unique parts that one transaction of the last step takes over. */
const takeOverRows = 2000;
const pollMs = 100;
const empty = new Uint8Array(0);

/** What a build needs. */
export interface OnlineParts {
  readonly catalog: DefinitionChanges;
  readonly engine: Environment;
  readonly env: Env;
  readonly maker: ObjectMaker;
}

/** One build. */
export interface OnlineJob {
  readonly collection: StoredCollection;
  readonly wanted: readonly IndexDefinition[];
  /** The index in whose place the only one of `wanted` comes. */
  readonly replaces?: DictionaryId;
  /** So many documents more are in the indexes. */
  readonly progress: (documents: number) => void;
  readonly checkInterrupt: () => Soon<void>;
}

/** An index on its way. */
interface Building {
  readonly index: StoredIndex;
  readonly row: IndexEntryRow;
  readonly flags: Set<number>;
}

/** Builds the indexes of one job; all of them or none. */
export class OnlineBuild {
  readonly #parts: OnlineParts;
  readonly #job: OnlineJob;

  constructor(parts: OnlineParts, job: OnlineJob) {
    this.#parts = parts;
    this.#job = job;
  }

  async run(): Promise<void> {
    const { building, reader } = await this.#register();
    try {
      const totals = await this.#load(building, reader);
      const sides = building.filter(({ row }) => row.side !== undefined);
      if (sides.length === 0) await this.#makeReady(building, totals);
      else await whileHeld(this.#job.collection.state, () => this.#takeOver(sides, building, totals));
    } catch (error) {
      await this.#takeBack(building);
      if (error instanceof EngineError && error.code === 'unknown-dictionary') throw buildAborted(this.#job.collection.ns);
      throw error;
    } finally {
      reader.abort();
    }
  }

  /** Registers the indexes for writers; the reader has that commit's snapshot, and nothing was written to the collection between. */
  async #register(): Promise<{ building: Building[]; reader: StoredTransaction }> {
    const { catalog } = this.#parts;
    return whileHeld(this.#job.collection.state, async () => {
      const building = await catalog.run(async (txn) => {
        const current = await this.#current(txn);
        const made = this.#job.wanted.map((definition) => this.#newIndex(txn, definition));
        await catalog.replaceEntry(txn, current, { ...current.entry, indexes: [...current.entry.indexes, ...made.map(({ row }) => row)] });
        return made;
      });
      return { building, reader: catalog.begin('read') };
    });
  }

  #newIndex(txn: StoredTransaction, definition: IndexDefinition): Building {
    const dictionary = txn.engine.createDictionary(indexDictionaryOptionsOf(definition.spec));
    const side = definition.unique ? txn.engine.createDictionary(smallValues) : undefined;
    return { index: this.#parts.maker.indexFor(definition, dictionary), row: { spec: definition.spec, dictionary, building: true, side }, flags: new Set() };
  }

  /** The collection as the transaction sees it; its name is locked. */
  async #current(txn: StoredTransaction): Promise<StoredCollection> {
    const { collection } = this.#job;
    const named = await this.#parts.catalog.lockName(txn, collection.ns);
    if (named?.kind !== 'collection' || !equalBytes(named.uuid.bytes, collection.uuid.bytes)) throw buildAborted(collection.ns);
    return named;
  }

  /** Loads the rows of all documents that the reader sees. */
  async #load(building: readonly Building[], reader: StoredTransaction): Promise<LoadedTotals[]> {
    const loads = building.map(({ row }) => this.#parts.engine.load(row.dictionary, building.length));
    try {
      await this.#addAll(building, loads, reader);
      reader.abort();
      const totals: LoadedTotals[] = [];
      for (const [i, load] of loads.entries()) totals.push(await this.#finish(load, building[i] as Building));
      return totals;
    } finally {
      for (const load of loads) load.abort();
    }
  }

  async #addAll(building: readonly Building[], loads: readonly Load[], reader: StoredTransaction): Promise<void> {
    const cursor = this.#job.collection.scan(reader, {}, 1);
    try {
      for (;;) {
        await this.#job.checkInterrupt();
        const batch = await cursor.nextBatch(scanLimit);
        if (batch.length === 0) return;
        for (let i = 0; i < batch.length; i++) {
          const full = addRows(building, loads, batch.key(i), Document.fromBytes(batch.value(i)));
          if (full !== undefined) await full;
        }
        this.#job.progress(batch.length);
      }
    } finally {
      cursor.close();
    }
  }

  /** Ends a load, looking now and then whether somebody wants the build to stop. */
  async #finish(load: Load, { index }: Building): Promise<LoadedTotals> {
    const { clock } = this.#parts.env;
    const ended = new AbortController();
    const finished = load.finish().finally(() => {
      ended.abort();
    });
    try {
      while (!ended.signal.aborted) {
        await Promise.race([finished, clock.sleep(pollMs, ended.signal)]);
        await this.#job.checkInterrupt();
      }
      return await finished;
    } catch (error) {
      load.abort();
      await finished.catch((cause: unknown) => cause);
      if (!(error instanceof EngineError)) throw error;
      const { fromKey: key, value } = error.place;
      if (error.code === 'duplicate' && key !== undefined && value !== undefined) throw duplicateKey(this.#job.collection.ns, index, index.keyValue({ key, value }));
      throw error;
    }
  }

  /** The last commit: planners know the indexes from now on. */
  async #makeReady(building: readonly Building[], totals: readonly LoadedTotals[]): Promise<void> {
    const { catalog, engine } = this.#parts;
    await catalog.run(async (txn) => {
      const current = await this.#current(txn);
      const ready = new Map(building.map(({ row }) => [row.dictionary, readyIndex(row.spec, row.dictionary)]));
      const { replaces } = this.#job;
      const indexes = current.entry.indexes.map((row) => ready.get(row.dictionary) ?? row).filter(({ dictionary }) => dictionary !== replaces);
      await catalog.replaceEntry(txn, current, { ...current.entry, indexes });
      if (replaces !== undefined) await catalog.dropIndex(txn, replaces);
      for (const [i, { index, row, flags }] of building.entries()) {
        const loaded = totals[i] as LoadedTotals;
        txn.engine.count(row.dictionary, loaded.rows, loaded.bytes);
        if (row.side !== undefined) txn.engine.dropDictionary(row.side);
        for (const flag of flags) {
          index.flags.raise(flag);
          txn.addFlag(index.flags, flag);
          await txn.engine.putCovered(engine.catalogDictionary, multikeyKey(index.flagRow(flag)), empty);
        }
      }
    });
  }

  /** What writers kept beside unique indexes becomes theirs; 11000 where that gives a key two documents. Writers are held. */
  async #takeOver(sides: readonly Building[], building: readonly Building[], totals: readonly LoadedTotals[]): Promise<void> {
    const sums = [...totals];
    for (const side of sides) {
      const at = building.indexOf(side);
      const loaded = totals[at] as LoadedTotals;
      const change = await this.#takeOverOne(side);
      sums[at] = { rows: loaded.rows + change.rows, bytes: loaded.bytes + change.bytes };
    }
    await this.#makeReady(building, sums);
  }

  async #takeOverOne({ index, row }: Building): Promise<LoadedTotals> {
    const { catalog } = this.#parts;
    const reader = catalog.begin('read');
    let [rows, bytes] = [0, 0];
    try {
      let part: SideGroup[] = [];
      const flush = async (): Promise<void> => {
        await this.#job.checkInterrupt();
        const groups = part;
        part = [];
        const change = await catalog.run((txn) => this.#settle(txn, index, groups));
        rows += change.rows;
        bytes += change.bytes;
      };
      for await (const group of groupsOf(reader, row.side as DictionaryId, index)) {
        part.push(group);
        if (part.length >= takeOverRows) await flush();
      }
      await flush();
    } finally {
      reader.abort();
    }
    return { rows, bytes };
  }

  /** Writes what unique parts come to. */
  async #settle(txn: StoredTransaction, index: StoredIndex, groups: readonly SideGroup[]): Promise<LoadedTotals> {
    let [rows, bytes] = [0, 0];
    for (const { key, changes } of groups) {
      const before = await txn.engine.get(index.dictionary, key);
      const owners = changes.filter(({ value }) => value !== undefined);
      const owner = before === undefined ? undefined : index.entry(key, before).recordKey;
      const stays = owner !== undefined && !changes.some(({ recordKey }) => equalBytes(recordKey, owner));
      if (owners.length + (stays ? 1 : 0) > 1) throw duplicateKey(this.#job.collection.ns, index, index.keyValue({ key, value: owners[0]?.value ?? empty }));
      if (stays) continue;
      const after = owners[0]?.value;
      if (after === undefined) await txn.engine.removeCovered(index.dictionary, key);
      else await txn.engine.putCovered(index.dictionary, key, after);
      rows += (after === undefined ? 0 : 1) - (before === undefined ? 0 : 1);
      bytes += (after === undefined ? 0 : key.length + after.length) - (before === undefined ? 0 : key.length + before.length);
    }
    return { rows, bytes };
  }

  /** Nothing is left: neither of the definition nor of its dictionaries. */
  async #takeBack(building: readonly Building[]): Promise<void> {
    const { catalog, maker } = this.#parts;
    const gone = new Set(building.map(({ row }) => row.dictionary));
    await catalog.run(async (txn) => {
      const named = await catalog.lockName(txn, this.#job.collection.ns);
      // A collection that was dropped took them along.
      if (named?.kind !== 'collection' || !named.entry.indexes.some(({ dictionary }) => gone.has(dictionary))) return;
      await catalog.replaceEntry(txn, named, { ...named.entry, indexes: named.entry.indexes.filter(({ dictionary }) => !gone.has(dictionary)) });
      for (const { row } of building) {
        await catalog.dropIndex(txn, row.dictionary);
        if (row.side !== undefined) txn.engine.dropDictionary(row.side);
      }
    });
    for (const dictionary of gone) maker.forget(dictionary);
  }
}

/** Adds the rows of one document to each load. */
function addRows(building: readonly Building[], loads: readonly Load[], recordKey: Uint8Array, document: Document): Promise<void> | undefined {
  let full: Promise<void> | undefined;
  for (const [i, { index, flags }] of building.entries()) {
    const found = index.rowsOf(document, recordKey);
    for (const flag of found.flags) flags.add(flag);
    for (const { key, value } of found.rows) {
      const waits = (loads[i] as Load).add(key, value);
      if (waits !== undefined) full = full === undefined ? waits : Promise.all([full, waits]).then(() => undefined);
    }
  }
  return full;
}

/** One unique part, and what writers said of it for each document: the row's value, or that it is gone. */
interface SideGroup {
  readonly key: Uint8Array;
  readonly changes: { readonly recordKey: Uint8Array; readonly value: Uint8Array | undefined }[];
}

async function* groupsOf(reader: StoredTransaction, side: DictionaryId, index: StoredIndex): AsyncGenerator<SideGroup> {
  const cursor = reader.engine.cursor(side, {}, 1);
  let group: SideGroup | undefined;
  try {
    for (let batch = await cursor.nextBatch(scanLimit); batch.length > 0; batch = await cursor.nextBatch(scanLimit)) {
      for (let i = 0; i < batch.length; i++) {
        const { key, recordKey, value } = readSide(index, batch.key(i), batch.value(i));
        const isNext = group !== undefined && compareBytes(group.key, key) !== 0;
        if (isNext && group !== undefined) yield group;
        if (isNext || group === undefined) group = { key, changes: [] };
        group.changes.push({ recordKey, value });
      }
    }
    if (group !== undefined) yield group;
  } finally {
    cursor.close();
  }
}
