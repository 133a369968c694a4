// Arrays: taking elements and parts, searching, ordering, making. Null or missing input mostly gives null; anything else that is not an
// array is refused. Follows the manual's page "Array Expression Operators"; what loops over elements is in array-loop.ts.

import { atOneGo, firstIndex } from '../../base/long-lists.ts';
import { sortedOf } from '../../base/long-sort.ts';
import { looped, spend } from '../../base/long-work.ts';
import { BsonArray, comparerOf, Document, isNumber } from '../../bson/index.ts';
import type { Comparer, TextOrder, Value } from '../../bson/index.ts';
import { refuse } from '../refuse.ts';
import { binary, compileNamed, describeMaybe, isNullish, named, namedArguments, nameOf, ordered, ranged, unary, variadic } from './define.ts';
import type { Maybe, NamedValues } from './define.ts';
import type { Compiler, OperatorTable } from './compiler.ts';
import { maybeComparerOf } from './comparison.ts';
import { constant } from './expression.ts';
import type { Expression } from './expression.ts';
import { int32Of } from './number-kind.ts';

function elementAt(array: Maybe, index: Maybe): Maybe {
  if (isNullish(array) || isNullish(index)) return null;
  if (!(array instanceof BsonArray)) throw refuse(28689, `$arrayElemAt's first argument must be an array, but is ${nameOf(array)}`);
  if (!isNumber(index)) throw refuse(28690, `$arrayElemAt's second argument must be a numeric value, but is ${nameOf(index)}`);
  const position = int32Of(index);
  if (position === undefined) {
    throw refuse(28691, `$arrayElemAt's second argument must be representable as a 32-bit integer: ${describeMaybe(index)}`);
  }
  return array.at(position < 0 ? array.length + position : position);
}

function end(pick: (array: BsonArray) => Maybe): (array: Maybe, name: string) => Maybe {
  return (array, name) => {
    if (isNullish(array)) return null;
    if (!(array instanceof BsonArray)) throw refuse(28689, `${name}'s argument must be an array, but is ${nameOf(array)}`);
    return pick(array);
  };
}

function size(array: Maybe): Maybe {
  if (!(array instanceof BsonArray)) throw refuse(17124, `The argument to $size must be an array, but was of type: ${nameOf(array)}`);
  return array.length;
}

function sliceBound(value: Maybe, which: 'Second' | 'Third'): number {
  if (!isNumber(value)) throw refuse(28725, `${which} argument to $slice must be a numeric value, but is of type: ${nameOf(value)}`);
  const bound = int32Of(value);
  if (bound === undefined) throw refuse(28726, `${which} argument to $slice can't be represented as a 32-bit integer: ${describeMaybe(value)}`);
  return bound;
}

function slice(values: readonly Maybe[]): Maybe {
  const [array, first, count] = values;
  if (isNullish(array) || isNullish(first)) return null;
  if (!(array instanceof BsonArray)) throw refuse(28724, `First argument to $slice must be an array, but is of type: ${nameOf(array)}`);
  const bound = sliceBound(first, 'Second');
  const items = array.items();
  if (values.length === 2) return BsonArray.of(bound >= 0 ? items.slice(0, bound) : items.slice(bound));
  if (isNullish(count)) return null;
  const length = sliceBound(count, 'Third');
  if (length <= 0) throw refuse(28729, `Third argument to $slice must be positive: ${length}`);
  const start = bound >= 0 ? bound : Math.max(0, items.length + bound);
  return BsonArray.of(items.slice(start, start + length));
}

function concatArrays(values: readonly Maybe[]): Maybe {
  const lists: (readonly Value[])[] = [];
  for (const value of values) {
    if (isNullish(value)) return null;
    if (!(value instanceof BsonArray)) throw refuse(28664, `$concatArrays only supports arrays, not ${nameOf(value)}`);
    lists.push(value.items());
  }
  const length = lists.reduce((sum, items) => sum + items.length, 0);
  return atOneGo(length / 32, () => BsonArray.of(lists.flat()));
}

function isIn(needle: Maybe, array: Maybe, compare: Comparer): Maybe {
  if (!(array instanceof BsonArray)) throw refuse(40081, `$in requires an array as a second argument, found: ${nameOf(array)}`);
  return needle !== undefined && firstIndex(array.items(), (item) => compare(item, needle) === 0) >= 0;
}

function searchBound(value: Maybe, fallback: number, which: string): number {
  if (value === undefined) return fallback;
  const bound = int32Of(value);
  if (bound === undefined) {
    throw refuse(9711600, `$indexOfArray requires an integral ${which}, found a value of type: ${nameOf(value)}`);
  }
  if (bound < 0) throw refuse(9711601, `$indexOfArray requires a nonnegative ${which}, found: ${bound}`);
  return bound;
}

function indexOfArray(values: readonly Maybe[], order: TextOrder | undefined): Maybe {
  const [array, needle, from, to] = values;
  if (isNullish(array)) return null;
  if (!(array instanceof BsonArray)) throw refuse(40090, `$indexOfArray requires an array as a first argument, found: ${nameOf(array)}`);
  const items = array.items();
  const start = searchBound(values.length > 2 ? (from ?? null) : undefined, 0, 'starting index');
  const stop = Math.min(searchBound(values.length > 3 ? (to ?? null) : undefined, items.length, 'ending index'), items.length);
  const compare = maybeComparerOf(order);
  const found = firstIndex(start === 0 && stop === items.length ? items : items.slice(start, stop), (item) => compare(item, needle) === 0);
  return found < 0 ? found : start + found;
}

const RANGE_BYTES_MAX = 100 * 1024 * 1024;

function rangeBound(value: Maybe, codes: readonly [number, number], what: string): number {
  if (!isNumber(value)) throw refuse(codes[0], `$range requires a numeric ${what} value, found value of type: ${nameOf(value)}`);
  const bound = int32Of(value);
  if (bound === undefined) {
    throw refuse(codes[1], `$range requires a ${what} value that can be represented as a 32-bit integer, found value: ${describeMaybe(value)}`);
  }
  return bound;
}

/** So many numbers are made in one round. */
const ROUND = 4096;

function progression(start: number, step: number, count: number): readonly Value[] {
  const made = looped(
    (): Value[] => [],
    (numbers) => {
      const end = Math.min(numbers.length + ROUND, count);
      spend(ROUND / 32);
      for (let index = numbers.length; index < end; index++) numbers.push(start + index * step);
      return end === count;
    },
  );
  return made ?? [];
}

function range(values: readonly Maybe[]): Maybe {
  const start = rangeBound(values[0], [34443, 34444], 'starting');
  const stop = rangeBound(values[1], [34445, 34446], 'ending');
  const step = values.length > 2 ? rangeBound(values[2], [34447, 34448], 'step') : 1;
  if (step === 0) throw refuse(34449, '$range requires a non-zero step value');
  const count = Math.max(0, Math.ceil((stop - start) / step));
  if (count * 16 > RANGE_BYTES_MAX) throw refuse(146, `$range would use too much memory (${count * 16} bytes) and cannot spill to disk.`);
  return BsonArray.of(progression(start, step, count));
}

function reverse(array: Maybe): Maybe {
  if (isNullish(array)) return null;
  if (!(array instanceof BsonArray)) {
    throw refuse(34435, `The argument to $reverseArray must be an array, but was of type: ${nameOf(array)}`);
  }
  return atOneGo(array.length / 32, () => BsonArray.of(array.items().toReversed()));
}

type Order = (left: Value, right: Value) => number;

function pathValue(value: Value, components: readonly string[]): Maybe {
  let at: Maybe = value;
  for (const name of components) {
    if (at instanceof Document) at = at.get(name);
    else if (at instanceof BsonArray && /^\d+$/.test(name)) at = at.at(Number(name));
    else return undefined;
  }
  return at;
}

function direction(value: Value): number | undefined {
  const whole = int32Of(value);
  return whole === 1 || whole === -1 ? whole : undefined;
}

/** The order that `sortBy` of `$sortArray` asks for: a direction for whole elements, or fields with directions. */
function orderOf(sortBy: Maybe, texts: TextOrder | undefined): Order {
  const compare = maybeComparerOf(texts);
  if (isNumber(sortBy)) {
    const sign = direction(sortBy);
    if (sign === undefined) throw refuse(2942506, 'The $sort element value must be either 1 or -1');
    return (left, right) => sign * compare(left, right);
  }
  if (!(sortBy instanceof Document)) throw refuse(2942507, 'The $sort is invalid: use 1/-1 to sort the whole element, or {field:1/-1} to sort embedded fields');
  if (sortBy.isEmpty) throw refuse(2942505, 'The $sort pattern is empty when it should be a set of fields.');
  const keys = sortBy.fields.map(([path, value]) => {
    const sign = direction(value);
    if (sign === undefined) throw refuse(2942505, 'The $sort element value must be either 1 or -1');
    if (path === '' || path.split('.').includes('')) {
      throw refuse(2942505, `The $sort field is not a valid path: '${path}'`);
    }
    return { components: path.split('.'), sign };
  });
  return (left, right) => {
    for (const { components, sign } of keys) {
      const order = compare(pathValue(left, components) ?? null, pathValue(right, components) ?? null);
      if (order !== 0) return sign * order;
    }
    return 0;
  };
}

const sortArguments = { words: 'requires', notObject: 2942500, unknown: 2942501, required: { input: 2942502, sortBy: 2942503 } } as const;

function compileSortArray(argument: Value, compiler: Compiler, name: string): Expression {
  const found = namedArguments(argument, name, sortArguments);
  const order = orderOf(found.get('sortBy'), compiler.options.collation);
  const input = compileNamed(found, 'input', compiler) ?? constant(undefined);
  return compiler.fold(name, [input], (root) => {
    const array = input.evaluate(root);
    if (isNullish(array)) return null;
    if (array instanceof BsonArray) return BsonArray.of(sortedOf(array.items(), order));
    throw refuse(2942504, `The input argument to $sortArray must be an array, but was of type: ${nameOf(array)}`);
  });
}

/** The count `n` of the operators that take some of the elements. */
export function countOf(value: Maybe): number {
  if (!isNumber(value)) throw refuse(7548606, `Value for 'n' must be of integral type, but found ${nameOf(value)}`);
  const count = int32Of(value) ?? (typeof value === 'bigint' ? Number(value) : undefined);
  if (count === undefined) throw refuse(7548606, `Value for 'n' must be of integral type, but found ${describeMaybe(value)}`);
  if (count <= 0) throw refuse(7548606, `'n' must be greater than 0, found ${count}`);
  return count;
}

function someOf(pick: (items: readonly Value[], count: number) => readonly Value[]): (values: NamedValues, name: string) => Maybe {
  return (values, name) => {
    const count = countOf(values.get('n'));
    const input = values.get('input');
    if (!(input instanceof BsonArray)) throw refuse(5788200, `Input must be an array for ${name}, found ${nameOf(input)}`);
    return BsonArray.of(pick(input.items(), count));
  };
}

function present(items: readonly Value[]): Value[] {
  return items.filter((item) => !isNullish(item));
}

const countArguments = { words: 'only', notObject: 5787801, unknown: 5787901, required: { n: 5787906, input: 5787907 } } as const;

/** The operators, by name. */
export const arrayOperators: OperatorTable = {
  $arrayElemAt: binary(elementAt),
  $first: unary(end((array) => array.at(0))),
  $last: unary(end((array) => array.at(array.length - 1))),
  $size: unary(size),
  $slice: ranged(2, 3, slice),
  $concatArrays: variadic(concatArrays),
  $in: ordered((order) => binary((needle, array) => isIn(needle, array, comparerOf(order)))),
  $indexOfArray: ordered((order) => ranged(2, 4, (values) => indexOfArray(values, order))),
  $isArray: unary((value) => value instanceof BsonArray),
  $range: ranged(2, 3, range),
  $reverseArray: unary(reverse),
  $sortArray: compileSortArray,
  $firstN: named(countArguments, someOf((items, count) => items.slice(0, count))),
  $lastN: named(countArguments, someOf((items, count) => items.slice(-count))),
  $minN: ordered((order) => named(countArguments, someOf((items, count) => sortedOf(present(items), comparerOf(order)).slice(0, count)))),
  $maxN: ordered((order) => {
    const compare = comparerOf(order);
    return named(countArguments, someOf((items, count) => sortedOf(present(items), (left, right) => compare(right, left)).slice(0, count)));
  }),
};
