// Histories for the merge kernel: versions of keys cut into layers as flushes would, open snapshots, and a way to feed, stop and resume. And
// the drop rule written down naively, which the kernel is compared with.

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { compareBytes, concatBytes } from '../../../src/base/bytes.ts';
import type { Merge, StepEnd, StepLimit } from '../../../src/engine/run/merge.ts';
import { messageKinds } from '../../../src/engine/run/message.ts';
import { coversKey } from '../../../src/engine/run/range-delete.ts';
import type { RangeDelete } from '../../../src/engine/run/range-delete.ts';
import type { Message } from '../../../src/engine/run/message.ts';
import { RunBuilder } from '../../../src/engine/run/run-builder.ts';
import { applyOperations, operationOf } from '../../../src/engine/run/update.ts';
import { testFunctions, updateTable } from '../../support/update-functions.ts';
import { messagesOf, runOfMessages, sortMessages } from './messages.ts';

/** Layers of messages, newest first, and the snapshots that are open. */
export interface History {
  readonly layers: readonly (readonly Message[])[];
  readonly snapshots: readonly number[];
  readonly atLeaf: boolean;
  readonly ranges: readonly RangeDelete[];
}

const keyBytes = fc.oneof(
  fc.array(fc.constantFrom(0, 1), { maxLength: 3 }),
  fc.array(fc.constantFrom(0, 1, 0xff), { minLength: 5, maxLength: 9 }),
  fc.constantFrom([9, 9, 9, 9, 9, 9, 9], [9, 9, 9, 9, 9, 9, 9, 0], [9, 9, 9, 9, 9, 9]),
);

interface Change {
  readonly key: readonly number[];
  readonly isRemove: boolean;
  readonly isUpdate: boolean;
  readonly depth: number;
}

const change: fc.Arbitrary<Change> = fc.record({ key: keyBytes, isRemove: fc.boolean(), isUpdate: fc.boolean(), depth: fc.nat(7) });

/** A history: seqs in order of the list; for each key what is newer is never in an older layer. */
const historyOf = (updates: boolean): fc.Arbitrary<History> => fc
  .record({
    changes: fc.array(change, { maxLength: 60 }),
    prefix: fc.constantFrom([], [7, 7, 7]),
    layerCount: fc.integer({ min: 1, max: 7 }),
    seqStep: fc.constantFrom(1, 3, 2 ** 33),
    open: fc.array(fc.nat(70), { maxLength: 5 }),
    visibleBack: fc.nat(3),
    atLeaf: fc.boolean(),
    settled: fc.boolean(),
    ranges: fc.array(fc.record({ from: fc.option(keyBytes), to: fc.option(keyBytes), at: fc.nat(60) }), { maxLength: 4 }),
  })
  .map(({ changes, prefix, layerCount, seqStep, open, visibleBack, atLeaf, settled, ranges }) => {
    const layers: Message[][] = Array.from({ length: layerCount }, () => []);
    const highest = new Map<string, number>();
    const seqOf = (i: number): number => (i + 1) * seqStep;
    changes.forEach(({ key, isRemove, isUpdate, depth }, i) => {
      const name = key.join();
      const layer = Math.min(depth % layerCount, highest.get(name) ?? layerCount - 1);
      highest.set(name, layer);
      // A leaf has settled versions: the oldest of a key, with seq 0, never a remove.
      const isSettled = settled && atLeaf && layer === layerCount - 1 && !layers[layer]!.some((other) => other.key.join() === [...prefix, ...key].join());
      const changed = isRemove ? messageKinds.remove : messageKinds.put;
      const kind = isSettled ? messageKinds.put : isUpdate && updates ? messageKinds.update : changed;
      const values = { [messageKinds.put]: Uint8Array.of(i, 1, 2), [messageKinds.remove]: new Uint8Array(), [messageKinds.update]: operation(i) };
      const value = values[kind];
      layers[layer]!.push({ key: Uint8Array.from([...prefix, ...key]), seq: isSettled ? 0 : seqOf(i), kind, value });
    });
    const visible = Math.max(0, seqOf(changes.length - 1) - visibleBack * seqStep);
    // What is settled was settled under snapshots that are all older than those of now.
    const snapshots = [...new Set([...open.map((at) => Math.min(at * seqStep, visible)), visible])].sort((a, b) => a - b);
    const bound = (key: readonly number[] | null): Uint8Array | undefined => (key === null ? undefined : Uint8Array.from([...prefix, ...key]));
    const deletes = ranges
      .map(({ from, to, at }) => ({ from: bound(from), to: bound(to), seq: seqOf(Math.min(at, Math.max(0, changes.length - 1))) }))
      .filter(({ from, to }) => from === undefined || to === undefined || compareBytes(from, to) < 0);
    return { layers: layers.map(sortMessages), snapshots, atLeaf, ranges: deletes };
  });

/** Puts, removes and range deletes. */
export const history: fc.Arbitrary<History> = historyOf(false);
/** Updates among them. */
export const updateHistory: fc.Arbitrary<History> = historyOf(true);

/** An update that others can tell from it; now and then one that removes what is long. */
function operation(i: number): Uint8Array {
  return i % 5 === 4 ? operationOf(updateTable.functions, testFunctions.cap, Uint8Array.of(6)) : operationOf(updateTable.functions, testFunctions.append, Uint8Array.of(i));
}

/**
 * What a reader at `snapshot` comes to; a range delete is a remove, older than a point of its own seq. Updates that nothing older was found for come
 * as one update, the oldest first.
 */
export function read(messages: readonly Message[], key: Uint8Array, snapshot: number, ranges: readonly RangeDelete[]): Pick<Message, 'kind' | 'value'> | undefined {
  const removed = { kind: messageKinds.remove, value: new Uint8Array() };
  const seen = messages.filter((message) => compareBytes(message.key, key) === 0 && message.seq <= snapshot).map(({ seq, kind, value }) => ({ seq, kind, value }));
  // At one seq the point is the newer one.
  const hidden = ranges.filter((range) => range.seq <= snapshot && coversKey(range, key)).map(({ seq }) => ({ seq: seq - 0.5, ...removed }));
  const versions: { readonly seq: number; readonly kind: Message['kind']; readonly value: Uint8Array }[] = [...seen, ...hidden].sort((a, b) => a.seq - b.seq);
  let state: Pick<Message, 'kind' | 'value'> | undefined;
  for (const { kind, value } of versions) {
    if (kind !== messageKinds.update) state = { kind, value };
    else if (state === undefined || state.kind === messageKinds.update) state = { kind, value: concatBytes([state?.value ?? new Uint8Array(), value]) };
    else {
      const result = applyOperations(updateTable.functions, state.kind === messageKinds.put ? state.value : undefined, value);
      state = result === undefined ? removed : { kind: messageKinds.put, value: result };
    }
  }
  return state;
}

/** Laws 10 and 11 in their own words, for what is no update; a snapshot can be opened at any seq from the newest visible one on while the merge runs (law 3). */
export function naiveMerge({ layers, snapshots, atLeaf, ranges }: History): Message[] {
  const all = sortMessages(layers.flat());
  const oldest = snapshots[0]!;
  const visible = snapshots.at(-1)!;
  const kept: Message[] = [];
  let stands = 0;
  all.forEach((message, i) => {
    const before = all[i - 1];
    const point = before !== undefined && compareBytes(before.key, message.key) === 0 ? before.seq : Infinity;
    const range = Math.min(...ranges.filter((other) => other.seq > message.seq && coversKey(other, message.key)).map(({ seq }) => seq));
    const isSeen = (older: number, newer: number): boolean => newer > visible || snapshots.some((snapshot) => older <= snapshot && snapshot < newer);
    if (point === Infinity) stands = 0;
    if (range < point && (point === Infinity || isSeen(range, point))) stands = range;
    const newer = Math.min(point, range);
    if (newer !== Infinity && !isSeen(message.seq, newer)) return;
    // At the leaf a remove stands for the range, where something older is kept that it hides.
    if (stands > 0 && atLeaf && message.kind === messageKinds.put) kept.push({ key: message.key, seq: stands, kind: messageKinds.remove, value: new Uint8Array() });
    stands = 0;
    kept.push(message);
  });
  if (!atLeaf) return kept;
  const ended = kept.filter((message, i) => {
    const next = kept[i + 1];
    const isOldest = next === undefined || compareBytes(next.key, message.key) !== 0;
    return !(isOldest && message.kind === messageKinds.remove && !snapshots.some((snapshot) => snapshot < message.seq));
  });
  return ended.map((message) => (message.seq <= oldest ? { ...message, seq: 0 } : message));
}

/** How a merge is driven: sizes of the runs it is fed, limits and bounds of its steps. */
export interface Drive {
  readonly pieces: readonly number[];
  readonly limits: readonly number[];
  readonly byteLimits: readonly number[];
  readonly bounds: readonly (readonly number[])[];
  readonly prefixed: boolean;
}

export const drive: fc.Arbitrary<Drive> = fc.record({
  pieces: fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 5 }),
  limits: fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 3 }),
  byteLimits: fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 3 }),
  bounds: fc.array(keyBytes, { maxLength: 4 }),
  prefixed: fc.boolean(),
});

export interface Step {
  readonly end: StepEnd;
  readonly limit: StepLimit;
  readonly output: readonly Message[];
}

/** The kernel, or one with a break planted in it. */
export type MergeClass = typeof Merge;

/** Drives a merge of the history to its end. */
export function runMerge(Kernel: MergeClass, { layers, snapshots, atLeaf, ranges }: History, how: Drive): Step[] {
  const merge = new Kernel(layers.length, { snapshots: Float64Array.from(snapshots), atLeaf, ranges, updates: { functions: updateTable.functions } });
  const left = layers.map((layer) => [...layer]);
  const bounds = how.bounds.map((bound) => Uint8Array.from(how.prefixed ? [7, 7, 7, ...bound] : bound)).sort(compareBytes);
  const steps: Step[] = [];
  let feeds = 0;
  for (let i = 0; ; i++) {
    const bytes = how.byteLimits[i % (how.byteLimits.length + 1)];
    const limit: StepLimit = {
      messages: how.limits[i % (how.limits.length + 1)] ?? Infinity,
      ...(bytes === undefined ? {} : { bytes }),
      ...(bounds[0] === undefined ? {} : { bound: bounds[0] }),
    };
    const builder = new RunBuilder();
    const end = merge.step(builder, limit);
    steps.push({ end, limit, output: messagesOf(builder.finish()) });
    if (end === 'end') return steps;
    if (end === 'bound') bounds.shift();
    if (end === 'input') {
      const rest = left[merge.needs]!;
      const size = how.pieces[feeds++ % how.pieces.length]!;
      const run = runOfMessages(rest.splice(0, Math.max(size, feeds % 3)));
      if (run.count === 0 && rest.length === 0) merge.feed(merge.needs, undefined);
      else merge.feed(merge.needs, run);
    }
    assert.ok(i < 10_000, 'a merge ends');
  }
}
