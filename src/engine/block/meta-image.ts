// The header that stands before every meta image, so that one can be recognised without the table (salvage), and a misdirected or stale one
// is never taken for another. Whoever names an image holds the checksum of its header, which holds that of the payload.
// Byte layout in docs/file-format.md, "Meta images".

import { ByteReader } from '../../base/byte-reader.ts';
import { crc32c } from '../../base/crc32c.ts';

const magic = 0x54454d46; // "FMET"

/** Bytes before the payload. */
export const metaHeaderBytes = 32;

/** Bytes of the header that its checksum covers. */
const summedBytes = 28;

/** An image, and the checksum by which it is named. */
export interface MetaImage {
  readonly bytes: Uint8Array;
  readonly checksum: number;
}

/** The image of a payload, which is copied. */
export function encodeMeta(number: number, generation: number, payload: Uint8Array): MetaImage {
  const bytes = new Uint8Array(metaHeaderBytes + payload.length);
  bytes.set(payload, metaHeaderBytes);
  return sealMeta(bytes, { number, generation, payloadChecksum: crc32c(payload) });
}

/** Writes the header before a payload that lies in `bytes` behind room for it. */
export function sealMeta(bytes: Uint8Array, header: { readonly number: number; readonly generation: number; readonly payloadChecksum: number }): MetaImage {
  const view = new DataView(bytes.buffer, bytes.byteOffset, metaHeaderBytes);
  view.setUint32(0, magic, true);
  view.setUint32(4, bytes.length - metaHeaderBytes, true);
  setU64(view, 8, header.number);
  setU64(view, 16, header.generation);
  view.setUint32(24, header.payloadChecksum, true);
  const checksum = crc32c(bytes, 0, summedBytes);
  view.setUint32(summedBytes, checksum, true);
  return { bytes, checksum };
}

function setU64(view: DataView, at: number, value: number): void {
  view.setUint32(at, value % 0x100000000, true);
  view.setUint32(at + 4, Math.floor(value / 0x100000000), true);
}

/** The payload (a view) of a meta image that must be that of `number` and have this checksum; undefined when it is damaged or another. */
export function decodeMeta(image: Uint8Array, number: number, checksum: number): Uint8Array | undefined {
  if (image.length < metaHeaderBytes || crc32c(image, 0, summedBytes) !== checksum) return undefined;
  const reader = new ByteReader(image);
  const isMeta = reader.u32() === magic;
  const length = reader.u32();
  if (!isMeta || length !== image.length - metaHeaderBytes || reader.u64() !== number) return undefined;
  reader.u64();
  const payloadChecksum = reader.u32();
  if (reader.u32() !== checksum || crc32c(image, metaHeaderBytes) !== payloadChecksum) return undefined;
  return image.subarray(metaHeaderBytes);
}
