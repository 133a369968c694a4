// `$expMovingAvg`: an average in which older documents weigh less and less. Computed in decimals, given as a double unless a decimal came in.
// Follows the manual's page "$expMovingAvg (aggregation)".

import { addNumbers, Decimal128, divideNumbers, Double, isNumber, multiplyNumbers, subtractNumbers, toDecimal, toDouble, wholeNumber } from '../../bson/index.ts';
import type { Document, NumberValue, Value } from '../../bson/index.ts';
import { refuse } from '../../query/index.ts';
import type { Compiler } from '../../query/index.ts';
import type { WindowFunction, WindowOrder } from './frame.ts';
import { windowArgument } from './window-argument.ts';

const ONE = toDecimal(1);

/** The weight of the newest document. */
function weightOf(argument: Document): NumberValue {
  const count = argument.get('N');
  const alpha = argument.get('alpha');
  if (argument.get('input') === undefined || (count === undefined) === (alpha === undefined)) {
    throw refuse(9, `$expMovingAvg sub object must have exactly two fields: An 'input' field, and either an 'N' field or an 'alpha' field`);
  }
  if (count !== undefined) {
    const whole = isNumber(count) ? wholeNumber(count) : undefined;
    if (whole === undefined || whole <= 0n) throw refuse(9, `'N' field must be an integer, and must be greater than zero`);
    return divideNumbers(toDecimal(2), addNumbers(toDecimal(whole), ONE));
  }
  const factor = alpha !== undefined && isNumber(alpha) ? toDouble(alpha) : NaN;
  if (alpha === undefined || !isNumber(alpha)) throw refuse(9, `'alpha' field must be a number`);
  if (!(factor > 0 && factor < 1)) throw refuse(9, `'alpha' must be between 0 and 1 (exclusive), found alpha: ${String(factor)}`);
  return toDecimal(alpha);
}

/** Compiles `$expMovingAvg`. */
export function compileMovingAverage(specification: Document, compiler: Compiler, { sortBy }: WindowOrder): WindowFunction {
  const argument = windowArgument(specification, '$expMovingAvg', ['input', 'N', 'alpha']);
  if (specification.has('window')) throw refuse(9, `$expMovingAvg does not accept a 'window' field`);
  if (sortBy === undefined) throw refuse(9, '$expMovingAvg requires an explicit \'sortBy\'');
  const weight = weightOf(argument);
  const rest = subtractNumbers(ONE, weight);
  const input = compiler.compile(argument.get('input') ?? null);
  return function* ({ documents }) {
    let average: NumberValue | undefined;
    let isDecimal = false;
    for (const document of documents) {
      const value: Value | undefined = input.evaluate(document);
      if (value === undefined || !isNumber(value)) {
        yield null;
        continue;
      }
      isDecimal ||= value instanceof Decimal128;
      const incoming = toDecimal(value);
      average = average === undefined ? incoming : addNumbers(multiplyNumbers(incoming, weight), multiplyNumbers(average, rest));
      yield isDecimal ? average : new Double(toDouble(average));
    }
  };
}
