// The part of the log that a filter can find: its entries lie in the order of their times, so bounds of `ts` say where to begin and end. Whoever
// follows the log by `{ ts: { $gt: … } }` then reads what is new and not the whole of it.

import { Timestamp } from '../bson/index.ts';
import type { Collection, KeyRange } from '../catalog/index.ts';
import type { Filter } from '../query/index.ts';
import { conditionsOf } from './conditions.ts';
import type { Conditions } from './conditions.ts';

const incrementMax = 0xffffffff;

function after({ seconds, increment }: Timestamp): Timestamp {
  return increment < incrementMax ? new Timestamp(seconds, increment + 1) : new Timestamp(seconds + 1, 0);
}

/** The keys of all entries that can match; `{}` for a collection that is not the log. */
export function logRangeOf(collection: Collection, { leaves }: Conditions): KeyRange {
  const keyAt = collection.keyAt?.bind(collection);
  if (keyAt === undefined) return {};
  for (const { path, bounds, negative, element } of leaves) {
    const { low } = bounds.intervals[0] ?? {};
    const { high } = bounds.intervals.at(-1) ?? {};
    if (path !== 'ts' || negative || element !== undefined || !(low instanceof Timestamp)) continue;
    return { from: keyAt(low), ...(high instanceof Timestamp && high.seconds < incrementMax ? { to: keyAt(after(high)) } : {}) };
  }
  return {};
}

/** As `logRangeOf`, of a whole filter. */
export function logRange(collection: Collection, filter: Filter): KeyRange {
  return collection.keyAt === undefined ? {} : logRangeOf(collection, conditionsOf(filter.shape));
}
