// What the catalog refuses, in MongoDB's codes, names and words. One function for each, so that every refusal of the layer is on this page.

import { CommandError } from '../base/errors.ts';
import { EngineError } from '../base/errors.ts';
import { BsonArray, collated, describeValue, Document, hasText } from '../bson/index.ts';
import type { TextOrder, Value } from '../bson/index.ts';
import type { Collation } from '../collation/index.ts';
import type { Namespace } from './namespace.ts';

/** An error that MongoDB or TokuMX knows by its number alone. */
export const location = (code: number, message: string): CommandError => new CommandError(code, `Location${String(code)}`, message);
export const badValue = (message: string): CommandError => new CommandError(2, 'BadValue', message);
export const failedToParse = (message: string): CommandError => new CommandError(9, 'FailedToParse', message);
export const typeMismatch = (message: string): CommandError => new CommandError(14, 'TypeMismatch', message);
export const invalidOptions = (message: string): CommandError => new CommandError(72, 'InvalidOptions', message);
export const cannotCreateIndex = (message: string): CommandError => new CommandError(67, 'CannotCreateIndex', message);
export const indexOptionsConflict = (message: string): CommandError => new CommandError(85, 'IndexOptionsConflict', message);
export const indexKeySpecsConflict = (message: string): CommandError => new CommandError(86, 'IndexKeySpecsConflict', message);
export const indexNotFound = (message: string): CommandError => new CommandError(27, 'IndexNotFound', message);
export const invalidIndexOption = (message: string): CommandError => new CommandError(197, 'InvalidIndexSpecificationOption', message);
export const notSupportedInTransaction = (message: string): CommandError =>
  new CommandError(263, 'OperationNotSupportedInTransaction', message);

export const noCollection = (ns: Namespace): CommandError => new CommandError(26, 'NamespaceNotFound', `ns does not exist: ${ns.text}`);
/** The collection of an index build went. */
export const buildAborted = (ns: Namespace): CommandError =>
  new CommandError(276, 'IndexBuildAborted', `Index build failed: collection ${ns.text} was dropped`);
export const namespaceExists = (message: string): CommandError => new CommandError(48, 'NamespaceExists', message);
export const isView = (ns: Namespace): CommandError =>
  new CommandError(166, 'CommandNotSupportedOnView', `Namespace ${ns.text} is a view, not a collection`);
export const unknownField = (struct: string, name: string): CommandError =>
  new CommandError(40415, 'IDLUnknownField', `BSON field '${struct}.${name}' is an unknown field.`);

/** The refusal of a second document with the same values in a unique index. */
export function duplicateKey(
  ns: Namespace,
  index: { readonly name: string; readonly key: Document; readonly collation: Collation | undefined },
  keyValue: Document,
): CommandError {
  const { collation } = index;
  const under = collation === undefined ? '' : ` collation: ${describeValue(collation.spec)}`;
  const message = `E11000 duplicate key error collection: ${ns.text} index: ${index.name}${under} dup key: ${describeValue(keyValue)}`;
  return new CommandError(11000, 'DuplicateKey', message, {
    details: new Map<string, unknown>([
      ['keyPattern', index.key],
      ['keyValue', keyValue],
      ...(collation === undefined ? [] : [['collation', collation.spec] as const]),
    ]),
  });
}

/** A value as a refusal shows it: under a collation texts are shown as the sort keys that the index has, in hexadecimal. */
export function shownKey(value: Value, order: TextOrder | undefined): Value {
  if (order === undefined || !hasText(value)) return value;
  if (value instanceof Document) return Document.fromEntries(value.fields.map(([name, field]) => [name, shownKey(field, order)]));
  if (value instanceof BsonArray) return BsonArray.of(value.items().map((item) => shownKey(item, order)));
  const key = collated(value, order);
  return typeof key === 'string' ? `0x${Array.from(key, (byte) => byte.charCodeAt(0).toString(16).padStart(2, '0')).join('')}` : key;
}

/** What the engine would say if it knew of names: the definition changed under this transaction. */
export const changedMeanwhile = (name: string): EngineError =>
  new EngineError('write-conflict', `the definition of ${name} was changed by another operation`);

/** How often what failed for others' sake is done again from the start. */
export const attemptsMax = 100;

/** Whether an operation that stands by itself may be done again: the catalog changed under it, or two waited for each other. */
export function isTransient(error: unknown): boolean {
  return error instanceof EngineError && (error.code === 'write-conflict' || error.code === 'deadlock');
}
