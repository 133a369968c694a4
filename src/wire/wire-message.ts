// A message of the wire, read: OP_MSG with all its sections, OP_QUERY on `$cmd`, either of them inside OP_COMPRESSED. Hostile bytes end in
// a CommandError, never in a read outside the message: lengths are held against the true end, documents go through the one audited walker.

import { crc32c } from '../base/crc32c.ts';
import { CommandError } from '../base/errors.ts';
import { Document, DocumentList, validateDocument, type Documents, type Value } from '../bson/index.ts';
import { DOCUMENT_BYTES_MAX, HEADER_BYTES, MESSAGE_BYTES_MAX, messageFlag, operation, protocolError, SEQUENCE_DOCUMENTS_MAX, SEQUENCES_MAX } from './protocol.ts';

/** A compression method of the wire; its id is the protocol's (2 zlib, 3 zstd). */
export interface WireCodec {
  readonly id: number;
  readonly name: string;
  maxCompressedLength(length: number): number;
  compress(source: Uint8Array, target: Uint8Array): number;
  decompress(source: Uint8Array, target: Uint8Array): number;
}

/** One request, or one reply when a client reads it. */
export interface WireMessage {
  readonly requestId: number;
  readonly responseTo: number;
  readonly kind: 'message' | 'query' | 'reply';
  readonly body: Document;
  readonly sequences: ReadonlyMap<string, Documents>;
  readonly checksumPresent: boolean;
  readonly moreToCome: boolean;
  readonly exhaustAllowed: boolean;
  /** Namespace of an OP_QUERY. */
  readonly namespace: string | undefined;
  /** Id of the codec it came with; a reply uses the same. */
  readonly codec: number | undefined;
}

const NO_SEQUENCES: ReadonlyMap<string, Documents> = new Map();
const REQUIRED_BITS = 0xffff;
const KNOWN_REQUIRED_BITS = messageFlag.checksumPresent | messageFlag.moreToCome;

function int32(bytes: Uint8Array, offset: number): number {
  return (
    (bytes[offset] as number) |
    ((bytes[offset + 1] as number) << 8) |
    ((bytes[offset + 2] as number) << 16) |
    ((bytes[offset + 3] as number) << 24)
  );
}

/** Request id of a message whose header is whole, to answer it when the rest cannot be read. */
export function requestIdOf(bytes: Uint8Array): number {
  return int32(bytes, 4);
}

/**
 * Reads one whole message. `codecs` are those agreed on: any other is refused. A message of which nothing can be understood is a protocol
 * error (17); one whose documents are not valid BSON is InvalidBSON (22) and can be answered.
 */
export function parseMessage(bytes: Uint8Array, codecs: readonly WireCodec[]): WireMessage {
  const code = int32(bytes, 12);
  if (code !== operation.compressed) return parseOperation(bytes, code, HEADER_BYTES, undefined);
  const { code: inner, codec, content } = expand(bytes, codecs);
  return parseOperation(content, inner, HEADER_BYTES, codec);
}

/** How long the message is when it is decompressed; 0: it is not compressed. What is claimed may be false. */
export function expandedLength(bytes: Uint8Array): number {
  if (bytes.length < HEADER_BYTES + 9 || int32(bytes, 12) !== operation.compressed) return 0;
  return Math.min(MESSAGE_BYTES_MAX, Math.max(0, int32(bytes, HEADER_BYTES + 4)));
}

function parseOperation(bytes: Uint8Array, code: number, at: number, codec: number | undefined): WireMessage {
  if (code === operation.message) return parseOpMessage(bytes, at, codec);
  if (code === operation.query) return parseOpQuery(bytes, at, codec);
  if (code === operation.reply) return parseOpReply(bytes, at, codec);
  throw protocolError(`unsupported operation code ${String(code)}`);
}

/** Decompresses into the claimed size; the result has room for a header, of which the first 12 bytes are the outer one's. */
function expand(bytes: Uint8Array, codecs: readonly WireCodec[]): { code: number; codec: number; content: Uint8Array } {
  if (bytes.length < HEADER_BYTES + 9) throw protocolError('compressed message is too short');
  const code = int32(bytes, HEADER_BYTES);
  const size = int32(bytes, HEADER_BYTES + 4);
  const id = bytes[HEADER_BYTES + 8] as number;
  const source = bytes.subarray(HEADER_BYTES + 9);
  if (code === operation.compressed) throw protocolError('compressed message inside a compressed message');
  if (size < 0 || size > MESSAGE_BYTES_MAX - HEADER_BYTES) throw protocolError(`uncompressed size ${String(size)} is not allowed`);
  const content = new Uint8Array(HEADER_BYTES + size);
  content.set(bytes.subarray(0, 12));
  const target = content.subarray(HEADER_BYTES);
  if (id === 0) {
    if (source.length !== size) throw protocolError('size of a message compressed by noop is not its own');
    target.set(source);
    return { code, codec: id, content };
  }
  const codec = codecs.find((candidate) => candidate.id === id);
  if (codec === undefined) throw protocolError(`compressor ${String(id)} was not negotiated`);
  try {
    codec.decompress(source, target);
  } catch (cause) {
    const error = protocolError(`message compressed by ${codec.name} cannot be decompressed`);
    error.cause = cause;
    throw error;
  }
  return { code, codec: id, content };
}

function parseOpMessage(bytes: Uint8Array, at: number, codec: number | undefined): WireMessage {
  if (bytes.length < at + 4) throw protocolError('OP_MSG without flags');
  const flags = int32(bytes, at);
  const unknown = flags & REQUIRED_BITS & ~KNOWN_REQUIRED_BITS;
  if (unknown !== 0) throw protocolError(`OP_MSG has unknown required flag bits ${String(unknown)}`);
  const checksumPresent = (flags & messageFlag.checksumPresent) !== 0;
  let end = bytes.length;
  if (checksumPresent) {
    end -= 4;
    if (end < at + 4) throw protocolError('OP_MSG is too short for its checksum');
    // A message inside OP_COMPRESSED has no header of its own to be part of the sum; the outer one is not checked again.
    if (codec === undefined && crc32c(bytes, 0, end) !== int32(bytes, end) >>> 0) throw protocolError('OP_MSG checksum does not match');
  }
  const { body, sequences } = parseSections(bytes, at + 4, end);
  return {
    requestId: int32(bytes, 4),
    responseTo: int32(bytes, 8),
    kind: 'message',
    body,
    sequences,
    checksumPresent,
    moreToCome: (flags & messageFlag.moreToCome) !== 0,
    exhaustAllowed: (flags & messageFlag.exhaustAllowed) !== 0,
    namespace: undefined,
    codec,
  };
}

function parseSections(
  bytes: Uint8Array,
  start: number,
  end: number,
): { body: Document; sequences: ReadonlyMap<string, Documents> } {
  let body: Document | undefined;
  let sequences: Map<string, Documents> | undefined;
  let at = start;
  while (at < end) {
    const kind = bytes[at] as number;
    if (kind === 0) {
      if (body !== undefined) throw protocolError('OP_MSG has two body sections');
      body = readDocument(bytes, at + 1, end);
      at += 1 + body.byteLength;
    } else if (kind === 1) {
      const sequence = readSequence(bytes, at + 1, end);
      sequences ??= new Map();
      if (sequences.size >= SEQUENCES_MAX) throw protocolError(`OP_MSG has more than ${String(SEQUENCES_MAX)} sequences`);
      if (sequences.has(sequence.name)) throw protocolError(`OP_MSG has two sequences named ${sequence.name}`);
      sequences.set(sequence.name, sequence.documents);
      at = sequence.end;
    } else {
      throw protocolError(`OP_MSG has a section of unknown kind ${String(kind)}`);
    }
  }
  if (body === undefined) throw protocolError('OP_MSG has no body section');
  return { body, sequences: sequences ?? NO_SEQUENCES };
}

function readSequence(bytes: Uint8Array, at: number, end: number): { name: string; documents: Documents; end: number } {
  const length = at + 4 <= end ? int32(bytes, at) : -1;
  if (length < 5 || at + length > end) throw protocolError('document sequence is longer than its message');
  const sequenceEnd = at + length;
  const name = readCString(bytes, at + 4, sequenceEnd);
  const starts: number[] = [];
  let position = name.end;
  while (position < sequenceEnd) {
    if (starts.length === SEQUENCE_DOCUMENTS_MAX) throw tooMany(starts.length + countDocuments(bytes, position, sequenceEnd));
    starts.push(position);
    position = checkDocument(bytes, position, sequenceEnd);
  }
  return { name: name.text, documents: DocumentList.inBytes(bytes, starts), end: sequenceEnd };
}

function readDocument(bytes: Uint8Array, at: number, end: number): Document {
  checkDocument(bytes, at, end);
  return Document.fromBytes(bytes, at);
}

/** The offset behind the document that begins at `at`, which is valid. */
function checkDocument(bytes: Uint8Array, at: number, end: number): number {
  const length = at + 4 <= end ? int32(bytes, at) : -1;
  if (length < 5 || at + length > end) throw protocolError('document is longer than its message');
  if (length > DOCUMENT_BYTES_MAX) {
    const text = `BSONObj size: ${String(length)} (0x${length.toString(16).toUpperCase()}) is invalid. Size must be between 0 and ${String(DOCUMENT_BYTES_MAX)}(16MB)`;
    throw new CommandError(10334, 'BSONObjectTooLarge', text);
  }
  validateDocument(bytes, at, at + length);
  return at + length;
}

/** How many documents there are up to `end`; nothing of them is looked at but their lengths. */
function countDocuments(bytes: Uint8Array, at: number, end: number): number {
  let count = 0;
  for (let position = at; position < end; count++) {
    const length = position + 4 <= end ? int32(bytes, position) : -1;
    if (length < 5 || position + length > end) throw protocolError('document is longer than its message');
    position += length;
  }
  return count;
}

function tooMany(count: number): CommandError {
  return new CommandError(16, 'InvalidLength', `Write batch sizes must be between 1 and ${String(SEQUENCE_DOCUMENTS_MAX)}. Got ${String(count)} operations.`);
}

function readCString(bytes: Uint8Array, at: number, end: number): { text: string; end: number } {
  const zero = bytes.indexOf(0, at);
  if (zero < 0 || zero >= end) throw protocolError('name without an end');
  return { text: new TextDecoder().decode(bytes.subarray(at, zero)), end: zero + 1 };
}

function parseOpQuery(bytes: Uint8Array, at: number, codec: number | undefined): WireMessage {
  const namespace = readCString(bytes, at + 4, bytes.length);
  const query = readDocument(bytes, namespace.end + 8, bytes.length);
  return {
    requestId: int32(bytes, 4),
    responseTo: int32(bytes, 8),
    kind: 'query',
    body: unwrapQuery(query),
    sequences: NO_SEQUENCES,
    checksumPresent: false,
    moreToCome: false,
    exhaustAllowed: false,
    namespace: namespace.text,
    codec,
  };
}

/** Old drivers put a command into `$query` beside a read preference. */
function unwrapQuery(query: Document): Document {
  const first = query.first;
  if (first === undefined || (first[0] !== '$query' && first[0] !== 'query')) return query;
  const command = first[1];
  if (!(command instanceof Document)) return query;
  const further: (readonly [string, Value])[] = query.fields.filter(([name]) => name === '$readPreference');
  return further.length === 0 ? command : Document.fromEntries([...command.fields, ...further]);
}

function parseOpReply(bytes: Uint8Array, at: number, codec: number | undefined): WireMessage {
  if (bytes.length < at + 20) throw protocolError('OP_REPLY is too short');
  const documents: Document[] = [];
  for (let position = at + 20; position < bytes.length; ) {
    const document = readDocument(bytes, position, bytes.length);
    documents.push(document);
    position += document.byteLength;
  }
  return {
    requestId: int32(bytes, 4),
    responseTo: int32(bytes, 8),
    kind: 'reply',
    body: documents[0] ?? Document.empty,
    sequences: NO_SEQUENCES,
    checksumPresent: false,
    moreToCome: false,
    exhaustAllowed: false,
    namespace: undefined,
    codec,
  };
}
