// The shape of a tree, level by level: what is told adds up to what the statistics of the dictionary say, and the levels follow one another.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openEnvironment } from '../../src/engine/index.ts';
import { openMemoryEnv } from '../../src/env/index.ts';

const keyOf = (i: number): Uint8Array => Uint8Array.of(i >>> 16, i >>> 8, i);

test('levels go from the fronts to the leaves, and add up to the tree', async () => {
  const env = await openMemoryEnv();
  const engine = await openEnvironment(env, '/data', {
    dictionary: { compression: 'none', pageBytes: 2048, readPageBytes: 512, fanout: 4 }, frontBytes: 16_384, bufferBytes: 4096, checkpointPeriodMs: 1e9,
  });
  const create = engine.begin('statement');
  const id = create.createDictionary();
  await create.commit();
  assert.deepEqual((await engine.treeLevels(id)).map(({ kind, nodes, messages }) => [kind, nodes, messages]), [['fronts', 0, 0], ['leaves', 1, 0]]);
  for (let from = 0; from < 6000; from += 200) {
    const txn = engine.begin('statement');
    for (let i = from; i < from + 200; i++) await txn.put(id, keyOf((i * 2647) % 6000), new Uint8Array(20).fill(i));
    await txn.commit();
  }
  for (let i = 0; i < 10_000 && engine.dictionaryStatistics(id).height < 2; i++) await env.tasks.pause();
  await engine.checkpoint();
  const txn = engine.begin('statement');
  await txn.put(id, keyOf(7), Uint8Array.of(1));
  await txn.commit();
  const levels = await engine.treeLevels(id);
  const { height, leaves, rawBytes, diskBytes } = engine.dictionaryStatistics(id);
  assert.ok(height >= 2, `a tree of height ${height}`);
  assert.deepEqual(levels.map((level) => [level.kind, level.height]), [['fronts', height + 1], ...Array.from({ length: height }, (_, i) => ['nodes', height - i]), ['leaves', 0]]);
  const [fronts, root, ...below] = levels;
  assert.equal(root!.nodes, 1);
  assert.ok(fronts!.messages >= 1);
  assert.equal(below.at(-1)!.nodes, leaves);
  const inTree = levels.slice(1);
  assert.equal(inTree.reduce((sum, level) => sum + level.rawBytes, 0), rawBytes);
  assert.equal(inTree.reduce((sum, level) => sum + level.diskBytes, 0), diskBytes);
  assert.ok(levels.every(({ messages, runs, rawBytes: raw }) => messages >= 0 && runs >= 0 && raw >= 0));
  for (const { kind, fill } of inTree) assert.ok(fill !== undefined && fill > 0 && fill < 4, `${kind} are full to ${String(fill)}`);
  await engine.close();
});
