// Operands of JSON schema keywords, checked with MongoDB's texts.

import { BsonArray, describeValue, Document } from '../../../bson/index.ts';
import type { Value } from '../../../bson/index.ts';
import { integerFault } from '../operand.ts';
import { refuse } from '../../refuse.ts';

function refuseType(keyword: string, wanted: string): Error {
  return refuse(14, `$jsonSchema keyword '${keyword}' must be ${wanted}`);
}

/** A document; 14 else. */
export function objectOperand(keyword: string, value: Value): Document {
  if (!(value instanceof Document)) throw refuseType(keyword, 'an object');
  return value;
}

/** A boolean; 14 else. */
export function booleanOperand(keyword: string, value: Value): boolean {
  if (typeof value !== 'boolean') throw refuseType(keyword, 'a boolean');
  return value;
}

/** A string; 14 else. */
export function stringOperand(keyword: string, value: Value): string {
  if (typeof value !== 'string') throw refuseType(keyword, 'a string');
  return value;
}

/** A count: a whole number that is not negative. */
export function countOperand(keyword: string, value: Value): number {
  const fault = integerFault(value);
  if (fault !== undefined) throw refuse(9, `${fault}: ${keyword}: ${describeValue(value)}`);
  const count = Number(describeValue(value));
  if (count < 0) throw refuse(9, `Expected a non-negative number in: ${keyword}: ${describeValue(value)}`);
  return count;
}

/** An array that has elements. */
export function arrayOperand(keyword: string, value: Value, emptyCode: number): readonly Value[] {
  if (!(value instanceof BsonArray)) throw refuseType(keyword, 'an array');
  if (value.isEmpty) throw refuse(emptyCode, `$jsonSchema keyword '${keyword}' cannot be an empty array`);
  return value.items();
}

/** An array of different names. */
export function namesOperand(keyword: string, value: Value): readonly string[] {
  const names = arrayOperand(keyword, value, 9).map((name) => {
    if (typeof name !== 'string') throw refuse(14, `$jsonSchema keyword '${keyword}' must be an array of strings, but found an element of another type`);
    return name;
  });
  if (new Set(names).size !== names.length) throw refuse(9, `$jsonSchema keyword '${keyword}' array cannot contain duplicate values`);
  return names;
}
