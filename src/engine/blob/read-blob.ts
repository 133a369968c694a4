// Reading a blob by one positioned read, and checking that it is the one that is wanted: head and body by checksum, dictionary and key by name
// (law 23). What is not as it should be is `corruption` with file, offset, dictionary and key, and costs only itself.

import { equalBytes } from '../../base/bytes.ts';
import { EngineError } from '../../base/errors.ts';
import { xxhash32 } from '../../base/xxhash32.ts';
import type { Env } from '../../env/index.ts';
import { decodeBody, decodeOnePiece } from './blob-body.ts';
import { decodeBlobHead, fixedHeadBytes } from './blob-image.ts';
import type { BlobHead } from './blob-image.ts';
import type { BlobSegment } from './blob-segment.ts';
import { segmentPath } from './blob-segment.ts';

/** Where a blob lies, and what it must be. */
export interface BlobPlace {
  readonly segment: number;
  readonly offset: number;
  readonly bytes: number;
  readonly length: number;
  readonly checksum: number;
}

/** Whose a blob is. */
export interface BlobOwner {
  readonly dictionary: number;
  readonly key: Uint8Array;
}

/** A blob that is wanted. */
export interface WantedBlob {
  readonly place: BlobPlace;
  readonly owner: BlobOwner;
}

/** Where segments are found. */
export interface SegmentSource {
  readonly directory: string;
  segment(number: number): BlobSegment | undefined;
  readonly counters: { read: number };
}

/** A blob as it is stored, checked. */
export interface StoredBlob {
  readonly head: BlobHead;
  readonly body: Uint8Array;
}

/** The blob as it is stored. */
export async function readBlob(source: SegmentSource, env: Env, wanted: WantedBlob): Promise<StoredBlob> {
  const { place } = wanted;
  const segment = source.segment(place.segment);
  if (segment === undefined) throw damaged(source, wanted, `segment ${place.segment} is not there`);
  const bytes = new Uint8Array(place.bytes);
  let length: number;
  try {
    length = await segment.read(bytes, place.offset, env);
  } catch (error) {
    if (error instanceof EngineError && error.code === 'io') throw damaged(source, wanted, error.message, error);
    throw error;
  }
  source.counters.read += length;
  return checked(source, wanted, bytes.subarray(0, length));
}

/** The value of a blob; at once where it is quick, else a promise. */
export function readValue(source: SegmentSource, env: Env, wanted: WantedBlob): Uint8Array | Promise<Uint8Array> {
  const bytes = new Uint8Array(wanted.place.bytes);
  const length = source.segment(wanted.place.segment)?.readNow(bytes, wanted.place.offset);
  if (length === undefined) return readBlob(source, env, wanted).then((blob) => valueOf(source, env, wanted, blob));
  source.counters.read += length;
  return valueOf(source, env, wanted, checked(source, wanted, bytes.subarray(0, length)));
}

function valueOf(source: SegmentSource, env: Env, wanted: WantedBlob, { head, body }: StoredBlob): Uint8Array | Promise<Uint8Array> {
  if (head.codec === 0) return body;
  const told = (error: unknown): unknown => (error instanceof EngineError && error.code === 'corruption' ? damaged(source, wanted, error.message, error) : error);
  try {
    const value = decodeOnePiece(body, head.length, env.codecs.byId(head.codec));
    if (value !== undefined) return value;
  } catch (error) {
    throw told(error);
  }
  return decodeBody(body, head.length, { codecs: env.codecs, codec: head.codec, tasks: env.tasks }).catch((error: unknown) => {
    throw told(error);
  });
}

function checked(source: SegmentSource, wanted: WantedBlob, bytes: Uint8Array): StoredBlob {
  const { place, owner } = wanted;
  const met = decodeBlobHead(bytes);
  if (met === undefined || !('head' in met) || met.checksum !== place.checksum) throw damaged(source, wanted, 'its head does not match');
  const { head } = met;
  const isOwn = head.dictionary === 0 || (head.dictionary === owner.dictionary && equalBytes(head.key, owner.key));
  if (!isOwn || head.segment !== place.segment || head.offset !== place.offset || head.length !== place.length) throw damaged(source, wanted, 'it is another one');
  const from = fixedHeadBytes + head.key.length;
  const body = bytes.subarray(from, from + head.stored);
  if (body.length !== head.stored || xxhash32(body) !== head.bodyChecksum) throw damaged(source, wanted, 'the checksum does not match');
  return { head, body };
}

function damaged(source: SegmentSource, { place, owner }: WantedBlob, what: string, cause?: unknown): EngineError {
  const file = segmentPath(source.directory, place.segment);
  return new EngineError('corruption', `${file}: dictionary ${owner.dictionary}, large value at ${place.offset}: ${what}`, {
    ...(cause === undefined ? {} : { cause }),
    place: { file, offset: place.offset, dictionary: owner.dictionary, fromKey: owner.key.slice(), toKey: owner.key.slice() },
  });
}
