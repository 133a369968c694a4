import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareBytes, concatBytes, equalBytes } from '../../src/base/bytes.ts';

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);

void test('bytes are ordered as unsigned numbers, a prefix before what it begins', () => {
  assert.ok(compareBytes(bytes(0x7f), bytes(0x80)) < 0);
  assert.ok(compareBytes(bytes(1, 2), bytes(1, 2, 0)) < 0);
  assert.ok(compareBytes(bytes(2), bytes(1, 255)) > 0);
  assert.equal(compareBytes(bytes(), bytes()), 0);
});

void test('joined parts keep their order and are a copy', () => {
  const part = bytes(1, 2);
  const whole = concatBytes([part, bytes(), bytes(3)]);
  part[0] = 9;
  assert.ok(equalBytes(whole, bytes(1, 2, 3)));
});
