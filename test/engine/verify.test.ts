// What `verify` sees: trees that never rest, and what no tree of ours has.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openEnvironment } from '../../src/engine/index.ts';
import type { DictionaryId, EngineOptions, Environment } from '../../src/engine/index.ts';
import { SimEnv } from '../sim/sim-env.ts';
import { plant } from '../support/plant.ts';
import { testFunctions, updateTable } from '../support/update-functions.ts';
import type { OpenEnvironment } from './history.ts';
import { encode, withEngine } from './scenario-engine.ts';

const small: Partial<EngineOptions> = {
  frontBytes: 2000, bufferBytes: 4000, checkpointPeriodMs: 1e9, updates: updateTable, dictionary: { compression: 'none', pageBytes: 4096, readPageBytes: 512, fanout: 4, largeValueBytes: 300 },
};

async function fill(engine: Environment, id: DictionaryId, from: number, count: number): Promise<void> {
  const transaction = engine.begin('statement');
  for (let i = from; i < from + count; i++) await transaction.put(id, encode(`key ${String((i * 7919) % 3000).padStart(5, '0')}`), encode(`value of ${String(i)} ${'v'.repeat(i % 50 === 0 ? 400 : 40)}`));
  await transaction.commit();
}

/** Verifies while somebody writes without a pause; what it came to, and how often the tree was too quick. */
async function verifyBesideWriter(engine: Environment, id: DictionaryId, atOnce: number = 20): Promise<{ readonly problems: readonly { readonly message: string }[]; readonly rows: number; readonly checkpoints: number }> {
  const { checkpoints } = engine.statistics();
  const writing = { isOver: false };
  const writer = (async () => {
    for (let i = 0; !writing.isOver; i += atOnce) await fill(engine, id, i, atOnce);
  })();
  const { problems, rows } = await engine.verify();
  writing.isOver = true;
  await writer;
  return { problems, rows, checkpoints: engine.statistics().checkpoints - checkpoints };
}

test('a tree that never rests is verified as a checkpoint has it, and its damage named', async () => {
  const sim = await SimEnv.create({ seed: 4 });
  await sim.run(async () => {
    const engine = await openEnvironment(sim, '/data', { ...small, cacheBytes: 1 << 20 });
    const first = engine.begin('statement');
    const id = first.createDictionary();
    await first.commit();
    await fill(engine, id, 0, 3000);
    await sim.clock.sleep(3000);
    const whole = await verifyBesideWriter(engine, id);
    assert.deepEqual(whole.problems, []);
    assert.ok(whole.checkpoints === 1 && whole.rows > 2000, JSON.stringify(whole));
    await engine.close();
    const bytes = await sim.files.readAll('/data/data.frond');
    for (let at = bytes.length - 4096; at > 0; at -= 4096) {
      if (new TextDecoder().decode(bytes.subarray(at, at + 1000)).includes('value of')) sim.files.corrupt('/data/data.frond', at + 700, 4);
    }
    const again = await openEnvironment(sim, '/data', { ...small, cacheBytes: 1 << 20 });
    const { problems } = await verifyBesideWriter(again, id);
    assert.ok(problems.some(({ message }) => /data\.frond: dictionary 2, block \d+: damaged basement/.test(message)), JSON.stringify(problems));
    await again.close();
  });
});

test('damage in the log is named with its place; beside a writer whose segments are used again nothing is', async () => {
  await withEngine(openEnvironment, { ...small, frontBytes: 1e6, logBytes: 400_000, logSegmentBytes: 131_072 }, async (engine, id, sim) => {
    for (let i = 0; i < 80; i++) await fill(engine, id, i * 10, 10);
    assert.deepEqual((await engine.verify()).problems, []);
    const [older, current] = (await sim.files.list('/data/log')).map((name) => `/data/log/${name}`).sort();
    assert.ok(older !== undefined && current !== undefined);
    for (const [file, offset] of [[older, 5 * 4096 + 60], [older, 3], [current, 70]] as const) {
      sim.files.corrupt(file, offset, 8);
      const { problems } = await engine.verify();
      assert.deepEqual(problems.map((problem) => [problem.file, problem.offset]), [[file, offset - (offset % 4096)]]);
      sim.files.corrupt(file, offset, 8);
    }
    for (let rounds = 0; await sim.files.exists(older); rounds++) {
      assert.ok(rounds < 20, 'segments are used again');
      assert.deepEqual((await verifyBesideWriter(engine, id, 300)).problems, []);
    }
  });
});

test('an update in a leaf is named', async () => {
  // A merge into leaves that folds nothing leaves updates in them.
  const merging = await plant('engine', 'index.js', { file: 'tree/job/merge-work.js', from: 'atLeaf: true, ranges: work.ranges, ...foldingBy(means)', to: 'atLeaf: true, ranges: work.ranges' });
  const { openEnvironment: open } = merging as { openEnvironment: OpenEnvironment };
  await withEngine(open, small, async (engine, id, sim) => {
    const transaction = engine.begin('statement');
    for (let i = 0; i < 200; i++) await transaction.update(id, encode(`key ${String(i)}`), testFunctions.append, encode('x'));
    await transaction.commit();
    await sim.clock.sleep(3000);
    const { problems } = await engine.verify();
    assert.ok(problems.some(({ message, dictionary }) => dictionary === id && message.includes('a leaf has an update')), JSON.stringify(problems));
  });
});
