// Resume tokens: where a stream stands, as hexadecimal digits that order as events do. Clients take them as they are. A token of an event
// stands behind it; one of a time stands before everything at that time.

import { CommandError } from '../../base/errors.ts';
import { Document, Timestamp, type Value } from '../../bson/index.ts';

/** A place in the order of events. */
export interface StreamPosition {
  readonly time: Timestamp;
  /** `time`: before all events at the time; `event`: behind the operation of that number at the time. */
  readonly kind: 'time' | 'event';
  /** Number of the operation among those of one time. */
  readonly index: number;
  /** It is behind the `invalidate` that follows the operation. */
  readonly invalidated: boolean;
}

/** Type byte of a time, as in MongoDB's tokens; then the time, the version, the kind, the number, and whether it is of an `invalidate`. */
const START = 0x82;
const VERSION = 2;
const BYTES = 16;

/** The token of a position. */
export function tokenOf({ time, kind, index, invalidated }: StreamPosition): Document {
  const view = new DataView(new ArrayBuffer(BYTES));
  view.setUint8(0, START);
  view.setUint32(1, time.seconds);
  view.setUint32(5, time.increment);
  view.setUint8(9, VERSION);
  view.setUint8(10, kind === 'time' ? 0 : 0x80);
  view.setUint32(11, index);
  view.setUint8(15, invalidated ? 1 : 0);
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
  if (!/^[0-9a-fA-F]{32}$/.test(data)) throw malformed();
  const view = new DataView(Uint8Array.from(data.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16)).buffer);
  if (view.getUint8(0) !== START || view.getUint8(9) !== VERSION) throw malformed();
  return {
    time: new Timestamp(view.getUint32(1), view.getUint32(5)),
    kind: view.getUint8(10) === 0 ? 'time' : 'event',
    index: view.getUint32(11),
    invalidated: view.getUint8(15) === 1,
  };
}
