// Parts of values: the bytes asked for, whether the value lies in the tree or beside it, plain or compressed; damage costs the block it is in.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { BlockHash } from '../../src/base/block-hash.ts';
import { EngineError } from '../../src/base/errors.ts';
import { openEnvironment } from '../../src/engine/index.ts';
import type { DictionaryId, Environment } from '../../src/engine/index.ts';
import { openMemoryEnv } from '../../src/env/index.ts';
import type { Env } from '../../src/env/index.ts';
import { patternBytes } from '../support/file-store.ts';

const values = [patternBytes(5, 1), patternBytes(16_384, 2), patternBytes(100_001, 3), patternBytes(1_200_000, 4), new Uint8Array(300_000), new Uint8Array(2_500_000)];
const keyOf = (i: number): Uint8Array => Uint8Array.of(i);

async function open(env: Env): Promise<Environment> {
  return await openEnvironment(env, '/data', { dictionary: { compression: 'lz4', pageBytes: 65_536, readPageBytes: 4096, fanout: 8, largeValueBytes: 16_384 } });
}

async function stored(env: Env): Promise<{ readonly engine: Environment; readonly id: DictionaryId }> {
  const engine = await open(env);
  const txn = engine.begin('statement');
  const id = txn.createDictionary();
  for (const [i, value] of values.entries()) await txn.put(id, keyOf(i), value);
  await txn.commit();
  return { engine, id };
}

test('a part of a value is those bytes of it, as many as there are', async () => {
  const { engine, id } = await stored(await openMemoryEnv());
  const txn = engine.begin('read');
  const edge = fc.oneof(fc.nat(2_600_000), fc.nat(160).map((n) => n * 16_384), fc.nat(1000));
  await fc.assert(fc.asyncProperty(fc.nat(values.length - 1), edge, edge, fc.constantFrom(10_000, 18_000, 40_000, 263_144), async (i, a, b, room) => {
    const [from, to] = [Math.min(a, b), Math.max(a, b)];
    const part = await txn.getPart(id, keyOf(i), { from, to });
    assert.ok(Buffer.from(part!).equals(values[i]!.subarray(from, to)), `${from} to ${to} of value ${i}`);
    const { memory } = new BlockHash(room);
    const some = await txn.getPart(id, keyOf(i), { from, to, memory: memory.subarray(1000) });
    const wanted = values[i]!.subarray(from, to);
    assert.ok(wanted.length === 0 || some!.length > 0, `nothing of ${from} to ${to} of value ${i} in ${room}`);
    if (some!.buffer !== memory.buffer) assert.equal(some!.length, wanted.length);
    assert.ok(Buffer.from(some!).equals(wanted.subarray(0, some!.length)), `${from} to ${to} of value ${i} in ${room}`);
  }), { numRuns: 200 });
  assert.equal(await txn.getPart(id, keyOf(99), { from: 0, to: 10 }), undefined);
  txn.abort();
  await engine.close();
});

test('damage in a large value costs the parts that touch its block, and nothing else is given for it', async () => {
  const env = await openMemoryEnv();
  const { engine, id } = await stored(env);
  await engine.close();
  const [name] = (await env.files.list('/data/blob')).filter((path) => path.endsWith('.blob'));
  const file = await env.files.open(`/data/blob/${name!}`, 'write');
  const bytes = new Uint8Array(await file.size());
  await file.read(bytes, 0);
  const at = Buffer.from(bytes).indexOf(Buffer.from(values[2]!.subarray(50_000, 50_100)));
  await file.write(Uint8Array.of(bytes[at]! ^ 1), at);
  await file.close();
  const again = await open(env);
  const txn = again.begin('read');
  const whole = values[2]!;
  for (const [from, to] of [[0, 49_152], [0, 1], [65_536, 100_001], [49_000, 49_152]] as const) assert.deepEqual((await txn.getPart(id, keyOf(2), { from, to }))!.slice(), whole.slice(from, to));
  for (const [from, to] of [[0, 49_153], [50_000, 50_001], [65_000, 70_000], [0, 100_001]] as const) {
    for (const memory of [undefined, new BlockHash(100_000).memory]) {
      await assert.rejects(async () => txn.getPart(id, keyOf(2), { from, to, memory }), (error: unknown) => error instanceof EngineError && error.code === 'corruption', `${from} to ${to}`);
    }
  }
  assert.deepEqual((await txn.getPart(id, keyOf(3), { from: 1, to: 3 }))!.slice(), values[3]!.slice(1, 3));
  txn.abort();
  await again.close();
});
