// Whether a collection is whole: every document has exactly its entries in every index, every entry its document, and the totals that
// commits have stated are what a scan counts. Used by the validate command, `frond verify` and the crash tests.

import { compareBytes, equalBytes } from '../base/bytes.ts';
import { hash32 } from '../base/hash.ts';
import { Document } from '../bson/index.ts';
import type { Batch, Cursor, Soon, Totals } from '../engine/index.ts';
import type { StoredIndex } from './stored-index.ts';
import type { CatalogTransaction, Collection, CollectionCheck, RecordKey } from './types.ts';

const batchLimit = { rows: 256, bytes: 1 << 20 };
const problemsMax = 100;

/** A collection with its own kind of index. */
export type CheckedCollection = Pick<Collection, 'scan' | 'totals' | 'isKeyedById'> & {
  /** Whether the bytes of its documents are counted. */
  isSized(txn: CatalogTransaction): Soon<boolean>;
  readonly secondaries: readonly StoredIndex[];
  /** The key that a document must have; undefined where it is the number of its insertion. */
  keyFor(document: Document): RecordKey | undefined;
};

/** Problems in words, at most a hundred. */
class Findings {
  readonly problems: string[] = [];

  add(problem: string): void {
    if (this.problems.length < problemsMax) this.problems.push(problem);
  }

  compareTotals(what: string, stated: Totals, found: Totals, isSized: boolean = true): void {
    if (stated.rows !== found.rows) this.add(`${what}: ${stated.rows} rows are stated, ${found.rows} are there`);
    if (isSized && stated.bytes !== found.bytes) this.add(`${what}: ${stated.bytes} bytes are stated, ${found.bytes} are there`);
  }
}

const hex = (key: Uint8Array): string => Array.from(key, (byte) => byte.toString(16).padStart(2, '0')).join('');

async function eachBatch(cursor: Cursor, visit: (batch: Batch) => void | Promise<void>, checkInterrupt?: () => Soon<void>): Promise<void> {
  try {
    for (;;) {
      await checkInterrupt?.();
      const batch = await cursor.nextBatch(batchLimit);
      if (batch.length === 0) return;
      const visited = visit(batch);
      if (visited instanceof Promise) await visited;
    }
  } finally {
    cursor.close();
  }
}

/**
 * What a set of rows adds up to, in whatever order they come: their number, their bytes, and 64 bits of hashes. Documents and entries that add
 * up to the same agree (but for one chance in 2^64), so each side is scanned once and nothing is looked up.
 */
class RowSum {
  rows: number = 0;
  bytes: number = 0;
  #low: number = 0;
  #high: number = 0;

  add(key: Uint8Array, value: Uint8Array): void {
    this.rows += 1;
    this.bytes += key.length + value.length;
    this.#low = (this.#low + hash32(value, 0, value.length, hash32(key, 0, key.length, 0x9e3779b9))) >>> 0;
    this.#high = (this.#high + hash32(key, 0, key.length, hash32(value, 0, value.length, 0x27d4eb2f))) >>> 0;
  }

  equals(other: RowSum): boolean {
    return this.rows === other.rows && this.bytes === other.bytes && this.#low === other.#low && this.#high === other.#high;
  }
}

/** What the documents say that there is. */
interface Expectations {
  readonly documents: Totals;
  readonly entries: ReadonlyMap<StoredIndex, RowSum>;
}

/** Compares all documents with all entries, in the transaction's snapshot. */
export async function checkCollection(
  txn: CatalogTransaction,
  collection: CheckedCollection,
  checkInterrupt?: () => Soon<void>,
): Promise<CollectionCheck> {
  const findings = new Findings();
  const expected = await readDocuments(txn, collection, { findings, checkInterrupt });
  findings.compareTotals('documents', collection.totals(txn), expected.documents, await collection.isSized(txn));
  const entries = new Map<string, number>(collection.isKeyedById ? [['_id_', expected.documents.rows]] : []);
  for (const [index, wanted] of expected.entries) {
    const found = await sumRows(txn, index, checkInterrupt);
    entries.set(index.name, found.rows);
    if (!found.equals(wanted)) {
      findings.add(`index ${index.name}: documents give ${wanted.rows} entries of ${wanted.bytes} bytes, ${found.rows} of ${found.bytes} are there`);
      await nameProblems(txn, collection, index, { findings, checkInterrupt });
    }
    findings.compareTotals(`index ${index.name}`, index.totals(txn), found);
  }
  return { problems: findings.problems, documents: expected.documents.rows, entries };
}

interface Check {
  readonly findings: Findings;
  readonly checkInterrupt: (() => Soon<void>) | undefined;
}

/** Each document with its key, in order of keys. */
async function eachDocument(txn: CatalogTransaction, collection: CheckedCollection, check: Check, visit: (key: RecordKey, document: Document) => void | Promise<void>): Promise<void> {
  await eachBatch(
    collection.scan(txn, {}, 1),
    async (batch) => {
      const rows: [RecordKey, Document][] = [];
      for (let i = 0; i < batch.length; i++) rows.push([batch.key(i).slice(), Document.fromBytes(batch.value(i).slice())]);
      for (const [key, document] of rows) {
        const visited = visit(key, document);
        if (visited instanceof Promise) await visited;
      }
    },
    check.checkInterrupt,
  );
}

async function readDocuments(txn: CatalogTransaction, collection: CheckedCollection, check: Check): Promise<Expectations> {
  const { findings } = check;
  const entries = new Map<StoredIndex, RowSum>(collection.secondaries.map((index) => [index, new RowSum()]));
  let rows = 0;
  let bytes = 0;
  await eachDocument(txn, collection, check, (key, document) => {
    rows += 1;
    bytes += document.byteLength;
    const own = collection.keyFor(document);
    if (own !== undefined && !equalBytes(own, key)) findings.add(`document ${hex(key)} has the ${collection.isKeyedById ? '_id' : 'primary key'} of another`);
    for (const [index, sum] of entries) {
      const wanted = index.rowsOf(document, key);
      for (const row of wanted.rows) sum.add(row.key, row.value);
      for (const flag of wanted.flags) {
        if (index.multikeyComponents[flag >>> 8]?.[flag & 0xff] !== true) findings.add(`index ${index.name}: it does not know of the arrays in document ${hex(key)}`);
      }
    }
  });
  return { documents: { rows, bytes }, entries };
}

/** Looks every entry of an index up that a document should have: where the sums differ, to say which is missing or wrong. */
async function nameProblems(txn: CatalogTransaction, collection: CheckedCollection, index: StoredIndex, check: Check): Promise<void> {
  const { findings } = check;
  await eachDocument(txn, collection, check, async (key, document) => {
    for (const row of index.rowsOf(document, key).rows) {
      const found = await txn.engine.get(index.shareFor(key).dictionary, row.key);
      if (found === undefined) findings.add(`index ${index.name}: document ${hex(key)} has no entry ${hex(row.key)}`);
      else if (compareBytes(found, row.value) !== 0) findings.add(`index ${index.name}: the entry ${hex(row.key)} of document ${hex(key)} is wrong`);
    }
  });
}

async function sumRows(txn: CatalogTransaction, index: StoredIndex, checkInterrupt?: () => Soon<void>): Promise<RowSum> {
  const sum = new RowSum();
  await eachBatch(
    index.scan(txn, {}, 1),
    (batch) => {
      for (let i = 0; i < batch.length; i++) sum.add(batch.key(i), batch.value(i));
    },
    checkInterrupt,
  );
  return sum;
}
