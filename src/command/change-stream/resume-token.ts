// Resume tokens: where a stream stands, as hexadecimal digits that order as events do. Clients take them as they are. A token of an event
// stands behind it; one of a time stands before everything at that time.

import { CommandError } from '../../base/errors.ts';
import { Document, Timestamp, type Value } from '../../bson/index.ts';

/** See StreamPosition. */
export type PositionMark = 'passed' | 'given' | 'invalidated';

/** A place in the order of events. */
export interface StreamPosition {
  readonly time: Timestamp;
  /** `time`: before all events at the time; `event`: behind the operation of that number at the time. */
  readonly kind: 'time' | 'event';
  /** Number of the operation among those of one time. */
  readonly index: number;
  /** What the stream gave there: nothing that counts, an event of the operation, or the `invalidate` that follows it. */
  readonly mark: PositionMark;
  /** Of an event in fragments: the number of the last that was given, from 0 on. */
  readonly fragment?: number | undefined;
}

/** Type byte of a time, as in MongoDB's tokens; then the time, the version, the kind, the number, and the mark. */
const START = 0x82;
const VERSION = 2;
const BYTES = 16;
/** The mark may be cut off. */
const BYTES_MIN = 15;
const MARKS: Readonly<Record<PositionMark, number>> = { passed: 0, given: 0x10, invalidated: 0x20 };
/** Behind a whole token: what follows is the number of a fragment. */
const FRAGMENT = 0x46;
const FRAGMENT_BYTES = 5;
/** In tokens of earlier versions. */
const INVALIDATED_BEFORE = 1;

/** The token of a position. */
export function tokenOf({ time, kind, index, mark, fragment }: StreamPosition): Document {
  const view = new DataView(new ArrayBuffer(fragment === undefined ? BYTES : BYTES + FRAGMENT_BYTES));
  view.setUint8(0, START);
  view.setUint32(1, time.seconds);
  view.setUint32(5, time.increment);
  view.setUint8(9, VERSION);
  view.setUint8(10, kind === 'time' ? 0 : 0x80);
  view.setUint32(11, index);
  view.setUint8(15, MARKS[mark]);
  if (fragment !== undefined) {
    view.setUint8(BYTES, FRAGMENT);
    view.setUint32(BYTES + 1, fragment);
  }
  const digits = Array.from(new Uint8Array(view.buffer), (byte) => byte.toString(16).padStart(2, '0'));
  return Document.of({ _data: digits.join('').toUpperCase() });
}

function malformed(): CommandError {
  return new CommandError(50811, 'Location50811', 'Invalid resume token: its _data is not one that this server gave');
}

/** The position of a token that a client gives back. */
export function positionOf(token: Document): StreamPosition {
  const data: Value | undefined = token.get('_data');
  if (typeof data !== 'string') throw new CommandError(40647, 'Location40647', "Bad resume token: _data of missing or of wrong type");
  const view = new DataView(bytesOf(data).buffer);
  if (view.getUint8(0) !== START || view.getUint8(9) !== VERSION) throw malformed();
  return {
    time: new Timestamp(view.getUint32(1), view.getUint32(5)),
    kind: view.getUint8(10) === 0 ? 'time' : 'event',
    index: view.getUint32(11),
    mark: view.byteLength < BYTES ? 'passed' : markOf(view.getUint8(15)),
    fragment: view.byteLength === BYTES + FRAGMENT_BYTES && view.getUint8(BYTES) === FRAGMENT ? view.getUint32(BYTES + 1) : undefined,
  };
}

/** The bytes of hexadecimal digits; what stands behind a whole token does not count. */
function bytesOf(data: string): Uint8Array<ArrayBuffer> {
  if (data === '') throw new CommandError(40649, 'Location40649', 'Bad resume token: _data of missing or of wrong type');
  if (data.length % 2 === 1 || !/^[0-9a-fA-F]*$/.test(data)) throw new CommandError(9, 'FailedToParse', 'resume token string was not a valid hex string');
  const bytes = Uint8Array.from(data.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  if (bytes[0] === START && bytes.length < BYTES_MIN) throw new CommandError(15, 'Overflow', 'Bad resume token: its _data ends early');
  if (bytes.length < BYTES_MIN) throw malformed();
  return bytes;
}

function markOf(byte: number): PositionMark {
  if (byte === INVALIDATED_BEFORE || byte === MARKS.invalidated) return 'invalidated';
  return byte === MARKS.given ? 'given' : 'passed';
}
