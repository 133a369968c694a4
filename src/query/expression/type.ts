// The type of a value, and the parts of types that have parts: sizes, timestamps, bits, chance.
// Follows the manual's pages "$type (aggregation)", "$isNumber", "$bsonSize", "$binarySize", "$tsSecond", "$bitAnd" and "$rand".

import { madeOnce } from '../../base/long-work.ts';
import { utf8Length } from '../../base/text.ts';
import { Binary, BsonArray, Document, Double, hashValue, isNumber, Timestamp } from '../../bson/index.ts';
import { refuse } from '../refuse.ts';
import { isNullish, nameOf, unary, variadic } from './define.ts';
import type { Maybe } from './define.ts';
import type { OperatorRule, OperatorTable } from './compiler.ts';

function bsonSize(value: Maybe): Maybe {
  if (isNullish(value)) return null;
  if (value instanceof Document) return value.byteLength;
  throw refuse(31393, `$bsonSize requires a document input, found: ${nameOf(value)}`);
}

function binarySize(value: Maybe): Maybe {
  if (isNullish(value)) return null;
  if (typeof value === 'string') return utf8Length(value);
  if (value instanceof Binary) return value.bytes.length;
  throw refuse(51276, `$binarySize requires a string or BinData argument, found: ${nameOf(value)}`);
}

function timestampPart(part: (value: Timestamp) => number, code: number): OperatorRule {
  return unary((value, name) => {
    if (isNullish(value)) return null;
    if (value instanceof Timestamp) return BigInt(part(value));
    throw refuse(code, `Argument to ${name} must be a timestamp, but is ${nameOf(value)}`);
  });
}

function integerOf(value: Maybe, name: string): number | bigint {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  throw refuse(14, `${name} only supports int and long operands.`);
}

/** Bits of int32 and int64; the result is an int64 if an operand is. */
function bits(start: bigint, join: (left: bigint, right: bigint) => bigint): OperatorRule {
  return variadic((values, name) => {
    let result = start;
    let wide = false;
    for (const value of values) {
      if (isNullish(value)) return null;
      const operand = integerOf(value, name);
      wide ||= typeof operand === 'bigint';
      result = join(result, BigInt(operand));
    }
    return wide ? result : Number(result);
  });
}

const compileRandom: OperatorRule = (argument, compiler) => {
  const isList = argument instanceof Document || argument instanceof BsonArray;
  if (!isList) throw refuse(10065, 'invalid parameter: expected an object ($rand)');
  if (!argument.isEmpty) throw refuse(3040501, '$rand does not currently accept arguments');
  const { random } = compiler.options;
  if (random === undefined) throw refuse(168, `Unrecognized expression '$rand'`);
  return { evaluate: () => new Double(madeOnce(random)), form: { kind: 'other' } };
};

/** The operators, by name. */
export const typeOperators: OperatorTable = {
  $type: unary((value) => nameOf(value)),
  $isNumber: unary((value) => isNumber(value)),
  $bsonSize: unary(bsonSize),
  $toHashedIndexKey: unary((value) => hashValue(value ?? null)),
  $binarySize: unary(binarySize),
  $tsSecond: timestampPart((value) => value.seconds, 5687301),
  $tsIncrement: timestampPart((value) => value.increment, 5687302),
  $bitAnd: bits(-1n, (left, right) => left & right),
  $bitOr: bits(0n, (left, right) => left | right),
  $bitXor: bits(0n, (left, right) => left ^ right),
  $bitNot: unary((value, name) => {
    if (isNullish(value)) return null;
    const operand = integerOf(value, name);
    return typeof operand === 'bigint' ? ~operand : ~operand;
  }),
  $rand: compileRandom,
};
