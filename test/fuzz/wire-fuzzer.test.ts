import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fuzzWire } from './wire-fuzzer.ts';

test('hostile messages end no server, cost the bystander no answer, and are told nothing of others', async () => {
  const { faults, messages, served } = await fuzzWire(2, 1);
  assert.deepEqual(faults, []);
  assert.ok(messages > 10 && served > 5);
});
