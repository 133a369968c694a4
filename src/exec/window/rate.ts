// `$derivative` and `$integral`: how fast an input changes over a window, and the area under it, along what the partition is sorted by.
// Dates are counted in the unit asked for. Follows the manual's pages of both.

import { addNumbers, DateTime, divideNumbers, Double, isNumber, isZero, multiplyNumbers, subtractNumbers, toDouble } from '../../bson/index.ts';
import type { Document, NumberValue, Value } from '../../bson/index.ts';
import { isDateUnit, nameOf, refuse } from '../../query/index.ts';
import type { AccumulatorFactory, Compiler, DateUnit, Expression } from '../../query/index.ts';
import type { Frames, WindowFunction, WindowOrder } from './frame.ts';
import { onlySortField, windowArgument } from './window-argument.ts';

/** Milliseconds in the units that are always as long. */
const UNIT_MS: Readonly<Partial<Record<DateUnit, number>>> = {
  week: 604_800_000,
  day: 86_400_000,
  hour: 3_600_000,
  minute: 60_000,
  second: 1000,
  millisecond: 1,
};

interface RateArgument {
  readonly input: Expression;
  readonly unitMs: number | undefined;
}

function unitOf(value: Value | undefined, name: string): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'string') throw refuse(9, `${name} 'unit' must be a string, but got ${nameOf(value)}`);
  if (!isDateUnit(value)) throw refuse(9, `unknown time unit value: ${value}`);
  const unitMs = UNIT_MS[value];
  if (unitMs === undefined) throw refuse(5490704, `unit must be 'week' or smaller`);
  return unitMs;
}

function rateArgument(specification: Document, name: string, compiler: Compiler): RateArgument {
  const argument = windowArgument(specification, name, ['input', 'unit']);
  const input = argument.get('input');
  if (input === undefined) throw refuse(9, `${name} requires an 'input' expression`);
  return { input: compiler.compile(input), unitMs: unitOf(argument.get('unit'), name) };
}

/** How far two places of the order lie apart: in milliseconds, or plain. */
function distance(from: Value | undefined, to: Value | undefined): NumberValue {
  if (from instanceof DateTime && to instanceof DateTime) return new Double(to.ms - from.ms);
  if (from === undefined || to === undefined || !isNumber(from) || !isNumber(to)) throw refuse(14, `can't $subtract ${nameOf(from)} from ${nameOf(to)}`);
  return subtractNumbers(to, from);
}

function checkDerivativeSort(values: readonly (Value | undefined)[], unitMs: number | undefined): void {
  if (unitMs !== undefined) {
    if (values.every((value) => value instanceof DateTime)) return;
    throw refuse(5624900, `$derivative with 'unit' expects the sortBy field to be a Date`);
  }
  if (values.some((value) => value instanceof DateTime)) throw refuse(5624901, `$derivative where the sortBy is a Date requires an 'unit'`);
  if (values.every((value) => value !== undefined && isNumber(value))) return;
  throw refuse(5624902, `$derivative (with no 'unit') expects the sortBy field to be numeric`);
}

/** The rise of the input over a window, by its run. */
function riseOf(input: Expression, first: Document, last: Document): NumberValue {
  const [before, after] = [input.evaluate(first) ?? null, input.evaluate(last) ?? null];
  if (before === null || after === null) throw refuse(5624903, '$derivative input must not be null or missing');
  if (before instanceof DateTime && after instanceof DateTime) return distance(before, after);
  if (isNumber(before) && isNumber(after)) return subtractNumbers(after, before);
  throw refuse(14, `can't $subtract ${nameOf(before)} from ${nameOf(after)}`);
}

/** Compiles `$derivative`. */
export function compileDerivative(specification: Document, compiler: Compiler, { order, frames }: { order: WindowOrder; frames: Frames }): WindowFunction {
  const { input, unitMs } = rateArgument(specification, '$derivative', compiler);
  onlySortField(order, '$derivative');
  if (!specification.has('window')) throw refuse(9, '$derivative requires explicit window bounds');
  return function* (partition) {
    const frameOf = frames(partition);
    for (let index = 0; index < partition.documents.length; index++) {
      const { from, to } = frameOf(index);
      const [first, last] = [partition.documents[from], partition.documents[to - 1]];
      if (first === undefined || last === undefined || to <= from) {
        yield null;
        continue;
      }
      const [start, end] = [partition.sortValue(from), partition.sortValue(to - 1)];
      checkDerivativeSort([start, end], unitMs);
      const rise = riseOf(input, first, last);
      const run = distance(start, end);
      if (isZero(run)) yield null;
      else yield multiplyNumbers(divideNumbers(rise, run), unitMs === undefined ? 1 : new Double(unitMs));
    }
  };
}

function checkIntegralPoint(place: Value | undefined, unitMs: number | undefined): void {
  const isDate = place instanceof DateTime;
  if (!isDate && (place === undefined || !isNumber(place))) throw refuse(5423900, 'The input value of $integral must be a number along a number or a date');
  if (isDate && unitMs === undefined) throw refuse(5423902, `$integral where the sortBy is a Date requires a 'unit'`);
  if (!isDate && unitMs !== undefined) throw refuse(5423901, `$integral with 'unit' expects the sortBy field to be a Date`);
}

/** Compiles `$integral`: the sum of the trapezoids between the points of a window. */
export function compileIntegral(specification: Document, compiler: Compiler, order: WindowOrder): AccumulatorFactory {
  const { input, unitMs } = rateArgument(specification, '$integral', compiler);
  const place = compiler.compile(`$${onlySortField(order, '$integral')}`);
  return {
    create: () => {
      let sum: NumberValue = new Double(0);
      let last: { readonly x: Value | undefined; readonly y: NumberValue } | undefined;
      return {
        bytes: 0,
        add: (root) => {
          const x = place.evaluate(root);
          const y = input.evaluate(root);
          checkIntegralPoint(x, unitMs);
          if (y === undefined || !isNumber(y)) throw refuse(5423900, 'The input value of $integral must be a number along a number or a date');
          if (last !== undefined) {
            const width = unitMs === undefined ? distance(last.x, x) : new Double(toDouble(distance(last.x, x)) / unitMs);
            sum = addNumbers(sum, divideNumbers(multiplyNumbers(addNumbers(last.y, y), width), new Double(2)));
          }
          last = { x, y };
        },
        result: () => (last === undefined ? null : sum),
      };
    },
  };
}
