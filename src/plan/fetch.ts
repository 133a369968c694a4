// From keys to documents. Where no order has to be kept, keys are gathered and read in the order of the collection, so that neighbours come
// out of one block; the gathering grows as the consumer goes on, so that a small limit costs little.

import { compareBytes } from '../base/bytes.ts';
import type { Document, Value } from '../bson/index.ts';
import type { Collection } from '../catalog/index.ts';
import type { Filter } from '../query/index.ts';
import { batchBytes, batchRows, matches, shownFilter } from './row.ts';
import type { Counters, Execution, Interruptible, PlanStage, Row, RowSource } from './row.ts';

/** What a fetch does. */
export interface FetchParts {
  readonly collection: Collection;
  readonly filter: { readonly test: Filter | undefined; readonly shown: (() => Document) | undefined };
  /** Whether rows leave in the order they came in. */
  readonly keepsOrder: boolean;
}

/** The first keys are read as they come: what fits in one batch keeps the order of the index. */
const gatheredMin = 128;
const gatheredMax = 65536;
/** So often a batch looks whether its slice is over. */
const rowsBetweenLooks = 16;
const gatheredBytesMax = 8 * 1024 * 1024;

/** FETCH. */
export class Fetch implements PlanStage {
  readonly name = 'FETCH';
  readonly inputs: readonly PlanStage[];
  readonly #parts: FetchParts;

  constructor(input: PlanStage, parts: FetchParts) {
    this.inputs = [input];
    this.#parts = parts;
  }

  open(execution: Execution): RowSource {
    const [input] = this.inputs;
    return new FetchSource((input as PlanStage).open(execution), this.#parts, execution, execution.countersOf(this));
  }

  details(): readonly (readonly [string, Value])[] {
    return shownFilter(this.#parts.filter.shown);
  }

  statistics(counters: Counters): readonly (readonly [string, Value])[] {
    return [
      ['docsExamined', counters.docsExamined],
      ['alreadyHasObj', 0],
    ];
  }
}

class FetchSource implements RowSource {
  readonly #input: RowSource;
  readonly #parts: FetchParts;
  readonly #execution: Execution;
  readonly #counters: Counters;
  #gathered: Row[] = [];
  #at = 0;
  #size = gatheredMin;
  #inputEnded = false;

   
  constructor(input: RowSource, parts: FetchParts, execution: Execution, counters: Counters) {
    this.#input = input;
    this.#parts = parts;
    this.#execution = execution;
    this.#counters = counters;
  }

  async next(context: Interruptible): Promise<readonly Row[] | undefined> {
    const turn = context.turn();
    if (turn !== undefined) await turn;
    if (this.#at >= this.#gathered.length && !(await this.#gather(context))) return undefined;
    const { collection, filter } = this.#parts;
    const rows: Row[] = [];
    let bytes = 0;
    const end = Math.min(this.#at + batchRows, this.#gathered.length);
    for (; this.#at < end && bytes < batchBytes; this.#at++) {
      const row = this.#gathered[this.#at] as Row;
      const found = row.document ?? collection.get(this.#execution.txn, row.key);
      const document = found instanceof Promise ? await found : found;
      this.#counters.docsExamined += 1;
      this.#counters.works += 1;
      if (document === undefined) continue;
      const passed = filter.test === undefined || matches(filter.test, document, context);
      if (!(passed instanceof Promise ? await passed : passed)) continue;
      bytes += document.byteLength;
      rows.push({ key: row.key, document, entry: row.entry });
      if (this.#at % rowsBetweenLooks === 0 && context.sliceIsOver) {
        this.#at += 1;
        break;
      }
    }
    this.#counters.advanced += rows.length;
    return rows;
  }

  async #gather(context: Interruptible): Promise<boolean> {
    this.#gathered = [];
    this.#at = 0;
    const wanted = this.#parts.keepsOrder ? 1 : this.#size;
    let bytes = 0;
    while (!this.#inputEnded && this.#gathered.length < wanted && bytes < gatheredBytesMax) {
      const rows = await this.#input.next(context);
      if (rows === undefined) this.#inputEnded = true;
      for (const row of rows ?? []) {
        this.#gathered.push(row);
        bytes += row.key.length + 100;
      }
    }
    if (wanted > gatheredMin) this.#gathered.sort((a, b) => compareBytes(a.key, b.key));
    this.#size = Math.min(this.#size * 4, gatheredMax);
    return this.#gathered.length > 0;
  }

  close(): void {
    this.#input.close();
    this.#gathered = [];
  }
}
