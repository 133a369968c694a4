// A merge as it crosses to another thread: plain data, and bytes in memory that both threads see, so that nothing is left to a collector. What goes
// in lies in one slab that the main thread fills: copies of fronts, and a region for each extent, filled anew with each batch that is asked for.
// What comes out lies in slots that the worker fills in turn. The numbers of blocks do not matter over there; the main thread alone reads,
// writes and allocates space.

import { ByteReader } from '../../../base/byte-reader.ts';
import { ByteWriter } from '../../../base/byte-writer.ts';
import type { EngineErrorCode } from '../../../base/errors.ts';
import type { CodecName } from '../../../env/index.ts';
import { Fences } from '../../run/fences.ts';
import type { RangeDelete } from '../../run/range-delete.ts';
import { Front } from '../front.ts';
import type { FrontImage } from '../front-image.ts';
import type { Extent } from '../node.ts';
import { basementsOf, batchOf } from './merge-request.ts';
import type { DuplicateRow, ExtentSource, LargeRequest, MergeCut, MergeSource, MergeWork, StoredRequest } from './merge-request.ts';

/** Where in the slab a front lies. */
interface FrontRegion {
  readonly kind: 'front';
  readonly rowsAt: number;
  readonly rows: number;
  readonly arenaAt: number;
  readonly arenaBytes: number;
}

/** Where in the slab the batches of an extent come to lie, and how long the first one is. */
interface ExtentRegion {
  readonly kind: 'extent';
  readonly at: number;
  readonly firstBytes: number;
}

/** The parts of the slab, by source. */
export type Region = FrontRegion | ExtentRegion;

interface SentExtent {
  readonly kind: 'extent';
  readonly block: Extent['block'];
  readonly fences: Uint8Array;
  readonly from?: Uint8Array;
  readonly to?: Uint8Array;
  readonly follows?: boolean;
  readonly seq?: number;
}

type SentSource = { readonly kind: 'front' } | SentExtent;

/** What the worker is sent: a merge to begin, the word that the batch it asked for is there, the value it asked for, that an extent was taken, or to forget the merge. */
export type ToWorker =
  | {
      readonly kind: 'begin'; readonly merge: number; readonly slab: SharedArrayBuffer; readonly regions: readonly Region[]; readonly sources: readonly SentSource[]; readonly ranges: readonly RangeDelete[];
      readonly cut: MergeCut; readonly snapshots: Float64Array; readonly codec: CodecName; readonly readPageBytes: number;
      /** Address of the module with the functions of updates. */
      readonly updates?: string;
    }
  | { readonly kind: 'stored'; readonly source: number; readonly bytes: number }
  | { readonly kind: 'taken' }
  | { readonly kind: 'value'; readonly value: Uint8Array }
  | { readonly kind: 'forget' };

/** What it sends, with the number of the merge it is about: of one that was given up, messages may still be on their way. */
export type FromWorker = WorkerWord & { readonly merge: number };

/** As MergeRequest, then the end or what it could not foresee. */
export type WorkerWord =
  | StoredRequest
  | LargeRequest
  | { readonly kind: 'built'; readonly range: number; readonly image: Uint8Array; readonly fences: Uint8Array }
  | DuplicateRow
  | { readonly kind: 'damaged'; readonly source: number; readonly basement: number; readonly code: EngineErrorCode; readonly message: string }
  | { readonly kind: 'end' }
  | { readonly kind: 'failed'; readonly message: string };

/** Deals a slab out to the sources of a merge, and says how large it must be. */
export function regionsOf(work: MergeWork): { readonly regions: readonly Region[]; readonly bytes: number } {
  let at = 0;
  const take = (bytes: number): number => {
    const start = at;
    at += Math.ceil(bytes / 8) * 8;
    return start;
  };
  const regions: Region[] = [];
  work.sources.forEach((source, index) => {
    if (source.kind === 'extent') {
      // A chain is read one after the other, so its extents share a region; only the first one's bytes go along.
      const chain = [source, ...followersOf(work.sources, index)].map(batchesOf);
      const before = source.follows === true ? regions.at(-1) : undefined;
      if (before?.kind === 'extent') regions.push({ ...before, firstBytes: 0 });
      else regions.push({ kind: 'extent', at: take(Math.max(...chain.map(({ most }) => most))), firstBytes: chain[0]?.first ?? 0 });
    } else {
      const { arena, rows } = source.front.image();
      regions.push({ kind: 'front', rowsAt: take(rows.byteLength), rows: rows.length, arenaAt: take(arena.length), arenaBytes: arena.length });
    }
  });
  return { regions, bytes: at };
}

/** The extents that go on where this one ends. */
function followersOf(sources: readonly MergeSource[], index: number): ExtentSource[] {
  const followers: ExtentSource[] = [];
  for (const source of sources.slice(index + 1)) {
    if (source.kind !== 'extent' || source.follows !== true) break;
    followers.push(source);
  }
  return followers;
}

/** Bytes of the first and of the largest batch of an extent. */
function batchesOf(source: ExtentSource): { readonly first: number; readonly most: number } {
  const { fences } = source.extent;
  const { from, to } = basementsOf(source);
  let [first, most] = [0, 0];
  for (let at = from; at < to; ) {
    const batch = batchOf(fences, 0, at, to);
    const bytes = storedBytes(fences, batch);
    if (at === from) first = bytes;
    most = Math.max(most, bytes);
    at = batch.to;
  }
  return { first, most };
}

/** Bytes of basements [from, to). */
export function storedBytes(fences: Fences, { from, to }: Pick<StoredRequest, 'from' | 'to'>): number {
  return fences.storedOffset(to - 1) + fences.storedLength(to - 1) - fences.storedOffset(from);
}

/** A front's part of the slab. */
export function frontIn(slab: SharedArrayBuffer, region: FrontRegion): FrontImage {
  return { arena: new Uint8Array(slab, region.arenaAt, region.arenaBytes), rows: new Uint32Array(slab, region.rowsAt, region.rows) };
}

/** The first message of a merge. Arrays have memory of their own: cloning a view would clone all that lies behind it. */
export function encodeWork(work: MergeWork, place: { readonly merge: number; readonly slab: SharedArrayBuffer; readonly regions: readonly Region[]; readonly updates?: string }): ToWorker {
  const { cut, snapshots, codec, readPageBytes } = work;
  const pivots = cut.kind === 'pivots' ? { kind: cut.kind, pivots: cut.pivots.map((pivot) => pivot.slice()) } : cut;
  const sources = work.sources.map(encodeSource);
  return { kind: 'begin', ...place, sources, ranges: work.ranges.map(encodeRange), cut: pivots, snapshots: snapshots.slice(), codec, readPageBytes };
}

function encodeRange({ from, to, seq }: RangeDelete): RangeDelete {
  return { from: from?.slice(), to: to?.slice(), seq };
}

function encodeSource(source: MergeSource): SentSource {
  if (source.kind === 'front') return { kind: 'front' };
  const { extent, from, to, follows, seq } = source;
  return {
    kind: 'extent', block: extent.block, fences: encodeFences(extent.fences),
    ...(from === undefined ? {} : { from: from.slice() }), ...(to === undefined ? {} : { to: to.slice() }), ...(follows === undefined ? {} : { follows }),
    ...(seq === undefined ? {} : { seq }),
  };
}

/** The merge of a first message. */
export function decodeWork(sent: Extract<ToWorker, { kind: 'begin' }>): MergeWork {
  const { ranges, cut, snapshots, codec, readPageBytes } = sent;
  const sources = sent.regions.flatMap((region, index): MergeSource[] => {
    const source = sent.sources[index];
    if (region.kind === 'front') return [{ kind: 'front', front: Front.ofImage(frontIn(sent.slab, region)) }];
    if (source?.kind !== 'extent') return [];
    const { block, fences, from, to, follows, seq } = source;
    return [{ kind: 'extent', extent: { block, fences: decodeFences(fences) }, ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }), ...(follows === undefined ? {} : { follows }), ...(seq === undefined ? {} : { seq }) }];
  });
  return { sources, ranges, cut, snapshots, codec, readPageBytes };
}

/** Fences as bytes of their own. */
export function encodeFences(fences: Fences): Uint8Array {
  const writer = new ByteWriter(1024);
  fences.encode(writer);
  return writer.bytes().slice();
}

/** What encodeFences made. */
export function decodeFences(bytes: Uint8Array): Fences {
  return Fences.decode(new ByteReader(bytes));
}
