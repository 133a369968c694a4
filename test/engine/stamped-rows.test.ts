// Law 8: what rows with stamps come to; their order is a scenario (stamp-scenarios.ts).

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openEnvironment } from '../../src/engine/index.ts';
import { opened, rowsOf, Stamps, text } from './stamp-scenarios.ts';

test('a transaction that is given up has no row and takes no stamp', async () => {
  const { engine, data, log } = await opened(openEnvironment);
  const stamps = new Stamps();
  const txn = engine.begin('statement');
  await txn.put(data, Uint8Array.of(1), text('x'));
  txn.abort();
  assert.equal(stamps.given, 0);
  assert.deepEqual(await rowsOf(engine, log), []);
  await engine.close();
});

test('a commit of rows alone is a commit', async () => {
  const { engine, log } = await opened(openEnvironment);
  const stamps = new Stamps();
  const before = engine.visible;
  await engine.begin('statement').commit({ dictionary: () => log, stamp: () => stamps.next(), values: [text('note')], counted: 1 });
  assert.equal(engine.visible, before + 1);
  assert.deepEqual(await rowsOf(engine, log), [{ stamp: 1, place: 0, value: 'note' }]);
  await engine.close();
});
