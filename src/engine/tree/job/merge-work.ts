// The long part of every job: merge neighbours in age and make extents of the result, cut either at given pivots (buffers of an internal node)
// or by size (leaves). It is plain data and a generator that asks for stored bytes and hands out images, so it runs on any thread: inline for
// small jobs and in the simulator, else in the tree worker. Bounded steps: between two of them others go on.

import { must } from '../../../base/assert.ts';
import { equalBytes } from '../../../base/bytes.ts';
import type { Codecs } from '../../../env/index.ts';
import { ExtentBuilder } from '../../run/extent.ts';
import { isSeen, Merge } from '../../run/merge.ts';
import { emptySlice, messageKinds } from '../../run/message.ts';
import { AlternatingMemory } from '../../run/run.ts';
import type { Run } from '../../run/run.ts';
import type { MessageSink } from '../../run/run-builder.ts';
import type { UpdateSource } from '../../run/update.ts';
import type { Front } from '../front.ts';
import { ChainInput, ExtentInput, FrontInput, KeptInput } from './merge-input.ts';
import type { MergeInput } from './merge-input.ts';
import type { MergeCut, MergeSource, MergeStep, MergeWork } from './merge-request.ts';

/** Messages merged between two pauses. */
const stepMessages = 1000;

/** What a merge is given on its thread. */
export interface MergeTools {
  readonly codecs: Codecs;
  /** Functions of updates; where they are not there yet, the merge asks for them when it meets the first update. */
  readonly updates: UpdateSource;
  /** Gives memory for an image, which belongs to whoever is handed it. */
  readonly allocate?: (bytes: number) => Uint8Array;
}

/** Does the work. */
export function* mergeExtents(work: MergeWork, tools: MergeTools): MergeStep<void> {
  const { cut } = work;
  const alone = cut.kind === 'pivots' ? frontAlone(work) : undefined;
  if (cut.kind === 'pivots' && alone !== undefined) {
    yield* frontIntoBuffers(work, alone, cut.pivots, tools);
    return;
  }
  const inputs = inputsOf(work.sources, tools.codecs);
  if (inputs.length === 0) return;
  const means: Means = { inputs, codecs: tools.codecs, allocate: tools.allocate, updates: tools.updates };
  if (cut.kind === 'pivots') yield* intoBuffers(work, cut.pivots, means);
  else if (cut.kind === 'load') yield* loadExtents(work, cut, { ...means, updates: undefined });
  else if (cut.kind === 'spill') yield* spillExtents(work, cut, { ...means, updates: undefined });
  else yield* intoLeaves(work, cut.bytes, means);
}

interface Means {
  readonly inputs: readonly MergeInput[];
  readonly codecs: Codecs;
  readonly allocate: ((bytes: number) => Uint8Array) | undefined;
  /** Absent where every message is kept, or stands for all its writer has said of the key. */
  readonly updates: UpdateSource | undefined;
}

function inputsOf(sources: readonly MergeSource[], codecs: Codecs): MergeInput[] {
  const chains: MergeInput[][] = [];
  let memory = new AlternatingMemory();
  sources.forEach((source, index) => {
    if (source.kind !== 'extent' || source.follows !== true) memory = new AlternatingMemory();
    const input = source.kind === 'front' ? new FrontInput(source.front, memory) : new ExtentInput(source, index, codecs, memory);
    const last = source.kind === 'extent' && source.follows === true ? chains.at(-1) : undefined;
    if (last === undefined) chains.push([input]);
    else last.push(input);
  });
  return chains.map((chain) => (chain.length === 1 ? (chain[0] as MergeInput) : new ChainInput(chain)));
}

const foldingBy = ({ updates }: Means): { updates?: UpdateSource } => (updates === undefined ? {} : { updates });

/** One extent for each range between pivots; none where a range gets nothing. */
function* intoBuffers(work: MergeWork, pivots: readonly Uint8Array[], means: Means): MergeStep<void> {
  const { inputs, codecs, allocate } = means;
  const merge = new Merge(inputs.length, { snapshots: work.snapshots, atLeaf: false, ranges: work.ranges, ...foldingBy(means) });
  for (let range = 0; range <= pivots.length; range++) {
    const builder = new ExtentBuilder(codecs.byName(work.codec), work.readPageBytes);
    yield* advance(merge, means, builder, { bound: pivots[range], bytes: Number.POSITIVE_INFINITY });
    if (!builder.isEmpty) yield { kind: 'built', range, ...builder.finish(allocate) };
  }
}

/** The front that is all there is to merge, if its messages need nothing but their order. */
function frontAlone({ sources, ranges }: MergeWork): Front | undefined {
  const [source] = sources;
  const front = sources.length === 1 && ranges.length === 0 && source?.kind === 'front' ? source.front : undefined;
  return front === undefined || front.hasUpdates ? undefined : front;
}

/** Flushing in most cases: messages go from the arena into extents. */
function* frontIntoBuffers(work: MergeWork, front: Front, pivots: readonly Uint8Array[], { codecs, allocate }: MergeTools): MergeStep<void> {
  const order = front.sortedWhole();
  yield { kind: 'pause' };
  const slice = emptySlice();
  let at = 0;
  for (let range = 0; range <= pivots.length; range++) {
    const pivot = pivots[range];
    const end = pivot === undefined ? order.length : front.lowerBound(order, pivot);
    const builder = new ExtentBuilder(codecs.byName(work.codec), work.readPageBytes);
    while (at < end) {
      const stop = Math.min(end, at + stepMessages);
      for (; at < stop; at++) {
        const entry = order[at] as number;
        const before = at === 0 ? -1 : (order[at - 1] as number);
        front.slice(entry, slice);
        if (before < 0 || !front.haveOneKey(before, entry) || isSeen(work.snapshots, slice.seq, front.seq(before))) builder.appendSlice(slice);
      }
      yield { kind: 'pause' };
    }
    if (!builder.isEmpty) yield { kind: 'built', range, ...builder.finish(allocate) };
  }
}

/** Extents of about `leafBytes`; none when nothing is left. */
function* intoLeaves(work: MergeWork, leafBytes: number, means: Means): MergeStep<void> {
  const { inputs, codecs, allocate } = means;
  const merge = new Merge(inputs.length, { snapshots: work.snapshots, atLeaf: true, ranges: work.ranges, ...foldingBy(means) });
  let range = 0;
  for (;;) {
    const builder = new ExtentBuilder(codecs.byName(work.codec), work.readPageBytes);
    const result = yield* advance(merge, means, builder, { bound: undefined, bytes: leafBytes });
    if (!builder.isEmpty) yield { kind: 'built', range: range++, ...builder.finish(allocate) };
    if (result === 'end') return;
  }
}

/** Keeps every version: to the kernel all are newer than what anybody has seen. */
const everyVersion = Float64Array.of(0);

/** Extents of about so many bytes with every row of the inputs. */
function* loadExtents(work: MergeWork, cut: Extract<MergeCut, { kind: 'load' }>, means: Means): MergeStep<void> {
  const { inputs, codecs, allocate } = means;
  const merge = new Merge(inputs.length, { snapshots: everyVersion, atLeaf: false, ranges: [] });
  const rows = new LoadSink(cut.isLast);
  for (let range = 0; ; range++) {
    rows.builder = new ExtentBuilder(codecs.byName(work.codec), work.readPageBytes);
    const result = yield* advance(merge, means, rows, { bound: undefined, bytes: cut.bytes });
    if (rows.twice !== undefined) {
      yield* toldTwice(rows.twice);
      return;
    }
    if (!rows.builder.isEmpty) yield { kind: 'built', range, ...rows.builder.finish(allocate) };
    if (result === 'end') return;
  }
}

/** Says that a row is there twice, with its value: a large one is asked for first. */
function* toldTwice({ key, value, isReference }: RowTwice): MergeStep<void> {
  yield { kind: 'duplicate', key, value: isReference ? must(yield { kind: 'large', key, reference: value }, 'a large value was answered') : value };
}

/** One version of a key is enough: nobody sees a transaction's other ones. */
const newestVersion = Float64Array.of(Number.MAX_SAFE_INTEGER);

function* spillExtents(work: MergeWork, cut: Extract<MergeCut, { kind: 'spill' }>, means: Means): MergeStep<void> {
  const { inputs, codecs, allocate } = means;
  const kept = cut.takenBack.length === 0 ? inputs : inputs.map((input) => new KeptInput(input, cut.takenBack));
  const merge = new Merge(kept.length, { snapshots: newestVersion, atLeaf: false, ranges: work.ranges });
  for (let range = 0; ; range++) {
    const builder = new ExtentBuilder(codecs.byName(work.codec), work.readPageBytes);
    const sink = { append: (source: Run, index: number): void => builder.append(source, index, 0), get rawBytes(): number { return builder.rawBytes; } };
    const result = yield* advance(merge, { ...means, inputs: kept }, sink, { bound: undefined, bytes: cut.bytes });
    if (!builder.isEmpty) yield { kind: 'built', range, ...builder.finish(allocate) };
    if (result === 'end') return;
  }
}

/** The second row of a key, copied. */
interface RowTwice {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly isReference: boolean;
}

/** Rows of a load on their way into an extent; in the last pass it sees keys that come twice. */
class LoadSink implements MessageSink {
  builder: ExtentBuilder | undefined;
  twice: RowTwice | undefined;
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
        this.twice ??= { key: source.key(index).slice(), value: source.value(index).slice(), isReference: source.kind(index) === messageKinds.reference };
      }
      this.#before = { run: source, index };
    }
    must(this.builder, 'an extent is begun').append(source, index, this.#isLast ? 0 : seq);
  }
}

/** Runs the kernel until it stops for another reason than wanting input; feeds it. */
function* advance(merge: Merge, { inputs, updates }: Means, sink: MessageSink & { readonly rawBytes: number }, { bound, bytes }: Until): MergeStep<'bound' | 'full' | 'end'> {
  const until = sink.rawBytes + bytes;
  let rested = merge.messagesRead;
  for (;;) {
    // Inputs that end often would have the kernel go on for ever in short steps.
    if (merge.messagesRead - rested >= stepMessages) {
      rested = merge.messagesRead;
      yield { kind: 'pause' };
    }
    // With nothing left the kernel goes on to the end of the key it is in: versions of one key never part.
    const left = Math.max(0, until - sink.rawBytes);
    const result = merge.step(sink, bound === undefined ? { messages: stepMessages, bytes: left } : { messages: stepMessages, bytes: left, bound });
    if (result === 'input') {
      const window = yield* must(inputs[merge.needs], 'an input of this merge').next();
      if (updates !== undefined && updates.functions === undefined && window?.run.kinds.includes(messageKinds.update) === true) yield { kind: 'functions' };
      merge.feed(merge.needs, window?.run, window?.start, window?.end);
    } else if (result === 'value') merge.give(yield { kind: 'large', ...merge.wanted });
    else if (result !== 'limit') return result;
    else if (sink.rawBytes >= until) return 'full';
  }
}

/** Where a part of a merge ends: before a key, or after so many bytes. */
interface Until {
  readonly bound: Uint8Array | undefined;
  readonly bytes: number;
}
