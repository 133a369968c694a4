// A document as a list of byte strings, for whoever writes it out at once: what is long and encoded already (the documents of a reply) is not copied
// once more, but stands in the list as it is.

import { pooledBytes } from '../base/bytes.ts';
import { ByteSink } from './byte-sink.ts';
import type { Document } from './document.ts';

/** Memory that documents are written into, one after the other; one that has grown is given away with what is in it. */
const sinkBytes = 4096;
const keptBytesMax = 64 * 1024;
let shared = new ByteSink(sinkBytes, true);

/**
 * The bytes of a document, one after the other, behind so many bytes of the first of these strings, which are the caller's to fill: it is his own, the
 * others may be shared and nobody writes to them.
 */
export function documentChunks(document: Document, free: number = 0): Uint8Array[] {
  const sink = shared;
  sink.reserve(free);
  sink.restart(free);
  document.writeTo(sink);
  if (sink.isShared || sink.length > keptBytesMax) {
    shared = new ByteSink(sinkBytes, true);
    return sink.chunks();
  }
  const whole = pooledBytes(sink.length);
  whole.set(sink.bytes.subarray(free, sink.length), free);
  return [whole];
}

/** How many bytes those are together: of a document that is not encoded, `byteLength` would make them as one and keep them. */
export function chunkedLength(document: Document): number {
  const sink = new ByteSink(256, true);
  document.writeTo(sink);
  return sink.total;
}
