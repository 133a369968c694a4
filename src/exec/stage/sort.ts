// `$sort`: all documents in an order. With a `$limit` right behind it only the first documents are ever kept. All are in memory: beyond
// 100 MB the stage ends with QueryExceededMemoryLimitNoDiskUseAllowed. Documents that tie keep the order in which they came.
// Follows the manual's page "$sort (aggregation)".

import { BinaryHeap } from '../../base/binary-heap.ts';
import { compareBytes } from '../../base/bytes.ts';
import { Document } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { compileSort, refuse } from '../../query/index.ts';
import { drain, gathered } from '../batches.ts';
import { MEMORY_BYTES_MAX, outOfMemory } from '../memory.ts';
import type { Stage, StageRule } from '../stage.ts';

interface Entry {
  readonly key: Uint8Array;
  readonly document: Document;
  readonly order: number;
}

function compareEntries(left: Entry, right: Entry): number {
  return compareBytes(left.key, right.key) || left.order - right.order;
}

/** So many entries are sorted in one go: about a millisecond's work. */
const RUN_ENTRIES = 2048;

function sizeOf({ key, document }: Entry): number {
  return key.length + document.byteLength + 64;
}

/** Sorted runs of what has been seen, merged as they are read, so that no long work is ever done at once. */
class RunSorter {
  readonly #runs: Entry[][] = [];
  #open: Entry[] = [];
  #bytes = 0;

  add(entry: Entry): void {
    this.#open.push(entry);
    this.#bytes += sizeOf(entry);
    if (this.#bytes > MEMORY_BYTES_MAX) throw outOfMemory('$sort');
    if (this.#open.length >= RUN_ENTRIES) this.#close();
  }

  *results(limit: number): Generator<Document, void> {
    this.#close();
    const heap = new BinaryHeap<{ run: Entry[]; at: number; entry: Entry }>((left, right) => compareEntries(left.entry, right.entry));
    const push = (run: Entry[], at: number): void => {
      const entry = run[at];
      if (entry !== undefined) heap.push({ run, at, entry });
    };
    for (const run of this.#runs) push(run, 0);
    for (let given = 0; given < limit; given++) {
      const least = heap.pop();
      if (least === undefined) return;
      push(least.run, least.at + 1);
      yield least.entry.document;
    }
  }

  #close(): void {
    if (this.#open.length > 0) this.#runs.push(this.#open.sort(compareEntries));
    this.#open = [];
  }
}

/** The first few of all that has been seen: never more than about twice as many are kept. */
class TopSorter {
  readonly #limit: number;
  #entries: Entry[] = [];
  #bytes = 0;
  /** The last entry that is among the first `limit`, once there are so many. */
  #last: Entry | undefined;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(entry: Entry): void {
    if (this.#last !== undefined && compareEntries(entry, this.#last) > 0) return;
    this.#entries.push(entry);
    this.#bytes += sizeOf(entry);
    if (this.#entries.length >= 2 * this.#limit + 256 || this.#bytes > MEMORY_BYTES_MAX) this.#cut();
    if (this.#bytes > MEMORY_BYTES_MAX) throw outOfMemory('$sort');
  }

  *results(): Generator<Document, void> {
    this.#cut();
    for (const { document } of this.#entries) yield document;
  }

  #cut(): void {
    this.#entries.sort(compareEntries);
    if (this.#entries.length < this.#limit) return;
    this.#entries = this.#entries.slice(0, this.#limit);
    this.#last = this.#entries.at(-1);
    this.#bytes = this.#entries.reduce((sum, entry) => sum + sizeOf(entry), 0);
  }
}

function refuseEmpty(specification: Value): Document {
  if (!(specification instanceof Document)) throw refuse(15973, 'the $sort key specification must be an object');
  if (specification.isEmpty) throw refuse(15976, '$sort stage must have at least one sort key');
  return specification;
}

/** The stage of a sort, of which only the first `limit` documents count. */
export function sortStage(sort: Document, limit: number | undefined): Stage {
  const key = compileSort(sort);
  return {
    name: '$sort',
    specification: limit === undefined ? sort : Document.of({ sortKey: sort, limit: BigInt(limit) }),
    open: (source, provider) =>
      gathered(source, async (context) => {
        const sorter = limit !== undefined && limit <= RUN_ENTRIES ? new TopSorter(limit) : new RunSorter();
        let order = 0;
        await drain(source, provider, context, (batch) => {
          for (const document of batch) sorter.add({ key: key.keyOf(document), document, order: order++ });
        });
        return sorter.results(limit ?? Infinity);
      }),
    ...(limit === undefined ? { leaves: () => true } : {}),
    takeover: { kind: 'sort', sort, ...(limit === undefined ? {} : { limit }) },
    joinedWith: ({ takeover }) => {
      if (takeover?.kind !== 'limit') return undefined;
      return sortStage(sort, Math.min(takeover.count, limit ?? Infinity));
    },
    needs: (dependencies) => {
      for (const path of sort.keys()) dependencies.addPath(path);
      return 'some';
    },
  };
}

/** How `$sort` is compiled. */
export const sortRule: StageRule = {
  name: '$sort',
  parse: (specification) => sortStage(refuseEmpty(specification), undefined),
};
