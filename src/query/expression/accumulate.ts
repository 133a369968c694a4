// Accumulators as expressions: over the elements of one array, or over several operands. An array among several operands is one value.
// Follows the manual's pages "$sum (aggregation)" and its siblings.

import { BsonArray } from '../../bson/index.ts';
import type { TextOrder } from '../../bson/index.ts';
import type { ValueAccumulator } from '../accumulator/accumulator.ts';
import { Extreme } from '../accumulator/collect.ts';
import { averageOf, Deviation, sumOf } from '../accumulator/numeric.ts';
import { compileMedian, compilePercentile } from '../accumulator/percentile.ts';
import { ordered, variadic } from './define.ts';
import type { OperatorRule, OperatorTable } from './compiler.ts';

function accumulate(create: (order: TextOrder | undefined) => ValueAccumulator): OperatorRule {
  return ordered((order) => variadic((values) => {
    const [only] = values;
    const items = values.length === 1 && only instanceof BsonArray ? only.items() : values;
    const state = create(order);
    for (const item of items) state.add(item);
    return state.result();
  }));
}

/** `$percentile` and `$median` over the elements of one array, or of one number. */
function quantile(compile: typeof compileMedian): OperatorRule {
  return (argument, compiler, name) => {
    const { input, create } = compile(argument, compiler, name);
    return compiler.fold(name, [input], (root) => {
      const value = input.evaluate(root);
      const state = create();
      for (const item of value instanceof BsonArray ? value.items() : [value]) state.add(item);
      return state.result();
    });
  };
}

/** The operators, by name. */
export const accumulateOperators: OperatorTable = {
  $sum: accumulate(sumOf),
  $avg: accumulate(averageOf),
  $min: accumulate((order) => new Extreme(1, order)),
  $max: accumulate((order) => new Extreme(-1, order)),
  $stdDevPop: accumulate(() => new Deviation(0)),
  $stdDevSamp: accumulate(() => new Deviation(1)),
  $percentile: quantile(compilePercentile),
  $median: quantile(compileMedian),
};
