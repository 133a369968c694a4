// The rows of names in dictionary 1, as transactions change them: a name's row is locked before it is looked at, and what goes takes its dictionaries with it.

import { equalBytes } from '../base/bytes.ts';
import type { DictionaryId, Environment, KeyRange, Soon } from '../engine/index.ts';
import { encodeEntry, multikeyRangeOf, nameKey, unsizedKey } from './entry.ts';
import type { NameEntry } from './entry.ts';
import type { Namespace } from './namespace.ts';
import type { Named, NameTable } from './name-table.ts';
import type { ObjectMaker } from './object-maker.ts';
import { noteCreate, noteDrop, noteIndexes } from './oplog/definition-notes.ts';
import { dropPart } from './partition/partition-entry.ts';
import { changedMeanwhile } from './refusal.ts';
import { eachRow } from './rows.ts';
import type { StoredTransaction } from './transaction.ts';
import type { CatalogTransaction } from './types.ts';

/** What the rows are kept with. */
export interface NameRowParts {
  readonly engine: Environment;
  readonly names: NameTable;
  readonly maker: ObjectMaker;
  /** What the catalog gives for a name. */
  readonly lookup: (txn: StoredTransaction, ns: Namespace) => Soon<Named | undefined>;
}

/** Changes names with transactions. Every change but `lock` wants the row locked by the same transaction. */
export class NameRows {
  readonly #engine: Environment;
  readonly #names: NameTable;
  readonly #maker: ObjectMaker;
  readonly #lookup: NameRowParts['lookup'];

  constructor(parts: NameRowParts) {
    this.#engine = parts.engine;
    this.#names = parts.names;
    this.#maker = parts.maker;
    this.#lookup = parts.lookup;
  }

  /** Locks the row of a name and gives what it stands for, whoever asks; `write-conflict` where that has changed since the snapshot. */
  async lock(txn: StoredTransaction, ns: Namespace): Promise<Named | undefined> {
    const key = nameKey(ns);
    const { catalogDictionary } = this.#engine;
    await txn.engine.lock(catalogDictionary, key);
    if (txn.mode === 'statement') {
      const latest = await txn.engine.getLatest(catalogDictionary, key);
      const seen = await txn.engine.get(catalogDictionary, key);
      const same = latest === undefined || seen === undefined ? latest === seen : equalBytes(latest, seen);
      if (!same) throw changedMeanwhile(ns.text);
    }
    return this.#lookup(txn, ns);
  }

  /** Gives a name an entry, in the place of `before` where that had the name, and tells the log of operations. */
  async put(txn: StoredTransaction, ns: Namespace, before: Named | undefined, entry: NameEntry): Promise<Named> {
    if (before === undefined) noteCreate(txn, ns, entry);
    else if (before.ns.text === ns.text) noteIndexes(txn, before, entry);
    await txn.engine.put(this.#engine.catalogDictionary, nameKey(ns), encodeEntry(entry));
    const after = this.#maker.make(ns, entry, before);
    if (after.kind === 'collection') after.owner = txn;
    this.#names.change(txn, ns.text, before?.ns.text === ns.text ? before : undefined, after);
    return after;
  }

  /** Takes the name away, not what it stood for. */
  async forget(txn: StoredTransaction, ns: Namespace, named: Named): Promise<void> {
    await txn.engine.remove(this.#engine.catalogDictionary, nameKey(ns));
    this.#names.change(txn, ns.text, named, undefined);
  }

  /** Takes the name away and all that it stood for; a rename over it tells the log of operations itself. */
  async remove(txn: StoredTransaction, ns: Namespace, named: Named, cause?: 'by-rename'): Promise<void> {
    if (cause === undefined) noteDrop(txn, named);
    await this.forget(txn, ns, named);
    if (named.kind === 'view') return;
    for (const { dictionary, side } of named.entry.indexes) {
      await this.dropIndex(txn, dictionary);
      if (side !== undefined) txn.engine.dropDictionary(side);
    }
    for (const part of named.entry.partitions ?? []) dropPart(txn, part);
    if (named.entry.idIndex !== undefined) await this.dropIndex(txn, named.entry.idIndex);
    await txn.engine.removeCovered(this.#engine.catalogDictionary, unsizedKey(named.dictionary));
    txn.engine.dropDictionary(named.dictionary);
  }

  /** Drops an index's dictionary and its flags. */
  async dropIndex(txn: StoredTransaction, id: DictionaryId): Promise<void> {
    const flags: Uint8Array[] = [];
    await this.each(txn, multikeyRangeOf(id), (key) => flags.push(key.slice()));
    for (const key of flags) await txn.engine.removeCovered(this.#engine.catalogDictionary, key);
    txn.engine.dropDictionary(id);
  }

  /** Visits the keys of rows in their order; a key is valid until the visit ends. */
  async each(txn: CatalogTransaction, range: KeyRange, visit: (key: Uint8Array) => void): Promise<void> {
    await eachRow(txn.engine.cursor(this.#engine.catalogDictionary, range, 1), visit);
  }
}
