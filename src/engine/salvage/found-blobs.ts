// The large values of a directory that may be damaged, read and never written: by reference, and, where references are lost, by the key that
// each blob names. Of the blobs of one key the last that was written counts; whether that was ever committed, or removed since, it does not say.

import { compareBytes } from '../../base/bytes.ts';
import type { Env } from '../../env/index.ts';
import { blobBytes, segmentHeadBytes, segmentKinds } from '../blob/blob-image.ts';
import { BlobSegment, headsOf, listBlobSegments } from '../blob/blob-segment.ts';
import { readValue } from '../blob/read-blob.ts';
import type { SegmentSource, WantedBlob } from '../blob/read-blob.ts';
import { encodeReference } from '../run/blob-reference.ts';
import type { BlobReference } from '../run/blob-reference.ts';
import { messageKinds } from '../run/message.ts';
import { RunBuilder } from '../run/run-builder.ts';
import type { Run } from '../run/run.ts';
import { damageOf, isDamage } from './damage.ts';
import type { DamageSink } from './damage.ts';

/** A blob, and the key that it names. */
interface NamedBlob {
  readonly key: Uint8Array;
  readonly place: BlobReference;
}

/** Keys of which the references are lost; absent bounds are open. */
export interface LostKeys {
  readonly from: Uint8Array | undefined;
  /** Outside, or inside where it is the last key. */
  readonly to: Uint8Array | undefined;
  readonly withTo?: boolean;
  /** Where the blobs must lie; absent: anywhere. */
  readonly segments?: ReadonlySet<number>;
}

/** Segments as they lie there, opened as they are wanted. */
export class FoundBlobs implements SegmentSource {
  readonly directory: string;
  readonly counters: { read: number } = { read: 0 };
  readonly #env: Env;
  readonly #report: DamageSink;
  readonly #segments: Map<number, BlobSegment> = new Map();
  /** All blobs of the dictionary that was asked for last, by key, of one key the newest first. */
  #named: { readonly dictionary: number; readonly blobs: readonly NamedBlob[] } | undefined;

  constructor(env: Env, directory: string, report: DamageSink) {
    this.#env = env;
    this.directory = directory;
    this.#report = report;
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

  /** References to the blobs that name such keys of a dictionary, of each key the newest, as messages of this seq. */
  async referencesTo(dictionary: number, { from, to, withTo = false, segments }: LostKeys, seq: number): Promise<Run> {
    if (this.#named?.dictionary !== dictionary) this.#named = { dictionary, blobs: await this.#namedBy(dictionary) };
    const { blobs } = this.#named;
    const builder = new RunBuilder();
    let last: Uint8Array | undefined;
    for (let i = from === undefined ? 0 : lowerBound(blobs, from); i < blobs.length; i++) {
      const { key, place } = blobs[i] as NamedBlob;
      const order = to === undefined ? -1 : compareBytes(key, to);
      if (order > 0 || (order === 0 && !withTo)) break;
      if (segments?.has(place.segment) === false || (last !== undefined && compareBytes(last, key) === 0)) continue;
      builder.appendMessage({ key, value: encodeReference(place), kind: messageKinds.reference, seq });
      last = key;
    }
    return builder.finish();
  }

  async #namedBy(dictionary: number): Promise<NamedBlob[]> {
    const blobs: NamedBlob[] = [];
    for (const number of await this.#list()) {
      try {
        const segment = this.segment(number);
        await segment.measure(this.#env);
        for await (const { head, checksum } of headsOf(this.#env, segment)) {
          if (head.dictionary !== dictionary) continue;
          blobs.push({ key: head.key, place: { segment: number, offset: head.offset, bytes: blobBytes(head.key.length, head.stored), length: head.length, checksum } });
        }
      } catch (error) {
        if (!isDamage(error)) throw error;
        this.#report(damageOf(error, { message: 'a segment of large values cannot be searched' }));
      }
    }
    return blobs.sort((a, b) => compareBytes(a.key, b.key) || b.place.segment - a.place.segment || b.place.offset - a.place.offset);
  }

  async #list(): Promise<readonly number[]> {
    try {
      return await listBlobSegments(this.#env, this.directory);
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.#report(damageOf(error, { message: 'the segments of large values cannot be listed' }));
      return [];
    }
  }

  async close(): Promise<void> {
    for (const segment of this.#segments.values()) await segment.close();
  }
}

function lowerBound(blobs: readonly NamedBlob[], key: Uint8Array): number {
  let [low, high] = [0, blobs.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareBytes((blobs[middle] as NamedBlob).key, key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
