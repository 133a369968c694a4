// A merge as it crosses to another thread: plain data and bytes, each array with memory of its own, since cloning a view would clone all that
// lies behind it. The numbers of blocks do not matter over there; the main thread alone reads, writes and allocates.

import { ByteReader } from '../../../base/byte-reader.ts';
import { ByteWriter } from '../../../base/byte-writer.ts';
import type { EngineErrorCode } from '../../../base/errors.ts';
import type { CodecName } from '../../../env/index.ts';
import { Fences } from '../../run/fences.ts';
import type { RangeDelete } from '../../run/range-delete.ts';
import { Front } from '../front.ts';
import type { FrontImage } from '../front.ts';
import type { Extent } from '../node.ts';
import type { DuplicateRow, MergeCut, MergeSource, MergeWork, StoredRequest } from './merge-work.ts';

type SentSource =
  | { readonly kind: 'front'; readonly image: FrontImage }
  | { readonly kind: 'extent'; readonly block: Extent['block']; readonly fences: Uint8Array; readonly from?: Uint8Array; readonly to?: Uint8Array; readonly follows?: boolean };

/** What the worker is sent: a merge to begin, the bytes that it asked for, the word that an extent was taken, or to forget the merge. */
export type ToWorker =
  | { readonly kind: 'begin'; readonly sources: readonly SentSource[]; readonly ranges: readonly RangeDelete[]; readonly cut: MergeCut; readonly snapshots: Float64Array; readonly codec: CodecName; readonly readPageBytes: number }
  | { readonly kind: 'stored'; readonly bytes: Uint8Array }
  | { readonly kind: 'taken' }
  | { readonly kind: 'forget' };

/** What it sends: as MergeRequest, then the end or what it could not foresee. */
export type FromWorker =
  | StoredRequest
  | { readonly kind: 'built'; readonly range: number; readonly image: Uint8Array; readonly fences: Uint8Array }
  | DuplicateRow
  | { readonly kind: 'damaged'; readonly source: number; readonly basement: number; readonly code: EngineErrorCode; readonly message: string }
  | { readonly kind: 'end' }
  | { readonly kind: 'failed'; readonly message: string };

/** The first message of a merge. `images` has a copy of each front among the sources, for the other side to keep. */
export function encodeWork(work: MergeWork, images: ReadonlyMap<Front, FrontImage>): ToWorker {
  const { cut, snapshots, codec, readPageBytes } = work;
  const pivots = cut.kind === 'pivots' ? { kind: cut.kind, pivots: cut.pivots.map((pivot) => pivot.slice()) } : cut;
  return { kind: 'begin', sources: work.sources.map((source) => encodeSource(source, images)), ranges: work.ranges.map(encodeRange), cut: pivots, snapshots: snapshots.slice(), codec, readPageBytes };
}

function encodeRange({ from, to, seq }: RangeDelete): RangeDelete {
  return { from: from?.slice(), to: to?.slice(), seq };
}

function encodeSource(source: MergeSource, images: ReadonlyMap<Front, FrontImage>): SentSource {
  if (source.kind === 'front') return { kind: 'front', image: images.get(source.front) ?? source.front.image() };
  const { extent, from, to, follows } = source;
  return {
    kind: 'extent', block: extent.block, fences: encodeFences(extent.fences),
    ...(from === undefined ? {} : { from: from.slice() }), ...(to === undefined ? {} : { to: to.slice() }), ...(follows === undefined ? {} : { follows }),
  };
}

/** The merge of a first message. */
export function decodeWork(sent: Extract<ToWorker, { kind: 'begin' }>): MergeWork {
  const { cut, ranges, snapshots, codec, readPageBytes } = sent;
  return { sources: sent.sources.map(decodeSource), ranges, cut, snapshots, codec, readPageBytes };
}

function decodeSource(sent: SentSource): MergeSource {
  if (sent.kind === 'front') return { kind: 'front', front: Front.ofImage(sent.image) };
  const { block, fences, from, to, follows } = sent;
  return { kind: 'extent', extent: { block, fences: decodeFences(fences) }, ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }), ...(follows === undefined ? {} : { follows }) };
}

/** Fences as bytes of their own. */
export function encodeFences(fences: Fences): Uint8Array {
  const writer = new ByteWriter(1024);
  fences.encode(writer);
  return writer.bytes().slice();
}

export function decodeFences(bytes: Uint8Array): Fences {
  return Fences.decode(new ByteReader(bytes));
}
