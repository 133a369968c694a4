// Numbers of MongoDB's wire protocol (its specification "MongoDB Wire Protocol" and "OP_MSG"), and the one kind of error by which a
// connection is lost. Everything here is pure and synchronous: bytes to messages and back.

import { CommandError } from '../base/errors.ts';

/** Largest message either side may send, header included. `hello` tells it. */
export const MESSAGE_BYTES_MAX = 48_000_000;

/** Largest document in a message: the largest that can be stored, and room for a command around it. */
export const DOCUMENT_BYTES_MAX: number = 16 * 1024 * 1024 + 16 * 1024;

/** Most documents in a sequence: as many as a write may have. */
export const SEQUENCE_DOCUMENTS_MAX = 100_000;

/** Most sequences in a message; no command has more than two. */
export const SEQUENCES_MAX = 16;

/** Bytes of the header before every message: length, request id, response to, operation. */
export const HEADER_BYTES = 16;

export const operation = { reply: 1, query: 2004, compressed: 2012, message: 2013 } as const;

/** Flag bits of OP_MSG. Bits 0 to 15 are required: one that is not known must be refused. */
export const messageFlag: Readonly<Record<'checksumPresent' | 'moreToCome' | 'exhaustAllowed', number>> = {
  checksumPresent: 1,
  moreToCome: 2,
  exhaustAllowed: 65536,
};

/** The error after which nothing more can be understood from this peer: its connection is closed. */
export function protocolError(message: string): CommandError {
  return new CommandError(17, 'ProtocolError', message);
}
