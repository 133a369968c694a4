// The merge kernel against the drop rule written down naively, and against what the rule is for: reading the output at any snapshot that
// can be open is reading the inputs. Breaks planted in the kernel must be seen by the same histories.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compareBytes } from '../../../src/base/bytes.ts';
import { Merge } from '../../../src/engine/run/merge.ts';
import { messageKinds } from '../../../src/engine/run/message.ts';
import type { Message } from '../../../src/engine/run/message.ts';
import { RunBuilder } from '../../../src/engine/run/run-builder.ts';
import { applyOperations } from '../../../src/engine/run/update.ts';
import { plant } from '../../support/plant.ts';
import { updateTable } from '../../support/update-functions.ts';
import { drive, history, naiveMerge, read, runMerge, updateHistory } from './merge-history.ts';
import type { Drive, History, MergeClass } from './merge-history.ts';
import { messagesOf, runOfMessages } from './messages.ts';

/** The output is what laws 10 and 11 keep, and no step goes behind its bound. */
function checkMerge(Kernel: MergeClass, past: History, how: Drive): void {
  const steps = runMerge(Kernel, past, how);
  for (const { limit, output } of steps) {
    if (limit.bound !== undefined) for (const message of output) assert.ok(compareBytes(message.key, limit.bound) < 0);
  }
  assert.deepEqual(steps.flatMap((step) => step.output), naiveMerge(past));
}

test('a merge writes exactly what laws 10 and 11 keep, however it is fed and stopped', () => {
  fc.assert(
    fc.property(history, drive, (past, how) => { checkMerge(Merge, past, how); }),
    { numRuns: 4000 },
  );
});

/** What a reader comes to; at the leaf a remove is nothing, and updates of nothing have their result. */
function seen(messages: readonly Message[], key: Uint8Array, snapshot: number, { ranges, atLeaf }: Pick<History, 'ranges' | 'atLeaf'>): readonly unknown[] {
  const found = read(messages, key, snapshot, ranges);
  if (!atLeaf || found === undefined) return [found?.kind, found?.value];
  const value = found.kind === messageKinds.update ? applyOperations(updateTable.functions, undefined, found.value) : found.value;
  return value === undefined || found.kind === messageKinds.remove ? [undefined, undefined] : [messageKinds.put, value];
}

/** Reading the output at any snapshot that can be open is reading the inputs; what no snapshot tells apart is one message, and a leaf has no updates. */
function checkReads(Kernel: MergeClass, past: History, how: Drive): void {
  const inputs = past.layers.flat();
  const output = runMerge(Kernel, past, how).flatMap((step) => step.output);
  const { snapshots, atLeaf } = past;
  const visible = snapshots.at(-1)!;
  const later = inputs.map((message) => message.seq).filter((seq) => seq >= visible);
  for (const snapshot of [...snapshots, ...later, Number.MAX_SAFE_INTEGER]) {
    for (const { key } of inputs) assert.deepEqual(seen(output, key, snapshot, atLeaf ? { ...past, ranges: [] } : past), seen(inputs, key, snapshot, past));
  }
  output.forEach((message, i) => {
    assert.ok(!atLeaf || message.kind !== messageKinds.update, 'a leaf has no updates');
    const newer = output[i - 1];
    if (newer === undefined || compareBytes(newer.key, message.key) !== 0) return;
    assert.ok(newer.seq > visible || snapshots.some((snapshot) => message.seq <= snapshot && snapshot < newer.seq), 'nobody tells them apart');
  });
}

test('every open snapshot, and every later one, reads from the output what it read from the inputs', () => {
  fc.assert(fc.property(history, drive, (past, how) => { checkReads(Merge, past, how); }), { numRuns: 1000 });
});

test('so it does where updates are among them, which become what they make of older versions', () => {
  fc.assert(fc.property(updateHistory, drive, (past, how) => { checkReads(Merge, past, how); }), { numRuns: 3000 });
});

test('steps never end between two versions of a key', () => {
  fc.assert(
    fc.property(history, drive, (past, how) => {
      let last: Message | undefined;
      let isKeyOpen = false;
      for (const { end, output } of runMerge(Merge, past, how)) {
        const first = output[0];
        if (last !== undefined && first !== undefined && !isKeyOpen) assert.ok(compareBytes(last.key, first.key) < 0);
        isKeyOpen = end === 'input';
        last = output.at(-1) ?? last;
      }
    }),
    { numRuns: 2000 },
  );
});

test('a step that ends at its limit has read that many messages, or the rest of one key more', () => {
  const layer = Array.from({ length: 100 }, (_, i): Message => ({ key: Uint8Array.of(i), seq: 1, kind: 0, value: new Uint8Array(10) }));
  const merge = new Merge(2, { snapshots: Float64Array.of(5), atLeaf: false, ranges: [] });
  merge.feed(0, runOfMessages(layer.map((message) => ({ ...message, seq: 2 }))));
  merge.feed(1, runOfMessages(layer));
  const builder = new RunBuilder();
  assert.equal(merge.step(builder, { messages: 9 }), 'limit');
  assert.equal(merge.messagesRead, 10);
  assert.equal(builder.count, 5);
  assert.equal(merge.step(builder, { messages: 1000, bytes: 33 }), 'limit');
  assert.equal(builder.count, 8);
  assert.equal(merge.step(builder, { messages: 1000, bound: Uint8Array.of(20) }), 'bound');
  assert.equal(builder.count, 20);
});

test('a part of a run is merged as if it were all', () => {
  const layer = Array.from({ length: 20 }, (_, i): Message => ({ key: Uint8Array.of(i), seq: 1, kind: 0, value: Uint8Array.of(i) }));
  const merge = new Merge(1, { snapshots: Float64Array.of(5), atLeaf: true, ranges: [] });
  const builder = new RunBuilder();
  merge.feed(0, runOfMessages(layer), 5, 9);
  assert.equal(merge.step(builder, { messages: 100 }), 'input');
  merge.feed(0, undefined);
  assert.equal(merge.step(builder, { messages: 100 }), 'end');
  assert.deepEqual(messagesOf(builder.finish()).map((message) => message.key[0]), [5, 6, 7, 8]);
});

interface Planted {
  readonly name: string;
  readonly from: string;
  readonly to: string;
}

const breaks: readonly Planted[] = [
  {
    name: 'a remove ends above the leaf (law 10)',
    from: 'if (this.#atLeaf && seq <= this.#oldest) {',
    to: 'if (seq <= this.#oldest) {',
  },
  {
    name: 'of equal keys the older input comes first (law 10)',
    from: 'this.#compareNext(input, best) < 0',
    to: 'this.#compareNext(input, best) <= 0',
  },
  {
    name: 'a version that a snapshot sees is dropped (law 11)',
    from: '(newer > oldest && this.#isSeen(seq, newer))',
    to: 'false',
  },
  {
    name: 'a snapshot at the very seq of the older version does not count (law 11)',
    from: 'if (snapshots[middle] < older)',
    to: 'if (snapshots[middle] <= older)',
  },
  {
    name: 'a snapshot at the very seq of the newer version counts for the older (law 11)',
    from: 'snapshots[low] < newer',
    to: 'snapshots[low] <= newer',
  },
  {
    name: 'what only older snapshots do not see is settled (law 11)',
    from: 'if (this.#atLeaf && seq <= this.#oldest) {',
    to: 'if (this.#atLeaf && seq <= this.#oldest + 1) {',
  },
  {
    name: 'a snapshot that is opened while the merge runs loses versions (law 3)',
    from: 'if (newer > snapshots[snapshots.length - 1])',
    to: 'if (false)',
  },
  {
    name: 'a range delete hides what has its own seq (law 12)',
    from: 'cover.above(run.keys, run.keyOffsets[at], run.keyOffsets[at + 1], seq)',
    to: 'cover.above(run.keys, run.keyOffsets[at], run.keyOffsets[at + 1], seq - 1)',
  },
  {
    name: 'a range delete takes what a snapshot still sees (law 12)',
    from: 'range > this.#oldest && this.#isSeen(seq, range)',
    to: 'false',
  },
  {
    name: 'a range delete ends at the leaf and leaves what it hides (law 12)',
    from: 'sink.append(removeOf(run.key(at), this.#stands), 0, this.#stands);',
    to: ';',
  },
  {
    name: 'a range delete leaves the messages that nobody sees (law 12)',
    from: 'range > this.#oldest && this.#isSeen(seq, range)',
    to: 'true',
  },
  {
    name: 'a step goes on behind its bound',
    from: 'bound === undefined ? end : run.lowerBound(bound, at, end)',
    to: 'bound === undefined ? end : run.upperBound(bound, at, end)',
  },
  {
    name: 'the last key is forgotten when an input is fed',
    from: 'this.#lastHead = this.#headOfLast();',
    to: 'this.#lastHead = noHead;',
  },
];

const updateBreaks: readonly Planted[] = [
  {
    name: 'updates that a snapshot tells apart become one (law 11)',
    from: 'pending.add(run, at, seq, keep);',
    to: 'pending.add(run, at, seq, false);',
  },
  {
    name: 'an update builds on what a range delete hid (law 12)',
    from: 'range <= pending.oldestSeq ? messageKinds.remove : run.kinds[at]',
    to: 'run.kinds[at]',
  },
  {
    name: 'an update without base ends above the leaf (law 10)',
    from: 'const isAbsent = this.#atLeaf || ',
    to: 'const isAbsent = true || ',
  },
  {
    name: 'an update stays at the leaf without a base (law 11)',
    from: 'const isAbsent = this.#atLeaf || ',
    to: 'const isAbsent = ',
  },
  {
    name: 'updates of one key are written behind the next key (law 11)',
    from: 'bytes += this.#endPending(sink);\n                if (messages',
    to: 'if (messages',
  },
];

for (const planted of updateBreaks) {
  test(`planted break is seen: ${planted.name}`, async (t) => {
    const { Merge: Broken } = (await plant('engine', 'run/merge.js', { file: 'run/merge.js', ...planted })) as { Merge: MergeClass };
    const result = fc.check(
      fc.property(updateHistory, drive, (past, how) => { checkReads(Broken, past, how); }),
      { numRuns: 3000, endOnFailure: true, seed: 1 },
    );
    assert.ok(result.failed, 'no history noticed');
    t.diagnostic(`caught: seed 1, history ${String(result.numRuns)}`);
  });
}

for (const planted of breaks) {
  test(`planted break is seen: ${planted.name}`, async (t) => {
    const { Merge: Broken } = (await plant('engine', 'run/merge.js', { file: 'run/merge.js', ...planted })) as { Merge: MergeClass };
    const result = fc.check(
      fc.property(history, drive, (past, how) => { checkMerge(Broken, past, how); }),
      { numRuns: 3000, endOnFailure: true, seed: 1 },
    );
    assert.ok(result.failed, 'no history noticed');
    t.diagnostic(`caught: seed 1, history ${String(result.numRuns)}`);
  });
}
