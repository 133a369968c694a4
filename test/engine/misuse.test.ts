// What callers do wrong is told by a clear error, before anything is changed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '../../src/base/errors.ts';
import { openEnvironment } from '../../src/engine/index.ts';
import { openMemoryEnv } from '../../src/env/index.ts';

const isFormat = (error: unknown): boolean => error instanceof EngineError && error.code === 'format';

test('options that make no sense are refused, and nothing is made', async () => {
  const env = await openMemoryEnv();
  const dictionary = { compression: 'lz4', pageBytes: 4096, readPageBytes: 1024, fanout: 4 };
  const wrong: readonly object[] = [
    { cacheBytes: Number.NaN }, { logSegmentBytes: 0 }, { frontBytes: -1 }, { checkpointPeriodMs: Number.NaN }, { durability: { delayedMs: 0 } }, { logWriter: 'pencil' }, { dictionary: { ...dictionary, compression: 'snappy' } },
  ];
  for (const options of wrong) await assert.rejects(openEnvironment(env, '/data', options), isFormat, JSON.stringify(options));
  assert.equal(await env.files.exists('/data'), false);
});

test('what is not bytes, no number, no mode, or the first dictionary is refused', async () => {
  const engine = await openEnvironment(await openMemoryEnv(), '/data', { cacheBytes: 8 << 20 });
  const id = engine.catalogDictionary;
  const bytes = Uint8Array.of(1);
  assert.throws(() => engine.begin('write' as never), isFormat);
  const transaction = engine.begin('statement');
  await transaction.put(id, bytes, bytes);
  for (const act of [() => transaction.put(id, 'key' as never, bytes), () => transaction.put(id, bytes, undefined as never), () => transaction.remove(id, [1] as never), () => transaction.count(id, Number.NaN, 0), () => transaction.dropDictionary(id)]) {
    assert.throws(act, isFormat);
  }
  await transaction.commit();
  const read = engine.begin('read');
  assert.deepEqual([await read.get(id, bytes), read.totals(id)], [bytes, { rows: 0, bytes: 0 }]);
  read.abort();
  await engine.close();
});

test('what is being committed takes no more writes, and to abort it changes nothing', async () => {
  const engine = await openEnvironment(await openMemoryEnv(), '/data', { cacheBytes: 8 << 20 });
  const id = engine.catalogDictionary;
  const key = (number: number): Uint8Array => Uint8Array.of(number);
  const first = engine.begin('statement');
  await first.put(id, key(1), key(1));
  const committing = first.commit();
  for (const act of [() => first.put(id, key(2), key(2)), () => first.count(id, 1, 1), () => first.rollbackTo(0)]) {
    assert.throws(act, (error) => error instanceof EngineError && error.code === 'closed');
  }
  first.abort();
  const second = engine.begin('statement');
  await second.put(id, key(3), key(3));
  await committing;
  await second.commit();
  const read = engine.begin('read');
  assert.deepEqual([await read.get(id, key(1)), await read.get(id, key(2)), await read.get(id, key(3))], [key(1), undefined, key(3)]);
  read.abort();
  await engine.close();
});
