// The long part of every job: merge neighbours in age and make extents of the result, cut either at given pivots (buffers of an internal node)
// or by size (leaves). It is plain data and a generator that asks for stored bytes and hands out images, so it runs on any thread: inline for
// small jobs and in the simulator, else in the tree worker. Bounded steps: between two of them others go on.

import type { EngineError } from '../../../base/errors.ts';
import type { CodecName, Codecs } from '../../../env/index.ts';
import { must } from '../../../base/assert.ts';
import { equalBytes } from '../../../base/bytes.ts';
import { ExtentBuilder } from '../../run/extent.ts';
import type { Fences } from '../../run/fences.ts';
import { Merge } from '../../run/merge.ts';
import type { RangeDelete } from '../../run/range-delete.ts';
import type { Run } from '../../run/run.ts';
import type { MessageSink } from '../../run/run-builder.ts';
import type { Front } from '../front.ts';
import type { Extent } from '../node.ts';
import { ChainInput, ExtentInput, FrontInput } from './merge-input.ts';
import type { MergeInput } from './merge-input.ts';

/** Messages of one age: a frozen front, or what an extent holds from a key on (inside) to a key (outside). */
export type MergeSource =
  | { readonly kind: 'front'; readonly front: Front }
  | {
      readonly kind: 'extent';
      readonly extent: Extent;
      readonly from?: Uint8Array;
      readonly to?: Uint8Array;
      /** Goes on where the source before it ends: both are one input. */
      readonly follows?: boolean;
    };

/** Where extents end: before each pivot, for buffers; after so many raw bytes, for leaves, of which the oldest source is one. */
export type MergeCut =
  | { readonly kind: 'pivots'; readonly pivots: readonly Uint8Array[] }
  | { readonly kind: 'leaves'; readonly bytes: number }
  /** Rows that are loaded, after so many raw bytes: all are kept; in the last pass each key may come once, and everybody sees it. */
  | { readonly kind: 'load'; readonly bytes: number; readonly isLast: boolean };

/** A merge to be done. Nothing in it changes while it is. */
export interface MergeWork {
  /** Newest first. */
  readonly sources: readonly MergeSource[];
  /** Range deletes that go with the sources. */
  readonly ranges: readonly RangeDelete[];
  readonly cut: MergeCut;
  /** Open snapshots and the newest visible seq, ascending (law 3). */
  readonly snapshots: Float64Array;
  readonly codec: CodecName;
  readonly readPageBytes: number;
}

/** Stored bytes of basements [from, to) of a source, one after the other. */
export interface StoredRequest {
  readonly kind: 'stored';
  readonly source: number;
  readonly from: number;
  readonly to: number;
}

/** An extent is ready: that of range `range` between pivots, or leaf number `range`. */
export interface BuiltExtent {
  readonly kind: 'built';
  readonly range: number;
  readonly image: Uint8Array;
  readonly fences: Fences;
}

/** A basement is not what was written; whoever answers throws, with the place. */
export interface Damage {
  readonly kind: 'damaged';
  readonly source: number;
  readonly basement: number;
  readonly error: EngineError;
}

/** A load has two rows of one key; the merge is over. */
export interface DuplicateRow {
  readonly kind: 'duplicate';
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/** What a merge asks for and hands out; only `stored` has an answer. */
export type MergeRequest = StoredRequest | BuiltExtent | Damage | DuplicateRow | { readonly kind: 'pause' };

/** A piece of a merge. */
export type MergeStep<T> = Generator<MergeRequest, T, Uint8Array | undefined>;

/** Messages merged between two pauses. */
const stepMessages = 1500;

/** Does the work. */
export function* mergeExtents(work: MergeWork, codecs: Codecs): MergeStep<void> {
  const inputs = inputsOf(work.sources, codecs);
  const { cut } = work;
  if (inputs.length === 0) return;
  if (cut.kind === 'pivots') yield* intoBuffers(work, cut.pivots, { inputs, codecs });
  else if (cut.kind === 'load') yield* loadExtents(work, cut, { inputs, codecs });
  else yield* intoLeaves(work, cut.bytes, { inputs, codecs });
}

interface Means {
  readonly inputs: readonly MergeInput[];
  readonly codecs: Codecs;
}

function inputsOf(sources: readonly MergeSource[], codecs: Codecs): MergeInput[] {
  const chains: MergeInput[][] = [];
  sources.forEach((source, index) => {
    const input = source.kind === 'front' ? new FrontInput(source.front) : new ExtentInput(source, index, codecs);
    const last = source.kind === 'extent' && source.follows === true ? chains.at(-1) : undefined;
    if (last === undefined) chains.push([input]);
    else last.push(input);
  });
  return chains.map((chain) => (chain.length === 1 ? (chain[0] as MergeInput) : new ChainInput(chain)));
}

/** One extent for each range between pivots; none where a range gets nothing. */
function* intoBuffers(work: MergeWork, pivots: readonly Uint8Array[], { inputs, codecs }: Means): MergeStep<void> {
  const merge = new Merge(inputs.length, { snapshots: work.snapshots, atLeaf: false, ranges: work.ranges });
  for (let range = 0; range <= pivots.length; range++) {
    const builder = new ExtentBuilder(codecs.byName(work.codec), work.readPageBytes);
    yield* advance(merge, inputs, builder, pivots[range], Number.POSITIVE_INFINITY);
    if (!builder.isEmpty) yield { kind: 'built', range, ...builder.finish() };
  }
}

/** Extents of about `leafBytes`; none when nothing is left. */
function* intoLeaves(work: MergeWork, leafBytes: number, { inputs, codecs }: Means): MergeStep<void> {
  const merge = new Merge(inputs.length, { snapshots: work.snapshots, atLeaf: true, ranges: work.ranges });
  let range = 0;
  for (;;) {
    const builder = new ExtentBuilder(codecs.byName(work.codec), work.readPageBytes);
    const result = yield* advance(merge, inputs, builder, undefined, leafBytes);
    if (!builder.isEmpty) yield { kind: 'built', range: range++, ...builder.finish() };
    if (result === 'end') return;
  }
}

/** Keeps every version: to the kernel all are newer than what anybody has seen. */
const everyVersion = Float64Array.of(0);

/** Extents of about so many bytes with every row of the inputs. */
function* loadExtents(work: MergeWork, cut: Extract<MergeCut, { kind: 'load' }>, { inputs, codecs }: Means): MergeStep<void> {
  const merge = new Merge(inputs.length, { snapshots: everyVersion, atLeaf: false, ranges: [] });
  const rows = new LoadSink(cut.isLast);
  for (let range = 0; ; range++) {
    rows.builder = new ExtentBuilder(codecs.byName(work.codec), work.readPageBytes);
    const result = yield* advance(merge, inputs, rows, undefined, cut.bytes);
    if (rows.duplicate !== undefined) {
      yield rows.duplicate;
      return;
    }
    if (!rows.builder.isEmpty) yield { kind: 'built', range, ...rows.builder.finish() };
    if (result === 'end') return;
  }
}

/** Rows of a load on their way into an extent; in the last pass it sees keys that come twice. */
class LoadSink implements MessageSink {
  builder: ExtentBuilder | undefined;
  duplicate: DuplicateRow | undefined;
  readonly #isLast: boolean;
  #before: { readonly run: Run; readonly index: number } | undefined;

  constructor(isLast: boolean) {
    this.#isLast = isLast;
  }

  get rawBytes(): number {
    return this.builder?.rawBytes ?? 0;
  }

  append(source: Run, index: number, seq: number): void {
    if (this.#isLast) {
      const { run, index: at } = this.#before ?? {};
      if (run !== undefined && at !== undefined && equalBytes(run.key(at), source.key(index))) {
        this.duplicate ??= { kind: 'duplicate', key: source.key(index).slice(), value: source.value(index).slice() };
      }
      this.#before = { run: source, index };
    }
    must(this.builder, 'an extent is begun').append(source, index, this.#isLast ? 0 : seq);
  }
}

/** Runs the kernel until it stops for another reason than wanting input; feeds it. */
function* advance(merge: Merge, inputs: readonly MergeInput[], sink: MessageSink & { readonly rawBytes: number }, bound: Uint8Array | undefined, bytes: number): MergeStep<'bound' | 'full' | 'end'> {
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
      yield { kind: 'pause' };
    } else return result;
  }
}
