// One operation of the log: what was done to one document, or to a collection. In a transaction's list before the commit, and as it is
// read back.

import type { Binary, DateTime, Document, Timestamp } from '../../bson/index.ts';

/**
 * `insert`: `o` is the document. `update`: `o` is the difference (update-diff.ts). `replace`: `o` is the new document. `remove`: `o` is
 * `{_id}`. `command`: `o` is the change of the catalog as MongoDB logs it, `o2` what it says of the state before. `note`: `o` is a message.
 */
export type OperationKind = 'insert' | 'update' | 'replace' | 'remove' | 'command' | 'note';

/** The collection that an operation is on. */
export interface OperationSpace {
  /** `db.collection`; of a command `db.$cmd`. */
  readonly ns: string;
  readonly uuid: Binary | undefined;
}

/** What was done. */
export interface NewOperation {
  readonly kind: OperationKind;
  readonly space: OperationSpace;
  readonly o: Document;
  /** `{_id}` of an updated document. */
  readonly o2?: Document | undefined;
  /** The document before and after, where the collection keeps images. */
  readonly before?: Document | undefined;
  readonly after?: Document | undefined;
  /** Number of the statement in a retryable write. */
  readonly statement?: number | undefined;
}

/** Whose operations they are: `{lsid, txnNumber}`. */
export interface OperationOwner {
  readonly lsid: Document;
  readonly txnNumber: bigint;
}

/** An operation as it is read back. */
export interface Operation extends NewOperation {
  readonly time: Timestamp;
  readonly wall: DateTime;
  readonly owner: OperationOwner | undefined;
  /** The place in its transaction; undefined outside of one. */
  readonly index: number | undefined;
  /** Of a transaction in several rows: whether another follows, the time of the one before, and how many operations there are up to here. */
  readonly chain?: { readonly more: boolean; readonly previous: Timestamp | undefined; readonly count: number } | undefined;
}

/** Who gives the times of commits. */
export interface OperationClock {
  /** The first of so many times, all of them greater than any given before. Called in the order of commits. */
  reserve(ticks: number): Timestamp;
  /** The commit whose last time this is can be seen by everybody. */
  reached(time: Timestamp): void;
}

/** Operations of one snapshot, in the order of reading. */
export interface OperationCursor {
  /** The operations of the next rows, each row by itself; empty at the end. */
  nextRows(): Promise<readonly (readonly Operation[])[]>;
  close(): void;
}
