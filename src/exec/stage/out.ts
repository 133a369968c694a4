// `$out`: what a pipeline gives becomes a collection, in place of one of the same name. Readers see the old one until all is written.
// Follows the manual's page "$out (aggregation)".

import { Document } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { nameOf, refuse } from '../../query/index.ts';
import { written } from '../output.ts';
import type { StageContext, StageRule } from '../stage.ts';
import { checkTarget, missingField, targetFields } from './output-target.ts';
import type { OutputTarget } from './output-target.ts';

function targetOf(specification: Value, context: StageContext): OutputTarget {
  const { database } = context.options;
  if (typeof specification === 'string') return { database, collection: specification };
  if (!(specification instanceof Document)) {
    throw refuse(16990, `$out only supports a string or object argument, but found ${nameOf(specification)}`);
  }
  const { db, coll } = targetFields(Document.fromEntries(specification.fields.filter(([name]) => name !== 'timeseries')), '$out');
  if (db === undefined) throw missingField('$out.db');
  if (coll === undefined) throw missingField('$out.coll');
  return { database: db, collection: coll };
}

/** The options of a time series, where the collection is to be one. */
function timeSeriesOf(specification: Value): Document | undefined {
  const value = specification instanceof Document ? (specification.get('timeseries') ?? null) : null;
  if (value === null || value instanceof Document) return value ?? undefined;
  throw refuse(14, `BSON field '$out.timeseries' is the wrong type '${nameOf(value)}', expected type 'object'`);
}

/** How `$out` is compiled. */
export const outRule: StageRule = {
  name: '$out',
  parse: (specification, context) => {
    const timeSeries = timeSeriesOf(specification);
    const target = checkTarget(targetOf(specification, context), { system: 17385, reserved: 31321 }, '$out');
    return {
      name: '$out',
      specification,
      open: (source, provider) => written(source, provider, { kind: 'replace', ...target, ...(timeSeries === undefined ? {} : { timeSeries }) }),
      output: target,
      needs: (dependencies) => {
        dependencies.addWhole();
        return 'all-of-it';
      },
    };
  },
};
