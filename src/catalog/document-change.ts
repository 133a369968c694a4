// One document's change as rows: what goes and what comes in the collection's dictionary and in each index, found before anything is
// written, so that a refusal (11000, 171) has changed nothing. Unique keys that come are locked and looked up under their lock; those that go
// are locked too (law 5). Other index rows are covered by the document's lock.

import type { Document } from '../bson/index.ts';
import { compareBytes, equalBytes } from '../base/bytes.ts';
import type { Soon } from '../engine/index.ts';
import type { ChangedCollection } from './changed-collection.ts';
import { multikeyKey } from './entry.ts';
import type { IndexRow } from './index-row.ts';
import { checkPrepared, lockPrepared } from './prepared-unique.ts';
import { duplicateKey } from './refusal.ts';
import { afterSoon, eachSoon } from './soon.ts';
import { sideValue } from './side-row.ts';
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

/** Where a document is and where it goes: under a primary key that an update changes the two differ. */
export interface KeyMove {
  readonly from: RecordKey;
  readonly to: RecordKey;
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
  readonly #flags: { readonly index: StoredIndex; readonly flag: number }[] = [];

  /** `before` undefined: an insertion; `after` undefined: a removal. Throws 171. */
  constructor(collection: ChangedCollection, key: RecordKey | KeyMove, before: Document | undefined, after: Document | undefined) {
    this.#collection = collection;
    this.#key = key instanceof Uint8Array ? key : key.from;
    this.#keyAfter = key instanceof Uint8Array ? key : key.to;
    this.#before = before;
    this.#after = after;
    for (const index of collection.kept) this.#compare(index);
  }

  #compare(index: StoredIndex): void {
    const gone = this.#before === undefined ? [] : index.rowsOf(this.#before, this.#key).rows;
    const fresh = this.#after === undefined ? undefined : index.rowsOf(this.#after, this.#keyAfter);
    if (gone.length === 0) for (const row of fresh?.rows ?? []) this.#coming.push({ index, row, replacedBytes: -1 });
    else this.#replace(index, gone, fresh?.rows ?? []);
    for (const flag of fresh?.flags ?? []) if (index.flags.needs(flag)) this.#flags.push({ index, flag });
  }

  #replace(index: StoredIndex, gone: readonly IndexRow[], fresh: readonly IndexRow[]): void {
    const left = new Set(gone);
    for (const row of fresh) {
      const old = gone.find((other) => equalBytes(other.key, row.key));
      if (old === undefined) {
        this.#coming.push({ index, row, replacedBytes: -1 });
        continue;
      }
      left.delete(old);
      if (!equalBytes(old.value, row.value)) this.#coming.push({ index, row, replacedBytes: rowBytes(old) });
    }
    for (const row of left) this.#going.push({ index, row });
  }

  /** Takes the locks and looks for duplicates; after it nothing refuses. */
  check(txn: StoredTransaction): Soon<void> {
    const unique = this.#coming.filter((coming) => coming.replacedBytes < 0 && (coming.index.unique || (coming.index.preparesUnique && !this.#hadFields(coming))));
    if (unique.length === 0) return undefined;
    return eachSoon(unique.length, (i) => this.#checkUnique(txn, unique[i] as Coming));
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
    const { engine } = txn;
    const dictionary = this.#collection.dictionary;
    const after = this.#after;
    const first = after === undefined ? engine.remove(dictionary, this.#key) : this.#put(txn, after);
    return afterSoon(first, () =>
      afterSoon(eachSoon(this.#going.length, (i) => remove(txn, this.#going[i] as Going)), () =>
        afterSoon(eachSoon(this.#coming.length, (i) => put(txn, this.#coming[i] as Coming)), () => this.#writeFlags(txn)),
      ),
    );
  }

  #put({ engine }: StoredTransaction, after: Document): Soon<void> {
    const { dictionary } = this.#collection;
    const put = (): Soon<void> => engine.put(dictionary, this.#keyAfter, after.toBytes());
    return this.#keyAfter === this.#key ? put() : afterSoon(engine.remove(dictionary, this.#key), put);
  }

  #state(txn: StoredTransaction): void {
    const before = this.#before?.byteLength ?? 0;
    const after = this.#after?.byteLength ?? 0;
    const rows = Number(this.#after !== undefined) - Number(this.#before !== undefined);
    txn.engine.count(this.#collection.dictionary, rows, after - before);
    for (const { index, row } of this.#going) txn.engine.count(index.dictionary, -1, -rowBytes(row));
    for (const { index, row, replacedBytes } of this.#coming) {
      txn.engine.count(index.dictionary, replacedBytes < 0 ? 1 : 0, rowBytes(row) - Math.max(replacedBytes, 0));
    }
  }

  #writeFlags(txn: StoredTransaction): Soon<void> {
    return eachSoon(this.#flags.length, (i) => {
      const { index, flag } = this.#flags[i] as { readonly index: StoredIndex; readonly flag: number };
      return writeFlag(txn, this.#collection, index, flag);
    });
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
