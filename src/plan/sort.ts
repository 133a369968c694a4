// Sorting what no index gives in order: all rows, in memory up to 100 MiB and then through a scratch place (292 where there is none), or with a
// limit the best k of them. Follows MongoDB's page
// "$sort": the limit is 100 MiB.

import { compareBytes, concatBytes } from '../base/bytes.ts';
import { CommandError } from '../base/errors.ts';
import { Document } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';
import { inSlices } from '../env/index.ts';
import { ExternalSorter } from '../exec/index.ts';
import type { SortCodec, Workspace } from '../exec/index.ts';
import type { SortKey } from '../query/index.ts';
import { batchRows, longBytes } from './row.ts';
import type { Counters, Execution, Interruptible, PlanStage, Row, RowSource } from './row.ts';

export const sortBytesMaxDefault: number = 100 * 1024 * 1024;

export interface SortParts {
  readonly key: SortKey;
  readonly pattern: Document;
  /** Rows that will be taken at most (skip included); undefined: all. */
  readonly limit: number | undefined;
  readonly bytesMax: number;
  readonly workspace: Workspace | undefined;
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
      ['usedDisk', counters.spills > 0],
      ['spills', BigInt(counters.spills)],
    ];
  }
}

interface Sorted {
  readonly key: Uint8Array;
  /** Ties keep the order they came in. */
  readonly order: number;
  readonly row: Row;
  readonly bytes: number;
}

const compare = (a: Sorted, b: Sorted): number => compareBytes(a.key, b.key) || a.order - b.order;

/** A row as bytes: the length of its key, the key, the document. */
const codec: SortCodec<Sorted> = {
  pack: ({ row }) => {
    const length = new Uint8Array(4);
    new DataView(length.buffer).setUint32(0, row.key.length);
    return concatBytes([length, row.key, (row.document as Document).toBytes()]);
  },
  unpack: ({ key, order }, packed) => {
    const end = 4 + new DataView(packed.buffer, packed.byteOffset, 4).getUint32(0);
    const row = { key: packed.subarray(4, end), document: Document.fromBytes(packed, end), entry: undefined };
    return { key, order, row, bytes: packed.length };
  },
};

/** Up to so many rows are sorted without ever keeping many more. */
const FEW_ROWS = 1024;

class SortSource implements RowSource {
  readonly #input: RowSource;
  readonly #parts: SortParts;
  readonly #counters: Counters;
  #rows: AsyncGenerator<readonly Sorted[], void> | undefined;
  #closed = false;

  constructor(input: RowSource, parts: SortParts, counters: Counters) {
    this.#input = input;
    this.#parts = parts;
    this.#counters = counters;
  }

  async next(context: Interruptible): Promise<readonly Row[] | undefined> {
    if (this.#closed) return undefined;
    await context.turn();
    const { limit } = this.#parts;
    this.#rows ??= limit !== undefined && limit <= FEW_ROWS ? this.#few(limit, context) : this.#all(context);
    const step = await this.#rows.next();
    if (step.done === true) return undefined;
    this.#counters.advanced += step.value.length;
    return step.value.map(({ row }) => row);
  }

  /** The best so far are picked when twice as many have come: a sort of 2k for every k new rows. */
  async *#few(limit: number, context: Interruptible): AsyncGenerator<readonly Sorted[], void> {
    let kept: Sorted[] = [];
    let bytes = 0;
    for await (const entries of this.#read(context)) {
      kept.push(...entries);
      bytes += entries.reduce((sum, each) => sum + each.bytes, 0);
      if (kept.length > Math.max(2 * limit, FEW_ROWS)) {
        kept = kept.sort(compare).slice(0, limit);
        bytes = kept.reduce((sum, each) => sum + each.bytes, 0);
      }
      if (bytes > this.#parts.bytesMax) throw tooMuch(this.#parts.bytesMax);
    }
    const sorted = kept.sort(compare).slice(0, limit);
    for (let at = 0; at < sorted.length; at += batchRows) yield sorted.slice(at, at + batchRows);
  }

  async *#all(context: Interruptible): AsyncGenerator<readonly Sorted[], void> {
    const { bytesMax, limit, workspace } = this.#parts;
    const sorter = new ExternalSorter(codec, workspace, () => tooMuch(bytesMax), bytesMax);
    try {
      for await (const entries of this.#read(context)) {
        for (const entry of entries) sorter.add(entry, entry.bytes);
        await sorter.relieve();
      }
      this.#counters.spills = sorter.spills;
      yield* sorter.results(limit ?? Infinity);
    } finally {
      sorter.close();
    }
  }

  async *#read(context: Interruptible): AsyncGenerator<readonly Sorted[], void> {
    const { key } = this.#parts;
    let order = 0;
    for (;;) {
      const rows = await this.#input.next(context);
      if (rows === undefined) return;
      this.#counters.works += rows.length;
      const entries: Sorted[] = [];
      for (const row of rows) {
        const document = row.document as Document;
        const { byteLength } = document;
        this.#counters.sortedBytes += byteLength;
        const made = byteLength < longBytes ? key.keyOf(document) : await inSlices(context, () => key.keyOf(document));
        entries.push({ key: made, order: order++, row, bytes: byteLength + row.key.length + 64 });
      }
      yield entries;
    }
  }

  close(): void {
    this.#closed = true;
    void this.#rows?.return();
    this.#input.close();
  }
}

function tooMuch(bytesMax: number): CommandError {
  return new CommandError(
    292,
    'QueryExceededMemoryLimitNoDiskUseAllowed',
    `Sort exceeded memory limit of ${bytesMax} bytes, but did not opt in to external sorting. Pass allowDiskUse:true to opt in.`,
  );
}
