// Accumulators of numbers: the sum, the mean, the deviation. What is not a number does not count.
// Follows the manual's pages "$sum (aggregation)", "$avg (aggregation)", "$stdDevPop" and "$stdDevSamp".

import { Double, isNumber, NumberSum, toDouble } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { ofValues } from './accumulator.ts';
import type { AccumulatorTable, ValueAccumulator } from './accumulator.ts';

/** `$sum` and `$avg`: what the numbers come to is read from their sum at the end. */
class Total implements ValueAccumulator {
  readonly bytes = 80;
  readonly #sum = new NumberSum();
  readonly #read: (sum: NumberSum) => Value;

  constructor(read: (sum: NumberSum) => Value) {
    this.#read = read;
  }

  add(value: Value | undefined): void {
    if (isNumber(value)) this.#sum.add(value);
  }

  result(): Value {
    return this.#read(this.#sum);
  }
}

/** `$sum`: int32 0 if there is no number. */
export function sumOf(): ValueAccumulator {
  return new Total((sum) => sum.total());
}

/** `$avg`: null if there is no number. */
export function averageOf(): ValueAccumulator {
  return new Total((sum) => sum.average() ?? null);
}

/** `$stdDevPop` (`missing` 0) and `$stdDevSamp` (`missing` 1), by Welford's method: null for too few numbers. */
export class Deviation implements ValueAccumulator {
  readonly bytes = 40;
  readonly #missing: 0 | 1;
  #count = 0;
  #mean = 0;
  #squares = 0;

  constructor(missing: 0 | 1) {
    this.#missing = missing;
  }

  add(value: Value | undefined): void {
    if (!isNumber(value)) return;
    const number = toDouble(value);
    this.#count += 1;
    const before = number - this.#mean;
    this.#mean += before / this.#count;
    this.#squares += before * (number - this.#mean);
  }

  result(): Value {
    const divisor = this.#count - this.#missing;
    return divisor <= 0 ? null : new Double(Math.sqrt(this.#squares / divisor));
  }
}

/** The accumulators, by name. */
export const numericAccumulators: AccumulatorTable = {
  $sum: ofValues(sumOf),
  $avg: ofValues(averageOf),
  $stdDevPop: ofValues(() => new Deviation(0)),
  $stdDevSamp: ofValues(() => new Deviation(1)),
};
