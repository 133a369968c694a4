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
  if (specification.has('timeseries')) throw refuse(72, 'time series collections are not supported');
  const { db, coll } = targetFields(specification, '$out');
  if (db === undefined) throw missingField('$out.db');
  if (coll === undefined) throw missingField('$out.coll');
  return { database: db, collection: coll };
}

/** How `$out` is compiled. */
export const outRule: StageRule = {
  name: '$out',
  parse: (specification, context) => {
    const target = checkTarget(targetOf(specification, context), { system: 17385, reserved: 31321 }, '$out');
    return {
      name: '$out',
      specification,
      open: (source, provider) => written(source, provider, { kind: 'replace', ...target }),
      output: target,
      needs: (dependencies) => {
        dependencies.addWhole();
        return 'all-of-it';
      },
    };
  },
};
