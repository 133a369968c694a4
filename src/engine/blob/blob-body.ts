// The body of a blob: the value as it is, or compressed in pieces of 1 MiB, so that no step holds the event loop for long. Whether compressing pays
// is tried on samples first: most large values are pictures, films and archives. Layout in docs/file-format.md, "Blob segments".

import { EngineError } from '../../base/errors.ts';
import { BlockHash, hashedBlockBytes } from '../../base/block-hash.ts';
import { blockBytes } from './blob-image.ts';
import type { Codec, Codecs, Tasks } from '../../env/index.ts';

/** A body as it is stored. */
export interface BlobBody {
  readonly bytes: Uint8Array;
  readonly checksums: Uint32Array;
  readonly codec: number;
}

const pieceBytes = 1024 * 1024;
const sampleBytes = 4096;
const samples = 3;
/** A value that does not shrink to this part of itself is stored as it is: reading it then costs no more than reading. */
const shrinks = 0.9;
/** In the table of pieces: this one is as it was. */
const plainPiece = 0x80000000;

/** The body of a value, compressed where that pays; else it is the value itself, not a copy. */
export async function encodeBody(value: Uint8Array, codec: Codec, tasks: Tasks): Promise<BlobBody> {
  const compressed = codec.id !== 0 && isWorth(value, codec) ? await compress(value, codec, tasks) : undefined;
  const bytes = compressed ?? value;
  return { bytes, checksums: checksumsOf(bytes), codec: compressed === undefined ? 0 : codec.id };
}

/** Other bytes are hashed by way of this. */
const passing = new BlockHash(8 * blockBytes);

/** Tells `found` the checksum of each block, in order; false as soon as that is. */
function eachChecksum(bytes: Uint8Array, found: (checksum: number, block: number) => boolean): boolean {
  const own = BlockHash.over(bytes);
  if (own !== undefined) return own.each(bytes.byteOffset, bytes.byteOffset + bytes.length, found);
  const { memory } = passing;
  for (let from = 0; from < bytes.length; from += memory.length) {
    const piece = bytes.subarray(from, from + memory.length);
    memory.set(piece);
    const first = from / hashedBlockBytes;
    if (!passing.each(0, piece.length, (checksum, block) => found(checksum, first + block))) return false;
  }
  return true;
}

/** The checksums of a body. */
function checksumsOf(bytes: Uint8Array): Uint32Array {
  const checksums = new Uint32Array(Math.ceil(bytes.length / blockBytes));
  eachChecksum(bytes, (checksum, block) => {
    checksums[block] = checksum;
    return true;
  });
  return checksums;
}

/** Whether `bytes` are those of the body from block `first` on, whole blocks or up to its end. */
export function isBody(bytes: Uint8Array, checksums: Uint32Array, first = 0): boolean {
  return eachChecksum(bytes, (checksum, block) => checksum === checksums[first + block]);
}

/** The table of pieces and the pieces; undefined when they are not clearly smaller. */
async function compress(value: Uint8Array, codec: Codec, tasks: Tasks): Promise<Uint8Array | undefined> {
  const count = Math.ceil(value.length / pieceBytes);
  const most = 4 * count + Math.floor(value.length * shrinks);
  const bytes = new Uint8Array(most + codec.maxCompressedLength(Math.min(pieceBytes, value.length)));
  const table = new DataView(bytes.buffer);
  let at = 4 * count;
  for (let i = 0; i < count; i++) {
    if (i > 0) await tasks.pause();
    const piece = value.subarray(i * pieceBytes, (i + 1) * pieceBytes);
    let length = codec.compress(piece, bytes.subarray(at));
    const isPlain = length >= piece.length;
    if (isPlain) {
      length = piece.length;
      bytes.set(piece, at);
    }
    table.setUint32(i * 4, isPlain ? (length | plainPiece) >>> 0 : length, true);
    at += length;
    if (at > most) return undefined;
  }
  return bytes.subarray(0, at);
}

/** Whether one of some samples shrinks. */
function isWorth(value: Uint8Array, codec: Codec): boolean {
  const target = new Uint8Array(codec.maxCompressedLength(sampleBytes));
  for (let i = 1; i <= samples; i++) {
    const from = Math.floor((value.length * i) / (samples + 1));
    const sample = value.subarray(from, from + sampleBytes);
    if (sample.length > 0 && codec.compress(sample, target) < sample.length * shrinks) return true;
  }
  return false;
}

/** The value of a compressed body of one piece, at once; undefined: it has more. */
export function decodeOnePiece(body: Uint8Array, length: number, codec: Codec): Uint8Array | undefined {
  return length <= pieceBytes ? decodePiece(body, { at: 4, entry: entryOf(body, 0) }, new Uint8Array(length), codec) : undefined;
}

/** The value of a compressed body; anything else is EngineError `corruption`. */
export async function decodeBody(body: Uint8Array, length: number, from: { readonly codecs: Codecs; readonly codec: number; readonly tasks: Tasks }): Promise<Uint8Array> {
  const codec = from.codecs.byId(from.codec);
  const value = new Uint8Array(length);
  const count = Math.ceil(length / pieceBytes);
  let at = 4 * count;
  for (let i = 0; i < count; i++) {
    if (i > 0) await from.tasks.pause();
    const entry = entryOf(body, i);
    decodePiece(body, { at, entry }, value.subarray(i * pieceBytes, (i + 1) * pieceBytes), codec);
    at += (entry & ~plainPiece) >>> 0;
  }
  return value;
}

function entryOf(body: Uint8Array, index: number): number {
  if (body.length < 4 * index + 4) throw new EngineError('corruption', 'a large value without its table of pieces');
  return new DataView(body.buffer, body.byteOffset, body.byteLength).getUint32(4 * index, true);
}

function decodePiece(body: Uint8Array, { at, entry }: { readonly at: number; readonly entry: number }, target: Uint8Array, codec: Codec): Uint8Array {
  const stored = body.subarray(at, at + ((entry & ~plainPiece) >>> 0));
  if ((entry & plainPiece) === 0) codec.decompress(stored, target);
  else if (stored.length === target.length) target.set(stored);
  else throw new EngineError('corruption', 'a piece of a large value has another length');
  return target;
}
