// References: what the tree and the log hold of a large value that lies in a blob segment (law 23). A reference is the value of a message of kind
// `reference`; it travels through runs and merges as any value does. Layout in docs/file-format.md, "References".

import { ByteReader } from '../../base/byte-reader.ts';
import { ByteWriter } from '../../base/byte-writer.ts';

/** Where a blob lies, and what it must be. */
export interface BlobReference {
  readonly segment: number;
  readonly offset: number;
  /** Bytes of the blob in its segment, head and padding included. */
  readonly bytes: number;
  /** Length of the value. */
  readonly length: number;
  /** Checksum of the blob's head, which holds that of what follows. */
  readonly checksum: number;
}

/** The reference as the value of a message. */
export function encodeReference({ segment, offset, bytes, length, checksum }: BlobReference): Uint8Array {
  const writer = new ByteWriter(32);
  writer.varint(segment);
  writer.varint(offset);
  writer.varint(bytes);
  writer.varint(length);
  writer.u32(checksum);
  return writer.copy();
}

/** The reference in bytes[start, end); anything else is EngineError `corruption`. */
export function decodeReference(bytes: Uint8Array, start = 0, end: number = bytes.length): BlobReference {
  const reader = new ByteReader(bytes.subarray(start, end));
  const reference = { segment: reader.varint(), offset: reader.varint(), bytes: reader.varint(), length: reader.varint(), checksum: reader.u32() };
  reader.expectEnd();
  return reference;
}

/** Bytes of blobs by segment: what some messages refer to, or a change of it. */
export type BlobTally = ReadonlyMap<number, number>;

export const noBlobs: BlobTally = new Map();

/** Counts references. */
export class BlobCounter {
  #bytes: Map<number, number> | undefined;

  /** Counts the reference in bytes[start, end). */
  add(bytes: Uint8Array, start: number, end: number): void {
    const reference = decodeReference(bytes, start, end);
    this.#bytes ??= new Map();
    this.#bytes.set(reference.segment, (this.#bytes.get(reference.segment) ?? 0) + reference.bytes);
  }

  /** What was counted; the counter is empty afterwards. */
  take(): BlobTally {
    const tally = this.#bytes ?? noBlobs;
    this.#bytes = undefined;
    return tally;
  }
}

/** Bytes in all segments. */
export function tallyBytes(tally: BlobTally): number {
  let sum = 0;
  for (const bytes of tally.values()) sum += bytes;
  return sum;
}
