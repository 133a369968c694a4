// Whether a collection is whole: every document has exactly its entries in every index, every entry its document, and the totals that
// commits have stated are what a scan counts. Used by the validate command, `frond verify` and the crash tests.

import { compareBytes, equalBytes } from '../base/bytes.ts';
import { Document } from '../bson/index.ts';
import type { Batch, Cursor, Totals } from '../engine/index.ts';
import { recordKeyOf } from './record-key.ts';
import type { StoredIndex } from './stored-index.ts';
import type { CatalogTransaction, Collection, CollectionCheck, RecordKey } from './types.ts';

const batchLimit = { rows: 256, bytes: 1 << 20 };
const problemsMax = 100;

/** A collection with its own kind of index. */
export type CheckedCollection = Pick<Collection, 'scan' | 'totals' | 'isKeyedById' | 'options'> & { readonly secondaries: readonly StoredIndex[] };

/** Problems in words, at most a hundred. */
class Findings {
  readonly problems: string[] = [];

  add(problem: string): void {
    if (this.problems.length < problemsMax) this.problems.push(problem);
  }

  compareTotals(what: string, stated: Totals, found: Totals): void {
    if (stated.rows !== found.rows) this.add(`${what}: ${stated.rows} rows are stated, ${found.rows} are there`);
    if (stated.bytes !== found.bytes) this.add(`${what}: ${stated.bytes} bytes are stated, ${found.bytes} are there`);
  }
}

const hex = (key: Uint8Array): string => Array.from(key, (byte) => byte.toString(16).padStart(2, '0')).join('');

async function eachBatch(cursor: Cursor, visit: (batch: Batch) => void | Promise<void>, checkInterrupt?: () => void): Promise<void> {
  try {
    for (;;) {
      checkInterrupt?.();
      const batch = await cursor.nextBatch(batchLimit);
      if (batch.length === 0) return;
      const visited = visit(batch);
      if (visited instanceof Promise) await visited;
    }
  } finally {
    cursor.close();
  }
}

/** Compares all documents with all entries, in the transaction's snapshot. */
export async function checkCollection(
  txn: CatalogTransaction,
  collection: CheckedCollection,
  checkInterrupt?: () => void,
): Promise<CollectionCheck> {
  const findings = new Findings();
  const expected = new Map<StoredIndex, Totals>(collection.secondaries.map((index) => [index, { rows: 0, bytes: 0 }]));
  let documents = 0;
  let bytes = 0;
  await eachBatch(
    collection.scan(txn, {}, 1),
    async (batch) => {
      const rows: [RecordKey, Document][] = [];
      for (let i = 0; i < batch.length; i++) rows.push([batch.key(i).slice(), Document.fromBytes(batch.value(i).slice())]);
      for (const [key, document] of rows) {
        documents += 1;
        bytes += document.byteLength;
        if (collection.isKeyedById && !equalBytes(recordKeyOf(document, collection.options.collation), key)) findings.add(`document ${hex(key)} has the _id of another`);
        for (const index of collection.secondaries) await checkEntries(txn, { index, key, document }, expected, findings);
      }
    },
    checkInterrupt,
  );
  findings.compareTotals('documents', collection.totals(txn), { rows: documents, bytes });
  const entries = new Map<string, number>(collection.isKeyedById ? [['_id_', documents]] : []);
  for (const [index, wanted] of expected) {
    const found = await countRows(txn, index, checkInterrupt);
    entries.set(index.name, found.rows);
    if (found.rows !== wanted.rows || found.bytes !== wanted.bytes) {
      findings.add(`index ${index.name}: documents give ${wanted.rows} entries of ${wanted.bytes} bytes, ${found.rows} of ${found.bytes} are there`);
    }
    findings.compareTotals(`index ${index.name}`, index.totals(txn), found);
  }
  return { problems: findings.problems, documents, entries };
}

interface Subject {
  readonly index: StoredIndex;
  readonly key: RecordKey;
  readonly document: Document;
}

async function checkEntries(
  txn: CatalogTransaction,
  { index, key, document }: Subject,
  expected: Map<StoredIndex, Totals>,
  findings: Findings,
): Promise<void> {
  const wanted = index.rowsOf(document, key);
  let { rows, bytes } = expected.get(index) ?? { rows: 0, bytes: 0 };
  for (const row of wanted.rows) {
    const found = await txn.engine.get(index.dictionary, row.key);
    if (found === undefined) findings.add(`index ${index.name}: document ${hex(key)} has no entry ${hex(row.key)}`);
    else if (compareBytes(found, row.value) !== 0) findings.add(`index ${index.name}: the entry ${hex(row.key)} of document ${hex(key)} is wrong`);
    rows += 1;
    bytes += row.key.length + row.value.length;
  }
  for (const flag of wanted.flags) {
    if (index.multikeyComponents[flag >>> 8]?.[flag & 0xff] !== true) findings.add(`index ${index.name}: it does not know of the arrays in document ${hex(key)}`);
  }
  expected.set(index, { rows, bytes });
}

async function countRows(txn: CatalogTransaction, index: StoredIndex, checkInterrupt?: () => void): Promise<Totals> {
  let rows = 0;
  let bytes = 0;
  await eachBatch(
    index.scan(txn, {}, 1),
    (batch) => {
      rows += batch.length;
      for (let i = 0; i < batch.length; i++) bytes += batch.key(i).length + batch.value(i).length;
    },
    checkInterrupt,
  );
  return { rows, bytes };
}
