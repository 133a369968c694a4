// Checks of single options of `create` and `collMod`: the type, and what stands for what.

import { BsonArray, Document, isNumber, typeNameOf, typeOf } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';
import { CommandError } from '../base/errors.ts';
import { toDouble } from './number.ts';
import { badValue, typeMismatch, unknownField } from './refusal.ts';

/** Throws where the value is not allowed for the option of this name. */
export type Check = (value: Value, name: string) => void;

/** 14 in the words of MongoDB's parser. */
export const wrongType = (name: string, value: Value, expected: string): CommandError =>
  typeMismatch(`BSON field 'create.${name}' is the wrong type '${String(typeNameOf(typeOf(value)))}', expected type '${expected}'`);

/** Whether a flag that may be given as a number is set. */
export const isTrue = (value: Value | undefined): boolean =>
  value === true || (value !== undefined && isNumber(value) && toDouble(value) !== 0);

export const boolean: Check = (value, name) => {
  if (typeof value !== 'boolean' && !isNumber(value)) throw wrongType(name, value, '[bool, long, int, decimal, double]');
};
export const object: Check = (value, name) => {
  if (!(value instanceof Document)) throw wrongType(name, value, 'object');
};
export const stages: Check = (value, name) => {
  if (!(value instanceof BsonArray)) throw wrongType(name, value, 'array');
  const wrong = value.items().find((stage) => !(stage instanceof Document) && stage !== null);
  if (wrong !== undefined) throw typeMismatch("Each element of the 'pipeline' array must be an object");
};
export const string: Check = (value, name) => {
  if (typeof value !== 'string') throw wrongType(name, value, 'string');
};
export const number: Check = (value, name) => {
  if (!isNumber(value)) throw wrongType(name, value, '[long, int, decimal, double]');
};
export const oneOf =
  (...allowed: readonly string[]): Check =>
  (value, name) => {
    if (typeof value !== 'string') throw wrongType(name, value, 'string');
    if (!allowed.includes(value)) throw badValue(`Enumeration value '${value}' for field 'create.${name}' is not a valid value.`);
  };

/** The field of an option's document; 40414 where it is missing or null. */
export function presentField(value: Document, field: string, name: string): Value {
  const found = value.get(field);
  if (found !== undefined && found !== null) return found;
  throw new CommandError(40414, 'IDLFailedToParse', `BSON field 'create.${name}.${field}' is missing but a required field`);
}

/** Refuses fields that an option's document does not have. */
export function checkFields(value: Document, fields: ReadonlySet<string>, name: string): void {
  const unknown = value.keys().find((field) => !fields.has(field));
  if (unknown !== undefined) throw unknownField(`create.${name}`, unknown);
}

const imageFields: ReadonlySet<string> = new Set(['enabled']);

/** `changeStreamPreAndPostImages`: `{ enabled: <bool> }`. */
export const images: Check = (value, name) => {
  if (!(value instanceof Document)) throw wrongType(name, value, 'object');
  checkFields(value, imageFields, name);
  const enabled = presentField(value, 'enabled', name);
  if (typeof enabled !== 'boolean') throw wrongType(`${name}.enabled`, enabled, 'bool');
};
