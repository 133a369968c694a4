// Arrays as sets: order and repetition do not count, values are equal as in comparison ($eq), nested arrays are whole elements.
// Follows the manual's page "Set Expression Operators".

import { atOneGo, firstIndex, overItems } from '../../base/long-lists.ts';
import { sortedOf } from '../../base/long-sort.ts';
import { BsonArray, comparerOf } from '../../bson/index.ts';
import type { Comparer, TextOrder, Value } from '../../bson/index.ts';
import { overElements } from '../elements.ts';
import { refuse } from '../refuse.ts';
import { isTruthy } from '../truth.ts';
import { binary, commutative, isNullish, nameOf, ordered, unary } from './define.ts';
import type { Maybe } from './define.ts';
import type { OperatorRule, OperatorTable } from './compiler.ts';
import { isConstant } from './expression.ts';

/** The different values of a list in BSON order. */
class ValueSet {
  readonly values: readonly Value[];
  readonly #compare: Comparer;

  constructor(items: readonly Value[], order: TextOrder | undefined) {
    const compare = comparerOf(order);
    const sorted = sortedOf(items, compare);
    this.#compare = compare;
    this.values = kept(sorted, (value, index) => index === 0 || compare(sorted[index - 1] ?? null, value) !== 0);
  }

  /** Where the value equal to this one stands, or -1. */
  indexOf(value: Value): number {
    let low = 0;
    let high = this.values.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const order = this.#compare(this.values[middle] ?? null, value);
      if (order === 0) return middle;
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    return -1;
  }

  /** True if a value equal to this one is in the set. */
  has(value: Value): boolean {
    return this.indexOf(value) >= 0;
  }
}

/** The values that pass, in their order. */
function kept(values: readonly Value[], test: (value: Value, index: number) => boolean): readonly Value[] {
  return overItems(values, (): Value[] => [], (made, value, index) => {
    if (test(value, index)) made.push(value);
  });
}

function union(values: readonly Maybe[], order: TextOrder | undefined): Maybe {
  const lists: (readonly Value[])[] = [];
  for (const value of values) {
    if (isNullish(value)) return null;
    if (!(value instanceof BsonArray)) {
      throw refuse(17043, `All operands of $setUnion must be arrays. One argument is of type: ${nameOf(value)}`);
    }
    lists.push(value.items());
  }
  const length = lists.reduce((sum, items) => sum + items.length, 0);
  return BsonArray.of(new ValueSet(atOneGo(length / 32, () => lists.flat()), order).values);
}

function intersection(values: readonly Maybe[], order: TextOrder | undefined): Maybe {
  let common: ValueSet | undefined;
  for (const value of values) {
    if (isNullish(value)) return null;
    if (!(value instanceof BsonArray)) {
      throw refuse(17047, `All operands of $setIntersection must be arrays. One argument is of type: ${nameOf(value)}`);
    }
    const next = new ValueSet(value.items(), order);
    common = common === undefined ? next : new ValueSet(kept(common.values, (item) => next.has(item)), order);
  }
  return BsonArray.of(common?.values ?? []);
}

function difference(left: Maybe, right: Maybe, order: TextOrder | undefined): Maybe {
  if (isNullish(left) || isNullish(right)) return null;
  const text = 'both operands of $setDifference must be arrays.';
  if (!(left instanceof BsonArray)) throw refuse(17048, `${text} First argument is of type: ${nameOf(left)}`);
  if (!(right instanceof BsonArray)) throw refuse(17049, `${text} Second argument is of type: ${nameOf(right)}`);
  const without = new ValueSet(right.items(), order);
  const distinct = new ValueSet(left.items(), order);
  const begin = (): { items: Value[]; taken: Set<number> } => ({ items: [], taken: new Set() });
  const { items } = overElements(left, begin, (state, item) => {
    const index = distinct.indexOf(item);
    if (without.has(item) || state.taken.has(index)) return;
    state.taken.add(index);
    state.items.push(item);
  });
  return BsonArray.of(items);
}

function isSubset(left: Maybe, right: Maybe, order: TextOrder | undefined): Maybe {
  const text = 'both operands of $setIsSubset must be arrays.';
  if (!(left instanceof BsonArray)) throw refuse(17046, `${text} First argument is of type: ${nameOf(left)}`);
  if (!(right instanceof BsonArray)) throw refuse(17042, `${text} Second argument is of type: ${nameOf(right)}`);
  const whole = new ValueSet(right.items(), order);
  return firstIndex(left.items(), (item) => !whole.has(item)) < 0;
}

function equals(values: readonly Maybe[], order: TextOrder | undefined): Maybe {
  const sets = values.map((value, index) => {
    if (value instanceof BsonArray) return new ValueSet(value.items(), order);
    throw refuse(17044, `All operands of $setEquals must be arrays. ${index + 1}-th argument is of type: ${nameOf(value)}`);
  });
  const [first] = sets;
  return sets.every((set) => set.values.length === first?.values.length && firstIndex(set.values, (value) => !first.has(value)) < 0);
}

const compileEquals: OperatorRule = (argument, compiler, name) => {
  const operands = compiler.compileOperands(argument);
  if (operands.length < 2) throw refuse(17045, `$setEquals needs at least two arguments had: ${operands.length}`);
  for (const [index, operand] of operands.entries()) {
    if (!isConstant(operand) || operand.form.kind !== 'constant' || operand.form.value instanceof BsonArray) continue;
    const type = nameOf(operand.form.value);
    throw refuse(5887502, `All operands of $setEquals must be arrays. ${index + 1}-th argument is of type: ${type}`);
  }
  return compiler.fold(name, operands, (root) => equals(operands.map((operand) => operand.evaluate(root)), compiler.options.collation));
};

function elements(value: Maybe, code: number, name: string): readonly Value[] {
  if (value instanceof BsonArray) return value.items();
  throw refuse(code, `${name}'s argument must be an array, but is ${nameOf(value)}`);
}

/** The operators, by name. */
export const setOperators: OperatorTable = {
  $setUnion: ordered((order) => commutative((values) => union(values, order))),
  $setIntersection: ordered((order) => commutative((values) => intersection(values, order))),
  $setDifference: ordered((order) => binary((left, right) => difference(left, right, order))),
  $setIsSubset: ordered((order) => binary((left, right) => isSubset(left, right, order))),
  $setEquals: compileEquals,
  $allElementsTrue: unary((value, name) => elements(value, 17040, name).every(isTruthy)),
  $anyElementTrue: unary((value, name) => elements(value, 17041, name).some(isTruthy)),
};
