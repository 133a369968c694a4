// What flows between the stages of a plan: rows, in batches that are pulled. A row knows its document's key, and as much more as the stage
// below had at hand. Arrays and documents of a row are its own: they outlive the batch of the engine they came from.

import { must } from '../base/assert.ts';
import type { Document, Value } from '../bson/index.ts';
import { inSlices } from '../env/index.ts';
import type { CatalogTransaction, Direction, KeyRange, RecordKey } from '../catalog/index.ts';
import type { Filter } from '../query/index.ts';

/** What work asks at every batch whether it must stop; an operation's context is one. */
export interface Interruptible {
  /** Throws if it must. */
  checkInterrupt(): void;
  /** The same, and a promise of the next slice where work has gone on for long: to be awaited before it goes on. */
  turn(): Promise<void> | undefined;
  /** Whether `turn` would give one. */
  readonly sliceIsOver: boolean;
}

export interface Row {
  readonly key: RecordKey;
  /** Undefined where only an index entry was read. */
  readonly document: Document | undefined;
  /** The entry it was found by, where a stage above asked for it. */
  readonly entry: { readonly fields: Uint8Array; readonly typeBits: Uint8Array } | undefined;
}

/** A row of which only its being there counts. */
export const bareRow: Row = { key: new Uint8Array(0), document: undefined, entry: undefined };

/** A stream of rows; empty batches are allowed, undefined is the end. */
export interface RowSource {
  next(context: Interruptible): Promise<readonly Row[] | undefined>;
  close(): void;
}

/** What a stage counted while it ran. */
export interface Counters {
  advanced: number;
  works: number;
  keysExamined: number;
  docsExamined: number;
  seeks: number;
  dupsTested: number;
  dupsDropped: number;
  sortedBytes: number;
  spills: number;
}

const noCounts = (): Counters => ({
  advanced: 0,
  works: 0,
  keysExamined: 0,
  docsExamined: 0,
  seeks: 0,
  dupsTested: 0,
  dupsDropped: 0,
  sortedBytes: 0,
  spills: 0,
});

/** Begins a transaction to go on in, for a source that gave its snapshot up. */
export type Renewal = () => CatalogTransaction;

/**
 * One run of a plan. Its snapshot can be given up between batches: the next batch then goes on in a new one, from the keys that the scans
 * had come to. `generation` tells scans that their cursors belong to a snapshot of before.
 */
export class Execution {
  readonly #counters: Map<PlanStage, Counters> = new Map();
  readonly #renewal: Renewal | undefined;
  #txn: CatalogTransaction | undefined;
  /** Whether the transaction was begun here, and so ends here. */
  #isOwn = false;
  generation = 0;

  constructor(txn: CatalogTransaction, renewal?: Renewal) {
    this.#txn = txn;
    this.#renewal = renewal;
  }

  get txn(): CatalogTransaction {
    if (this.#txn === undefined) {
      this.#txn = must(this.#renewal, 'only a source that can be renewed gives its snapshot up')();
      this.#isOwn = true;
    }
    return this.#txn;
  }

  /** Gives the snapshot up; does nothing where it cannot be renewed. */
  release(): void {
    if (this.#renewal === undefined) return;
    this.close();
    this.#txn = undefined;
    this.generation += 1;
  }

  close(): void {
    if (this.#isOwn) this.#txn?.abort();
    this.#isOwn = false;
  }

  countersOf(stage: PlanStage): Counters {
    let counters = this.#counters.get(stage);
    if (counters === undefined) {
      counters = noCounts();
      this.#counters.set(stage, counters);
    }
    return counters;
  }
}

/** What is left of a range behind the last key that was read. */
export function rangeAfter(range: KeyRange, last: Uint8Array | undefined, direction: Direction): KeyRange {
  if (last === undefined) return range;
  if (direction < 0) return { ...range, to: last };
  const from = new Uint8Array(last.length + 1);
  from.set(last);
  return { ...range, from };
}

/** A step of a plan: made once, opened for each run. */
export interface PlanStage {
  /** MongoDB's name for it. */
  readonly name: string;
  readonly inputs: readonly PlanStage[];
  /** Of a leaf that reads an index. */
  readonly indexName?: string | undefined;
  open(execution: Execution): RowSource;
  /** What `explain` shows of it beside `stage` and its inputs. */
  details(): readonly (readonly [string, Value])[];
  /** What `executionStats` shows beside the common counts. */
  statistics(counters: Counters): readonly (readonly [string, Value])[];
}

/** Documents of fewer bytes take a quick filter no time. */
export const longBytes = 16384;

/** Whether the document at the front of the bytes passes; in slices where that may take long. */
export function passes(filter: Filter | undefined, bytes: Uint8Array, context: Interruptible): boolean | Promise<boolean> {
  if (filter === undefined) return true;
  if (filter.isQuick && bytes.length < longBytes) return filter.matchesRaw(bytes, 0);
  return inSlices(context, () => filter.matchesRaw(bytes, 0));
}

/** As `passes`, of a document, on which the filter may note what it finds out. */
export function matches(filter: Filter, document: Document, context: Interruptible): boolean | Promise<boolean> {
  if (filter.isQuick && document.byteLength < longBytes) return filter.matches(document);
  return inSlices(context, () => filter.matches(document));
}

/** What `explain` shows of a filter; nothing where it is empty. */
export function shownFilter(shown: (() => Document) | undefined): readonly (readonly [string, Value])[] {
  const filter = shown?.();
  return filter === undefined || filter.isEmpty ? [] : [['filter', filter]];
}

/** Rows and bytes of one batch: as many as keep a slice short, and memory small where documents are large. */
export const batchRows = 256;
export const batchBytes: number = 1 << 20;

/** Rows of the next batch: more each time, fewer where the one before filled a slice. */
export function nextRows(rows: number, sliceWasOver: boolean): number {
  return sliceWasOver ? Math.max(rows >> 1, 1) : Math.min(rows * 4, batchRows);
}
