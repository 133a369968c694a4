// Reads the entries of an index in some ranges of its keys, in order. What can be told from an entry is told here, before any document is
// fetched (server.md: "conditions on indexed fields are tested on the index entry"). A document with several entries in the ranges is given
// once, at the first of them.

import { must } from '../base/assert.ts';
import { compareBytes } from '../base/bytes.ts';
import { BsonArray, Document, encodeKey, keyAfter, skipKeyField } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';
import type { Batch, Cursor, Direction, Index, IndexEntry, KeyRange } from '../catalog/index.ts';
import type { Filter } from '../query/index.ts';
import type { EntryReader } from './entry-reader.ts';
import { describeBounds } from './describe-bounds.ts';
import type { IndexBounds } from './index-bounds.ts';
import { KeySet } from './key-set.ts';
import { bareRow, batchBytes, batchRows, passes, rangeAfter, shownFilter } from './row.ts';
import type { Counters, Execution, Interruptible, PlanStage, Row, RowSource } from './row.ts';
import type { ScanRanges } from './scan-ranges.ts';

/** What an index scan does. */
export interface IndexScanParts {
  readonly bounds: IndexBounds;
  readonly scan: ScanRanges;
  readonly direction: Direction;
  /** Tested on the entry's values; only of an index without arrays. */
  readonly entryFilter: { readonly test: Filter; readonly reader: EntryReader } | undefined;
  /** Tested on the document that a clustering index carries. */
  readonly documentFilter: Filter | undefined;
  /** What of the filter is tested here, as `explain` prints it. */
  readonly shown: (() => Document) | undefined;
  /** What rows carry beside their key: their entry, the document of a clustering index. */
  readonly carries: { readonly entry: boolean; readonly document: boolean };
  /** For a count: rows say nothing, not even their key. */
  readonly bare: boolean;
  /** Entries that are equal in so many leading fields to one that was read may be passed over; 0: none may. */
  readonly passesOver: number;
}

/** IXSCAN, or DISTINCT_SCAN where it passes over equal entries. */
export class IndexScan implements PlanStage {
  readonly name: 'IXSCAN' | 'DISTINCT_SCAN';
  readonly inputs: readonly PlanStage[] = [];
  readonly parts: IndexScanParts;

  constructor(parts: IndexScanParts) {
    this.parts = parts;
    this.name = passesOver(parts) ? 'DISTINCT_SCAN' : 'IXSCAN';
  }

  get index(): Index {
    return this.parts.bounds.index;
  }

  get indexName(): string {
    return this.index.name;
  }

  /** Whether every entry in the ranges is a row. */
  get isPlain(): boolean {
    const { scan, entryFilter, documentFilter, bare } = this.parts;
    return bare && scan.test === undefined && entryFilter === undefined && documentFilter === undefined && !this.index.isMultikey;
  }

  open(execution: Execution): RowSource {
    return new IndexSource(this.parts, execution, execution.countersOf(this));
  }

  details(): readonly (readonly [string, Value])[] {
    const { index } = this;
    const { shown, direction, bounds } = this.parts;
    const filter = shownFilter(shown);
    return [...filter, ...describeIndex(index), ['direction', direction > 0 ? 'forward' : 'backward'], ['indexBounds', describeBounds(bounds, direction)]];
  }

  statistics(counters: Counters): readonly (readonly [string, Value])[] {
    return [
      ['keysExamined', counters.keysExamined],
      ['seeks', counters.seeks],
      ['dupsTested', counters.dupsTested],
      ['dupsDropped', counters.dupsDropped],
    ];
  }
}

/** Whether equal entries say nothing more: what is tested on single entries may find one of them and not the other. */
function passesOver(parts: IndexScanParts): boolean {
  return parts.passesOver > 0 && parts.direction > 0 && parts.scan.test === undefined && parts.entryFilter === undefined;
}

/** The fields of `explain` that say which index it is. */
function describeIndex(index: Index): [string, Value][] {
  const multikeyPaths = Document.fromEntries(
    index.paths.map((path, field) => {
      const parts = path.split('.');
      const flags = index.multikeyComponents[field] ?? [];
      return [path, BsonArray.of(parts.flatMap((_, i) => (flags[i] === true ? [parts.slice(0, i + 1).join('.')] : [])))];
    }),
  );
  return [
    ['keyPattern', index.key],
    ['indexName', index.name],
    ...(index.collation === undefined ? [] : ([['collation', index.collation.spec]] as [string, Value][])),
    ['isMultiKey', index.isMultikey],
    ['multiKeyPaths', multikeyPaths],
    ['isUnique', index.unique || index.isPrimary],
    ['isSparse', index.sparse],
    ['isPartial', index.partialFilter !== undefined],
    ...(index.clustering ? ([['clustering', true]] as [string, Value][]) : []),
    ['indexVersion', 2],
  ];
}

/** Entries of a first batch; later ones are larger. */
const rowsFirst = 32;

class IndexSource implements RowSource {
  readonly #parts: IndexScanParts;
  readonly #execution: Execution;
  readonly #counters: Counters;
  readonly #ranges: readonly KeyRange[];
  readonly #seen: KeySet | undefined;
  #range = 0;
  #cursor: Cursor | undefined;
  #generation: number;
  /** The last key that was read in the present range. */
  #last: Uint8Array | undefined;
  /** Where the present range goes on, if equal entries were passed over. */
  #from: Uint8Array | undefined;
  #rows: number = rowsFirst;

  constructor(parts: IndexScanParts, execution: Execution, counters: Counters) {
    this.#parts = parts;
    this.#execution = execution;
    this.#counters = counters;
    const { ranges } = parts.scan;
    this.#ranges = parts.direction > 0 ? ranges : ranges.toReversed();
    this.#generation = execution.generation;
    this.#seen = parts.bounds.index.isMultikey ? new KeySet() : undefined;
  }

  async next(context: Interruptible): Promise<readonly Row[] | undefined> {
    const turn = context.turn();
    if (turn !== undefined) await turn;
    if (this.#generation !== this.#execution.generation) this.#giveUpCursor();
    const rows: Row[] = [];
    let examined = 0;
    while (examined < batchRows) {
      const range = this.#ranges[this.#range];
      if (range === undefined) return rows.length === 0 && examined === 0 ? undefined : rows;
      this.#cursor ??= this.#seek(range);
      const found = this.#cursor.nextBatch({ rows: this.#rows, bytes: batchBytes });
      const batch = found instanceof Promise ? await found : found;
      if (batch.length > 0) [this.#last, this.#from] = [batch.key(batch.length - 1).slice(), undefined];
      let bytes = 0;
      for (let i = 0; i < batch.length; i++) {
        const key = batch.key(i);
        const value = batch.value(i);
        bytes += key.length + value.length;
        const taken = this.#take(rows, { key, value }, context);
        if (taken instanceof Promise) await taken;
      }
      examined += Math.max(batch.length, 1);
      this.#endBatch(batch, bytes);
    }
    return rows;
  }

  #endBatch(batch: Batch, bytes: number): void {
    const wanted = this.#rows;
    this.#rows = Math.min(wanted * 2, batchRows);
    if (batch.length === wanted && passesOver(this.#parts)) this.#passOver(batch);
    // A batch that is well short of both limits is the last of its range.
    else if (batch.length === 0 || (batch.length < wanted && bytes < batchBytes / 2)) this.#endRange();
  }

  #seek(range: KeyRange): Cursor {
    this.#counters.seeks += 1;
    const { bounds, direction } = this.#parts;
    const rest = this.#from === undefined ? rangeAfter(range, this.#last, direction) : { ...range, from: this.#from };
    return bounds.index.scan(this.#execution.txn, rest, direction);
  }

  /** Goes on behind the entries that are equal to all of a batch. A null may be a missing field, which only its document tells. */
  #passOver(batch: Batch): void {
    const { bounds: { index }, passesOver: fields } = this.#parts;
    const last = batch.key(batch.length - 1);
    let [start, end] = [0, 0];
    for (let field = 0; field < fields; field++) [start, end] = [end, skipKeyField(last, end, must(index.directions[field], 'a field of the index'))];
    const isNull = compareBytes(last.subarray(start, end), encodeKey([null], [must(index.directions[fields - 1], 'a field of the index')])) === 0;
    const prefix = last.subarray(0, end);
    if (isNull || compareBytes(batch.key(0).subarray(0, end), prefix) !== 0) return;
    this.#from = must(keyAfter(prefix), 'an encoded value is not all ones');
    this.#rows = rowsFirst;
    this.#cursor?.close();
    this.#cursor = undefined;
  }

  #endRange(): void {
    this.#cursor?.close();
    this.#cursor = undefined;
    this.#last = undefined;
    this.#from = undefined;
    this.#range += 1;
  }

  /** The snapshot was given up: the range goes on behind the last key. */
  #giveUpCursor(): void {
    this.#cursor?.close();
    this.#cursor = undefined;
    this.#generation = this.#execution.generation;
  }

  #take(rows: Row[], { key, value }: { readonly key: Uint8Array; readonly value: Uint8Array }, context: Interruptible): void | Promise<void> {
    const { bounds, scan, entryFilter, documentFilter } = this.#parts;
    this.#counters.keysExamined += 1;
    this.#counters.works += 1;
    if (scan.test?.(key) === false) return;
    const entry = bounds.index.entry(key, value);
    if (entryFilter !== undefined && !entryFilter.test.matches(entryFilter.reader.documentOf(entry))) return;
    const passed = documentFilter === undefined || entry.document === undefined || passes(documentFilter, entry.document, context);
    if (passed === true) this.#give(rows, entry);
    else if (passed !== false) return passed.then((later) => { if (later) this.#give(rows, entry); });
  }

  #give(rows: Row[], entry: IndexEntry): void {
    if (this.#seen !== undefined && !this.#isNew(this.#seen, entry)) return;
    this.#counters.advanced += 1;
    rows.push(this.#row(entry));
  }

  #isNew(seen: KeySet, entry: IndexEntry): boolean {
    this.#counters.dupsTested += 1;
    if (seen.add(entry.recordKey)) return true;
    this.#counters.dupsDropped += 1;
    return false;
  }

  #row(entry: IndexEntry): Row {
    const { carries, bare } = this.#parts;
    if (bare) return bareRow;
    return {
      key: entry.recordKey.slice(),
      document: carries.document && entry.document !== undefined ? Document.fromBytes(entry.document.slice()) : undefined,
      entry: carries.entry ? { fields: entry.fields.slice(), typeBits: entry.typeBits.length === 0 ? entry.typeBits : entry.typeBits.slice() } : undefined,
    };
  }

  close(): void {
    this.#cursor?.close();
    this.#cursor = undefined;
    this.#range = this.#ranges.length;
  }
}
