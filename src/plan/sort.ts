// Sorting what no index gives in order: all rows in memory up to a limit (then 292), or with a limit the best k of them. Follows MongoDB's page
// "$sort": the limit is 100 MiB.

import { compareBytes } from '../base/bytes.ts';
import { CommandError } from '../base/errors.ts';
import type { Document, Value } from '../bson/index.ts';
import type { SortKey } from '../query/index.ts';
import { batchRows } from './row.ts';
import type { Counters, Execution, Interruptible, PlanStage, Row, RowSource } from './row.ts';

export const sortBytesMaxDefault: number = 100 * 1024 * 1024;

export interface SortParts {
  readonly key: SortKey;
  readonly pattern: Document;
  /** Rows that will be taken at most (skip included); undefined: all. */
  readonly limit: number | undefined;
  readonly bytesMax: number;
}

/** SORT. */
export class Sort implements PlanStage {
  readonly name = 'SORT';
  readonly inputs: readonly PlanStage[];
  readonly #parts: SortParts;

  constructor(input: PlanStage, parts: SortParts) {
    this.inputs = [input];
    this.#parts = parts;
  }

  open(execution: Execution): RowSource {
    const [input] = this.inputs;
    return new SortSource((input as PlanStage).open(execution), this.#parts, execution.countersOf(this));
  }

  details(): readonly (readonly [string, Value])[] {
    const { pattern, bytesMax, limit } = this.#parts;
    return [
      ['sortPattern', pattern],
      ['memLimit', bytesMax],
      ...(limit === undefined ? [] : [['limitAmount', BigInt(limit)] as const]),
      ['type', 'simple'],
    ];
  }

  statistics(counters: Counters): readonly (readonly [string, Value])[] {
    return [
      ['totalDataSizeSorted', BigInt(counters.sortedBytes)],
      ['usedDisk', false],
      ['spills', 0n],
    ];
  }
}

interface Sorted {
  readonly sortKey: Uint8Array;
  /** Ties keep the order they came in. */
  readonly order: number;
  readonly row: Row;
  readonly bytes: number;
}

const compare = (a: Sorted, b: Sorted): number => compareBytes(a.sortKey, b.sortKey) || a.order - b.order;

class SortSource implements RowSource {
  readonly #input: RowSource;
  readonly #parts: SortParts;
  readonly #counters: Counters;
  #sorted: Sorted[] | undefined;
  #at = 0;

  constructor(input: RowSource, parts: SortParts, counters: Counters) {
    this.#input = input;
    this.#parts = parts;
    this.#counters = counters;
  }

  async next(context: Interruptible): Promise<readonly Row[] | undefined> {
    this.#sorted ??= await this.#readAll(context);
    if (this.#at >= this.#sorted.length) return undefined;
    const rows = this.#sorted.slice(this.#at, this.#at + batchRows).map(({ row }) => row);
    this.#at += rows.length;
    this.#counters.advanced += rows.length;
    return rows;
  }

  async #readAll(context: Interruptible): Promise<Sorted[]> {
    const { key, limit } = this.#parts;
    let kept: Sorted[] = [];
    let bytes = 0;
    let order = 0;
    for (;;) {
      const rows = await this.#input.next(context);
      if (rows === undefined) break;
      for (const row of rows) {
        const document = row.document as Document;
        const size = document.byteLength + row.key.length + 128;
        kept.push({ sortKey: key.keyOf(document), order: order++, row, bytes: size });
        bytes += size;
        this.#counters.sortedBytes += document.byteLength;
      }
      this.#counters.works += rows.length;
      // The best so far are picked when twice as many have come: a sort of 2k for every k new rows.
      if (limit !== undefined && kept.length > Math.max(2 * limit, 1024)) {
        kept = kept.sort(compare).slice(0, limit);
        bytes = kept.reduce((sum, each) => sum + each.bytes, 0);
      }
      if (bytes > this.#parts.bytesMax) throw tooMuch(this.#parts.bytesMax);
    }
    kept.sort(compare);
    return limit === undefined ? kept : kept.slice(0, limit);
  }

  close(): void {
    this.#input.close();
    this.#sorted = [];
  }
}

function tooMuch(bytesMax: number): CommandError {
  return new CommandError(
    292,
    'QueryExceededMemoryLimitNoDiskUseAllowed',
    `Sort exceeded memory limit of ${bytesMax} bytes, but did not opt in to external sorting. Pass allowDiskUse:true to opt in.`,
  );
}
