// Reads documents in the order of their keys, all of them or a range, and gives those that match. The filter is asked of the bytes where the
// engine has them; only what matches is copied.

import { Document } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';
import type { Collection, Cursor, Direction, KeyRange } from '../catalog/index.ts';
import type { Filter } from '../query/index.ts';
import { batchBytes, nextRows, passes, rangeAfter, shownFilter } from './row.ts';
import type { Counters, Execution, Interruptible, PlanStage, Row, RowSource } from './row.ts';

/** COLLSCAN. */
export class CollectionScan implements PlanStage {
  readonly name = 'COLLSCAN';
  readonly inputs: readonly PlanStage[] = [];
  readonly #collection: Collection;
  readonly #filter: Filter | undefined;
  readonly #direction: Direction;
  readonly #shown: (() => Document) | undefined;
  readonly #range: KeyRange;

  /** `shown`: the filter as `explain` prints it. */
  constructor(collection: Collection, filter: { readonly test: Filter | undefined; readonly shown: (() => Document) | undefined }, direction: Direction, range: KeyRange = {}) {
    this.#range = range;
    this.#collection = collection;
    this.#filter = filter.test;
    this.#shown = filter.shown;
    this.#direction = direction;
  }

  open(execution: Execution): RowSource {
    const scan = (last: Uint8Array | undefined): Cursor =>
      this.#collection.scan(execution.txn, rangeAfter(this.#range, last, this.#direction), this.#direction);
    return new ScanSource(scan, this.#filter, execution, execution.countersOf(this));
  }

  details(): readonly (readonly [string, Value])[] {
    return [...shownFilter(this.#shown), ['direction', this.#direction > 0 ? 'forward' : 'backward']];
  }

  statistics(counters: Counters): readonly (readonly [string, Value])[] {
    return [['docsExamined', counters.docsExamined]];
  }
}

class ScanSource implements RowSource {
  readonly #scan: (last: Uint8Array | undefined) => Cursor;
  readonly #filter: Filter | undefined;
  readonly #execution: Execution;
  readonly #counters: Counters;
  #generation: number;
  #cursor: Cursor;
  #last: Uint8Array | undefined;
  #rows = 4;

   
  constructor(scan: (last: Uint8Array | undefined) => Cursor, filter: Filter | undefined, execution: Execution, counters: Counters) {
    this.#scan = scan;
    this.#filter = filter;
    this.#execution = execution;
    this.#counters = counters;
    this.#generation = execution.generation;
    this.#cursor = scan(undefined);
  }

  async next(context: Interruptible): Promise<readonly Row[] | undefined> {
    const turn = context.turn();
    this.#rows = nextRows(this.#rows, turn !== undefined);
    if (turn !== undefined) await turn;
    if (this.#generation !== this.#execution.generation) this.#goOn();
    const found = this.#cursor.nextBatch({ rows: this.#rows, bytes: batchBytes });
    const batch = found instanceof Promise ? await found : found;
    if (batch.length === 0) return undefined;
    const rows: Row[] = [];
    for (let i = 0; i < batch.length; i++) {
      const bytes = batch.value(i);
      const passed = passes(this.#filter, bytes, context);
      if (!(passed instanceof Promise ? await passed : passed)) continue;
      rows.push({ key: batch.key(i).slice(), document: Document.fromBytes(bytes.slice()), entry: undefined });
    }
    this.#last = batch.key(batch.length - 1).slice();
    this.#counters.docsExamined += batch.length;
    this.#counters.works += batch.length;
    this.#counters.advanced += rows.length;
    return rows;
  }

  /** In a new snapshot, from behind the last key. */
  #goOn(): void {
    this.#cursor.close();
    this.#generation = this.#execution.generation;
    this.#cursor = this.#scan(this.#last);
  }

  close(): void {
    this.#cursor.close();
  }
}
