import assert from 'node:assert/strict';
import { test } from 'node:test';
import { streamLoop } from './stream-loop.ts';

test('a change stream that is resumed after kills has told each write once, and gives the collection', async () => {
  const { events, acknowledged, resumed } = await streamLoop(3, 1);
  assert.ok(acknowledged > 0 && events >= acknowledged);
  assert.ok(resumed >= 2);
});
