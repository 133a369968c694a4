// The block table: logical number -> place, length and, for meta blocks, checksum. Written whole with each checkpoint, as a meta image.
// Byte layout in docs/file-format.md, "Block table".

import { ByteReader } from '../../base/byte-reader.ts';
import { ByteWriter } from '../../base/byte-writer.ts';
import { crc32c } from '../../base/crc32c.ts';
import { EngineError } from '../../base/errors.ts';
import { blockTableNumber, unitsFor } from './block-number.ts';
import { metaHeaderBytes, sealMeta } from './meta-image.ts';
import type { MetaImage } from './meta-image.ts';

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
  /** Of a meta image's header; 0 for data. */
  readonly checksum: number;
}

/** Bytes of a row, roughly: to begin with memory that need not grow. */
const rowBytesExpected = 16;

/** The block table being written, row by row; a long one is written in slices between which others run. */
export class BlockTableWriter {
  readonly #writer: ByteWriter;
  /** Checksum of the rows up to `#summed`. */
  #checksum = 0;
  #summed = metaHeaderBytes;

  constructor(rowsExpected: number) {
    this.#writer = new ByteWriter(metaHeaderBytes + rowsExpected * rowBytesExpected);
    this.#writer.extend(metaHeaderBytes);
  }

  row(place: BlockPlace): void {
    const writer = this.#writer;
    writer.varint(place.number);
    writer.u8(place.kind);
    writer.varint(place.first);
    writer.varint(place.length);
    if (place.kind === blockKinds.data) return;
    writer.varint(place.second);
    writer.u32(place.checksum);
  }

  /** Ends a slice: takes its rows into the checksum. */
  endSlice(): void {
    this.#checksum = crc32c(this.#writer.bytes(), this.#summed, this.#writer.length, this.#checksum);
    this.#summed = this.#writer.length;
  }

  /** The meta image of the table; nothing is written after that. */
  finish(generation: number): MetaImage {
    this.endSlice();
    return sealMeta(this.#writer.bytes(), { number: blockTableNumber, generation, payloadChecksum: this.#checksum });
  }
}

/** All rows; numbers are between 1 and `nextNumber`, each once. */
export function decodeBlockTable(payload: Uint8Array, nextNumber: number): BlockPlace[] {
  const reader = new ByteReader(payload);
  const seen = new Set<number>();
  const places: BlockPlace[] = [];
  while (reader.remaining > 0) {
    const place = decodePlace(reader);
    if (place.number === 0 || place.number >= nextNumber || seen.has(place.number)) reader.fail('a block number that was never given, or twice');
    if (place.length === 0) reader.fail('a block without bytes');
    seen.add(place.number);
    places.push(place);
  }
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
