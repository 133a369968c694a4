// Reading a blob by one positioned read, and checking that it is the one that is wanted: head and body by checksum, dictionary and key by name
// (law 23). What is not as it should be is `corruption` with file, offset, dictionary and key, and costs only itself.

import { BlockHash } from '../../base/block-hash.ts';
import { equalBytes } from '../../base/bytes.ts';
import { EngineError } from '../../base/errors.ts';
import type { Env } from '../../env/index.ts';
import type { ValuePart } from '../types.ts';
import { decodeBody, decodeOnePiece, isBody } from './blob-body.ts';
import { blobBytes, blockBytes, decodeBlobHead, headBytes } from './blob-image.ts';
import type { BlobHead } from './blob-image.ts';
import type { HeadMemory, KnownHead } from './head-memory.ts';
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
  /** Heads that need not be read again; undefined: all are. */
  readonly heads?: HeadMemory;
}

/** A blob as it is stored, checked. */
export interface StoredBlob {
  readonly head: BlobHead;
  readonly body: Uint8Array;
}

/** Reads bytes of a blob, `at` from its beginning; how many there were. */
async function readBytes(source: SegmentSource, env: Env, wanted: WantedBlob, { target, at }: { readonly target: Uint8Array; readonly at: number }): Promise<number> {
  const { place } = wanted;
  const segment = source.segment(place.segment);
  if (segment === undefined) throw damaged(source, wanted, `segment ${place.segment} is not there`);
  try {
    const length = await segment.read(target, place.offset + at, env);
    source.counters.read += length;
    return length;
  } catch (error) {
    if (error instanceof EngineError && error.code === 'io') throw damaged(source, wanted, error.message, error);
    throw error;
  }
}

/** The blob as it is stored. */
export async function readBlob(source: SegmentSource, env: Env, wanted: WantedBlob, bytes: Uint8Array = new Uint8Array(wanted.place.bytes)): Promise<StoredBlob> {
  const length = await readBytes(source, env, wanted, { target: bytes, at: 0 });
  return checked(source, wanted, bytes.subarray(0, length));
}

/** Memory of values that were read for one reader: nobody else has it, and it does not change. */
const fresh: WeakSet<ArrayBufferLike> = new WeakSet();

/** Whether a value that the engine gave is a large one in memory of its own, so that it may be kept without a copy. */
export function isFreshValue(value: Uint8Array): boolean {
  return fresh.has(value.buffer);
}

/** The value of a blob; at once where it is quick, else a promise. */
export function readValue(source: SegmentSource, env: Env, wanted: WantedBlob): Uint8Array | Promise<Uint8Array> {
  const bytes = new Uint8Array(wanted.place.bytes);
  const length = source.segment(wanted.place.segment)?.readNow(bytes, wanted.place.offset);
  if (length === undefined) return readBlob(source, env, wanted, bytes).then((blob) => valueOf(source, env, wanted, blob));
  source.counters.read += length;
  return valueOf(source, env, wanted, checked(source, wanted, bytes.subarray(0, length)));
}

function valueOf(source: SegmentSource, env: Env, wanted: WantedBlob, { head, body }: StoredBlob): Uint8Array | Promise<Uint8Array> {
  if (head.codec === 0) {
    fresh.add(body.buffer);
    return body;
  }
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
  const head = checkedHead(source, wanted, bytes);
  const from = headBytes(head.key.length, head.stored);
  const body = bytes.subarray(from, from + head.stored);
  if (body.length !== head.stored || !isBody(body, head.checksums)) throw damaged(source, wanted, 'the checksum does not match');
  return { head, body };
}

/** The head at the beginning of `bytes`, if it is that of the blob that is wanted. */
function checkedHead(source: SegmentSource, wanted: WantedBlob, bytes: Uint8Array): BlobHead {
  const met = decodeBlobHead(bytes);
  if (met === undefined || !('head' in met)) throw damaged(source, wanted, 'its head does not match');
  return wantedHead(source, wanted, met);
}

/** The head, if it is that of the blob that is wanted. */
function wantedHead(source: SegmentSource, wanted: WantedBlob, { head, checksum }: KnownHead): BlobHead {
  const { place, owner } = wanted;
  if (checksum !== place.checksum) throw damaged(source, wanted, 'its head does not match');
  const isOwn = head.dictionary === 0 || (head.dictionary === owner.dictionary && equalBytes(head.key, owner.key));
  if (!isOwn || head.segment !== place.segment || head.offset !== place.offset || head.length !== place.length) throw damaged(source, wanted, 'it is another one');
  return head;
}

/** For parts that are read at once into no memory of the caller's; a longer part has its own. Hashed where they lie. */
const scratch = new BlockHash(1024 * 1024 + 2 * blockBytes).memory;

/**
 * A part of a value, as much of it as there is. What is stored as it is is read, and checked, no further than the part reaches; the bytes may be
 * overwritten by the next part that is read, where they are not in the caller's memory.
 */
export function readPart(source: SegmentSource, env: Env, wanted: WantedBlob, part: ValuePart): Uint8Array | Promise<Uint8Array> {
  const { place, owner } = wanted;
  const to = Math.min(part.to, place.length);
  const whole = { from: Math.min(part.from, to), to };
  if (place.bytes !== blobBytes(owner.key.length, place.length)) return partOfWhole(source, env, wanted, whole);
  const blocks = blocksOf(wanted, { ...whole, memory: part.memory });
  const read = readBlocks(source, wanted, blocks);
  if (read === 'compressed') return partOfWhole(source, env, wanted, whole);
  return read ?? heldWhile(source.segment(place.segment), () => readBlocksLater(source, env, wanted, blocks));
}

/** Keeps a segment from being removed between two reads. */
async function heldWhile<T>(segment: BlobSegment | undefined, read: () => Promise<T>): Promise<T> {
  if (segment !== undefined) segment.readers += 1;
  try {
    return await read();
  } finally {
    if (segment !== undefined) segment.readers -= 1;
  }
}

function partOfWhole(source: SegmentSource, env: Env, wanted: WantedBlob, { from, to }: ValuePart): Uint8Array | Promise<Uint8Array> {
  const whole = readValue(source, env, wanted);
  return whole instanceof Promise ? whole.then((value) => value.subarray(from, to)) : whole.subarray(from, to);
}

/** What of a plain body has to be read for a part, `first` the block that it begins with, and where: behind the `before` bytes that the head may need. */
interface PartBlocks extends ValuePart {
  readonly before: number;
  readonly first: number;
  readonly begin: number;
  readonly end: number;
}

/** In the caller's memory a part ends with the last block that there is room for. */
function blocksOf({ place, owner }: WantedBlob, { from, to, memory }: ValuePart): PartBlocks {
  const before = headBytes(owner.key.length, place.length);
  const first = Math.floor(from / blockBytes);
  const begin = first * blockBytes;
  const end = Math.min(Math.ceil(to / blockBytes) * blockBytes, place.length);
  const room = memory === undefined || BlockHash.over(memory) === undefined ? 0 : memory.length - before;
  if (room < Math.min(blockBytes, end - begin)) return { before, first, begin, end, from, to };
  const behind = end - begin <= room ? end : begin + Math.floor(room / blockBytes) * blockBytes;
  return { before, first, begin, end: behind, from, to: Math.min(to, behind), memory };
}

/** The part by reading its blocks, and the head where it is not known, at once; undefined: that is not quick. Whether a value is stored as it is is said by its head only. */
function readBlocks(source: SegmentSource, wanted: WantedBlob, part: PartBlocks): Uint8Array | 'compressed' | undefined {
  const { place } = wanted;
  const segment = source.segment(place.segment);
  const { before, begin, end, first } = part;
  const memory = part.memory ?? (before + end - begin <= scratch.length ? scratch : new Uint8Array(before + end - begin));
  const known = source.heads?.find(place.segment, place.offset);
  // From the beginning, head and blocks lie together.
  const found = known === undefined ? readHead(source, wanted, memory.subarray(0, begin === 0 ? before + end : before), before) : { head: wantedHead(source, wanted, known), beyond: 0 };
  if (found === undefined) return undefined;
  const { head, beyond } = found;
  if (head.codec !== 0) return 'compressed';
  const blocks = memory.subarray(before, before + end - begin);
  if (beyond < blocks.length) {
    const length = segment?.readNow(blocks, place.offset + before + begin);
    if (length === undefined) return undefined;
    source.counters.read += length;
    if (length < blocks.length) throw damaged(source, wanted, 'the checksum does not match');
  }
  if (!isBody(blocks, head.checksums, first)) throw damaged(source, wanted, 'the checksum does not match');
  return blocks.subarray(part.from - begin, part.to - begin);
}

/** Fills `target` from the beginning of the blob, at once: its head of `before` bytes, which is kept, and how many bytes came beyond; undefined: that is not quick. */
function readHead(source: SegmentSource, wanted: WantedBlob, target: Uint8Array, before: number): { readonly head: BlobHead; readonly beyond: number } | undefined {
  const { place } = wanted;
  const length = source.segment(place.segment)?.readNow(target, place.offset);
  if (length === undefined) return undefined;
  source.counters.read += length;
  return keptHead(source, wanted, { target, before, length });
}

/** The same, off the event loop. */
async function readHeadLater(source: SegmentSource, env: Env, wanted: WantedBlob, { target, before }: { readonly target: Uint8Array; readonly before: number }): Promise<{ readonly head: BlobHead; readonly beyond: number }> {
  return keptHead(source, wanted, { target, before, length: await readBytes(source, env, wanted, { target, at: 0 }) });
}

function keptHead(source: SegmentSource, wanted: WantedBlob, { target, before, length }: { readonly target: Uint8Array; readonly before: number; readonly length: number }): { readonly head: BlobHead; readonly beyond: number } {
  const head = checkedHead(source, wanted, target.subarray(0, Math.min(before, length)));
  source.heads?.keep({ head, checksum: wanted.place.checksum });
  return { head, beyond: length - before };
}

/** The same, off the event loop, into memory of its own or the caller's. */
async function readBlocksLater(source: SegmentSource, env: Env, wanted: WantedBlob, part: PartBlocks): Promise<Uint8Array> {
  const { before, begin, end, first } = part;
  const memory = part.memory ?? new Uint8Array(before + end - begin);
  const known = source.heads?.find(wanted.place.segment, wanted.place.offset);
  const { head, beyond } = known === undefined ? await readHeadLater(source, env, wanted, { target: memory.subarray(0, begin === 0 ? before + end : before), before }) : { head: wantedHead(source, wanted, known), beyond: 0 };
  if (head.codec !== 0) return await partOfWhole(source, env, wanted, part);
  const blocks = memory.subarray(before, before + end - begin);
  const length = beyond > 0 ? beyond : await readBytes(source, env, wanted, { target: blocks, at: before + begin });
  if (length < blocks.length || !isBody(blocks, head.checksums, first)) throw damaged(source, wanted, 'the checksum does not match');
  return blocks.subarray(part.from - begin, part.to - begin);
}

function damaged(source: SegmentSource, { place, owner }: WantedBlob, what: string, cause?: unknown): EngineError {
  const file = segmentPath(source.directory, place.segment);
  return new EngineError('corruption', `${file}: dictionary ${owner.dictionary}, large value at ${place.offset}: ${what}`, {
    ...(cause === undefined ? {} : { cause }),
    place: { file, offset: place.offset, dictionary: owner.dictionary, fromKey: owner.key.slice(), toKey: owner.key.slice() },
  });
}
