// Messages: the changes that travel through the tree, and the numbers that their kinds have on disk. A kind that this program does not
// know is a file of a newer program, not damage: EngineError `format`. See docs/file-format.md, "Runs".

import { viewOf } from '../../base/bytes.ts';

/**
 * Kinds of messages as stored; the numbers never change their meaning. 2 is taken: a range delete, which is in no run. `reference`: a put whose value
 * lies in a blob.
 */
export const messageKinds = { put: 0, remove: 1, update: 3, reference: 4 } as const;

/** A kind as stored. */
export type MessageKind = (typeof messageKinds)[keyof typeof messageKinds];

const known: ReadonlySet<number> = new Set(Object.values(messageKinds));

/** Whether this program knows a kind. */
export function isMessageKind(kind: number): boolean {
  return known.has(kind);
}

/** One change of one key: which commit it belongs to, what it does, and the value of a put (empty for a remove; of an update its operations). */
export interface Message {
  readonly key: Uint8Array;
  readonly seq: number;
  readonly kind: MessageKind;
  readonly value: Uint8Array;
}

/** A message whose key and value lie in one arena: filled anew by its owner for each message, so that none is allocated. */
export interface MessageSlice {
  bytes: Uint8Array;
  /** Of all of `bytes`. */
  view: DataView;
  keyStart: number;
  keyEnd: number;
  valueStart: number;
  valueEnd: number;
  seq: number;
  kind: number;
  /** The key's `keyHash`, where whoever fills the slice has it. */
  hash: number;
}

const noBytes = new Uint8Array(0);

/** A slice to be filled. */
export function emptySlice(): MessageSlice {
  return { bytes: noBytes, view: viewOf(noBytes), keyStart: 0, keyEnd: 0, valueStart: 0, valueEnd: 0, seq: 0, kind: 0, hash: 0 };
}
