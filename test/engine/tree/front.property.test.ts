// A front against the plainest thing that does the same: a list of messages, searched and sorted anew for each question.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compareBytes } from '../../../src/base/bytes.ts';
import { Front } from '../../../src/engine/tree/front.ts';

interface Message {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly seq: number;
  readonly kind: number;
}

type Step =
  | { readonly kind: 'append'; readonly key: Uint8Array; readonly value: Uint8Array; readonly remove: boolean; readonly stays: boolean }
  | { readonly kind: 'appendAll'; readonly puts: readonly (readonly [Uint8Array, Uint8Array])[]; readonly taken: number }
  | { readonly kind: 'sort' }
  | { readonly kind: 'truncate'; readonly share: number }
  | { readonly kind: 'reset' };

const key = fc.uint8Array({ maxLength: 3 }).map((bytes) => bytes.map((byte) => byte % 4));
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 20, arbitrary: fc.record({ kind: fc.constant('append' as const), key, value: fc.uint8Array({ maxLength: 40 }), remove: fc.boolean(), stays: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('appendAll' as const), puts: fc.array(fc.tuple(key, fc.uint8Array({ maxLength: 40 })), { maxLength: 30 }), taken: fc.nat(3) }) },
  { weight: 3, arbitrary: fc.constant({ kind: 'sort' as const }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('truncate' as const), share: fc.double({ min: 0, max: 1, noNaN: true }) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'reset' as const }) },
);

function messageAt(front: Front, entry: number): Message {
  return { key: front.key(entry).slice(), value: front.value(entry).slice(), seq: front.seq(entry), kind: front.kind(entry) };
}

const inOrder = (a: Message, b: Message): number => compareBytes(a.key, b.key) || b.seq - a.seq;

/** Appends puts as one commit, each key once, by way of a front that has taken some back; gives what was appended. */
function appendPlain(front: Front, { puts, taken }: Extract<Step, { kind: 'appendAll' }>, seq: number): (readonly [Uint8Array, Uint8Array])[] {
  const commit = new Front();
  const seen = new Set<string>();
  const once = puts.filter(([key]) => !seen.has(key.join()) && seen.add(key.join()).size > 0);
  const kept = once.slice(0, Math.max(0, once.length - taken));
  once.forEach(([key, value], operation) => commit.append(key, operation + 1, 0, value));
  commit.truncate(kept.length);
  assert.equal(commit.isPlain, true);
  front.appendAll(commit, seq);
  return kept;
}

/** Both after the same steps. Entries of one key and seq are told apart by their order: the later one hides the earlier. */
function apply(front: Front, messages: Message[], steps: readonly Step[]): void {
  let seq = 0;
  for (const step of steps) {
    if (step.kind === 'append') {
      if (!step.stays || messages.some((message) => message.seq === seq && compareBytes(message.key, step.key) === 0)) seq += 1;
      const message = { key: step.key, value: step.value, seq, kind: step.remove ? 1 : 0 };
      front.append(message.key, seq, message.kind, message.value);
      messages.push(message);
    } else if (step.kind === 'appendAll') {
      seq += 1;
      for (const [key, value] of appendPlain(front, step, seq)) messages.push({ key, value, seq, kind: 0 });
    } else if (step.kind === 'sort') front.sortedPieces();
    else if (step.kind === 'truncate') {
      const count = Math.floor(step.share * messages.length);
      front.truncate(count);
      messages.length = count;
      seq = messages.at(-1)?.seq ?? 0;
    } else {
      front.reset();
      messages.length = 0;
      seq = 0;
    }
  }
}

test('a front finds, orders and takes back what a plain list does', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 150 }), (steps) => {
      const front = new Front();
      const messages: Message[] = [];
      apply(front, messages, steps);
      assert.equal(front.count, messages.length);
      const sorted = [...messages].sort(inOrder);
      assert.deepEqual([...front.sortedWhole()].map((entry) => messageAt(front, entry)), sorted);
      for (const { key: wanted } of messages) {
        for (const seq of [0, ...messages.map((message) => message.seq), Infinity]) {
          const found = front.find(wanted, seq);
          const expected = sorted.find((message) => compareBytes(message.key, wanted) === 0 && message.seq <= seq);
          assert.deepEqual(found < 0 ? undefined : messageAt(front, found), expected);
        }
      }
      messages.forEach((message, entry) => {
        const isNewest = !messages.slice(entry + 1).some((later) => compareBytes(later.key, message.key) === 0);
        assert.equal(front.isNewest(entry), isNewest);
      });
    }),
    { numRuns: 60 },
  );
});

test('ordered reads between appends sort only what came since: there are few pieces, and each doubles the one behind it', () => {
  const front = new Front();
  let sorted = 0;
  for (let i = 0; i < 4000; i++) {
    front.append(Uint8Array.of((i * 31) & 255, (i * 17) & 255, i >> 8, i), i + 1, 0, Uint8Array.of(i));
    const before = front.sortedPieces();
    sorted += before.at(-1)?.length ?? 0;
    assert.ok(before.length <= 13, `${before.length} pieces of ${i + 1} messages`);
  }
  // n log n, not n squared: 4000 messages are moved about 12 times each.
  assert.ok(sorted < 4000 * 24, `${sorted} messages sorted or merged`);
});
