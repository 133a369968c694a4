// `$sort`: all documents in an order. With a `$limit` right behind it only the first documents are ever kept. All are in memory: beyond
// 100 MB the stage ends with QueryExceededMemoryLimitNoDiskUseAllowed. Documents that tie keep the order in which they came.
// Follows the manual's page "$sort (aggregation)".

import { Document } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { compileSort, refuse } from '../../query/index.ts';
import { drain, gathered } from '../batches.ts';
import { MEMORY_BYTES_MAX, outOfMemory } from '../memory.ts';
import { compareEntries, RUN_ENTRIES, RunSorter, sizeOfEntry } from '../run-sorter.ts';
import type { Entry } from '../run-sorter.ts';
import type { PipelineOptions, Stage, StageRule } from '../stage.ts';

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
    this.#bytes += sizeOfEntry(entry);
    if (this.#entries.length >= 2 * this.#limit + 256 || this.#bytes > MEMORY_BYTES_MAX) this.#cut();
    if (this.#bytes > MEMORY_BYTES_MAX) throw outOfMemory('$sort');
  }

  results(): readonly Entry[] {
    this.#cut();
    return this.#entries;
  }

  #cut(): void {
    this.#entries.sort(compareEntries);
    if (this.#entries.length < this.#limit) return;
    this.#entries = this.#entries.slice(0, this.#limit);
    this.#last = this.#entries.at(-1);
    this.#bytes = this.#entries.reduce((sum, entry) => sum + sizeOfEntry(entry), 0);
  }
}

function* documentsOf(entries: Iterable<Entry>): Generator<Document, void> {
  for (const { document } of entries) yield document;
}

function refuseEmpty(specification: Value): Document {
  if (!(specification instanceof Document)) throw refuse(15973, 'the $sort key specification must be an object');
  if (specification.isEmpty) throw refuse(15976, '$sort stage must have at least one sort key');
  return specification;
}

/** The stage of a sort, of which only the first `limit` documents count. */
export function sortStage(sort: Document, limit: number | undefined, options: PipelineOptions): Stage {
  const key = compileSort(sort, options.collation, options.textScore);
  return {
    name: '$sort',
    specification: limit === undefined ? sort : Document.of({ sortKey: sort, limit: BigInt(limit) }),
    open: (source, provider) =>
      gathered(source, async (context) => {
        const sorter = limit !== undefined && limit <= RUN_ENTRIES ? new TopSorter(limit) : new RunSorter('$sort');
        let order = 0;
        await drain(source, provider, context, (batch) => {
          for (const document of batch) sorter.add({ key: key.keyOf(document), document, order: order++ });
        });
        return documentsOf(sorter.results(limit ?? Infinity));
      }),
    ...(limit === undefined ? { leaves: () => true } : {}),
    takeover: { kind: 'sort', sort, ...(limit === undefined ? {} : { limit }) },
    joinedWith: ({ takeover }) => {
      if (takeover?.kind !== 'limit') return undefined;
      return sortStage(sort, Math.min(takeover.count, limit ?? Infinity), options);
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
  parse: (specification, { options }) => sortStage(refuseEmpty(specification), undefined, options),
};
