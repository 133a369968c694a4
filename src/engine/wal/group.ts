// A group of the redo log: what one write and one sync make durable. It begins at a 4 KiB boundary, so no acknowledged byte is ever written
// again; its checksum is seeded with the segment's number, so that nothing of a recycled file's earlier life validates; and it carries the
// checksum of the group before, so that groups form a chain (laws 20 and 21). Layout in docs/file-format.md.

import { ByteReader } from '../../base/byte-reader.ts';
import { crc32c } from '../../base/crc32c.ts';
import type { EngineErrorPlace } from '../../base/errors.ts';

/** Groups begin at multiples of this. */
export const groupUnit = 4096;

const groupHeaderBytes = 56;
/** Length and checksum-free header of one record inside a group. */
export const recordHeaderBytes = 4;

const magic = 0x474c5246; // "FRLG"
const twoTo32 = 4294967296;

/** What a group's header says. */
export interface GroupHeader {
  readonly number: number;
  readonly firstSeq: number;
  /** Number of the segment it was written for. */
  readonly segment: number;
  readonly records: number;
  readonly payloadBytes: number;
  /** Checksum of this group. */
  readonly checksum: number;
  /** Checksum of the group before. */
  readonly chain: number;
  /** Number of a group that was durable, with all before it, when this one was written. */
  readonly synced: number;
}

/** Bytes that a group with this much payload takes. */
export function groupBytes(payloadBytes: number): number {
  return Math.ceil((groupHeaderBytes + payloadBytes) / groupUnit) * groupUnit;
}

/** Where a group stands. */
export interface GroupPlace {
  readonly segment: number;
  readonly number: number;
  readonly firstSeq: number;
  readonly chain: number;
  readonly synced: number;
}

/** Memory for images, used again group after group: one is in flight at a time. A rare large one is not kept. */
const keptBytes = 1024 * 1024;

/** Makes groups. The image of one is overwritten by the next. */
export class GroupEncoder {
  #memory: Uint8Array = new Uint8Array(groupUnit);

  /** A whole group, padded with zeros. Records are given in order of their seqs, which follow one another. */
  encode(bodies: readonly Uint8Array[], place: GroupPlace): { readonly image: Uint8Array; readonly checksum: number } {
    let payload = 0;
    for (const body of bodies) payload += recordHeaderBytes + body.length;
    const image = this.#room(groupBytes(payload));
    const view = new DataView(image.buffer, 0, image.length);
    view.setUint32(0, magic, true);
    view.setUint32(8, payload, true);
    view.setUint32(12, bodies.length, true);
    setU64(view, 16, place.number);
    setU64(view, 24, place.firstSeq);
    setU64(view, 32, place.segment);
    view.setUint32(40, place.chain, true);
    view.setUint32(44, 0, true);
    setU64(view, 48, place.synced);
    let at = groupHeaderBytes;
    for (const body of bodies) {
      view.setUint32(at, body.length, true);
      image.set(body, at + recordHeaderBytes);
      at += recordHeaderBytes + body.length;
    }
    image.fill(0, at);
    const checksum = checksumOf(image, at, place.segment);
    view.setUint32(4, checksum, true);
    return { image, checksum };
  }

  #room(bytes: number): Uint8Array {
    if (bytes > keptBytes) return new Uint8Array(bytes);
    if (bytes > this.#memory.length) this.#memory = new Uint8Array(Math.min(keptBytes, bytes * 2));
    return this.#memory.subarray(0, bytes);
  }
}

function setU64(view: DataView, at: number, value: number): void {
  view.setUint32(at, value % twoTo32, true);
  view.setUint32(at + 4, Math.floor(value / twoTo32), true);
}

function getU64(view: DataView, at: number): number {
  return view.getUint32(at + 4, true) * twoTo32 + view.getUint32(at, true);
}

function checksumOf(bytes: Uint8Array, end: number, segment: number): number {
  return crc32c(bytes, 8, end, (segment ^ Math.floor(segment / twoTo32)) >>> 0);
}

/** The header of the group at the start of `bytes`, if its magic and lengths are possible; its checksum is not looked at. */
export function groupHeader(bytes: Uint8Array): GroupHeader | undefined {
  if (bytes.length < groupHeaderBytes) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  if (view.getUint32(0, true) !== magic) return undefined;
  const number = getU64(view, 16);
  const firstSeq = getU64(view, 24);
  const segment = getU64(view, 32);
  const synced = getU64(view, 48);
  if (![number, firstSeq, segment, synced].every(Number.isSafeInteger)) return undefined;
  return {
    number, firstSeq, segment, records: view.getUint32(12, true), payloadBytes: view.getUint32(8, true), checksum: view.getUint32(4, true), chain: view.getUint32(40, true), synced,
  };
}

/** Whether `bytes` begin with a whole group of this segment. */
export function isGroup(bytes: Uint8Array, header: GroupHeader, segment: number): boolean {
  const end = groupHeaderBytes + header.payloadBytes;
  return end <= bytes.length && checksumOf(bytes, end, segment) === header.checksum;
}

/** The records of a whole group: views on `bytes`, with their seqs. Records that do not fill the group are `corruption` at `place`. */
export function recordsOf(bytes: Uint8Array, header: GroupHeader, place: EngineErrorPlace = {}): { readonly seq: number; readonly body: Uint8Array }[] {
  const reader = new ByteReader(bytes, { start: groupHeaderBytes, end: groupHeaderBytes + header.payloadBytes }, { code: 'corruption', place });
  const records: { seq: number; body: Uint8Array }[] = [];
  for (let i = 0; i < header.records; i++) records.push({ seq: header.firstSeq + i, body: reader.view(reader.u32()) });
  reader.expectEnd();
  return records;
}
