// The large values of a directory that may be damaged, read and never written.

import type { Env } from '../../env/index.ts';
import { segmentHeadBytes, segmentKinds } from '../blob/blob-image.ts';
import { BlobSegment } from '../blob/blob-segment.ts';
import { readValue } from '../blob/read-blob.ts';
import type { SegmentSource, WantedBlob } from '../blob/read-blob.ts';

/** Segments as they lie there, opened as they are wanted. */
export class FoundBlobs implements SegmentSource {
  readonly directory: string;
  readonly counters: { read: number } = { read: 0 };
  readonly #env: Env;
  readonly #segments: Map<number, BlobSegment> = new Map();

  constructor(env: Env, directory: string) {
    this.#env = env;
    this.directory = directory;
  }

  segment(number: number): BlobSegment {
    let segment = this.#segments.get(number);
    if (segment === undefined) {
      segment = new BlobSegment(this.directory, { number, kind: segmentKinds.keyed, end: segmentHeadBytes, isSealed: true });
      this.#segments.set(number, segment);
    }
    return segment;
  }

  /** A value; `corruption` with its place when it cannot be had. */
  async value(wanted: WantedBlob): Promise<Uint8Array> {
    return await readValue(this, this.#env, wanted);
  }

  async close(): Promise<void> {
    for (const segment of this.#segments.values()) await segment.close();
  }
}
