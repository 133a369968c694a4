// The operations of a bulkWrite, read: each is an insert, an update or a delete, told by its first field, whose value is the place of its
// namespace in `nsInfo`. Everything is read before anything is done, so a command that is not well formed does nothing.

import { CommandError } from '../../base/errors.ts';
import { Binary, type Document } from '../../bson/index.ts';
import { parseNamespace, type Namespace } from '../../catalog/index.ts';
import {
  anyField,
  hintField,
  mappedField,
  numberField,
  objectField,
  objectsField,
  parseFields,
  required,
  strictBoolField,
  stringField,
  typedField,
  updateField,
  type FieldTable,
} from '../fields.ts';
import { checkCollation } from '../query-options.ts';
import type { DeleteStatement } from './delete.ts';
import type { UpdateStatement } from './update.ts';

/** One operation. `target` is its place in `nsInfo`. */
export type BulkOperation =
  | { readonly kind: 'insert'; readonly target: number; readonly document: Document }
  | { readonly kind: 'update'; readonly target: number; readonly statement: UpdateStatement }
  | { readonly kind: 'delete'; readonly target: number; readonly statement: DeleteStatement };

/** One namespace that operations may name. */
export interface BulkTarget {
  readonly ns: Namespace;
  /** The collection that the client believes it is. */
  readonly uuid: Binary | undefined;
}

const TARGET_FIELDS = {
  ns: required(mappedField(stringField, parseNamespace)),
  collectionUUID: typedField(['binData'], (value): value is Binary => value instanceof Binary),
  encryptionInformation: objectField,
  isTimeseriesNamespace: strictBoolField,
} satisfies FieldTable;

const INSERT_FIELDS = { insert: required(numberField), document: required(objectField) } satisfies FieldTable;

const UPDATE_FIELDS = {
  update: required(numberField),
  filter: required(objectField),
  updateMods: required({ ...updateField, nullIsWrong: true }),
  multi: strictBoolField,
  upsert: strictBoolField,
  upsertSupplied: strictBoolField,
  arrayFilters: objectsField,
  hint: { ...hintField, nullIsWrong: true },
  constants: objectField,
  collation: objectField,
  sort: objectField,
  sampleId: anyField,
} satisfies FieldTable;

const DELETE_FIELDS = {
  delete: required(numberField),
  filter: required(objectField),
  multi: strictBoolField,
  hint: { ...hintField, nullIsWrong: true },
  collation: objectField,
  sampleId: anyField,
} satisfies FieldTable;

function readInsert(document: Document): BulkOperation {
  const fields = parseFields('bulkWrite.ops', document, INSERT_FIELDS);
  return { kind: 'insert', target: fields.insert, document: fields.document };
}

function readUpdate(document: Document): BulkOperation {
  const { update, filter, updateMods, constants, ...rest } = parseFields('bulkWrite.ops', document, UPDATE_FIELDS);
  checkCollation(rest.collation);
  return { kind: 'update', target: update, statement: { ...rest, q: filter, u: updateMods, c: constants } };
}

function readDelete(document: Document): BulkOperation {
  const { delete: target, filter, multi, ...rest } = parseFields('bulkWrite.ops', document, DELETE_FIELDS);
  checkCollation(rest.collation);
  return { kind: 'delete', target, statement: { ...rest, q: filter, limit: multi === true ? 0 : 1 } };
}

const READERS: ReadonlyMap<string, (document: Document) => BulkOperation> = new Map([
  ['insert', readInsert],
  ['update', readUpdate],
  ['delete', readDelete],
]);

/** The namespaces of `nsInfo`. */
export function readTargets(documents: readonly Document[]): readonly BulkTarget[] {
  return documents.map((document) => {
    const { ns, collectionUUID } = parseFields('bulkWrite.nsInfo', document, TARGET_FIELDS);
    return { ns, uuid: collectionUUID };
  });
}

/** The operations, each of them on one of so many namespaces. */
export function readOperations(documents: readonly Document[], targets: number): readonly BulkOperation[] {
  return documents.map((document, index) => {
    const name = document.first?.[0] ?? '';
    const reader = READERS.get(name);
    if (reader === undefined) throw new CommandError(40415, 'Location40415', `BSON field 'bulkWrite.ops.${name}' is an unknown field.`);
    const operation = reader(document);
    if (operation.target < 0 || operation.target >= targets) {
      throw new CommandError(2, 'BadValue', `BulkWrite ops entry ${String(index)} has an invalid nsInfo index.`);
    }
    return operation;
  });
}
