// The block table: logical number -> place, length and, for meta blocks, checksum. Written whole with each checkpoint, as a meta image.
// Also the header that stands before every meta image, so that one can be recognised without the table (salvage) and a misdirected or stale
// one is never taken for another. Byte layout in docs/file-format.md, "Block table" and "Meta blocks".

import { ByteReader } from '../../base/byte-reader.ts';
import { ByteWriter } from '../../base/byte-writer.ts';
import { crc32c } from '../../base/crc32c.ts';
import { EngineError } from '../../base/errors.ts';
import { unitsFor } from './block-number.ts';

/** `data`: one copy, its checksums are in the fences that name it. `meta`: two copies, its checksum is in the table. */
export const blockKinds = { data: 0, meta: 1 } as const;

/** Where one version of a block lies. */
export interface BlockPlace {
  readonly number: number;
  readonly kind: (typeof blockKinds)[keyof typeof blockKinds];
  /** Unit of the first copy. */
  readonly first: number;
  /** Unit of the second copy; -1 for data. */
  readonly second: number;
  /** Bytes of the image, header of a meta image included. */
  readonly length: number;
  /** Of the whole meta image; 0 for data. */
  readonly checksum: number;
}

/** Appends one row. */
export function encodePlace(writer: ByteWriter, place: BlockPlace): void {
  writer.varint(place.number);
  writer.u8(place.kind);
  writer.varint(place.first);
  writer.varint(place.length);
  if (place.kind === blockKinds.data) return;
  writer.varint(place.second);
  writer.u32(place.checksum);
}

/** All rows; numbers are between 1 and `nextNumber`, each once. */
export function decodeBlockTable(payload: Uint8Array, nextNumber: number): BlockPlace[] {
  const reader = new ByteReader(payload);
  const count = reader.varint();
  if (count > reader.remaining) reader.fail('more blocks than bytes');
  const seen = new Set<number>();
  const places: BlockPlace[] = [];
  for (let i = 0; i < count; i++) {
    const place = decodePlace(reader);
    if (place.number === 0 || place.number >= nextNumber || seen.has(place.number)) reader.fail('a block number that was never given, or twice');
    if (place.length === 0) reader.fail('a block without bytes');
    seen.add(place.number);
    places.push(place);
  }
  reader.expectEnd();
  return places;
}

function decodePlace(reader: ByteReader): BlockPlace {
  const number = reader.varint();
  const kind = reader.u8();
  const first = reader.varint();
  const length = reader.varint();
  if (kind === blockKinds.data) return { number, kind, first, second: -1, length, checksum: 0 };
  if (kind !== blockKinds.meta) throw new EngineError('format', `a block of unknown kind ${String(kind)}`);
  return { number, kind, first, second: reader.varint(), length, checksum: reader.u32() };
}

/** The space that a place takes: one piece for each copy. */
export function piecesOf(place: BlockPlace): { start: number; units: number }[] {
  const units = unitsFor(place.length);
  const first = { start: place.first, units };
  return place.second < 0 ? [first] : [first, { start: place.second, units }];
}

const headerMagic = 0x54454d46; // "FMET"

/** Bytes before the payload of a meta image. */
const metaHeaderBytes = 32;

/** A meta image: header and payload. */
export function encodeMeta(number: number, generation: number, payload: Uint8Array): Uint8Array {
  const writer = new ByteWriter(metaHeaderBytes + payload.length);
  writer.u32(headerMagic);
  writer.u32(payload.length);
  writer.u64(number);
  writer.u64(generation);
  writer.u32(crc32c(payload));
  writer.u32(crc32c(writer.bytes()));
  writer.append(payload);
  return writer.bytes();
}

/** The payload of a meta image that must be that of `number` and have this checksum; undefined when it is damaged or another. */
export function decodeMeta(image: Uint8Array, number: number, checksum: number): Uint8Array | undefined {
  if (image.length < metaHeaderBytes || crc32c(image) !== checksum) return undefined;
  const reader = new ByteReader(image);
  const isMeta = reader.u32() === headerMagic;
  const length = reader.u32();
  if (!isMeta || length !== image.length - metaHeaderBytes || reader.u64() !== number) return undefined;
  return image.subarray(metaHeaderBytes);
}
