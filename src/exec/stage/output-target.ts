// Where `$out` and `$merge` write: the names that are allowed, and who may follow.

import { utf8Length } from '../../base/text.ts';
import type { Document } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { nameOf, refuse } from '../../query/index.ts';

/** A collection that a pipeline writes to. */
export interface OutputTarget {
  readonly database: string;
  readonly collection: string;
}

const NAMESPACE_BYTES_MAX = 255;
const RESERVED: ReadonlySet<string> = new Set(['admin', 'config', 'local']);

/** Codes that the two stages have for the same faults. */
export interface TargetCodes {
  readonly system: number;
  readonly reserved: number;
}

/** Refuses a target that cannot be written to. */
export function checkTarget(target: OutputTarget, codes: TargetCodes, name: string): OutputTarget {
  const { database, collection } = target;
  const full = `${database}.${collection}`;
  if (database === '' || collection === '' || collection.startsWith('.') || collection.includes('\0')) {
    throw refuse(73, `Invalid ${name} target namespace, '${full}'`);
  }
  if (collection.startsWith('system.')) throw refuse(codes.system, `Can't ${name} to special collection: ${collection}`);
  if (collection.startsWith('$') || utf8Length(full) > NAMESPACE_BYTES_MAX) throw refuse(20, `Invalid ${name} target namespace, '${full}'`);
  if (RESERVED.has(database)) throw refuse(codes.reserved, `Can't ${name} to internal database: ${database}`);
  return target;
}

/** The two fields `db` and `coll` of a target given as a document. */
export function targetFields(value: Document, name: string): { db: string | undefined; coll: string | undefined } {
  const unknown = value.keys().find((field) => field !== 'db' && field !== 'coll');
  if (unknown !== undefined) throw refuse(40415, `BSON field '${name}.${unknown}' is an unknown field.`);
  const names = value.keys();
  const twice = names.find((field, index) => names.indexOf(field) !== index);
  if (twice !== undefined) throw refuse(40413, `BSON field '${name}.${twice}' is a duplicate field`);
  return { db: textOf(value.get('db'), `${name}.db`), coll: textOf(value.get('coll'), `${name}.coll`) };
}

function textOf(value: Value | undefined, field: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  throw refuse(14, `BSON field '${field}' is the wrong type '${nameOf(value)}', expected type 'string'`);
}

/** A missing field of a target. */
export function missingField(field: string): Error {
  return refuse(40414, `BSON field '${field}' is missing but a required field`);
}
