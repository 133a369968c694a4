// Runs against plain sorted arrays: search, encoding, and bytes that nobody wrote.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compareBytes, viewOf } from '../../../src/base/bytes.ts';
import { EngineError } from '../../../src/base/errors.ts';
import type { Message } from '../../../src/engine/run/message.ts';
import { RunBuilder } from '../../../src/engine/run/run-builder.ts';
import { decodeRun, encodedRunLengthMax, encodeRun } from '../../../src/engine/run/run-format.ts';
import type { Run } from '../../../src/engine/run/run.ts';
import { SortedKeys } from '../../../src/engine/run/sorted-keys.ts';
import { key, messages, messagesOf, runOfMessages, seq, similarKey } from './messages.ts';

function encoded(run: Run): Uint8Array {
  const target = new Uint8Array(encodedRunLengthMax(run));
  return target.slice(0, encodeRun(run, target, 0));
}

/** The payload between other bytes: decoding must not look at them. */
function surrounded(payload: Uint8Array): { bytes: Uint8Array; start: number; end: number } {
  const bytes = new Uint8Array(payload.length + 32).fill(0x7f);
  bytes.set(payload, 16);
  return { bytes, start: 16, end: 16 + payload.length };
}

test('a run holds the messages it was built of, and so does its decoded encoding', () => {
  fc.assert(
    fc.property(messages, (list) => {
      const run = runOfMessages(list);
      assert.deepEqual(messagesOf(run), list);
      assert.equal(run.firstUnsorted(), -1);
      const { bytes, start, end } = surrounded(encoded(run));
      const decoded = decodeRun(bytes, start, end);
      assert.deepEqual(messagesOf(decoded), list);
      assert.equal(
        list.reduce((sum, message) => sum + message.key.length + message.value.length, 0),
        list.reduce((sum, _, i) => sum + decoded.size(i), 0),
      );
    }),
    { numRuns: 400 },
  );
});

test('a builder that is used again forgets what it held', () => {
  const builder = new RunBuilder();
  fc.assert(
    fc.property(messages, messages, (first, second) => {
      for (const message of first) builder.appendMessage(message);
      builder.clear();
      for (const { key, value, ...rest } of second) {
        const bytes = Uint8Array.from([...value, ...key]);
        builder.appendSlice({ ...rest, bytes, view: viewOf(bytes), hash: 0, keyStart: value.length, keyEnd: bytes.length, valueStart: 0, valueEnd: value.length });
      }
      assert.deepEqual(messagesOf(builder.finish()), second);
      assert.equal(builder.count, 0);
    }),
    { numRuns: 100 },
  );
});

test('lowerBound and upperBound find what a walk over all keys finds, in every part of a run', () => {
  fc.assert(
    fc.property(messages, fc.oneof(key, similarKey), fc.nat(), fc.nat(), (list, wanted, a, b) => {
      const run = runOfMessages(list);
      const [start, end] = [a % (run.count + 1), b % (run.count + 1)].sort((x, y) => x - y) as [number, number];
      const keys = [wanted, ...list.map((message) => message.key)];
      for (const probe of keys) {
        let lower = start;
        while (lower < end && compareBytes(list[lower]!.key, probe) < 0) lower++;
        let upper = lower;
        while (upper < end && compareBytes(list[upper]!.key, probe) === 0) upper++;
        assert.equal(run.lowerBound(probe, start, end), lower);
        assert.equal(run.upperBound(probe, start, end), upper);
      }
    }),
    { numRuns: 300 },
  );
});

/** The naive answer to `find`. */
function newest(list: readonly Message[], wanted: Uint8Array, range: readonly [number, number], snapshot: number): number {
  return list.findIndex(
    (message, i) => i >= range[0] && i < range[1] && compareBytes(message.key, wanted) === 0 && message.seq <= snapshot,
  );
}

test('find gives the newest version that the snapshot sees', () => {
  fc.assert(
    fc.property(messages, key, fc.array(seq, { minLength: 1, maxLength: 5 }), fc.nat(), (list, other, snapshots, a) => {
      const run = runOfMessages(list);
      const start = a % (run.count + 1);
      for (const wanted of [other, ...list.map((message) => message.key)]) {
        for (const snapshot of snapshots) {
          assert.equal(run.find(wanted, start, run.count, snapshot), newest(list, wanted, [start, run.count], snapshot));
        }
      }
    }),
    { numRuns: 200 },
  );
});

test('find is exact in a chain of a thousand versions between other keys', () => {
  const chain: Message[] = [{ key: Uint8Array.of(1), seq: 3, kind: 0, value: new Uint8Array() }];
  for (let version = 1000; version > 0; version--) chain.push({ key: Uint8Array.of(2), seq: 2 * version, kind: 0, value: new Uint8Array() });
  chain.push({ key: Uint8Array.of(3), seq: 1, kind: 0, value: new Uint8Array() });
  const run = runOfMessages(chain);
  for (let snapshot = 0; snapshot <= 2002; snapshot++) {
    const expected = snapshot < 2 ? -1 : 1001 - Math.min(1000, Math.floor(snapshot / 2));
    assert.equal(run.find(Uint8Array.of(2), 0, run.count, snapshot), expected);
  }
});

test('a list of keys made from copies is searched like a run', () => {
  fc.assert(
    fc.property(fc.array(key, { maxLength: 50 }), key, (list, probe) => {
      const sorted = [...list].sort(compareBytes);
      const keys = SortedKeys.from(sorted);
      assert.deepEqual(sorted, sorted.map((_, i) => keys.key(i)));
      assert.equal(keys.lowerBound(probe), sorted.filter((item) => compareBytes(item, probe) < 0).length);
      assert.equal(keys.upperBound(probe), sorted.filter((item) => compareBytes(item, probe) <= 0).length);
    }),
  );
});

/** Decodes what may be rubbish: it is a run, or an error of the two kinds that a reader of files may give. */
function decodeHostile(payload: Uint8Array): void {
  const { bytes, start, end } = surrounded(payload);
  try {
    const run = decodeRun(bytes, start, end);
    assert.ok(run.byteSize < 4096 + 64 * bytes.length * 80, 'memory stays in proportion');
    messagesOf(run);
    run.find(Uint8Array.of(1, 2, 3), 0, run.count, 7);
  } catch (error) {
    assert.ok(error instanceof EngineError && (error.code === 'corruption' || error.code === 'format'), String(error));
  }
}

test('a changed payload decodes to some run or is refused, and nothing else', () => {
  const changes = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(messages, changes, fc.option(fc.nat()), (list, edits, cut) => {
      const payload = encoded(runOfMessages(list));
      for (const [at, byte] of edits) payload[at % payload.length] = byte;
      decodeHostile(cut === null ? payload : payload.subarray(0, cut % (payload.length + 1)));
    }),
    { numRuns: 1500 },
  );
});

test('bytes that were never a payload decode to some run or are refused', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), decodeHostile),
    { numRuns: 5000 },
  );
});

test('every cut of a payload is refused', () => {
  fc.assert(
    fc.property(messages, (list) => {
      const payload = encoded(runOfMessages(list));
      for (let length = 0; length < payload.length; length++) {
        assert.throws(() => decodeRun(payload, 0, length), (error) => error instanceof EngineError && error.code === 'corruption');
      }
    }),
    { numRuns: 30 },
  );
});

test('a few bytes cannot ask for much memory', () => {
  // Two million messages of equal lengths behind a prefix: the counts alone would be gigabytes.
  for (const prefixLength of [0, 60]) {
    const payload = Uint8Array.from([12, 0x80, 0x89, 0x7a, prefixLength, ...new Array<number>(prefixLength).fill(1), 0, 0]);
    assert.throws(() => decodeRun(payload), (error) => error instanceof EngineError && error.code === 'corruption');
  }
});

test('an unknown kind of message or column is a newer format, not damage', () => {
  const run = runOfMessages([{ key: Uint8Array.of(1), seq: 0, kind: 1, value: new Uint8Array() }]);
  const payload = encoded(run);
  assert.equal(messagesOf(decodeRun(payload))[0]?.kind, 1);
  // The key is all prefix and the value empty, so the column of kinds comes last.
  payload[payload.length - 1] = 2;
  const isFormat = (error: unknown): boolean => error instanceof EngineError && error.code === 'format';
  assert.throws(() => decodeRun(payload), isFormat);
  assert.throws(() => decodeRun(Uint8Array.of(16, 0)), isFormat);
});
