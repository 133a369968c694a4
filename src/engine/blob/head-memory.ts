// Heads of blobs that were read lately: a player reads one large value by many parts, and each would read, and check, the same head again. A place of a
// segment is written once, so a head that was right stays so; whose it is and where it lies is compared with what is wanted each time (law 23).

import type { BlobHead } from './blob-image.ts';

/** A head that was whole, and its checksum. */
export interface KnownHead {
  readonly head: BlobHead;
  readonly checksum: number;
}

/** Bytes that are kept before all are forgotten. */
const keptBytesMax = 2 * 1024 * 1024;
/** What a head takes beside its key and checksums. */
const headCost = 300;
/** Offsets are below this. */
const offsetMax = 2 ** 36;

/** Heads by where they lie. */
export class HeadMemory {
  readonly #heads: Map<number, KnownHead> = new Map();
  #bytes = 0;

  find(segment: number, offset: number): KnownHead | undefined {
    return this.#heads.get(segment * offsetMax + offset);
  }

  /** Keeps a head; its key is copied. */
  keep({ head, checksum }: KnownHead): void {
    const place = head.segment * offsetMax + head.offset;
    // Beyond that numbers are not exact, and two places could be one.
    if (place > Number.MAX_SAFE_INTEGER || head.offset >= offsetMax) return;
    const cost = headCost + head.key.length + head.checksums.byteLength;
    if (this.#bytes + cost > keptBytesMax) {
      this.#heads.clear();
      this.#bytes = 0;
    }
    if (!this.#heads.has(place)) this.#bytes += cost;
    this.#heads.set(place, { checksum, head: { ...head, key: head.key.slice() } });
  }
}
