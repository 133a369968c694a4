// What lies in a blob segment: a head of the file, then blobs, each at a multiple of 16. A blob's head says where it lies and whose it is, so a
// blob that is met without its reference can be asked for it, and one in another's place is seen (law 23). The head's checksum, which the reference
// repeats, covers those of the body, one for each 16 KiB, so that a part of it is checked by itself. Layout in docs/file-format.md, "Blob segments".

import { hashedBlockBytes } from '../../base/block-hash.ts';
import { crc32c } from '../../base/crc32c.ts';
import { EngineError } from '../../base/errors.ts';

/** Blobs begin at multiples of this. */
export const blobUnit = 16;

/** `keyed`: blobs name their dictionary and key. `stamped`: rows whose key came with the commit; they are not moved, for they go in the order they came. */
export const segmentKinds = { keyed: 0, stamped: 1 } as const;

/** What a segment is for. */
export type SegmentKind = (typeof segmentKinds)[keyof typeof segmentKinds];

const fileMagic = 0x53424c42; // BLBS
const blobMagic = 0x424f4c42; // BLOB
const fileVersion = 1;

/** Bytes before the first blob. */
export const segmentHeadBytes = 32;
/** Bytes of a blob's head without its key. */
export const fixedHeadBytes = 52;
/** A body has a checksum for each stretch of so many bytes. */
export const blockBytes: number = hashedBlockBytes;

/** Longest key and value that are believed. */
const lengthMax = 2 ** 26;

/** The head of a segment file. */
export function encodeSegmentHead(segment: number, kind: SegmentKind): Uint8Array {
  const head = new Uint8Array(segmentHeadBytes);
  const view = new DataView(head.buffer);
  view.setUint32(0, fileMagic, true);
  view.setUint32(4, fileVersion, true);
  setU64(view, 8, segment);
  view.setUint32(16, kind, true);
  view.setUint32(28, crc32c(head, 0, 28), true);
  return head;
}

/** The kind of a segment by its head; undefined where it is not that segment's. A later version is EngineError `format`. */
export function decodeSegmentHead(head: Uint8Array, segment: number): SegmentKind | undefined {
  if (head.length < segmentHeadBytes) return undefined;
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  if (view.getUint32(0, true) !== fileMagic || view.getUint32(28, true) !== crc32c(head, 0, 28) || getU64(view, 8) !== segment) return undefined;
  if (view.getUint32(4, true) !== fileVersion) throw new EngineError('format', `a blob segment of unknown version ${view.getUint32(4, true)}`);
  return view.getUint32(16, true) === segmentKinds.stamped ? segmentKinds.stamped : segmentKinds.keyed;
}

/** What a blob's head says. */
export interface BlobHead {
  readonly segment: number;
  readonly offset: number;
  /** 0 where the commit gave dictionary and key. */
  readonly dictionary: number;
  readonly key: Uint8Array;
  /** Length of the value. */
  readonly length: number;
  /** Length of the body as it is stored. */
  readonly stored: number;
  /** Checksums of the body as it is stored, one for each block. */
  readonly checksums: Uint32Array;
  /** Compression method of the body. */
  readonly codec: number;
}

/** Bytes before the body. */
export function headBytes(keyLength: number, stored: number): number {
  return fixedHeadBytes + keyLength + 4 * Math.ceil(stored / blockBytes);
}

/** Bytes of a blob in its segment. */
export function blobBytes(keyLength: number, stored: number): number {
  return Math.ceil((headBytes(keyLength, stored) + stored) / blobUnit) * blobUnit;
}

/** The bytes of a head, key and checksums included, and its checksum. */
export function encodeBlobHead(head: BlobHead): { readonly bytes: Uint8Array; readonly checksum: number } {
  const bytes = new Uint8Array(headBytes(head.key.length, head.stored));
  const view = new DataView(bytes.buffer);
  view.setUint32(0, blobMagic, true);
  setU64(view, 8, head.segment);
  setU64(view, 16, head.offset);
  setU64(view, 24, head.dictionary);
  view.setUint32(32, head.key.length, true);
  view.setUint32(36, head.length, true);
  view.setUint32(40, head.stored, true);
  view.setUint32(44, blockBytes, true);
  view.setUint32(48, head.codec, true);
  bytes.set(head.key, fixedHeadBytes);
  for (const [i, checksum] of head.checksums.entries()) view.setUint32(fixedHeadBytes + head.key.length + 4 * i, checksum, true);
  const checksum = crc32c(bytes, 8, bytes.length);
  view.setUint32(4, checksum, true);
  return { bytes, checksum };
}

/** A head at the beginning of `bytes` that is whole, and its checksum; `more`: so many bytes are needed to tell. */
export function decodeBlobHead(bytes: Uint8Array, at: number = 0): { readonly head: BlobHead; readonly checksum: number } | { readonly more: number } | undefined {
  if (bytes.length < at + fixedHeadBytes) return { more: fixedHeadBytes };
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.getUint32(at, true) !== blobMagic) return undefined;
  const [keyLength, length, stored] = [view.getUint32(at + 32, true), view.getUint32(at + 36, true), view.getUint32(at + 40, true)];
  if (keyLength > lengthMax || length > lengthMax || stored > lengthMax) return undefined;
  if (view.getUint32(at + 44, true) !== blockBytes) return undefined;
  const keyEnd = at + fixedHeadBytes + keyLength;
  const end = at + headBytes(keyLength, stored);
  if (bytes.length < end) return { more: end - at };
  const checksum = view.getUint32(at + 4, true);
  if (checksum !== crc32c(bytes, at + 8, end)) return undefined;
  return {
    checksum,
    head: {
      segment: getU64(view, at + 8), offset: getU64(view, at + 16), dictionary: getU64(view, at + 24), key: bytes.subarray(at + fixedHeadBytes, keyEnd),
      length, stored, checksums: Uint32Array.from({ length: (end - keyEnd) / 4 }, (_, i) => view.getUint32(keyEnd + 4 * i, true)), codec: view.getUint32(at + 48, true),
    },
  };
}

function setU64(view: DataView, at: number, value: number): void {
  view.setUint32(at, value % 0x100000000, true);
  view.setUint32(at + 4, Math.floor(value / 0x100000000), true);
}

function getU64(view: DataView, at: number): number {
  return view.getUint32(at + 4, true) * 0x100000000 + view.getUint32(at, true);
}
