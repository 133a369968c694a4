// What a transaction states of the totals of dictionaries, in the order of its operations, so that a mark can take back what came after it (law 6).
// Four columns of numbers: a statement of a thousand documents states thousands, and an object each would be most of what it leaves to the
// collector.

import { EngineError } from '../../base/errors.ts';
import type { DictionaryId, Totals } from '../types.ts';

/** So many counts are folded to so many and one for each dictionary. */
const countsMax = 8192;
const countsKept = 4096;

/** Memory charged for one. */
const countBytes = 32;

/** Stated changes of totals. */
export class StatedCounts {
  #operations: number[] = [];
  #ids: DictionaryId[] = [];
  #rows: number[] = [];
  #bytes: number[] = [];
  /** Counts up to this operation are one for each dictionary: there is no going back behind it but to the beginning. */
  #foldedTo: number = 0;

  get isEmpty(): boolean {
    return this.#operations.length === 0;
  }

  /** Memory held, for the budget. */
  get byteSize(): number {
    return this.#operations.length * countBytes;
  }

  /** Operations come with rising numbers. */
  add(operation: number, id: DictionaryId, rows: number, bytes: number): void {
    this.#operations.push(operation);
    this.#ids.push(id);
    this.#rows.push(rows);
    this.#bytes.push(bytes);
  }

  /** Sums by dictionary of the first so many. */
  totals(count: number = this.#operations.length): Map<DictionaryId, Totals> {
    // One statement counts in the same few dictionaries again and again.
    const [ids, rows, bytes]: [DictionaryId[], number[], number[]] = [[], [], []];
    let at = -1;
    for (let i = 0; i < count; i++) {
      const id = this.#ids[i] as DictionaryId;
      at = at + 1 < ids.length && ids[at + 1] === id ? at + 1 : ids.indexOf(id);
      if (at < 0) {
        at = ids.push(id) - 1;
        rows.push(0);
        bytes.push(0);
      }
      rows[at] = (rows[at] as number) + (this.#rows[i] as number);
      bytes[at] = (bytes[at] as number) + (this.#bytes[i] as number);
    }
    return new Map(ids.map((id, i) => [id, { rows: rows[i] as number, bytes: bytes[i] as number }]));
  }

  /** Makes one count of many, but for the newest: a transaction that spills has more than memory shall hold. */
  fold(): void {
    const { length } = this.#operations;
    if (length < countsMax) return;
    const folded = length - countsKept;
    const last = this.#operations[folded - 1] as number;
    const sums = this.totals(folded);
    this.#foldedTo = last;
    this.#operations = [...Array.from(sums, () => last), ...this.#operations.slice(folded)];
    this.#ids = [...sums.keys(), ...this.#ids.slice(folded)];
    this.#rows = [...Array.from(sums.values(), ({ rows }) => rows), ...this.#rows.slice(folded)];
    this.#bytes = [...Array.from(sums.values(), ({ bytes }) => bytes), ...this.#bytes.slice(folded)];
  }

  /** Takes back what came after the operation of that number. `too-large`: a mark from before much that was spilled since. */
  rollbackTo(operation: number): void {
    if (operation > 0 && operation < this.#foldedTo) throw new EngineError('too-large', 'the mark is too old: what came after it is folded');
    let { length } = this.#operations;
    while (length > 0 && (this.#operations[length - 1] as number) > operation) length -= 1;
    for (const column of [this.#operations, this.#ids, this.#rows, this.#bytes]) column.length = length;
  }

  clear(): void {
    if (this.isEmpty) return;
    [this.#operations, this.#ids, this.#rows, this.#bytes] = [[], [], [], []];
  }
}
