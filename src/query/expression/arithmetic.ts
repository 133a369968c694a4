// The four rules, rounding, powers and logarithms on the four number types; dates where they may be added and subtracted. The result has
// the widest type of its operands. Null or missing gives null.
// Follows the manual's page "Arithmetic Expression Operators".

import {
  absNumber,
  BsonArray,
  ceilNumber,
  DateTime,
  Decimal128,
  divideNumbers,
  Document,
  Double,
  expNumber,
  fitsInt64,
  floorNumber,
  isNumber,
  isZero,
  lnNumber,
  log10Number,
  logNumber,
  modNumbers,
  multiplyNumbers,
  narrowInteger,
  NumberSum,
  powNumbers,
  roundNumber,
  sqrtNumber,
  subtractNumbers,
  toDouble,
  wholeNumber,
} from '../../bson/index.ts';
import type { NumberValue, RoundingMode, Value } from '../../bson/index.ts';
import { refuse } from '../refuse.ts';
import { binary, commutative, describeMaybe, isNullish, nameOf, ranged, unary } from './define.ts';
import type { Maybe } from './define.ts';
import type { OperatorRule, OperatorTable } from './compiler.ts';

/** Whole milliseconds of a number: a double rounds halves away from zero, a decimal to even; undefined beyond int64. */
function millisecondsOf(value: NumberValue): bigint | undefined {
  let whole: bigint | undefined;
  if (value instanceof Double) {
    const rounded = Math.sign(value.value) * Math.round(Math.abs(value.value));
    whole = Number.isFinite(rounded) ? BigInt(rounded) : undefined;
  } else {
    const rounded = value instanceof Decimal128 ? roundNumber(value, 0, 'half-even') : value;
    whole = rounded === undefined ? undefined : wholeNumber(rounded);
  }
  return whole !== undefined && fitsInt64(whole) ? whole : undefined;
}

function shiftedDate(date: DateTime, by: NumberValue, sign: 1n | -1n, name: string): DateTime {
  const offset = millisecondsOf(by);
  const ms = offset === undefined ? undefined : date.msBig + sign * offset;
  if (ms === undefined || !fitsInt64(ms)) throw refuse(15, `date overflow in ${name}`);
  return new DateTime(ms);
}

function add(values: readonly Maybe[]): Maybe {
  const sum = new NumberSum();
  let date: DateTime | undefined;
  for (const value of values) {
    if (isNullish(value)) return null;
    if (isNumber(value)) {
      sum.add(value);
    } else if (value instanceof DateTime) {
      if (date !== undefined) throw refuse(16612, 'only one date allowed in an $add expression');
      date = value;
    } else {
      throw refuse(14, `$add only supports numeric or date types, not ${nameOf(value)}`);
    }
  }
  return date === undefined ? sum.total() : shiftedDate(date, sum.total(), 1n, '$add');
}

function subtract(left: Maybe, right: Maybe): Maybe {
  if (isNumber(left) && isNumber(right)) return subtractNumbers(left, right);
  if (isNullish(left) || isNullish(right)) return null;
  if (left instanceof DateTime && isNumber(right)) return shiftedDate(left, right, -1n, '$subtract');
  if (left instanceof DateTime && right instanceof DateTime) {
    const difference = left.msBig - right.msBig;
    if (!fitsInt64(difference)) throw refuse(15, 'date overflow in $subtract');
    return difference;
  }
  throw refuse(14, `can't $subtract ${nameOf(right)} from ${nameOf(left)}`);
}

/** Integers are multiplied exactly as long as int64 holds them; only the whole product decides whether int32 is enough. */
function multiply(values: readonly Maybe[]): Maybe {
  let product: NumberValue = 1n;
  let onlyInt32 = true;
  for (const value of values) {
    if (isNullish(value)) return null;
    if (!isNumber(value)) throw refuse(14, `$multiply only supports numeric types, not ${nameOf(value)}`);
    if (typeof value !== 'number') onlyInt32 = false;
    product = multiplyNumbers(product, value);
  }
  return onlyInt32 && typeof product === 'bigint' ? narrowInteger(product) : product;
}

function divide(left: Maybe, right: Maybe): Maybe {
  if (isNumber(left) && isNumber(right)) {
    if (isZero(right)) throw refuse(2, `can't $divide by zero`);
    return divideNumbers(left, right);
  }
  if (isNullish(left) || isNullish(right)) return null;
  throw refuse(14, `$divide only supports numeric types, not ${nameOf(left)} and ${nameOf(right)}`);
}

function mod(left: Maybe, right: Maybe): Maybe {
  if (isNumber(left) && isNumber(right)) {
    const decimal = left instanceof Decimal128 || right instanceof Decimal128;
    if (isZero(right)) throw refuse(decimal ? 5733415 : 16610, `can't $mod by zero`);
    return modNumbers(left, right);
  }
  if (isNullish(left) || isNullish(right)) return null;
  throw refuse(16611, `$mod only supports numeric types, not ${nameOf(left)} and ${nameOf(right)}`);
}

type Numeric = (value: NumberValue, name: string) => Value;

/** An operator of one number; anything else that is not null is refused. */
function numeric(evaluate: Numeric): (value: Maybe, name: string) => Maybe {
  return (value, name) => {
    if (isNumber(value)) return evaluate(value, name);
    if (isNullish(value)) return null;
    throw refuse(28765, `${name} only supports numeric types, not ${nameOf(value)}`);
  };
}

function absolute(value: NumberValue): Value {
  const size = absNumber(value);
  if (size === undefined) throw refuse(28680, `can't take $abs of long long min`);
  return size;
}

const DECIMAL_DIGITS = 34;
const notANumber = Decimal128.parse('NaN') ?? null;

/** MongoDB rounds decimals to whole ones of 34 digits: what is greater than those has no answer. */
function wholeDecimal(round: (value: NumberValue) => NumberValue): Numeric {
  return (value) => {
    if (!(value instanceof Decimal128)) return round(value);
    const digits = value.exponent > 0 ? String(value.coefficient).length + value.exponent : 0;
    return value.isFinite && (digits <= DECIMAL_DIGITS || value.coefficient === 0n) ? round(value) : notANumber;
  };
}

function placesOf(value: Value, name: string): number {
  if (!isNumber(value)) throw refuse(16004, `can't convert from BSON type ${nameOf(value)} to long`);
  const places = toDouble(value);
  if (Math.abs(places) >= 2 ** 63 || (value instanceof Double && Number.isNaN(places))) throw refuse(31109, `Can't coerce out of range value ${describeMaybe(value)} to long`);
  if (!Number.isInteger(places)) throw refuse(51082, `precision argument to  ${name} must be a integral value`);
  if (places < -20 || places > 100) {
    throw refuse(51083, `cannot apply ${name} with precision value ${String(places)} value must be in [-20, 100]`);
  }
  return places;
}

function roundTo(mode: RoundingMode): (values: readonly Maybe[], name: string) => Maybe {
  return (values, name) => {
    const [value] = values;
    const precision = values.length === 1 ? 0 : values[1];
    if (isNullish(value)) return null;
    if (!isNumber(value)) throw refuse(51081, `${name} only supports numeric types, not ${nameOf(value)}`);
    if (isNullish(precision)) return null;
    const rounded = roundNumber(value, placesOf(precision, name), mode);
    if (rounded !== undefined) return rounded;
    const given = `[${describeMaybe(value)}, ${describeMaybe(precision)}]`;
    throw refuse(51080, `invalid conversion from Decimal128 result in ${name} resulting from arguments: ${given}`);
  };
}

function pow(base: Maybe, exponent: Maybe): Maybe {
  if (isNullish(base) || isNullish(exponent)) return null;
  if (!isNumber(base)) throw refuse(28762, `$pow's base must be numeric, not ${nameOf(base)}`);
  if (!isNumber(exponent)) throw refuse(28763, `$pow's exponent must be numeric, not ${nameOf(exponent)}`);
  if (isZero(base) && toDouble(exponent) < 0) throw refuse(28764, '$pow cannot take a base of 0 and a negative exponent');
  return powNumbers(base, exponent);
}

function isNotPositive(value: NumberValue): boolean {
  return isZero(value) || (value instanceof Decimal128 ? value.negative && !value.isNaN : toDouble(value) < 0);
}

function squareRoot(value: NumberValue): Value {
  if (isNotPositive(value) && !isZero(value)) throw refuse(28714, `$sqrt's argument must be greater than or equal to 0`);
  return sqrtNumber(value);
}

function logarithm(evaluate: (value: NumberValue) => Value, code: number): Numeric {
  return (value, name) => {
    if (isNotPositive(value)) throw refuse(code, `${name}'s argument must be a positive number, but is ${describeMaybe(value)}`);
    return evaluate(value);
  };
}

function log(value: Maybe, base: Maybe): Maybe {
  if (isNullish(value) || isNullish(base)) return null;
  if (!isNumber(value)) throw refuse(28756, `$log's argument must be numeric, not ${nameOf(value)}`);
  if (!isNumber(base)) throw refuse(28757, `$log's base must be numeric, not ${nameOf(base)}`);
  if (isNotPositive(value)) throw refuse(28758, `$log's argument must be a positive number, but is ${describeMaybe(value)}`);
  if (isNotPositive(base) || toDouble(base) === 1) {
    throw refuse(28759, `$log's base must be a positive number not equal to 1, but is ${describeMaybe(base)}`);
  }
  return logNumber(value, base);
}

/** `$sigmoid` of x is 1 / (1 + e^-x), written in the other operators. */
const sigmoid: OperatorRule = (argument, compiler) => {
  if (argument instanceof BsonArray) throw refuse(14, '$sigmoid only supports numeric types, not array');
  const negated = Document.of({ $multiply: BsonArray.of([-1, argument]) });
  const sum = Document.of({ $add: BsonArray.of([1, Document.of({ $exp: BsonArray.of([negated]) })]) });
  return compiler.compile(Document.of({ $divide: BsonArray.of([1, sum]) }));
};

/** The operators, by name. */
export const arithmeticOperators: OperatorTable = {
  $add: commutative(add),
  $subtract: binary(subtract),
  $multiply: commutative(multiply),
  $divide: binary(divide),
  $mod: binary(mod),
  $abs: unary(numeric(absolute)),
  $ceil: unary(numeric(wholeDecimal(ceilNumber))),
  $floor: unary(numeric(wholeDecimal(floorNumber))),
  $round: ranged(1, 2, roundTo('half-even')),
  $trunc: ranged(1, 2, roundTo('truncate')),
  $pow: binary(pow),
  $sqrt: unary(numeric(squareRoot)),
  $exp: unary(numeric(expNumber)),
  $ln: unary(numeric(logarithm(lnNumber, 28766))),
  $log: binary(log),
  $sigmoid: sigmoid,
  $log10: unary(numeric(logarithm(log10Number, 28761))),
};
