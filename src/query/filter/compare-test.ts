// Tests of one raw value against the value of a comparison operator, compiled for the class of that value. Values of other classes never
// match, but for null (which a missing field equals), minKey and maxKey (which all others are above and below). NaN equals NaN and is
// neither less nor greater than any number. Follows the manual's pages of `$eq`, `$gt`, `$gte`, `$lt`, `$lte`, `$in` and
// "Comparison/Sort Order".

import { overItems } from '../../base/long-lists.ts';
import { compareBytes, compareRange } from '../../base/bytes.ts';
import { BsonArray, BsonSymbol, bsonType, classOf, classOfTypeByte, collated, compareNumbers, compareRaw, compareValues, DateTime, decodeValue, Document, Double, hasText, isNaNNumber, isNumber, maxKey, minKey, ObjectId, readDouble, readInt32, readInt64, readUint32, typeOf } from '../../bson/index.ts';
import type { MaxKey, MinKey, NumberValue, TextOrder, Value } from '../../bson/index.ts';
import { decodeUtf8, encodeUtf8 } from '../../base/text.ts';
import { keyOfValue } from '../value-key.ts';
import type { ValueKey } from '../value-key.ts';
import type { CompareOperator } from './node.ts';
import type { ElementTest } from './path.ts';
import { readNumber } from './read-number.ts';

/** Whether a sign (of stored value minus wanted value) is what the operator asks for. */
type Accept = (sign: number) => boolean;

const accepts: Readonly<Record<CompareOperator, Accept>> = {
  eq: (sign) => sign === 0,
  lt: (sign) => sign < 0,
  lte: (sign) => sign <= 0,
  gt: (sign) => sign > 0,
  gte: (sign) => sign >= 0,
};

const MIN_KEY_BYTE = 0xff;
const never: ElementTest = () => false;

/** Compiles a comparison with `value`, of texts under an order. */
export function compareTest(operator: CompareOperator, value: Value, order?: TextOrder): ElementTest {
  return order !== undefined && hasText(value) ? collatedTest(accepts[operator], value, order) : plainTest(operator, value);
}

function plainTest(operator: CompareOperator, value: Value): ElementTest {
  if (value === null) return accepts[operator](0) ? (_bytes, type) => type === 0 || type === bsonType.null : never;
  if (value === minKey || value === maxKey) return extremeTest(operator, value);
  const accept = accepts[operator];
  if (isNumber(value)) return numberTest(operator, value);
  if (typeof value === 'string') return textTest(operator, value);
  if (value instanceof BsonSymbol) return textTest(operator, value.text);
  if (value instanceof DateTime && Number.isSafeInteger(value.ms)) return dateTest(accept, value.ms);
  if (value instanceof ObjectId) return objectIdTest(accept, value);
  if (typeof value === 'boolean') {
    return (bytes, type, at) => type === bsonType.bool && accept((bytes[at] as number) - Number(value));
  }
  if (value instanceof Document || value instanceof BsonArray) return nestedTest(accept, value);
  const wanted = classOf(value);
  return (bytes, type, at) =>
    type !== 0 && classOfTypeByte(type) === wanted && accept(compareValues(decodeValue(bytes, type, at), value));
}

function collatedTest(accept: Accept, value: Value, order: TextOrder): ElementTest {
  const wanted = classOf(value);
  if (typeof value !== 'string') {
    const under = collated(value, order);
    return (bytes, type, at) => type !== 0 && classOfTypeByte(type) === wanted && accept(compareValues(collated(decodeValue(bytes, type, at), order), under));
  }
  const key = order.keyOf(value);
  return (bytes, type, at) => {
    if (type !== bsonType.string && type !== bsonType.symbol) return false;
    return accept(compareBytes(order.keyOf(decodeUtf8(bytes, at + 4, at + 3 + readInt32(bytes, at))), key));
  };
}

function nestedTest(accept: Accept, value: Document | BsonArray): ElementTest {
  const named = value instanceof Document;
  const wanted = named ? bsonType.object : bsonType.array;
  return (bytes, type, at) =>
    type === wanted && accept(compareRaw({ bytes, start: at, end: at + readInt32(bytes, at) }, value, named));
}

function extremeTest(operator: CompareOperator, value: MinKey | MaxKey): ElementTest {
  const own = value === minKey ? MIN_KEY_BYTE : bsonType.maxKey;
  const inclusive = operator === 'eq' || operator === 'lte' || operator === 'gte';
  const others = value === minKey ? operator === 'gt' || operator === 'gte' : operator === 'lt' || operator === 'lte';
  return (_bytes, type) => (type === own ? inclusive : others);
}

/** The number as a double if that is exact. */
function exactDouble(value: NumberValue): number | undefined {
  if (typeof value === 'number') return value;
  if (value instanceof Double) return value.value;
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : undefined;
  return undefined;
}

function numberTest(operator: CompareOperator, wanted: NumberValue): ElementTest {
  const accept = accepts[operator];
  if (isNaNNumber(wanted)) {
    if (!accept(0)) return never;
    return (bytes, type, at) => {
      const stored = readNumber(bytes, type, at);
      return stored !== undefined && isNaNNumber(stored);
    };
  }
  const slow: ElementTest = (bytes, type, at) => {
    const stored = readNumber(bytes, type, at);
    return stored !== undefined && !isNaNNumber(stored) && accept(compareNumbers(stored, wanted));
  };
  const double = exactDouble(wanted);
  if (double === undefined) return slow;
  return (bytes, type, at) => {
    let stored: number;
    if (type === bsonType.int) stored = readInt32(bytes, at);
    else if (type === bsonType.double) stored = readDouble(bytes, at);
    else if (type === bsonType.long || type === bsonType.decimal) return slow(bytes, type, at);
    else return false;
    if (stored === double) return accept(0);
    return stored < double ? accept(-1) : stored > double && accept(1);
  };
}

function textTest(operator: CompareOperator, wanted: string): ElementTest {
  const text = encodeUtf8(wanted);
  const accept = accepts[operator];
  if (operator === 'eq') {
    return (bytes, type, at) => {
      if (type !== bsonType.string && type !== bsonType.symbol) return false;
      if (readInt32(bytes, at) !== text.length + 1) return false;
      for (let i = text.length - 1; i >= 0; i--) if (bytes[at + 4 + i] !== text[i]) return false;
      return true;
    };
  }
  return (bytes, type, at) =>
    (type === bsonType.string || type === bsonType.symbol) &&
    accept(compareRange(bytes, at + 4, at + 3 + readInt32(bytes, at), text, 0, text.length));
}

function dateTest(accept: Accept, wanted: number): ElementTest {
  return (bytes, type, at) => {
    if (type !== bsonType.date) return false;
    // Beyond 2^53 the double is rounded, but still on the same side of every safe integer.
    const stored = readInt32(bytes, at + 4) * 4294967296 + readUint32(bytes, at);
    return accept(stored - wanted);
  };
}

function objectIdTest(accept: Accept, wanted: ObjectId): ElementTest {
  const id = wanted.bytes;
  return (bytes, type, at) => type === bsonType.objectId && accept(compareRange(bytes, at, at + 12, id, 0, 12));
}

const HASHED_FROM = 8;

/** Compiles equality with any of the values. Long lists of numbers and strings are looked up, not tried one by one. */
export function anyOfTest(values: readonly Value[], order?: TextOrder): ElementTest {
  if (values.length < HASHED_FROM) return firstOf(values.map((value) => compareTest('eq', value, order)));
  if (order !== undefined && values.some(hasText)) return anyCollatedTest(values, order);
  const { numbers, texts, keyed, others } = lookupOf(values);
  const slow = numbers.size === 0 ? never : numberSetTest(numbers);
  const other = firstOf(others);
  return (bytes, type, at) => {
    if (type === bsonType.string && texts.size > 0 && texts.has(decodeUtf8(bytes, at + 4, at + 3 + readInt32(bytes, at)))) return true;
    if (keyed.size > 0 && keyedTypes.has(type)) return keyed.has(keyOfValue(decodeValue(bytes, type, at)));
    return slow(bytes, type, at) || other(bytes, type, at);
  };
}

/** Values to be equal to, by what they are looked up by. */
interface Lookup {
  readonly numbers: Set<number>;
  readonly texts: Set<string>;
  readonly keyed: Set<ValueKey>;
  readonly others: ElementTest[];
}

/** Types whose values are equal exactly if their keys are, and to values of their own type only. */
const keyedTypes: ReadonlySet<number> = new Set([bsonType.object, bsonType.array, bsonType.binData, bsonType.objectId, bsonType.bool, bsonType.date, bsonType.timestamp]);

/** A planner compiles a list several times. */
const lookups: WeakMap<readonly Value[], Lookup> = new WeakMap();

function lookupOf(values: readonly Value[]): Lookup {
  const known = lookups.get(values) ?? overItems(values, beginLookup, addToLookup);
  lookups.set(values, known);
  return known;
}

const beginLookup = (): Lookup => ({ numbers: new Set(), texts: new Set(), keyed: new Set(), others: [] });

function addToLookup({ numbers, texts, keyed, others }: Lookup, value: Value): void {
  const double = isNumber(value) && !isNaNNumber(value) ? exactDouble(value) : undefined;
  if (double !== undefined) numbers.add(double === 0 ? 0 : double);
  else if (typeof value === 'string') texts.add(value);
  else if (keyedTypes.has(typeOf(value))) keyed.add(keyOfValue(value));
  else others.push(compareTest('eq', value));
}

/** Texts by their keys; whatever else by itself. */
function anyCollatedTest(values: readonly Value[], order: TextOrder): ElementTest {
  const keys = new Set(values.filter((value) => typeof value === 'string').map((value) => collated(value, order)));
  const others = values.filter((value) => typeof value !== 'string');
  const plain = anyOfTest(others.filter((value) => !hasText(value)));
  const nested = firstOf(others.filter(hasText).map((value) => compareTest('eq', value, order)));
  return (bytes, type, at) => {
    if (type === bsonType.string) return keys.has(collated(decodeUtf8(bytes, at + 4, at + 3 + readInt32(bytes, at)), order));
    return plain(bytes, type, at) || nested(bytes, type, at);
  };
}

function numberSetTest(numbers: ReadonlySet<number>): ElementTest {
  return (bytes, type, at) => {
    if (type === bsonType.int) return numbers.has(readInt32(bytes, at));
    if (type === bsonType.double) return numbers.has(readDouble(bytes, at));
    if (type === bsonType.long) {
      const stored = readInt64(bytes, at);
      const double = Number(stored);
      return BigInt(double) === stored && numbers.has(double);
    }
    if (type !== bsonType.decimal) return false;
    const stored = readNumber(bytes, type, at);
    if (stored === undefined || isNaNNumber(stored)) return false;
    for (const number of numbers) if (compareNumbers(stored, new Double(number)) === 0) return true;
    return false;
  };
}

/** True if one of the tests is. */
export function firstOf(tests: readonly ElementTest[]): ElementTest {
  if (tests.length === 0) return never;
  if (tests.length === 1) return tests[0] as ElementTest;
  return (bytes, type, at) => {
    for (const test of tests) if (test(bytes, type, at)) return true;
    return false;
  };
}
