// The work of all jobs: merge neighbours in age and write the result as extents, cut either at given pivots (buffers of an internal node)
// or by size (leaves). Bounded steps: between two of them others go on.

import { must } from '../../../base/assert.ts';
import type { Codec } from '../../../env/index.ts';
import type { BlockNumber } from '../../block/block-number.ts';
import { ExtentBuilder } from '../../run/extent.ts';
import { Merge } from '../../run/merge.ts';
import type { DictionaryOptions } from '../../types.ts';
import type { Extent, LeafNode } from '../node.ts';
import type { FlushLimits } from '../edit.ts';
import type { MergeInput } from './merge-input.ts';
import type { JobStep } from './request.ts';
import { pause, writeBlock } from './request.ts';

/** What a job is given when it is made. */
export interface JobContext {
  readonly options: DictionaryOptions;
  readonly limits: FlushLimits;
  /** Codec of leaves, and of buffers. */
  readonly leafCodec: Codec;
  readonly bufferCodec: Codec;
  /** Open snapshots and the newest visible seq, ascending (law 3). */
  readonly snapshots: Float64Array;
  /** A fresh number for a new node. */
  readonly newNumber: () => BlockNumber;
}

/** Messages merged between two pauses. */
const stepMessages = 1500;

/** Runs the kernel until it stops for another reason than wanting input; feeds it. */
function* advance(merge: Merge, inputs: readonly MergeInput[], sink: ExtentBuilder, bound: Uint8Array | undefined, bytes: number): JobStep<'bound' | 'full' | 'end'> {
  const until = sink.rawBytes + bytes;
  for (;;) {
    // With nothing left the kernel goes on to the end of the key it is in: versions of one key never part.
    const left = Math.max(0, until - sink.rawBytes);
    const result = merge.step(sink, bound === undefined ? { messages: stepMessages, bytes: left } : { messages: stepMessages, bytes: left, bound });
    if (result === 'input') {
      const window = yield* must(inputs[merge.needs], 'an input of this merge').next();
      merge.feed(merge.needs, window?.run, window?.start, window?.end);
    } else if (result === 'limit') {
      if (sink.rawBytes >= until) return 'full';
      yield* pause();
    } else return result;
  }
}

function* finish(builder: ExtentBuilder): JobStep<Extent> {
  const { image, fences } = builder.finish();
  const block = yield* writeBlock(image);
  return { block, fences };
}

/** Merges `inputs` (newest first) into one extent for each range between pivots; absent where a range gets nothing. */
export function* mergeToBuffers(context: JobContext, inputs: readonly MergeInput[], pivots: readonly Uint8Array[]): JobStep<(Extent | undefined)[]> {
  const merge = new Merge(inputs.length, { snapshots: context.snapshots, atLeaf: false });
  const extents: (Extent | undefined)[] = [];
  for (let child = 0; child <= pivots.length; child++) {
    const builder = new ExtentBuilder(context.bufferCodec, context.options.readPageBytes);
    yield* advance(merge, inputs, builder, pivots[child], Number.POSITIVE_INFINITY);
    extents.push(builder.isEmpty ? undefined : yield* finish(builder));
  }
  return extents;
}

/** Merges `inputs` (newest first, the leaf last) into extents of about `leafBytes`; none when nothing is left. */
export function* mergeToLeaves(context: JobContext, inputs: readonly MergeInput[], leafBytes: number): JobStep<Extent[]> {
  const merge = new Merge(inputs.length, { snapshots: context.snapshots, atLeaf: true });
  const extents: Extent[] = [];
  for (;;) {
    const builder = new ExtentBuilder(context.leafCodec, context.options.readPageBytes);
    const result = yield* advance(merge, inputs, builder, undefined, leafBytes);
    if (!builder.isEmpty) extents.push(yield* finish(builder));
    if (result === 'end') return extents;
  }
}

/** Raw bytes of each new leaf, so that what comes of `rawBytes` is cut evenly. */
export function leafBytesFor(rawBytes: number, pageBytes: number): number {
  const leaves = Math.max(1, Math.round(rawBytes / pageBytes));
  // A little more than the even share: the last leaf shall not be a crumb.
  return leaves === 1 ? Number.POSITIVE_INFINITY : Math.ceil((rawBytes / leaves) * 1.02);
}

/** Leaves for extents in key order; the first one takes over `number`. Without extents one empty leaf. */
export function leavesFor(context: JobContext, extents: readonly Extent[], number: BlockNumber): LeafNode[] {
  if (extents.length === 0) return [{ kind: 'leaf', number, extent: undefined }];
  return extents.map((extent, index) => ({ kind: 'leaf', number: index === 0 ? number : context.newNumber(), extent }));
}

/** The keys at which extents in key order are told apart: the first key of each but the first. */
export function pivotsBetween(extents: readonly Extent[]): Uint8Array[] {
  return extents.slice(1).map((extent) => extent.fences.firstKey(0).slice());
}
