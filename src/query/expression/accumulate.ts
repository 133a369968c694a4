// Accumulators as expressions: over the elements of one array, or over several operands. An array among several operands is one value.
// Follows the manual's pages "$sum (aggregation)" and its siblings.

import { BsonArray } from '../../bson/index.ts';
import type { ValueAccumulator } from '../accumulator/accumulator.ts';
import { Extreme } from '../accumulator/collect.ts';
import { Average, Deviation, Sum } from '../accumulator/numeric.ts';
import { variadic } from './define.ts';
import type { OperatorRule, OperatorTable } from './compiler.ts';

function accumulate(create: () => ValueAccumulator): OperatorRule {
  return variadic((values) => {
    const [only] = values;
    const items = values.length === 1 && only instanceof BsonArray ? only.items() : values;
    const state = create();
    for (const item of items) state.add(item);
    return state.result();
  });
}

/** The operators, by name. */
export const accumulateOperators: OperatorTable = {
  $sum: accumulate(() => new Sum()),
  $avg: accumulate(() => new Average()),
  $min: accumulate(() => new Extreme(1)),
  $max: accumulate(() => new Extreme(-1)),
  $stdDevPop: accumulate(() => new Deviation(0)),
  $stdDevSamp: accumulate(() => new Deviation(1)),
};
