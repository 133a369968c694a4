// `$sort`: all documents in an order. With a `$limit` right behind it only the first documents are ever kept. What is beyond 100 MB
// goes to a scratch place, or ends with 292 where nothing may be written. Documents that tie keep the order in which they came.
// Follows the manual's page "$sort (aggregation)".

import { Document } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { compileSort, refuse } from '../../query/index.ts';
import type { SortKey } from '../../query/index.ts';
import type { BatchSource } from '../../session/index.ts';
import { drain, gathered, streamed } from '../batches.ts';
import { ExternalSorter } from '../external-sorter.ts';
import type { SortCodec } from '../external-sorter.ts';
import { MEMORY_BYTES_MAX, outOfMemory } from '../memory.ts';
import { compareEntries, RUN_ENTRIES, sizeOfEntry } from '../run-sorter.ts';
import type { Entry } from '../run-sorter.ts';
import type { PipelineOptions, SourceProvider, Stage, StageRule } from '../stage.ts';

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

/** The first few, which are never many at a time. */
function firstOnes(source: BatchSource, { key, limit }: { key: SortKey; limit: number }): BatchSource {
  return gathered(source, async (context) => {
    const sorter = new TopSorter(limit);
    let order = 0;
    await drain(source, context, (batch) => {
      for (const document of batch) sorter.add({ key: key.keyOf(document), document, order: order++ });
    });
    return documentsOf(sorter.results());
  });
}

const codec: SortCodec<Entry> = {
  pack: ({ document }) => document.toBytes(),
  unpack: ({ key, order }, packed) => ({ key, order, document: Document.fromBytes(packed) }),
};

/** All of them, through a scratch place where they are too many. */
function allInOrder(source: BatchSource, provider: SourceProvider, { key, limit }: { key: SortKey; limit: number | undefined }): BatchSource {
  return streamed(source, async function* (operation) {
    const sorter = new ExternalSorter(codec, provider.workspace, () => outOfMemory('$sort'));
    try {
      let order = 0;
      await drain(source, operation(), (batch) => {
        for (const document of batch) sorter.add({ key: key.keyOf(document), document, order: order++ }, document.byteLength);
        return sorter.relieve();
      });
      source.close();
      for await (const entries of sorter.results(limit ?? Infinity)) {
        yield entries.map(({ document }) => document);
      }
    } finally {
      sorter.close();
    }
  });
}

/** The stage of a sort, of which only the first `limit` documents count. */
export function sortStage(sort: Document, limit: number | undefined, options: PipelineOptions): Stage {
  const key = compileSort(sort, options.collation, options.metadata);
  return {
    name: '$sort',
    specification: limit === undefined ? sort : Document.of({ sortKey: sort, limit: BigInt(limit) }),
    open: (source, provider) => (limit !== undefined && limit <= RUN_ENTRIES ? firstOnes(source, { key, limit }) : allInOrder(source, provider, { key, limit })),
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
