// What a transaction states of the totals of dictionaries, in the order of its operations, so that a mark can take back what came after it (law 6).
// A table of numbers that is used again: a statement of a thousand documents states thousands, and an object each would be most of what it leaves
// to the collector.

import { EngineError } from '../../base/errors.ts';
import type { DictionaryId, Totals } from '../types.ts';

/** So many counts are folded to so many and one for each dictionary. */
const countsMax = 8192;
const countsKept = 4096;

/** So many are summed where they are: that costs nothing but the looking. */
const fewCounts = 16;

/** Memory charged for one. */
const countBytes = 32;

/** Columns of a row. */
const [operationColumn, idColumn, rowsColumn, bytesColumn, width] = [0, 1, 2, 3, 4];

/** Stated changes of totals. */
export class StatedCounts {
  #table: Float64Array = new Float64Array(16 * width);
  #length: number = 0;
  /** Counts up to this operation are one for each dictionary: there is no going back behind it but to the beginning. */
  #foldedTo: number = 0;

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  /** Memory of what is stated, for the budget. */
  get byteSize(): number {
    return this.#length * countBytes;
  }

  /** Memory held, used or not. */
  get memoryBytes(): number {
    return this.#table.byteLength;
  }

  /** Operations come with rising numbers. */
  add(operation: number, id: DictionaryId, rows: number, bytes: number): void {
    const at = this.#length * width;
    if (at === this.#table.length) this.#grow();
    const table = this.#table;
    table[at + operationColumn] = operation;
    table[at + idColumn] = id;
    table[at + rowsColumn] = rows;
    table[at + bytesColumn] = bytes;
    this.#length += 1;
  }

  #grow(): void {
    const grown = new Float64Array(this.#table.length * 2);
    grown.set(this.#table);
    this.#table = grown;
  }

  /** Sums by dictionary of the first so many. */
  totals(count: number = this.#length): Map<DictionaryId, Totals> {
    const table = this.#table;
    // One statement counts in the same few dictionaries again and again.
    const [ids, rows, bytes]: [number[], number[], number[]] = [[], [], []];
    let sum = -1;
    for (let at = 0; at < count * width; at += width) {
      const id = table[at + idColumn] as number;
      sum = sum + 1 < ids.length && ids[sum + 1] === id ? sum + 1 : ids.indexOf(id);
      if (sum < 0) {
        sum = ids.push(id) - 1;
        rows.push(0);
        bytes.push(0);
      }
      rows[sum] = (rows[sum] as number) + (table[at + rowsColumn] as number);
      bytes[sum] = (bytes[sum] as number) + (table[at + bytesColumn] as number);
    }
    return new Map(ids.map((id, i) => [id as DictionaryId, { rows: rows[i] as number, bytes: bytes[i] as number }]));
  }

  /** Calls `visit` with the sums of each dictionary. */
  each(visit: (id: DictionaryId, rows: number, bytes: number) => void): void {
    const length = this.#length;
    if (length > fewCounts) {
      for (const [id, { rows, bytes }] of this.totals()) visit(id, rows, bytes);
      return;
    }
    for (let first = 0; first < length; first++) if (this.#firstOf(first) === first) this.#visitSum(first, visit);
  }

  /** The first row of the dictionary of a row. */
  #firstOf(row: number): number {
    const table = this.#table;
    const id = table[row * width + idColumn];
    let first = 0;
    while (table[first * width + idColumn] !== id) first++;
    return first;
  }

  #visitSum(first: number, visit: (id: DictionaryId, rows: number, bytes: number) => void): void {
    const table = this.#table;
    const id = table[first * width + idColumn] as number;
    let [rows, bytes] = [0, 0];
    for (let at = first * width; at < this.#length * width; at += width) {
      if (table[at + idColumn] !== id) continue;
      rows += table[at + rowsColumn] as number;
      bytes += table[at + bytesColumn] as number;
    }
    visit(id as DictionaryId, rows, bytes);
  }

  /** Makes one count of many, but for the newest: a transaction that spills has more than memory shall hold. */
  fold(): void {
    if (this.#length < countsMax) return;
    const folded = this.#length - countsKept;
    const last = this.#table[(folded - 1) * width + operationColumn] as number;
    const sums = this.totals(folded);
    const kept = this.#table.slice(folded * width, this.#length * width);
    this.#foldedTo = last;
    this.#table = new Float64Array((sums.size + countsKept) * width);
    this.#length = 0;
    for (const [id, { rows, bytes }] of sums) this.add(last, id, rows, bytes);
    this.#table.set(kept, this.#length * width);
    this.#length += countsKept;
  }

  /** Takes back what came after the operation of that number. `too-large`: a mark from before much that was spilled since. */
  rollbackTo(operation: number): void {
    if (operation > 0 && operation < this.#foldedTo) throw new EngineError('too-large', 'the mark is too old: what came after it is folded');
    while (this.#length > 0 && (this.#table[(this.#length - 1) * width + operationColumn] as number) > operation) this.#length -= 1;
  }

  /** Forgets everything and keeps the memory. */
  reset(): void {
    this.#length = 0;
    this.#foldedTo = 0;
  }
}
