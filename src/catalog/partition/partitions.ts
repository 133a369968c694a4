// The parts of one version of a partitioned collection: where a key's document and index entries are, scans over all of them, sums of what they
// hold. Every part is a place of its own for changes of documents.

import { must } from '../../base/assert.ts';
import { Document, maxKey, minKey } from '../../bson/index.ts';
import type { Cursor, DictionaryId, Direction, KeyRange, Transaction, Totals } from '../../engine/index.ts';
import type { ChangedCollection } from '../changed-collection.ts';
import type { CollectionStorage, IndexDefinition, PartitionInfo, RecordKey, StorageFigures } from '../types.ts';
import { ChainedCursor } from './chained-cursor.ts';
import type { PartitionRouter } from './partition-router.ts';
import type { PartitionRow } from './partition-row.ts';
import { sumOfFigures, sumOfTotals } from './sums.ts';

/** One part as changes of documents see it. */
export interface Partition extends ChangedCollection {
  readonly row: PartitionRow;
}

/** All parts of a collection, in the order of their keys. */
export class Partitions {
  readonly parts: readonly Partition[];
  readonly router: PartitionRouter;

  constructor(parts: readonly Partition[], router: PartitionRouter) {
    this.parts = parts;
    this.router = router;
  }

  of(key: RecordKey): Partition {
    return must(this.parts[this.router.find(key)], 'a part for every key');
  }

  scan(engine: Transaction, range: KeyRange, direction: Direction): Cursor {
    const { first, last } = this.router.span(range);
    const cursors = this.parts.slice(first, last + 1).map(({ dictionary }) => engine.cursor(dictionary, range, direction));
    return new ChainedCursor(direction > 0 ? cursors : cursors.reverse());
  }

  totals(engine: Transaction): Totals {
    return sumOfTotals(this.parts.map(({ dictionary }) => engine.totals(dictionary)));
  }

  info({ paths, directions }: Pick<IndexDefinition, 'paths' | 'directions'>): readonly PartitionInfo[] {
    const end = Document.fromEntries(paths.map((path, i) => [path, directions[i] === 1 ? maxKey : minKey]));
    return this.parts.map(({ row: { id, max, created } }) => ({ id, max: max ?? end, created }));
  }

  /** What all parts take, and each of them. */
  figures(of: (id: DictionaryId) => StorageFigures): CollectionStorage {
    const partitions = this.parts.map(({ row, dictionary, kept }) => ({
      id: row.id,
      documents: of(dictionary),
      indexes: new Map(kept.map((index) => [index.name, of(index.dictionary)])),
    }));
    const names = [...(partitions[0]?.indexes.keys() ?? [])];
    const sumOf = (name: string): StorageFigures => sumOfFigures(partitions.map(({ indexes }) => must(indexes.get(name), 'an index of every part')));
    return { documents: sumOfFigures(partitions.map(({ documents }) => documents)), indexes: new Map(names.map((name) => [name, sumOf(name)])), partitions };
  }
}
