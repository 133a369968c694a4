// zlib (RFC 1950) through Node's synchronous calls; the result is copied into the caller's memory. The output limit is the target's
// length, so a small input that claims to be gigabytes costs nothing.

import * as zlib from 'node:zlib';
import { EngineError } from '../base/errors.ts';
import type { Codec } from './codec.ts';
import { bytesPassed } from './garbage.ts';

/** Fast and still clearly smaller than LZ4; level 6 costs three times the time for a few per cent. */
const level = 1;

/** The collector of garbage is told of arrays of this length. */
const watchedBytesMin = 256 * 1024;

/** Smaller buffers Node refuses. */
const smallestChunk = 64;

/** Method 2. */
export const zlibCodec: Codec = {
  id: 2,
  name: 'zlib',

  maxCompressedLength(length: number): number {
    return length + (length >>> 10) + 64;
  },

  compress(source: Uint8Array, target: Uint8Array): number {
    const packed = zlib.deflateSync(source, { level });
    target.set(packed);
    return packed.length;
  },

  decompress(source: Uint8Array, target: Uint8Array): number {
    const maxOutputLength = Math.max(1, target.length);
    // In one piece: Node would gather small ones, and hold them beside the whole.
    const chunkSize = Math.max(smallestChunk, target.length);
    return unpackInto(target, () => zlib.inflateSync(source, { maxOutputLength, chunkSize }));
  },
};

/** Runs a decompressor of Node and copies what it gives into `target`, which it must fill exactly. */
export function unpackInto(target: Uint8Array, unpack: () => Uint8Array): number {
  let unpacked: Uint8Array;
  try {
    unpacked = unpack();
  } catch (cause) {
    throw new EngineError('corruption', 'compressed bytes are damaged', { cause });
  }
  if (unpacked.length !== target.length) throw wrongLength(unpacked.length, target.length);
  target.set(unpacked);
  if (target.length >= watchedBytesMin) bytesPassed(2 * target.length);
  return unpacked.length;
}

/** The error of bytes that decompress to another length than they had. */
export function wrongLength(actual: number, expected: number): EngineError {
  return new EngineError('corruption', `compressed bytes give ${String(actual)} bytes, not ${String(expected)}`);
}
