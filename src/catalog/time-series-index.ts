// Which indexes a time series takes (manual: "Time Series Secondary Indexes"), and how many a collection is said to have: the order of `_id` in which time series
// and clustered collections lie is no index of theirs.

import { CommandError } from '../base/errors.ts';
import { Document } from '../bson/index.ts';
import { sameCollation } from '../collation/index.ts';
import { cannotCreateIndex, invalidOptions } from './refusal.ts';
import type { TimeSeriesOptions } from './time-series.ts';
import type { Collection, CollectionOptions, IndexDefinition } from './types.ts';

/** Refuses what a time series cannot have. 67, 72, 85. */
export function checkSeriesIndex({ key, kind, spec, collation }: IndexDefinition, { timeSeries: series, collation: own }: CollectionOptions): void {
  if (series === undefined) return;
  const isMeta = (path: string): boolean => series.metaField !== undefined && (path === series.metaField || path.startsWith(`${series.metaField}.`));
  const ofMeta = key.keys().every(isMeta);
  if (kind === 'text') throw invalidOptions('Text indexes are not supported on time-series collections');
  if (spec.get('unique') === true) throw invalidOptions('Unique indexes are not supported on time-series collections');
  if (spec.get('sparse') === true && !ofMeta) throw invalidOptions('Sparse indexes on measurements are not supported on time-series collections');
  if (kind === 'wildcard' && !key.keys().some((path) => path !== '$**')) {
    throw new CommandError(7246201, 'Location7246201', 'A wildcard index of a time series must be below its metaField');
  }
  if ((kind === 'hashed' || kind === '2d' || kind === 'wildcard') && !ofMeta) {
    throw cannotCreateIndex(`Index type '${kind}' is only supported on the metaField of time-series collections`);
  }
  if (spec.has('expireAfterSeconds')) checkLifetime(key, spec.get('partialFilterExpression'), { series, isMeta });
  if (spec.has('partialFilterExpression') && !sameCollation(collation, own)) {
    throw new CommandError(85, 'IndexOptionsConflict', 'A partial index of a time series has the collation of its collection');
  }
}

function checkLifetime(key: Document, filter: unknown, { series, isMeta }: { readonly series: TimeSeriesOptions; readonly isMeta: (path: string) => boolean }): void {
  const [only, ...more] = key.keys();
  const isByTime = more.length === 0 && only === series.timeField;
  if (isByTime && filter instanceof Document && filter.keys().every(isMeta)) return;
  throw invalidOptions('TTL indexes on time-series collections are supported on the time field with a partial filter on the metaField');
}

/** How many indexes a collection is said to have. */
export function indexCount({ indexes, options }: Collection): number {
  const isOwnOrder = options.timeSeries !== undefined || options.shown.has('clusteredIndex');
  return indexes.length - (isOwnOrder ? 1 : 0);
}
