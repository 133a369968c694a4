// Records: what was written as many puts is read as the puts that they are, whatever is read at a time, and bytes that are cut are damage.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { EngineError } from '../../../src/base/errors.ts';
import { Front } from '../../../src/engine/tree/front.ts';
import { RecordReader, RecordWriter } from '../../../src/engine/wal/record.ts';
import type { MessageSlice, RecordVisitor } from '../../../src/engine/wal/record.ts';

const unasked = (): never => assert.fail('the record has puts and counts only');

/** Puts and counts as they are read. */
function reader(read: string[]): RecordVisitor {
  return {
    message: (dictionary, { bytes, keyStart, keyEnd, valueStart, valueEnd, kind }: MessageSlice) => read.push([dictionary, kind, bytes.subarray(keyStart, keyEnd).join(), bytes.subarray(valueStart, valueEnd).join()].join(' ')),
    count: (dictionary, rows, bytes) => read.push(['count', dictionary, rows, bytes].join(' ')),
    move: unasked, rangeDelete: unasked, spill: unasked, create: unasked, drop: unasked,
  };
}

const puts = fc.uniqueArray(fc.tuple(fc.uint8Array({ maxLength: 6 }), fc.uint8Array({ maxLength: 300 })), { minLength: 1, maxLength: 40, selector: ([key]) => key.join() });

test('many puts of a record are read as puts, a few at a time too; cut off anywhere they are damage', () => {
  fc.assert(
    fc.property(puts, fc.nat(1), fc.integer({ min: 1, max: 50 }), fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), (messages, skipped, parts, cut) => {
      const from = Math.min(skipped, messages.length - 1);
      const front = new Front();
      messages.forEach(([key, value], at) => front.append(key, at + 1, 0, value));
      const writer = new RecordWriter();
      writer.begin();
      writer.puts(300, front, from, messages.length);
      const length = writer.length;
      writer.count(300, messages.length, 5);
      const body = writer.body();
      const read: string[] = [];
      const whole = new RecordReader(body);
      while (!whole.read(reader(read), parts));
      assert.deepEqual(read, [...messages.slice(from).map(([key, value]) => `300 0 ${key.join()} ${value.join()}`), `count 300 ${messages.length} 5`]);
      assert.throws(() => new RecordReader(body, { end: Math.max(1, Math.floor(cut * length)) }).read(reader([]), Infinity), (error) => error instanceof EngineError && error.code === 'corruption');
    }),
    { numRuns: 60 },
  );
});
