// Bounds as `explain` prints them: for each path its intervals in the order of the scan.

import { BsonArray, Document } from '../bson/index.ts';
import type { Direction } from '../catalog/index.ts';
import type { IndexBounds } from './index-bounds.ts';
import { describeInterval } from './interval.ts';

/** `{ a: ["[1, 5)"], b: ["[MinKey, MaxKey]"] }`. */
export function describeBounds({ index, fields }: IndexBounds, direction: Direction): Document {
  return Document.fromEntries(
    index.paths.map((path, field) => {
      const way: Direction = index.directions[field] === direction ? 1 : -1;
      const texts = (fields[field] ?? []).map((interval) => describeInterval(interval, way, index.collation !== undefined));
      return [path, BsonArray.of(way > 0 ? texts : texts.reverse())];
    }),
  );
}
