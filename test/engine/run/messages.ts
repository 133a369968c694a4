// Messages in plain arrays: what runs are compared with in these tests, and how both are made from the same choices.

import fc from 'fast-check';
import { compareBytes } from '../../../src/base/bytes.ts';
import { encodeUtf8 } from '../../../src/base/text.ts';
import { messageKinds } from '../../../src/engine/run/message.ts';
import type { Message } from '../../../src/engine/run/message.ts';
import { RunBuilder } from '../../../src/engine/run/run-builder.ts';
import type { Run } from '../../../src/engine/run/run.ts';

/** Order of a run: key ascending, seq descending. */
function compareMessages(a: Message, b: Message): number {
  return compareBytes(a.key, b.key) || b.seq - a.seq;
}

/** Sorts, and keeps one message for each key and seq. */
export function sortMessages(messages: readonly Message[]): Message[] {
  const sorted = [...messages].sort(compareMessages);
  return sorted.filter((message, i) => i === 0 || compareMessages(sorted[i - 1]!, message) !== 0);
}

export function runOfMessages(messages: readonly Message[]): Run {
  const builder = new RunBuilder(1, 1);
  for (const message of messages) builder.appendMessage(message);
  return builder.finish();
}

export function messagesOf(run: Run): Message[] {
  return Array.from({ length: run.count }, (_, i) => ({
    key: run.key(i).slice(),
    seq: run.seq(i),
    kind: run.kind(i),
    value: run.value(i).slice(),
  }));
}

/** Keys that share prefixes, end in zeros, are prefixes of each other: whatever a search by heads could get wrong. */
export const key: fc.Arbitrary<Uint8Array> = fc
  .tuple(
    fc.constantFrom('', 'user:', 'user:\0\0', 'a long prefix that all keys of a test share '),
    fc.array(fc.constantFrom(0, 1, 0x61, 0xff), { maxLength: 7 }),
  )
  .map(([prefix, rest]) => Uint8Array.of(...encodeUtf8(prefix), ...rest));

/** Keys of one test that mostly begin alike. */
export const similarKey: fc.Arbitrary<Uint8Array> = fc
  .array(fc.constantFrom(0, 1, 2, 0x80, 0xff), { maxLength: 9 })
  .map((rest) => Uint8Array.from([0x10, 0x20, 0x30, 0x40, 0x50, ...rest]));

export const seq: fc.Arbitrary<number> = fc.oneof(fc.nat(5), fc.nat(1000), fc.constantFrom(0, 2 ** 32, 2 ** 53 - 1));

function messageArbitrary(keys: fc.Arbitrary<Uint8Array>, seqs: fc.Arbitrary<number>): fc.Arbitrary<Message> {
  return fc
    .record({ key: keys, seq: seqs, isRemove: fc.boolean(), value: fc.uint8Array({ maxLength: 80 }) })
    .map(({ isRemove, value, ...rest }) => ({ ...rest, kind: isRemove ? messageKinds.remove : messageKinds.put, value: isRemove ? new Uint8Array() : value }));
}

/** The messages of one run, in order: with versions, removes and seqs, or settled as in a leaf. */
export const messages: fc.Arbitrary<Message[]> = fc
  .tuple(fc.constantFrom(key, similarKey), fc.constantFrom(seq, fc.constant(0)), fc.constantFrom(4, 40, 300))
  .chain(([keys, seqs, maxLength]) => fc.array(messageArbitrary(keys, seqs), { maxLength, size: 'max' }))
  .map(sortMessages);
