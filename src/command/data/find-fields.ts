// What a find says, and how it is read: a table for every find, by itself, explained, or given as the shape of a query.
// Follows the manual's page of the command `find`.

import type { Document, Value } from '../../bson/index.ts';
import { anyField, boolField, boundedField, collectionField, hintField, objectField, presentObjectField, type FieldsOf } from '../fields.ts';

/** What a find says. */
export interface FindFields {
  readonly find: string;
  readonly filter?: Document | undefined;
  readonly sort?: Document | undefined;
  readonly projection?: Document | undefined;
  readonly hint?: Document | string | undefined;
  readonly skip?: number | undefined;
  readonly limit?: number | undefined;
  readonly batchSize?: number | undefined;
  readonly singleBatch?: boolean | undefined;
  readonly ntoreturn?: number | undefined;
  readonly max?: Document | undefined;
  readonly min?: Document | undefined;
  readonly returnKey?: boolean | undefined;
  readonly showRecordId?: boolean | undefined;
  readonly tailable?: boolean | undefined;
  readonly oplogReplay?: boolean | undefined;
  readonly noCursorTimeout?: boolean | undefined;
  readonly awaitData?: boolean | undefined;
  readonly allowPartialResults?: boolean | undefined;
  readonly allowDiskUse?: boolean | undefined;
  readonly collation?: Document | undefined;
  readonly let?: Document | undefined;
  readonly options?: Value | undefined;
  readonly term?: Value | undefined;
  readonly readOnce?: boolean | undefined;
  readonly allowSpeculativeMajorityRead?: boolean | undefined;
}

/** How they are read. */
export const FIND_FIELDS: FieldsOf<FindFields> = {
  find: collectionField,
  filter: presentObjectField,
  sort: objectField,
  projection: objectField,
  hint: hintField,
  skip: boundedField(0),
  limit: boundedField(0),
  batchSize: boundedField(0),
  singleBatch: boolField,
  ntoreturn: boundedField(0),
  max: objectField,
  min: objectField,
  returnKey: boolField,
  showRecordId: boolField,
  tailable: boolField,
  oplogReplay: boolField,
  noCursorTimeout: boolField,
  awaitData: boolField,
  allowPartialResults: boolField,
  allowDiskUse: boolField,
  collation: objectField,
  let: objectField,
  options: anyField,
  term: anyField,
  readOnce: boolField,
  allowSpeculativeMajorityRead: boolField,
};
