// Angles and hyperbolic functions: doubles as the host computes them, decimals to 34 digits. Null gives null, an argument outside of the
// function's domain is refused. Follows the manual's page "Trigonometry Expression Operators".

import { Decimal128, Double, isNumber, multiplyNumbers, toDecimal, toDouble } from '../../bson/index.ts';
import type { NumberValue, Value } from '../../bson/index.ts';
import { refuse } from '../refuse.ts';
import { binary, describeMaybe, isNullish, nameOf, unary } from './define.ts';
import type { Maybe } from './define.ts';
import type { OperatorRule, OperatorTable } from './compiler.ts';
import { decimalArctangent2, decimalTrigonometry } from './decimal-trigonometry.ts';
import type { TrigonometryName } from './decimal-trigonometry.ts';

/** The arguments that a function takes: from `min` to `max`, and the text that refusals have for it. */
interface Domain {
  readonly allows: (value: number) => boolean;
  readonly text: string;
}

const everything: Domain = { allows: () => true, text: '' };
const finite: Domain = { allows: (value) => Number.isFinite(value), text: '(-inf,inf)' };
const unit: Domain = { allows: (value) => value >= -1 && value <= 1, text: '[-1,1]' };
const fromOne: Domain = { allows: (value) => value >= 1, text: '[1,inf]' };

function checkDomain(value: NumberValue, domain: Domain, name: string): void {
  const double = toDouble(value);
  if (Number.isNaN(double) || domain.allows(double)) return;
  throw refuse(50989, `cannot apply ${name} to ${describeMaybe(value)}, value must be in ${domain.text}`);
}

function numeric(evaluate: (value: NumberValue, name: string) => Value): OperatorRule {
  return unary((value, name) => {
    if (isNumber(value)) return evaluate(value, name);
    if (isNullish(value)) return null;
    throw refuse(28765, `${name} only supports numeric types, not ${nameOf(value)}`);
  });
}

function functionOf(name: TrigonometryName, double: (value: number) => number, domain: Domain): OperatorRule {
  return numeric((value) => {
    checkDomain(value, domain, name);
    return value instanceof Decimal128 ? decimalTrigonometry[name](value) : new Double(double(toDouble(value)));
  });
}

function refuseCoordinate(code: number, value: Value): never {
  throw refuse(code, `$atan2 only supports numeric types, not ${nameOf(value)}`);
}

function arctangent2(y: Maybe, x: Maybe): Maybe {
  if (isNullish(y)) return null;
  if (!isNumber(y)) return refuseCoordinate(51044, y);
  if (isNullish(x)) return null;
  if (!isNumber(x)) return refuseCoordinate(51045, x);
  if (y instanceof Decimal128 || x instanceof Decimal128) return decimalArctangent2(toDecimal(y), toDecimal(x));
  return new Double(Math.atan2(toDouble(y), toDouble(x)));
}

/** By a factor of 34 digits for decimals, of a double else. */
function scaledBy(double: number, decimal: string): OperatorRule {
  const factor = Decimal128.parse(decimal);
  return numeric((value) => {
    if (value instanceof Decimal128 && factor !== undefined) return multiplyNumbers(value, factor);
    return new Double(toDouble(value) * double);
  });
}

/** The operators, by name. */
export const trigonometryOperators: OperatorTable = {
  $sin: functionOf('$sin', Math.sin, finite),
  $cos: functionOf('$cos', Math.cos, finite),
  $tan: functionOf('$tan', Math.tan, finite),
  $asin: functionOf('$asin', Math.asin, unit),
  $acos: functionOf('$acos', Math.acos, unit),
  $atan: functionOf('$atan', Math.atan, everything),
  $atan2: binary(arctangent2),
  $sinh: functionOf('$sinh', Math.sinh, everything),
  $cosh: functionOf('$cosh', Math.cosh, everything),
  $tanh: functionOf('$tanh', Math.tanh, everything),
  $asinh: functionOf('$asinh', Math.asinh, everything),
  $acosh: functionOf('$acosh', Math.acosh, fromOne),
  $atanh: functionOf('$atanh', Math.atanh, unit),
  $degreesToRadians: scaledBy(Math.PI / 180, '0.01745329251994329576923690768488613'),
  $radiansToDegrees: scaledBy(180 / Math.PI, '57.29577951308232087679815481410517'),
};
