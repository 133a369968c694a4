// The fields of aggregate, and the collection they name.

import { CommandError } from '../../base/errors.ts';
import { isNumber, toDouble, type BsonArray, type Document, type Value } from '../../bson/index.ts';
import { Namespace, namespaceOf } from '../../catalog/index.ts';
import { anyField, arrayField, boolField, hintField, objectField, required, strictBoolField, typeText, type FieldsOf } from '../fields.ts';

/** What an aggregate says. */
export interface AggregateFields {
  readonly aggregate: Value;
  readonly pipeline: BsonArray;
  readonly explain?: boolean | undefined;
  readonly allowDiskUse?: boolean | undefined;
  readonly cursor?: Document | undefined;
  readonly bypassDocumentValidation?: boolean | undefined;
  readonly hint?: Document | string | undefined;
  readonly collation?: Document | undefined;
  readonly let?: Document | undefined;
  readonly collectionUUID?: Value | undefined;
  readonly fromMongos?: boolean | undefined;
  readonly needsMerge?: boolean | undefined;
}

/** How they are read. */
export const AGGREGATE_FIELDS: FieldsOf<AggregateFields> = {
  aggregate: required(anyField),
  pipeline: required({ ...arrayField, nullIsWrong: true }),
  explain: { ...strictBoolField, nullIsWrong: true },
  allowDiskUse: { ...strictBoolField, nullIsWrong: true },
  cursor: objectField,
  bypassDocumentValidation: boolField,
  hint: { ...hintField, nullIsWrong: true },
  collation: objectField,
  let: objectField,
  collectionUUID: anyField,
  fromMongos: boolField,
  needsMerge: boolField,
};


/** The collection that the command names; the collection part is `$cmd.aggregate` where it names none. */
export function aggregateNamespace(db: string, fields: AggregateFields): { ns: Namespace; free: boolean } {
  const { aggregate: target } = fields;
  if (typeof target === 'string') return { ns: namespaceOf(db, target), free: false };
  if (isOne(target)) return { ns: new Namespace(db, '$cmd.aggregate'), free: true };
  if (isNumber(target)) {
    throw new CommandError(2, 'BadValue', "Invalid command format: the 'aggregate' field must specify a collection name or 1");
  }
  throw new CommandError(73, 'InvalidNamespace', `collection name has invalid type ${typeText(target)}`);
}

function isOne(value: Value): boolean {
  return isNumber(value) && toDouble(value) === 1;
}
