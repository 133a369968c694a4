// What an update operator does at the end of its path. An operation is made once for a command and asked once for each value; whether
// anything changed is found by comparing bytes, so an operation may well answer with what was there before.

import type { DateTime, ObjectId, Timestamp, Value } from '../../bson/index.ts';
import type { Collation } from '../../collation/index.ts';
import type { RawValue } from './raw-value.ts';

/** What applying an update to one document needs to know. */
export interface UpdateContext {
  /** The time of the command, for `$currentDate`. */
  readonly now: DateTime;
  /** The cluster's time, for `$currentDate` with type timestamp and for empty timestamps in replacements. */
  readonly timestamp: Timestamp;
  /** The index of the array element that the filter matched (`Filter.place`), for the positional operator `$`. */
  readonly position?: number | undefined;
}

/** What making a new document needs besides. */
export interface UpsertContext extends UpdateContext {
  /** A new id, for a document that has none. */
  readonly newId: () => ObjectId;
}

/** The document that an operation works in. */
export interface OperationScope {
  readonly context: UpdateContext;
  /** True if the document is about to be inserted. */
  readonly inserting: boolean;
  /** The document's `_id` as error messages show it. */
  readonly idText: string;
  /** The values that `$rename` moves, by their old path; absent where there is none. */
  readonly moved: ReadonlyMap<string, RawValue>;
}

/** Leave the value as it is. */
export const keep: unique symbol = Symbol('keep');
/** Take the field away; an array keeps its length and gets a null. */
export const remove: unique symbol = Symbol('remove');

/** What becomes of a value: a new one, already encoded or not, or one of the two above. */
export type Outcome = Value | RawValue | typeof keep | typeof remove;

/** The end of an update's path. */
export interface Operation {
  /** What becomes of a value that is there; `name` is its field. */
  readonly existing: (current: RawValue, scope: OperationScope, name: string) => Outcome;
  /** The value of a field that is not there; `keep` leaves it so. */
  readonly missing: (scope: OperationScope) => Value | RawValue | typeof keep;
  /** True if a path that cannot exist (below a number, say) is no error, because there is nothing to do. */
  readonly ignoresBlockedPath?: (scope: OperationScope) => boolean;
}

/** Makes an operation of an operator's operand; `path` is for words of refusals, `collation` how texts are compared. */
export type OperationParser = (operand: Value, path: string, collation: Collation | undefined) => Operation;
