// `$locf` and `$linearFill`: what stands in for null and missing values between those that are there.
// Follows the manual's pages of both.

import { addNumbers, compareValues, DateTime, divideNumbers, Double, isNumber, multiplyNumbers, subtractNumbers } from '../../bson/index.ts';
import type { Document, NumberValue, Value } from '../../bson/index.ts';
import { nameOf, refuse } from '../../query/index.ts';
import type { Compiler, Expression } from '../../query/index.ts';
import type { Partition, WindowFunction, WindowOrder } from './frame.ts';
import { onlySortField } from './window-argument.ts';

function inputOf(specification: Document, name: string, compiler: Compiler): Expression {
  if (specification.has('window')) throw refuse(9, `'window' field is not allowed in ${name}`);
  const beside = specification.keys().find((key) => key !== name);
  if (beside !== undefined) throw refuse(9, `Window function found an unknown argument: ${beside}`);
  return compiler.compile(specification.get(name) ?? null);
}

/** Compiles `$locf`: the last value that was neither null nor missing. */
export function compileCarry(specification: Document, compiler: Compiler): WindowFunction {
  const input = inputOf(specification, '$locf', compiler);
  return function* ({ documents }) {
    let last: Value = null;
    for (const document of documents) {
      last = input.evaluate(document) ?? last;
      yield last;
    }
  };
}

/** A point of the line: where it is in the order, and its value. */
interface Point {
  readonly x: NumberValue | DateTime;
  readonly y: NumberValue;
}

/** The place of a document in the order: a number or a date, of one kind in the whole partition, no two alike. */
function placeAt(partition: Partition, index: number): NumberValue | DateTime {
  const x = partition.sortValue(index);
  const before = index === 0 ? undefined : partition.sortValue(index - 1);
  if (x === undefined || !(isNumber(x) || x instanceof DateTime)) {
    throw refuse(14, `Value of the sortBy field must be numeric or a date, but found ${nameOf(x)}`);
  }
  if (before === undefined) return x;
  if (compareValues(before, x) === 0) throw refuse(6050106, 'There can be no repeated values in the sort field in the same partition');
  if (before instanceof DateTime !== x instanceof DateTime) {
    throw refuse(14, `Conflicting sort value types, previously received type ${nameOf(before)}, but found ${nameOf(x)}`);
  }
  return x;
}

const numeric = (x: NumberValue | DateTime): NumberValue => (x instanceof DateTime ? new Double(x.ms) : x);

function onLine(left: Point, right: Point, x: NumberValue | DateTime): Value {
  const rise = subtractNumbers(right.y, left.y);
  const run = subtractNumbers(numeric(right.x), numeric(left.x));
  return addNumbers(left.y, multiplyNumbers(subtractNumbers(numeric(x), numeric(left.x)), divideNumbers(rise, run)));
}

/** Compiles `$linearFill`: what lies on the line between the nearest values on both sides. */
export function compileLinearFill(specification: Document, compiler: Compiler, order: WindowOrder): WindowFunction {
  const input = inputOf(specification, '$linearFill', compiler);
  onlySortField(order, '$linearFill');
  return function* (partition) {
    const valueAt = (index: number): NumberValue | null => {
      const document = partition.documents[index];
      const value = document === undefined ? null : (input.evaluate(document) ?? null);
      if (value === null || isNumber(value)) return value;
      throw refuse(14, `Value to be filled must be numeric or nullish, but found type: ${nameOf(value)}`);
    };
    let left: Point | undefined;
    let open: (NumberValue | DateTime)[] = [];
    for (let index = 0; index < partition.documents.length; index++) {
      const x = placeAt(partition, index);
      const y = valueAt(index);
      if (y === null) {
        open.push(x);
        continue;
      }
      const right = { x, y };
      for (const gap of open) yield left === undefined ? null : onLine(left, right, gap);
      open = [];
      left = right;
      yield y;
    }
    for (let rest = open.length; rest > 0; rest--) yield null;
  };
}
