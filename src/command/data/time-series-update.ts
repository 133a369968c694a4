// What an update may change of a time series: the meta field, of all documents that a condition on the meta field finds.
// Follows the manual's page "Time Series Collection Limitations".

import { CommandError } from '../../base/errors.ts';
import { BsonArray, Document } from '../../bson/index.ts';
import type { TimeSeriesOptions } from '../../catalog/index.ts';

/** The parts of a statement that decide. */
interface UpdateParts {
  readonly filter: Document;
  readonly update: Document | BsonArray;
  readonly upsert?: boolean | undefined;
  readonly multi?: boolean | undefined;
}

function refuse(reason: string): CommandError {
  return new CommandError(72, 'InvalidOptions', `Cannot perform an update on a time-series collection ${reason}`);
}

function isAtMeta(path: string, metaField: string): boolean {
  return path === metaField || path.startsWith(`${metaField}.`);
}

/** Whether a condition asks for nothing but the meta field. */
function asksMetaOnly(filter: Document, metaField: string): boolean {
  return filter.fields.every(([name, value]) => {
    if (!name.startsWith('$')) return isAtMeta(name, metaField);
    if (name === '$comment') return true;
    return value instanceof BsonArray && value.items().every((part) => part instanceof Document && asksMetaOnly(part, metaField));
  });
}

/** Refuses what MongoDB refuses of a time series (72). */
export function checkTimeSeriesUpdate({ filter, update, upsert, multi }: UpdateParts, { metaField }: TimeSeriesOptions): void {
  if (upsert === true) throw refuse('with upsert: true');
  if (update instanceof BsonArray) throw refuse('using a pipeline update');
  if (multi !== true) throw refuse('with multi: false');
  if (metaField === undefined) throw refuse('which does not have a metaField');
  if (!asksMetaOnly(filter, metaField)) throw refuse(`when querying on a field that is not the metaField '${metaField}'`);
  for (const [operator, changes] of update) {
    if (!operator.startsWith('$')) throw refuse('using a replacement document');
    if (!(changes instanceof Document)) continue;
    const isMoved = operator === '$rename';
    if (isMoved || !changes.keys().every((path) => isAtMeta(path, metaField))) throw refuse(`that changes a field that is not the metaField '${metaField}'`);
  }
}
