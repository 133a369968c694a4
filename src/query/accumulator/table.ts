// Every accumulator of `$group` and the stages made of it, by name.

import type { AccumulatorRule, AccumulatorTable } from './accumulator.ts';
import { collectAccumulators } from './collect.ts';
import { numericAccumulators } from './numeric.ts';
import { percentileAccumulators } from './percentile.ts';
import { rankedAccumulators } from './ranked.ts';

const families: readonly AccumulatorTable[] = [collectAccumulators, numericAccumulators, rankedAccumulators, percentileAccumulators];

/** The accumulators, by name with `$`. */
export const accumulators: ReadonlyMap<string, AccumulatorRule> = new Map(families.flatMap((family) => Object.entries(family)));
