// Messages to bytes: OP_MSG for those who sent OP_MSG, OP_REPLY for OP_QUERY, compressed as the request was. Large documents are not
// copied: the result is a list of chunks to be written one after the other.

import { concatBytes } from '../base/bytes.ts';
import { crc32c } from '../base/crc32c.ts';
import { documentChunks } from '../bson/index.ts';
import type { Document } from '../bson/index.ts';
import { HEADER_BYTES, messageFlag, operation } from './protocol.ts';
import type { WireCodec, WireMessage } from './wire-message.ts';

/** Below this a document is copied behind its header: one chunk costs less than two. */
const COPY_BYTES_MAX = 32 * 1024;

const empty = new Uint8Array(0);

function putInt32(target: Uint8Array, offset: number, value: number): void {
  target[offset] = value & 0xff;
  target[offset + 1] = (value >>> 8) & 0xff;
  target[offset + 2] = (value >>> 16) & 0xff;
  target[offset + 3] = (value >>> 24) & 0xff;
}

function putHeader(target: Uint8Array, length: number, ids: MessageIds, code: number): void {
  putInt32(target, 0, length);
  putInt32(target, 4, ids.requestId);
  putInt32(target, 8, ids.responseTo);
  putInt32(target, 12, code);
}

/** The numbers in a message's header. */
export interface MessageIds {
  readonly requestId: number;
  readonly responseTo: number;
}

/** A document sequence to be sent beside a body: its documents, or their bytes one behind the other, which are not copied. */
export interface SequenceToSend {
  readonly name: string;
  readonly documents: readonly Document[] | Uint8Array;
}

/** What an OP_MSG carries besides its body. */
export interface MessageOptions {
  readonly checksum?: boolean;
  readonly moreToCome?: boolean;
  readonly exhaustAllowed?: boolean;
  readonly sequences?: readonly SequenceToSend[];
}

/** An OP_MSG with this body. */
export function encodeMessage(ids: MessageIds, body: Document, { checksum, moreToCome, exhaustAllowed, sequences }: MessageOptions = {}): Uint8Array[] {
  const chunks = documentChunks(body, HEADER_BYTES + 5);
  const [head = empty] = chunks;
  if (sequences !== undefined) for (const sequence of sequences) chunks.push(...encodeSequence(sequence));
  let length = checksum === true ? 4 : 0;
  for (const chunk of chunks) length += chunk.length;
  putHeader(head, length, ids, operation.message);
  const flags =
    (checksum === true ? messageFlag.checksumPresent : 0) | (moreToCome === true ? messageFlag.moreToCome : 0) | (exhaustAllowed === true ? messageFlag.exhaustAllowed : 0);
  putInt32(head, HEADER_BYTES, flags);
  head[HEADER_BYTES + 4] = 0;
  if (checksum === true) chunks.push(checksumOf(chunks));
  return chunks;
}

function checksumOf(chunks: readonly Uint8Array[]): Uint8Array {
  let sum = 0;
  for (const chunk of chunks) sum = crc32c(chunk, 0, chunk.length, sum);
  const end = new Uint8Array(4);
  putInt32(end, 0, sum);
  return end;
}

function encodeSequence(sequence: SequenceToSend): Uint8Array[] {
  const name = new TextEncoder().encode(sequence.name);
  const { documents } = sequence;
  const parts = documents instanceof Uint8Array ? [documents] : documents.map((document) => document.toBytes());
  const head = new Uint8Array(6 + name.length);
  let length = 5 + name.length;
  for (const part of parts) length += part.length;
  head[0] = 1;
  putInt32(head, 1, length);
  head.set(name, 5);
  return [head, ...parts];
}

/** An OP_REPLY with one document. */
function encodeReply(ids: MessageIds, body: Document): Uint8Array[] {
  const bytes = body.toBytes();
  return headed(HEADER_BYTES + 20, bytes, (head) => {
    putHeader(head, HEADER_BYTES + 20 + bytes.length, ids, operation.reply);
    putInt32(head, HEADER_BYTES, 8);
    putInt32(head, HEADER_BYTES + 16, 1);
  });
}

/** An OP_QUERY of a command on `namespace`, as old clients send it. */
export function encodeQuery(ids: MessageIds, namespace: string, body: Document): Uint8Array[] {
  const name = new TextEncoder().encode(namespace);
  const bytes = body.toBytes();
  const size = HEADER_BYTES + 4 + name.length + 1 + 8;
  return headed(size, bytes, (head) => {
    putHeader(head, size + bytes.length, ids, operation.query);
    head.set(name, HEADER_BYTES + 4);
    putInt32(head, size - 4, -1);
  });
}

/** The answer to `request`, in the form in which it asked. */
export function encodeAnswer(
  request: Pick<WireMessage, 'kind' | 'requestId' | 'checksumPresent' | 'codec'>,
  { requestId, moreToCome }: { readonly requestId: number; readonly moreToCome: boolean },
  body: Document,
  codecs: readonly WireCodec[],
): Uint8Array[] {
  const ids = { requestId, responseTo: request.requestId };
  if (request.kind === 'query') return compressed(encodeReply(ids, body), request.codec, codecs);
  const checksum = request.checksumPresent && request.codec === undefined;
  return compressed(encodeMessage(ids, body, { checksum, moreToCome }), request.codec, codecs);
}

/** The message in OP_COMPRESSED by the codec of that id, or as it is when there is none. */
export function compressed(chunks: Uint8Array[], id: number | undefined, codecs: readonly WireCodec[]): Uint8Array[] {
  const codec = id === undefined ? undefined : codecs.find((candidate) => candidate.id === id);
  if (codec === undefined) return chunks;
  const whole = concatBytes(chunks);
  const content = whole.subarray(HEADER_BYTES);
  const target = new Uint8Array(HEADER_BYTES + 9 + codec.maxCompressedLength(content.length));
  const length = HEADER_BYTES + 9 + codec.compress(content, target.subarray(HEADER_BYTES + 9));
  target.set(whole.subarray(0, HEADER_BYTES));
  putInt32(target, 0, length);
  putInt32(target, 12, operation.compressed);
  target.set(whole.subarray(12, HEADER_BYTES), HEADER_BYTES);
  putInt32(target, HEADER_BYTES + 4, content.length);
  target[HEADER_BYTES + 8] = codec.id;
  return [target.subarray(0, length)];
}

function headed(size: number, document: Uint8Array, fill: (head: Uint8Array) => void): Uint8Array[] {
  const copy = document.length <= COPY_BYTES_MAX;
  const head = new Uint8Array(copy ? size + document.length : size);
  fill(head);
  if (!copy) return [head, document];
  head.set(document, size);
  return [head];
}
