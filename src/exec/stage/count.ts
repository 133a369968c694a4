// `$count`: how many documents there are, in one document; none for none. Follows the manual's page "$count (aggregation)".

import { Document } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { nameOf, refuse } from '../../query/index.ts';
import { drain, gathered } from '../batches.ts';
import type { StageRule } from '../stage.ts';

function fieldOf(specification: Value): string {
  if (typeof specification !== 'string') throw refuse(40156, `the count field must be a non-empty string, got ${nameOf(specification)}`);
  if (specification === '') throw refuse(40157, 'the count field must be a non-empty string');
  if (specification.startsWith('$')) throw refuse(40158, 'the count field cannot be a $-prefixed path');
  if (specification.includes('\0')) throw refuse(40159, 'the count field cannot contain a null byte');
  if (specification.includes('.')) throw refuse(40160, `the count field cannot contain '.'`);
  if (specification === '_id') throw refuse(9039800, `the count field cannot be '_id'`);
  return specification;
}

/** How `$count` is compiled. */
export const countRule: StageRule = {
  name: '$count',
  parse: (specification) => {
    const field = fieldOf(specification);
    return {
      name: '$count',
      specification,
      open: (source) =>
        gathered(source, async (context) => {
          let count = 0;
          await drain(source, context, (batch) => (count += batch.length));
          return count === 0 ? [] : [Document.fromEntries([[field, count > 0x7fffffff ? BigInt(count) : count]])];
        }),
      needs: () => 'all-of-it',
    };
  },
};
