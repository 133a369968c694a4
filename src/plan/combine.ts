// Rows of several scans as one: OR (any of them, each document once), AND_HASH (in all of them), SORT_MERGE (each in order, merged).

import { compareBytes } from '../base/bytes.ts';
import type { Document, Value } from '../bson/index.ts';
import { KeySet } from './key-set.ts';
import { batchRows } from './row.ts';
import type { Counters, Execution, Interruptible, PlanStage, Row, RowSource } from './row.ts';

/** OR: the rows of each input in turn. */
export class Union implements PlanStage {
  readonly name = 'OR';
  readonly inputs: readonly PlanStage[];

  constructor(inputs: readonly PlanStage[]) {
    this.inputs = inputs;
  }

  open(execution: Execution): RowSource {
    const sources = this.inputs.map((input) => input.open(execution));
    return new UnionSource(sources, execution.countersOf(this));
  }

  details(): readonly (readonly [string, Value])[] {
    return [];
  }

  statistics({ dupsTested, dupsDropped }: Counters): readonly (readonly [string, Value])[] {
    return [
      ['dupsTested', dupsTested],
      ['dupsDropped', dupsDropped],
    ];
  }
}

class UnionSource implements RowSource {
  readonly #sources: readonly RowSource[];
  readonly #counters: Counters;
  readonly #seen = new KeySet();
  #at = 0;

  constructor(sources: readonly RowSource[], counters: Counters) {
    this.#sources = sources;
    this.#counters = counters;
  }

  async next(context: Interruptible): Promise<readonly Row[] | undefined> {
    for (;;) {
      const source = this.#sources[this.#at];
      if (source === undefined) return undefined;
      const rows = await source.next(context);
      if (rows === undefined) {
        this.#at += 1;
        continue;
      }
      const fresh = rows.filter((row) => this.#seen.add(row.key));
      this.#counters.works += rows.length;
      this.#counters.dupsTested += rows.length;
      this.#counters.dupsDropped += rows.length - fresh.length;
      this.#counters.advanced += fresh.length;
      return fresh;
    }
  }

  close(): void {
    for (const source of this.#sources) source.close();
    this.#at = this.#sources.length;
  }
}

/** AND_HASH: rows whose keys all inputs have. All but the last input are read first; the last one is streamed. */
export class Intersection implements PlanStage {
  readonly name = 'AND_HASH';
  readonly inputs: readonly PlanStage[];

  constructor(inputs: readonly PlanStage[]) {
    this.inputs = inputs;
  }

  open(execution: Execution): RowSource {
    const sources = this.inputs.map((input) => input.open(execution));
    return new IntersectionSource(sources, execution.countersOf(this));
  }

  details(): readonly (readonly [string, Value])[] {
    return [];
  }

  statistics({ sortedBytes }: Counters): readonly (readonly [string, Value])[] {
    return [['memUsage', BigInt(sortedBytes)]];
  }
}

class IntersectionSource implements RowSource {
  readonly #sources: readonly RowSource[];
  readonly #counters: Counters;
  #common: KeySet | undefined;

  constructor(sources: readonly RowSource[], counters: Counters) {
    this.#sources = sources;
    this.#counters = counters;
  }

  async next(context: Interruptible): Promise<readonly Row[] | undefined> {
    const last = this.#sources[this.#sources.length - 1] as RowSource;
    this.#common ??= await this.#readFirst(context);
    const common = this.#common;
    if (common.size === 0) return undefined;
    const rows = await last.next(context);
    if (rows === undefined) return undefined;
    const both = rows.filter((row) => common.has(row.key));
    this.#counters.works += rows.length;
    this.#counters.advanced += both.length;
    return both;
  }

  async #readFirst(context: Interruptible): Promise<KeySet> {
    let common: KeySet | undefined;
    for (const source of this.#sources.slice(0, -1)) {
      const next = new KeySet();
      for (;;) {
        const rows = await source.next(context);
        if (rows === undefined) break;
        for (const row of rows) if (common === undefined || common.has(row.key)) next.add(row.key);
      }
      common = next;
    }
    this.#counters.sortedBytes = common?.bytes ?? 0;
    return common ?? new KeySet();
  }

  close(): void {
    for (const source of this.#sources) source.close();
    this.#common = new KeySet();
  }
}

/** SORT_MERGE: inputs that are each in order, merged; a document once. */
export class SortMerge implements PlanStage {
  readonly name = 'SORT_MERGE';
  readonly inputs: readonly PlanStage[];
  readonly #keyOf: (row: Row) => Uint8Array;
  readonly #pattern: Document;

  /** `keyOf`: what rows are merged by. */
  constructor(inputs: readonly PlanStage[], keyOf: (row: Row) => Uint8Array, pattern: Document) {
    this.inputs = inputs;
    this.#keyOf = keyOf;
    this.#pattern = pattern;
  }

  open(execution: Execution): RowSource {
    const heads = this.inputs.map((input) => new Head(input.open(execution), this.#keyOf));
    return new MergeSource(heads, execution.countersOf(this));
  }

  details(): readonly (readonly [string, Value])[] {
    return [['sortPattern', this.#pattern]];
  }

  statistics({ dupsTested, dupsDropped }: Counters): readonly (readonly [string, Value])[] {
    return [
      ['dupsTested', dupsTested],
      ['dupsDropped', dupsDropped],
    ];
  }
}

/** The next row of one input. */
class Head {
  readonly source: RowSource;
  readonly #keyOf: (row: Row) => Uint8Array;
  row: Row | undefined;
  key: Uint8Array = new Uint8Array(0);
  #rows: readonly Row[] = [];
  #at = 0;

  constructor(source: RowSource, keyOf: (row: Row) => Uint8Array) {
    this.source = source;
    this.#keyOf = keyOf;
  }

  /** True if the next row was at hand; else `pull` first. */
  step(): boolean {
    this.row = this.#rows[this.#at];
    if (this.row === undefined) return false;
    this.#at += 1;
    this.key = this.#keyOf(this.row);
    return true;
  }

  /** Reads on; false at the end. */
  async pull(context: Interruptible): Promise<boolean> {
    for (;;) {
      const rows = await this.source.next(context);
      if (rows === undefined) return false;
      this.#rows = rows;
      this.#at = 0;
      if (this.step()) return true;
    }
  }
}

class MergeSource implements RowSource {
  readonly #counters: Counters;
  readonly #seen = new KeySet();
  #heads: Head[];
  #started = false;

  constructor(heads: Head[], counters: Counters) {
    this.#heads = heads;
    this.#counters = counters;
  }

  async next(context: Interruptible): Promise<readonly Row[] | undefined> {
    if (!this.#started) await this.#start(context);
    if (this.#heads.length === 0) return undefined;
    const rows: Row[] = [];
    while (rows.length < batchRows) {
      const [first] = this.#heads;
      if (first === undefined) break;
      if (first.row !== undefined && this.#seen.add(first.row.key)) rows.push(first.row);
      else this.#counters.dupsDropped += 1;
      this.#counters.dupsTested += 1;
      this.#heads.shift();
      if (first.step() || (await first.pull(context))) this.#insert(first);
    }
    this.#counters.works += rows.length;
    this.#counters.advanced += rows.length;
    return rows;
  }

  async #start(context: Interruptible): Promise<void> {
    this.#started = true;
    const heads = this.#heads;
    this.#heads = [];
    for (const head of heads) if (await head.pull(context)) this.#insert(head);
  }

  /** Keeps the heads in order. */
  #insert(head: Head): void {
    let low = 0;
    let high = this.#heads.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareBytes((this.#heads[middle] as Head).key, head.key) <= 0) low = middle + 1;
      else high = middle;
    }
    this.#heads.splice(low, 0, head);
  }

  close(): void {
    for (const head of this.#heads) head.source.close();
    this.#heads = [];
    this.#started = true;
  }
}
