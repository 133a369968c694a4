// A document as a list of byte strings, for whoever writes it out at once: what is long and encoded already (the documents of a reply) is not copied
// once more, but stands in the list as it is.

import { ByteSink } from './byte-sink.ts';
import type { Document } from './document.ts';

/** The bytes of a document, one after the other; at least one byte string. They may be shared with others: nobody writes to them. */
export function documentChunks(document: Document): Uint8Array[] {
  return written(document).chunks();
}

/** How many bytes those are together: of a document that is not encoded, `byteLength` would make them as one and keep them. */
export function chunkedLength(document: Document): number {
  return written(document).total;
}

function written(document: Document): ByteSink {
  const sink = new ByteSink(256, true);
  document.writeTo(sink);
  return sink;
}
