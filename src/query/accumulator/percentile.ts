// `$percentile` and `$median`: values at given shares of all numbers in order. The method that MongoDB calls approximate may be exact, and
// here it is: all numbers are kept as doubles. Follows the manual's pages "$percentile" and "$median".

import { BsonArray, Document, Double, isNumber, toDouble } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import type { Compiler } from '../expression/compiler.ts';
import { nameOf } from '../expression/define.ts';
import type { Expression } from '../expression/expression.ts';
import { refuse } from '../refuse.ts';
import { fedBy } from './accumulator.ts';
import type { AccumulatorRule, AccumulatorTable, ValueAccumulator } from './accumulator.ts';

const KEPT_MAX = (100 * 1024 * 1024) / 8;

/** A compiled `$percentile` or `$median`: where its values come from, and a state for them. */
export interface Quantile {
  readonly input: Expression;
  readonly create: () => ValueAccumulator;
}

class Quantiles implements ValueAccumulator {
  readonly #shares: readonly number[];
  readonly #single: boolean;
  readonly #numbers: number[] = [];

  constructor(shares: readonly number[], single: boolean) {
    this.#shares = shares;
    this.#single = single;
  }

  get bytes(): number {
    return 8 * this.#numbers.length;
  }

  add(value: Value | undefined): void {
    if (!isNumber(value)) return;
    const number = toDouble(value);
    if (Number.isNaN(number)) return;
    if (this.#numbers.push(number) > KEPT_MAX) throw refuse(146, '$percentile used too much memory and cannot spill to disk.');
  }

  result(): Value {
    const numbers = Float64Array.from(this.#numbers).sort();
    const values = this.#shares.map((share) => quantileOf(numbers, share));
    return this.#single ? (values[0] ?? null) : BsonArray.of(values);
  }

}

function quantileOf(sorted: Float64Array, share: number): Value {
  const place = Math.min(Math.max(Math.ceil(share * sorted.length) - 1, 0), sorted.length - 1);
  const number = sorted[place];
  return number === undefined ? null : new Double(number);
}

function fieldsOf(argument: Value, name: string, known: readonly string[]): ReadonlyMap<string, Value> {
  if (!(argument instanceof Document)) throw refuse(7436100, `specification must be an object; found ${name}: ${nameOf(argument)}`);
  const unknown = argument.keys().find((field) => !known.includes(field));
  if (unknown !== undefined) throw refuse(40415, `BSON field '${name}.${unknown}' is an unknown field.`);
  for (const field of known) if (!argument.has(field)) throw refuse(40414, `BSON field '${name}.${field}' is missing but a required field`);
  const method = argument.get('method');
  if (typeof method !== 'string') throw refuse(14, `BSON field '${name}.method' is the wrong type '${nameOf(method)}', expected type 'string'`);
  if (method !== 'approximate') throw refuse(2, `Currently only 'approximate' can be used as percentile 'method'.`);
  return new Map(argument.fields);
}

function sharesOf(value: Value, compiler: Compiler): number[] {
  const { form } = compiler.compile(value);
  const list = form.kind === 'constant' ? form.value : undefined;
  if (!(list instanceof BsonArray) || list.isEmpty) {
    throw refuse(7750301, `The $percentile 'p' field must be an array of numbers from [0.0, 1.0], but found: ${nameOf(list)}`);
  }
  return list.items().map((item) => {
    if (!isNumber(item)) throw refuse(7750302, `The $percentile 'p' field must be an array of numbers from [0.0, 1.0], but found: ${nameOf(item)}`);
    const share = toDouble(item);
    if (!(share >= 0 && share <= 1)) throw refuse(7750303, `The $percentile 'p' field must be an array of numbers from [0.0, 1.0], but found: ${share}`);
    return share;
  });
}

/** Compiles the argument of `$percentile`. */
export function compilePercentile(argument: Value, compiler: Compiler, name: string): Quantile {
  const found = fieldsOf(argument, name, ['input', 'p', 'method']);
  const shares = sharesOf(found.get('p') ?? null, compiler);
  return { input: compiler.compile(found.get('input') ?? null), create: () => new Quantiles(shares, false) };
}

/** Compiles the argument of `$median`. */
export function compileMedian(argument: Value, compiler: Compiler, name: string): Quantile {
  const found = fieldsOf(argument, name, ['input', 'method']);
  return { input: compiler.compile(found.get('input') ?? null), create: () => new Quantiles([0.5], true) };
}

function accumulated(compile: typeof compileMedian): AccumulatorRule {
  return (argument, compiler, name) => {
    const { input, create } = compile(argument, compiler, name);
    return { create: () => fedBy(input, create()) };
  };
}

/** The accumulators, by name. */
export const percentileAccumulators: AccumulatorTable = {
  $percentile: accumulated(compilePercentile),
  $median: accumulated(compileMedian),
};
