// Accumulators as expressions: over the elements of one array, or over several operands. An array among several operands is one value.
// Follows the manual's pages "$sum (aggregation)" and its siblings.

import { BsonArray } from '../../bson/index.ts';
import type { TextOrder, Value } from '../../bson/index.ts';
import type { ValueAccumulator } from '../accumulator/accumulator.ts';
import { Extreme } from '../accumulator/collect.ts';
import { averageOf, Deviation, sumOf } from '../accumulator/numeric.ts';
import { compileMedian, compilePercentile } from '../accumulator/percentile.ts';
import { ordered, variadic } from './define.ts';
import { overElements } from '../elements.ts';
import type { OperatorRule, OperatorTable } from './compiler.ts';

function accumulate(create: (order: TextOrder | undefined) => ValueAccumulator): OperatorRule {
  return ordered((order) => variadic((values) => {
    const [only] = values;
    const begin = (): ValueAccumulator => create(order);
    if (only instanceof BsonArray && values.length === 1) return overElements(only, begin, taking).result();
    const state = begin();
    for (const item of values) state.add(item);
    return state.result();
  }));
}

function taking(state: ValueAccumulator, item: Value): void {
  state.add(item);
}

/** `$percentile` and `$median` over the elements of one array, or of one number. */
function quantile(compile: typeof compileMedian): OperatorRule {
  return (argument, compiler, name) => {
    const { input, create } = compile(argument, compiler, name);
    return compiler.fold(name, [input], (root) => {
      const value = input.evaluate(root);
      if (value instanceof BsonArray) return overElements(value, create, taking).result();
      const state = create();
      state.add(value);
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
