// The fields of a command, declared as a table and read from it: what is there, of which type, and nothing else. Codes and texts are those
// of MongoDB's IDL parser: unknown 40415, missing 40414, twice 40413, wrong type 14, out of bounds 2. A null counts as not given.

import { CommandError } from '../base/errors.ts';
import { Binary, BsonArray, bsonUndefined, Document, DocumentList, type Documents, isNumber, typeNameOf, typeOf, type NumberValue, type TypeName, type Value } from '../bson/index.ts';
import { isTruthy, toInt64Truncated } from './number-fields.ts';
import { GENERIC_FIELD_NAMES } from './generic-field-names.ts';

/** How one field is read. */
export interface Field<T> {
  /** Names of the types it may have; empty: any. */
  readonly types: readonly string[];
  /** `at` is the field's path for error texts, as `find.filter`. Throws where the value is not allowed. */
  readonly read: (value: Value, at: string) => T;
  readonly required: boolean;
  /** Whether a null is a value of the wrong type rather than nothing. */
  readonly nullIsWrong?: boolean;
}

/** A field that must be there. */
export type RequiredField<T> = Field<T> & { readonly required: true };

/** The fields of one command by name. */
export type FieldTable = Readonly<Record<string, Field<unknown>>>;

/** What reading a table yields. */
export type Parsed<F extends FieldTable> = {
  readonly [K in keyof F]: F[K] extends RequiredField<infer T> ? T : F[K] extends Field<infer T> ? T | undefined : never;
};

/** The table of fields that yields `T`: those that may be undefined are optional. */
export type FieldsOf<T> = {
  readonly [K in keyof T]-?: undefined extends T[K] ? Field<Exclude<T[K], undefined>> : RequiredField<T[K]>;
};

/** The name of a value's type as error texts have it. */
export function typeText(value: Value): string {
  return typeNameOf(typeOf(value)) ?? 'undefined';
}

/** TypeMismatch in the words of the IDL parser. */
function wrongType(at: string, value: Value, expected: readonly string[]): CommandError {
  const types = expected.length === 1 ? `type '${expected[0] ?? ''}'` : `types '[${expected.join(', ')}]'`;
  return new CommandError(14, 'TypeMismatch', `BSON field '${at}' is the wrong type '${typeText(value)}', expected ${types}`);
}

/** A field of the types for which `is` holds. */
export function typedField<V extends Value>(types: readonly string[], is: (value: Value) => value is V): Field<V> {
  return {
    types,
    required: false,
    read: (value, at) => {
      if (is(value)) return value;
      throw wrongType(at, value, types);
    },
  };
}

/** A field made from another by a further step. */
export function mappedField<A, B>(field: Field<A>, map: (value: A, at: string) => B): Field<B> {
  return { ...field, read: (value, at) => map(field.read(value, at), at) };
}

const isDocument = (value: Value): value is Document => value instanceof Document;
const isArray = (value: Value): value is BsonArray => value instanceof BsonArray;
const isString = (value: Value): value is string => typeof value === 'string';
const isBoolean = (value: Value): value is boolean => typeof value === 'boolean';
const isLong = (value: Value): value is bigint => typeof value === 'bigint';

/** The same field, which must be there. */
export function required<T>(field: Field<T>): RequiredField<T> {
  return { ...field, required: true };
}

const NUMBERS: readonly TypeName[] = ['long', 'int', 'decimal', 'double'];

export const anyField: Field<Value> = { types: [], required: false, read: (value) => value };

export const objectField: Field<Document> = typedField(['object'], isDocument);

/** A document that may be left out, but not be null. */
export const presentObjectField: Field<Document> = { ...objectField, nullIsWrong: true };

export const arrayField: Field<BsonArray> = typedField(['array'], isArray);

export const stringField: Field<string> = typedField(['string'], isString);

/** A UUID: binary data of its subtype and length. */
export const uuidField: Field<Binary> = mappedField(
  typedField(['binData'], (value) => value instanceof Binary),
  (binary, at) => {
    if (binary.subtype === 4 && binary.bytes.length === 16) return binary;
    if (binary.subtype === 4) throw new CommandError(207, 'InvalidUUID', 'uuid must be a 16-byte binary field with UUID (4) subtype');
    throw new CommandError(14, 'TypeMismatch', `BSON field '${at}' is the wrong binData type, expected type 'UUID'`);
  },
);

/** A bool and nothing else. */
export const strictBoolField: Field<boolean> = typedField(['bool'], isBoolean);

/** A bool, or a number that stands for one. */
export const boolField: Field<boolean> = mappedField(
  typedField(['bool', ...NUMBERS], (value): value is boolean | NumberValue => isBoolean(value) || isNumber(value)),
  (value) => (typeof value === 'boolean' ? value : isTruthy(value)),
);

/** Anything: false, null, undefined and numbers that are zero mean no, the rest yes. */
export const truthyField: Field<boolean> = {
  types: [],
  required: false,
  read: (value) => {
    if (typeof value === 'boolean') return value;
    if (isNumber(value)) return isTruthy(value);
    return value !== null && value !== bsonUndefined;
  },
};

/** Any number, as a 64-bit integer. */
export const longField: Field<bigint> = mappedField(typedField(NUMBERS, isNumber), toInt64Truncated);

/** Any number, truncated to an integer that a double holds. */
export const numberField: Field<number> = mappedField(longField, Number);

/** A 64-bit integer and no other number. */
export const strictLongField: Field<bigint> = typedField(['long'], isLong);

/** A number with bounds, both inside. */
export function boundedField(low: number, high: number = Number.POSITIVE_INFINITY): Field<number> {
  return mappedField(numberField, (number, at) => {
    const name = at.slice(at.indexOf('.') + 1);
    if (number < low) throw outOfBounds(`BSON field '${name}' value must be >= ${String(low)}, actual value '${String(number)}'`);
    if (number > high) throw outOfBounds(`BSON field '${name}' value must be <= ${String(high)}, actual value '${String(number)}'`);
    return number;
  });
}

function outOfBounds(text: string): CommandError {
  return new CommandError(2, 'BadValue', text);
}

/** An array of documents; nulls in it count as not there. */
export const objectsField: Field<readonly Document[]> = mappedField(arrayField, (array, at) =>
  array.items().flatMap((item, index) => {
    if (item instanceof Document) return [item];
    if (item === null) return [];
    throw wrongType(`${at}.${String(index)}`, item, ['object']);
  }),
);

/** As objectsField, for those that may be thousands: of a sequence no more is made than is asked for. */
export const documentListField: Field<Documents> = mappedField(arrayField, (array, at) => array.list ?? DocumentList.of(objectsField.read(array, at)));

/** What an update says: a document, or an array of stages. */
export const updateField: Field<Document | BsonArray> = {
  types: ['object', 'array'],
  required: false,
  read: (value) => {
    if (isDocument(value) || isArray(value)) return value;
    throw new CommandError(9, 'FailedToParse', 'Update argument must be either an object or an array');
  },
};

/** A document or a string: a hint. */
export const hintField: Field<Document | string> = {
  types: ['string', 'object'],
  required: false,
  read: (value) => {
    if (isDocument(value) || isString(value)) return value;
    throw new CommandError(9, 'FailedToParse', 'Hint must be a string or an object');
  },
};

/** One of some words. */
export function wordField<const W extends string>(words: readonly W[]): Field<W> {
  return mappedField(stringField, (value, at) => {
    const word = words.find((candidate) => candidate === value);
    if (word !== undefined) return word;
    throw new CommandError(2, 'BadValue', `Enumeration value '${value}' for field '${at}' is not a valid value.`);
  });
}

/** The name of a collection: text that is a name (73), or the UUID of one, which is not served by name (26). */
export const collectionField: RequiredField<string> = {
  types: [],
  required: true,
  read: (value) => {
    if (typeof value === 'string') return value;
    if (value instanceof Binary && value.subtype === 4) {
      throw new CommandError(26, 'NamespaceNotFound', 'a collection cannot be named by its UUID here');
    }
    throw new CommandError(73, 'InvalidNamespace', `collection name has invalid type ${typeText(value)}`);
  },
};

function unknownField(at: string): CommandError {
  return new CommandError(40415, 'Location40415', `BSON field '${at}' is an unknown field.`);
}

/** What becomes of fields that the table does not name: refused, refused unless any command may carry them, or passed over. */
export type UnknownFields = 'refuse' | 'generic' | 'skip';

/** A table made ready: commands are read by the thousand, so nothing about a table is found out twice. */
interface CompiledTable {
  readonly fields: ReadonlyMap<string, CompiledField>;
  readonly required: readonly string[];
  /** Every name, undefined: what results have beneath what is given. */
  readonly empty: Readonly<Record<string, unknown>>;
}

/** A field, and its path in texts of the owner that was asked for last. */
interface CompiledField {
  readonly field: Field<unknown>;
  owner: string;
  at: string;
}

const compiledTables: WeakMap<FieldTable, CompiledTable> = new WeakMap();

function compile(table: FieldTable): CompiledTable {
  let compiled = compiledTables.get(table);
  if (compiled === undefined) {
    const fields = new Map(Object.entries(table).map(([name, field]) => [name, { field, owner: '', at: '' }]));
    const required = [...fields].filter(([, { field }]) => field.required).map(([name]) => name);
    compiled = { fields, required, empty: Object.fromEntries([...fields.keys()].map((name) => [name, undefined])) };
    compiledTables.set(table, compiled);
  }
  return compiled;
}

function pathOf(compiled: CompiledField, owner: string, name: string): string {
  if (compiled.owner !== owner) {
    compiled.owner = owner;
    compiled.at = `${owner}.${name}`;
  }
  return compiled.at;
}

/** Reads a document by a table. `owner` is its name in error texts: the command's, or the path of a nested document. */
export function parseFields<F extends FieldTable>(owner: string, body: Document, table: F, unknown: UnknownFields = 'refuse'): Parsed<F> {
  const { fields, required: needed, empty } = compile(table);
  // eslint-disable-next-line frond/no-unsafe-assertion -- what Object.create gives is untyped
  const parsed = Object.create(empty) as Record<string, unknown>;
  for (const [name, value] of body.fields) {
    const compiled = fields.get(name);
    if (compiled === undefined) {
      if (unknown === 'skip' || (unknown === 'generic' && GENERIC_FIELD_NAMES.has(name))) continue;
      throw unknownField(`${owner}.${name}`);
    }
    const { field } = compiled;
    if (parsed[name] !== undefined) throw new CommandError(40413, 'Location40413', `BSON field '${owner}.${name}' is a duplicate field`);
    if (value === null && field.types.length > 0 && field.nullIsWrong !== true) continue;
    parsed[name] = field.read(value, pathOf(compiled, owner, name));
  }
  for (const name of needed) {
    if (parsed[name] !== undefined) continue;
    throw new CommandError(40414, 'Location40414', `BSON field '${owner}.${name}' is missing but a required field`);
  }
  // eslint-disable-next-line frond/no-unsafe-assertion -- each entry was made by the field of its name
  return parsed as Parsed<F>;
}
