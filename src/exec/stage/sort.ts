// `$sort`: all documents in an order. With a `$limit` right behind it only the first documents are ever kept. All are in memory: beyond
// 100 MB the stage ends with QueryExceededMemoryLimitNoDiskUseAllowed. Documents that tie keep the order in which they came.
// Follows the manual's page "$sort (aggregation)".

import { compareBytes } from '../../base/bytes.ts';
import { Document } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { compileSort, refuse } from '../../query/index.ts';
import type { SortKey } from '../../query/index.ts';
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

/** What has been seen, in the order of the keys when asked; never much more than `limit` documents. */
class Sorter {
  readonly #key: SortKey;
  readonly #limit: number;
  #entries: Entry[] = [];
  #bytes = 0;
  #seen = 0;
  /** The last entry that is among the first `limit`, once there are so many. */
  #last: Entry | undefined;

  constructor(key: SortKey, limit: number) {
    this.#key = key;
    this.#limit = limit;
  }

  take(batch: readonly Document[]): void {
    for (const document of batch) {
      const entry = { key: this.#key.keyOf(document), document, order: this.#seen++ };
      if (this.#last !== undefined && compareEntries(entry, this.#last) > 0) continue;
      this.#entries.push(entry);
      this.#bytes += entry.key.length + document.byteLength + 64;
    }
    if (this.#entries.length >= 2 * this.#limit + 256) this.#cut();
    if (this.#bytes > MEMORY_BYTES_MAX) this.#cut();
    if (this.#bytes > MEMORY_BYTES_MAX) throw outOfMemory('$sort');
  }

  *results(): Generator<Document, void> {
    this.#cut();
    for (const { document } of this.#entries) yield document;
  }

  #cut(): void {
    this.#entries.sort(compareEntries);
    if (this.#entries.length <= this.#limit) return;
    this.#entries = this.#entries.slice(0, this.#limit);
    this.#last = this.#entries.at(-1);
    this.#bytes = this.#entries.reduce((sum, { key, document }) => sum + key.length + document.byteLength + 64, 0);
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
        const sorter = new Sorter(key, limit ?? Infinity);
        await drain(source, provider, context, (batch) => sorter.take(batch));
        return sorter.results();
      }),
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
