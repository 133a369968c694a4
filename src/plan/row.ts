// What flows between the stages of a plan: rows, in batches that are pulled. A row knows its document's key, and as much more as the stage
// below had at hand. Arrays and documents of a row are its own: they outlive the batch of the engine they came from.

import type { Document, Value } from '../bson/index.ts';
import type { CatalogTransaction, RecordKey } from '../catalog/index.ts';

/** What work asks at every batch whether it must stop; an operation's context is one. */
export interface Interruptible {
  /** Throws if it must. */
  checkInterrupt(): void;
}

export interface Row {
  readonly key: RecordKey;
  /** Undefined where only an index entry was read. */
  readonly document: Document | undefined;
  /** The entry it was found by, where a stage above asked for it. */
  readonly entry: { readonly fields: Uint8Array; readonly typeBits: Uint8Array } | undefined;
}

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
});

/** One run of a plan. */
export class Execution {
  readonly txn: CatalogTransaction;
  readonly #counters: Map<PlanStage, Counters> = new Map();

  constructor(txn: CatalogTransaction) {
    this.txn = txn;
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

/** A step of a plan: made once, opened for each run. */
export interface PlanStage {
  /** MongoDB's name for it. */
  readonly name: string;
  readonly inputs: readonly PlanStage[];
  open(execution: Execution): RowSource;
  /** What `explain` shows of it beside `stage` and its inputs. */
  details(): readonly (readonly [string, Value])[];
  /** What `executionStats` shows beside the common counts. */
  statistics(counters: Counters): readonly (readonly [string, Value])[];
}

/** Rows of one batch: as many as keep a slice short. */
export const batchRows = 256;
export const batchBytes: number = 1 << 20;
