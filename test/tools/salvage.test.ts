// Salvage of a directory that is whole brings everything: collections without documents too, and those in several parts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '../../src/base/errors.ts';
import { BsonArray } from '../../src/bson/index.ts';
import { namespaceOf, openCatalog, updateTable } from '../../src/catalog/index.ts';
import { openEnvironment } from '../../src/engine/index.ts';
import type { Environment } from '../../src/engine/index.ts';
import { openMemoryEnv } from '../../src/env/index.ts';
import { salvageDirectory } from '../../src/tools/index.ts';
import { doc, insertAll, people, spec } from '../catalog/catalog-for-test.ts';

test('empty and partitioned collections are brought whole', async () => {
  const env = await openMemoryEnv();
  const open = (path: string): Promise<Environment> => openEnvironment(env, path, { cacheBytes: 8 << 20, updates: updateTable });
  const engine = await open('/data');
  const catalog = await openCatalog(engine, env);
  await catalog.run((txn) => catalog.create(txn, namespaceOf('test', 'empty'), doc({})));
  await catalog.run((txn) => catalog.create(txn, people, doc({ partitioned: true, primaryKey: doc({ a: -1, _id: 1 }) })));
  await catalog.createIndexes(people, [spec({ b: 1 })]);
  for (const half of [0, 1]) {
    await insertAll(catalog, Array.from({ length: 50 }, (_, i) => doc({ _id: half * 50 + i, a: 100 - half * 50 - (i % 10), b: BsonArray.of([i, 'x']) })));
    await catalog.addPartition(people, undefined);
  }
  await engine.close();
  const { losses, collections, documents, indexes } = await salvageDirectory(env, { from: '/data', to: '/safe', cacheBytes: 8 << 20 });
  assert.deepEqual([losses, collections, documents, indexes], [[], 2, 100, 1]);
  const again = await open('/safe');
  const safe = await openCatalog(again, env);
  const txn = safe.begin('read');
  const found = await safe.collection(txn, people);
  assert.deepEqual((await found?.check(txn))?.problems, []);
  assert.deepEqual([found?.totals(txn).rows, found?.partitionInfo()?.length], [100, 1]);
  assert.notEqual(await safe.collection(txn, namespaceOf('test', 'empty')), undefined);
  txn.abort();
  await again.close();
});

test('a salvage that was cut off leaves a directory that does not open', async () => {
  const env = await openMemoryEnv();
  const engine = await openEnvironment(env, '/data', { cacheBytes: 8 << 20, updates: updateTable });
  const catalog = await openCatalog(engine, env);
  await catalog.run((txn) => catalog.create(txn, people, doc({})));
  await insertAll(catalog, Array.from({ length: 1200 }, (_, i) => doc({ _id: i })));
  await engine.close();
  const progress = (_: string, documents: number): void => {
    if (documents > 500) throw new EngineError('closed', 'cut off');
  };
  await assert.rejects(salvageDirectory(env, { from: '/data', to: '/safe', cacheBytes: 8 << 20, progress }), { code: 'closed' });
  for (const work of [() => openEnvironment(env, '/safe'), () => salvageDirectory(env, { from: '/data', to: '/safe', cacheBytes: 8 << 20 })]) {
    await assert.rejects(work, { code: 'corruption', message: '/safe holds a backup or a salvage that was cut off' });
  }
});
