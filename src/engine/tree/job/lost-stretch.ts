// What a transaction has spilled and cannot be read any more costs its own keys, and keeps nothing else in memory or in the log: a flush moves down what
// can be read, and of each damaged basement an extent that never validates, so that whoever reads its keys hears of the damage (and not an older
// value), `verify` names it, and salvage gives older states. On the disk it is an extent like any other that is damaged.

import { compareBytes } from '../../../base/bytes.ts';
import { crc32c } from '../../../base/crc32c.ts';
import { Fences } from '../../run/fences.ts';
import type { Extent, InternalNode } from '../node.ts';
import type { SpilledFront } from '../spilled.ts';
import { isHindrance } from './hindrance.ts';
import type { JobContext } from './job-context.ts';
import { bufferWork } from './job-context.ts';
import type { ExtentSource } from './merge-request.ts';
import type { JobStep, MergedExtents } from './request.ts';
import { damagedBasements, merge, writeExtent } from './request.ts';

/** How often what was damaged a moment ago and is not now is tried again. */
const triesMax = 3;

/** Damaged basements by extent. */
type Damaged = Map<Extent, readonly number[]>;

/** A front's readable messages, merged for a node's children, and for each child the extents that stand for the rest. */
export interface ReadableFront {
  readonly merged: MergedExtents;
  readonly lost: readonly (readonly Extent[])[];
}

/** Merges what can be read of a spilled front into one extent for each child. */
export function* mergeReadable(context: JobContext, front: SpilledFront, root: InternalNode): JobStep<ReadableFront> {
  const damaged: Damaged = new Map();
  for (let left = triesMax; ; left--) {
    try {
      const work = bufferWork(context, { sources: readableSources(front, damaged), ranges: front.ranges }, root.pivots);
      const merged = work.sources.length === 0 ? [] : yield* merge(work);
      return { merged, lost: yield* lostExtents(front, damaged, root) };
    } catch (error) {
      if (!isHindrance(error)) throw error;
      const extent = front.spill.extents.find(({ block }) => block === error.place.block);
      if (extent === undefined) throw error;
      const known = damaged.get(extent) ?? [];
      const found = new Set([...known, ...(yield* damagedBasements(extent))]);
      // What can be read a moment later is tried again, and not for ever.
      if (found.size === known.length && left <= 0) found.add(extent.fences.find(error.place.fromKey ?? extent.fences.lastKey));
      if (found.size === known.length && left <= 0) throw error;
      damaged.set(extent, [...found].sort((a, b) => a - b));
    }
  }
}

/** The front's sources without damaged basements. */
function readableSources(front: SpilledFront, damaged: Damaged): ExtentSource[] {
  const sources: ExtentSource[] = [];
  const add = (source: ExtentSource): void => void sources.push({ ...source, ...(sources.length === 0 ? {} : { follows: true }) });
  for (const extent of front.spill.extents) {
    const indexes = damaged.get(extent) ?? [];
    let next = 0;
    for (const index of [...indexes, extent.fences.length]) {
      if (index > next) add({ kind: 'extent', extent, seq: front.seq, ...keysOf(extent.fences, next, index) });
      next = index + 1;
    }
  }
  return sources;
}

/** The keys of basements [from, to), where they are not all that come after or before. In what is spilled no key is in two basements. */
function keysOf(fences: Fences, from: number, to: number): { readonly from?: Uint8Array; readonly to?: Uint8Array } {
  return { ...(from === 0 ? {} : { from: fences.firstKey(from) }), ...(to === fences.length ? {} : { to: fences.firstKey(to) }) };
}

/** For each child of the node the extents that stand for what is damaged of its keys. */
function* lostExtents({ spill, seq }: SpilledFront, damaged: Damaged, root: InternalNode): JobStep<Extent[][]> {
  const lost: Extent[][] = root.children.map(() => []);
  for (const extent of spill.extents) {
    for (const index of damaged.get(extent) ?? []) {
      for (const [child, waiting] of lost.entries()) {
        const fences = lostFences(extent.fences, index, { seq, from: root.pivots[child - 1], to: root.pivots[child] });
        if (fences !== undefined) waiting.push(yield* writeExtent(image, fences));
      }
    }
  }
  return lost;
}

const image: Uint8Array = Uint8Array.of(0);
/** What the image does not have. */
const wrongChecksum: number = (crc32c(image) ^ 1) >>> 0;

/** Fences of one basement that never validates, for the keys of basement `index` from `from` (inside) to `to` (outside); none where there are none. */
function lostFences(fences: Fences, index: number, { seq, from, to }: { readonly seq: number; readonly from: Uint8Array | undefined; readonly to: Uint8Array | undefined }): Fences | undefined {
  const [first, end] = [fences.firstKey(index), index + 1 < fences.length ? fences.firstKey(index + 1) : fences.lastKey];
  const firstKey = from !== undefined && compareBytes(from, first) > 0 ? from : first;
  const lastKey = to !== undefined && compareBytes(to, end) < 0 ? to : end;
  if (compareBytes(firstKey, lastKey) > 0 || (to !== undefined && compareBytes(first, to) >= 0)) return undefined;
  const row = { storedLength: image.length, rawLength: fences.rawLength(index), checksum: wrongChecksum, rows: fences.rows(index), firstKey, continues: false, plain: true };
  // Which large values were its own nobody knows: all of the extent's are kept.
  return Fences.of({ codec: fences.codec, minSeq: seq, maxSeq: seq, lastKey, blobs: fences.blobs }, [row]);
}
