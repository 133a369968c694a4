// One document's change as rows: what goes and what comes in the collection's dictionary and in each index, found before anything is
// written, so that a refusal (11000, 171) has changed nothing. Unique keys that come are locked and looked up under their lock; those that go
// are locked too (law 5). Other index rows are covered by the document's lock.

import type { Document } from '../bson/index.ts';
import { compareBytes, equalBytes } from '../base/bytes.ts';
import { overItems } from '../base/long-lists.ts';
import type { Soon } from '../engine/index.ts';
import { inSlices } from '../env/index.ts';
import type { ChangedCollection } from './changed-collection.ts';
import { multikeyKey } from './entry.ts';
import type { IndexRow } from './index-row.ts';
import { checkPrepared, lockPrepared } from './prepared-unique.ts';
import { duplicateKey } from './refusal.ts';
import { afterSoon, turnAt } from './soon.ts';
import { sideValue } from './side-row.ts';
import { noRow } from './stored-index.ts';
import type { StoredIndex } from './stored-index.ts';
import type { StoredTransaction } from './transaction.ts';
import type { RecordKey } from './types.ts';

interface Coming {
  readonly index: StoredIndex;
  readonly row: IndexRow;
  /** Bytes of the row it replaces; -1: it is new. */
  readonly replacedBytes: number;
}

interface Going {
  readonly index: StoredIndex;
  readonly row: IndexRow;
}

/** A multikey flag that the document needs. */
interface FlagToRaise {
  readonly index: StoredIndex;
  readonly flag: number;
}

/** Where a document is and where it goes: under a primary key that an update changes the two differ. */
export interface KeyMove {
  readonly from: RecordKey;
  readonly to: RecordKey;
}

interface Difference {
  readonly coming: { readonly row: IndexRow; readonly replacedBytes: number }[];
  readonly going: IndexRow[];
  /** How many rows of before have been met. */
  met: number;
}

/** What comes and what goes, of rows that are both in the order of their keys. */
function difference(before: readonly IndexRow[], after: readonly IndexRow[]): Difference {
  const begin = (): Difference => ({ coming: [], going: [], met: 0 });
  const found = overItems(after, begin, (state, row) => {
    let old = before[state.met];
    while (old !== undefined && compareBytes(old.key, row.key) < 0) {
      state.going.push(old);
      state.met += 1;
      old = before[state.met];
    }
    if (old === undefined || !equalBytes(old.key, row.key)) {
      state.coming.push({ row, replacedBytes: -1 });
      return;
    }
    state.met += 1;
    if (!equalBytes(old.value, row.value)) state.coming.push({ row, replacedBytes: rowBytes(old) });
  });
  for (const old of before.slice(found.met)) found.going.push(old);
  return { ...found, met: before.length };
}

/** Changes of documents of fewer bytes are made in one go. */
export const longBytes = 16384;

/** The change of a document of so many bytes, before and after together; long work on it is done in slices. */
export function changeOf(txn: StoredTransaction, bytes: number, make: () => DocumentChange): Soon<DocumentChange> {
  return txn.pace === undefined || bytes < longBytes ? make() : inSlices(txn.pace, make);
}

/** What is found out of a document; in slices where it is long. */
export function soonOf<T>({ pace }: StoredTransaction, document: Document, find: () => T): Soon<T> {
  return pace === undefined || document.byteLength < longBytes ? find() : inSlices(pace, find);
}

/** A turn between two parts of work on a long document. */
export function turnOf({ pace }: StoredTransaction, document: Document): Promise<void> | undefined {
  return document.byteLength < longBytes ? undefined : pace?.turn();
}

/** The rows of one change of one document. */
export class DocumentChange {
  readonly #collection: ChangedCollection;
  /** The key of the document before, or, of an insertion, its key. */
  readonly #key: RecordKey;
  /** The key of the document after. */
  readonly #keyAfter: RecordKey;
  readonly #before: Document | undefined;
  readonly #after: Document | undefined;
  readonly #coming: Coming[] = [];
  readonly #going: Going[] = [];
  readonly #flags: FlagToRaise[] = [];

  /** `before` undefined: an insertion; `after` undefined: a removal. Throws 171. */
  constructor(collection: ChangedCollection, key: RecordKey | KeyMove, before: Document | undefined, after: Document | undefined) {
    this.#collection = collection;
    this.#key = key instanceof Uint8Array ? key : key.from;
    this.#keyAfter = key instanceof Uint8Array ? key : key.to;
    this.#before = before;
    this.#after = after;
    const { kept } = collection;
    for (let i = 0; i < kept.length; i++) {
      const index = kept[i] as StoredIndex;
      if (before !== undefined || after === undefined || !this.#addPlain(index, after)) this.#compare(index);
    }
  }

  /** Adds the row of a new document; false where more is to be done than that. */
  #addPlain(index: StoredIndex, after: Document): boolean {
    const row = index.plainRowOf(after, this.#keyAfter);
    if (row === undefined) return false;
    if (row !== noRow) this.#coming.push({ index, row, replacedBytes: -1 });
    return true;
  }

  #compare(index: StoredIndex): void {
    const gone = this.#before === undefined ? [] : index.rowsOf(this.#before, this.#key).rows;
    const fresh = this.#after === undefined ? undefined : index.rowsOf(this.#after, this.#keyAfter);
    const { coming, going } = difference(gone, fresh?.rows ?? []);
    for (const { row, replacedBytes } of coming) this.#coming.push({ index, row, replacedBytes });
    for (const row of going) this.#going.push({ index, row });
    for (const flag of fresh?.flags ?? []) if (index.flags.needs(flag)) this.#flags.push({ index, flag });
  }

  /** Takes the locks and looks for duplicates; after it nothing refuses. */
  check(txn: StoredTransaction): Soon<void> {
    const coming = this.#coming;
    for (let i = 0; i < coming.length; i++) {
      if (!this.#isNewKey(coming[i] as Coming)) continue;
      const checking = this.#checkUnique(txn, coming[i] as Coming) ?? turnAt(i, txn.pace);
      if (checking !== undefined) return this.#checkRest(checking, txn, i + 1);
    }
    return undefined;
  }

  async #checkRest(checking: Promise<void>, txn: StoredTransaction, from: number): Promise<void> {
    await checking;
    for (const [i, coming] of this.#coming.slice(from).entries()) if (this.#isNewKey(coming)) await (this.#checkUnique(txn, coming) ?? turnAt(i, txn.pace));
  }

  /** Whether nobody else may have the key that comes. */
  #isNewKey(coming: Coming): boolean {
    const { index, replacedBytes } = coming;
    return replacedBytes < 0 && (index.unique || (index.preparesUnique && !this.#hadFields(coming)));
  }

  /** Whether the document had that entry before, under the key that it moves from. */
  #hadFields({ index, row }: Coming): boolean {
    if (this.#keyAfter === this.#key) return false;
    const { fields } = index.entry(row.key, row.value);
    return this.#going.some((going) => going.index === index && equalBytes(index.entry(going.row.key, going.row.value).fields, fields));
  }

  #checkUnique(txn: StoredTransaction, coming: Coming): Soon<void> {
    const { index, row } = coming;
    if (!index.unique) return afterSoon(lockPrepared(txn, index, row), () => checkPrepared(txn, this.#collection, index, row));
    return afterSoon(txn.engine.lock(index.dictionary, row.key), () =>
      afterSoon(readLocked(txn, index, row.key), (found) => {
        if (found === undefined) return;
        const owner = index.entry(row.key, found).recordKey;
        if (compareBytes(owner, this.#key) === 0) return;
        throw duplicateKey(this.#collection.ns, index, index.keyValue(row));
      }),
    );
  }

  /** Writes all rows and states the deltas. */
  write(txn: StoredTransaction): Soon<void> {
    this.#state(txn);
    return this.#writeFrom(txn, 0);
  }

  /** Does the steps of writing from this one on, and makes a promise only where one must wait. */
  #writeFrom(txn: StoredTransaction, from: number): Soon<void> {
    const steps = 1 + this.#going.length + this.#coming.length + this.#flags.length;
    for (let step = from; step < steps; step++) {
      const writing = this.#writeStep(txn, step) ?? turnAt(step, txn.pace);
      if (writing !== undefined) return writing.then(() => this.#writeFrom(txn, step + 1));
    }
    return undefined;
  }

  /** The document first, then what goes of the indexes, what comes, and flags. */
  #writeStep(txn: StoredTransaction, step: number): Soon<void> {
    if (step === 0) return this.#after === undefined ? txn.engine.remove(this.#collection.dictionary, this.#key) : this.#put(txn, this.#after);
    let at = step - 1;
    if (at < this.#going.length) return remove(txn, this.#going[at] as Going);
    at -= this.#going.length;
    if (at < this.#coming.length) return put(txn, this.#coming[at] as Coming);
    const { index, flag } = this.#flags[at - this.#coming.length] as FlagToRaise;
    return writeFlag(txn, this.#collection, index, flag);
  }

  #put({ engine }: StoredTransaction, after: Document): Soon<void> {
    const { dictionary } = this.#collection;
    if (this.#keyAfter === this.#key) return engine.put(dictionary, this.#key, after.toBytes());
    return afterSoon(engine.remove(dictionary, this.#key), () => engine.put(dictionary, this.#keyAfter, after.toBytes()));
  }

  #state(txn: StoredTransaction): void {
    const before = this.#before?.byteLength ?? 0;
    const after = this.#after?.byteLength ?? 0;
    const rows = Number(this.#after !== undefined) - Number(this.#before !== undefined);
    txn.engine.count(this.#collection.dictionary, rows, after - before);
    for (const { index, row } of this.#going) txn.engine.count(index.dictionary, -1, -rowBytes(row));
    const coming = this.#coming;
    for (let i = 0; i < coming.length; i++) {
      const { index, row, replacedBytes } = coming[i] as Coming;
      txn.engine.count(index.dictionary, replacedBytes < 0 ? 1 : 0, rowBytes(row) - Math.max(replacedBytes, 0));
    }
  }
}

/** Raises a multikey flag and writes it with the transaction, once. */
function writeFlag(txn: StoredTransaction, collection: ChangedCollection, index: StoredIndex, flag: number): Soon<void> {
  index.flags.raise(flag);
  if (txn.hasFlag(index.flags, flag)) return undefined;
  txn.addFlag(index.flags, flag);
  return txn.engine.putCovered(collection.catalogDictionary, multikeyKey(index.flagRow(flag)), empty);
}

/** Under the key's lock: own writes, then what is there now (in a snapshot nothing newer can be: the lock would have been refused). */
export function readLocked(txn: StoredTransaction, index: { readonly dictionary: StoredIndex['dictionary'] }, key: Uint8Array): Soon<Uint8Array | undefined> {
  return txn.mode === 'statement' ? txn.engine.getLatest(index.dictionary, key) : txn.engine.get(index.dictionary, key);
}

const empty = new Uint8Array(0);
const rowBytes = (row: IndexRow): number => row.key.length + row.value.length;

function remove(txn: StoredTransaction, { index, row }: Going): Soon<void> {
  if (index.isSide) return txn.engine.putCovered(index.dictionary, row.key, sideValue(row.value, false));
  if (index.preparesUnique && !index.unique) return afterSoon(lockPrepared(txn, index, row), () => removePrepared(txn, index, row));
  return index.unique ? txn.engine.remove(index.dictionary, row.key) : txn.engine.removeCovered(index.dictionary, row.key);
}

function removePrepared(txn: StoredTransaction, index: StoredIndex, row: IndexRow): Soon<void> {
  txn.noteRemoved(index.dictionary, row.key);
  return txn.engine.removeCovered(index.dictionary, row.key);
}

function put(txn: StoredTransaction, { index, row }: Coming): Soon<void> {
  if (index.isSide) return txn.engine.putCovered(index.dictionary, row.key, sideValue(row.value, true));
  return index.unique ? txn.engine.put(index.dictionary, row.key, row.value) : txn.engine.putCovered(index.dictionary, row.key, row.value);
}
