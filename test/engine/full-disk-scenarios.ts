// Scripts for law 25: what a full disk lets through, and the space that is had before it is needed for that. The disk becomes full at one moment
// and gives nothing more from then on, so whatever goes on does so with space that was had before. Nothing but `no-space` may be answered, and
// what was refused left nothing behind.

import assert from 'node:assert/strict';
import type { DictionaryId, EngineOptions, Environment } from '../../src/engine/index.ts';
import type { SimEnv } from '../sim/sim-env.ts';
import { SimRandom } from '../sim/sim-random.ts';
import type { OpenEnvironment } from './history.ts';
import { codeOf, encode, MiB, put, withEngine } from './scenario-engine.ts';
import type { Scenario } from './scenario-engine.ts';

const dictionary: EngineOptions['dictionary'] = { largeValueBytes: 0, compression: 'none', pageBytes: 32_768, readPageBytes: 8192, fanout: 8 };
const small: Partial<EngineOptions> = { cacheBytes: MiB, logSegmentBytes: 131_072, dictionary, logBytes: 1, frontBytes: 2000, bufferBytes: 100 };

async function remove(engine: Environment, id: DictionaryId, key: string): Promise<void> {
  const transaction = engine.begin('statement');
  await transaction.remove(id, encode(key));
  await transaction.commit();
}

/** 300 rows and a checkpoint, then a disk that gives nothing more; returns what the values were drawn from. */
async function fillDisk(engine: Environment, id: DictionaryId, sim: SimEnv): Promise<SimRandom> {
  const random = new SimRandom(7);
  for (let i = 0; i < 300; i++) await put(engine, id, `key ${i}`, random.bytes(2000));
  await sim.clock.sleep(5000);
  await engine.checkpoint();
  sim.files.setCapacity(0);
  return random;
}

/** Law 25: on a full disk what grows is refused, deletes get through and give space back, and that space is used again. */
async function fullDisk(open: OpenEnvironment): Promise<void> {
  await withEngine(open, small, async (engine, id, sim) => {
    const random = await fillDisk(engine, id, sim);
    const before = engine.statistics();
    for (let i = 0; i < 280; i++) {
      const code = await codeOf(() => remove(engine, id, `key ${i}`));
      assert.equal(code, 'none', `delete ${i}: ${JSON.stringify(engine.statistics())}`);
    }
    await sim.clock.sleep(20_000);
    const after = engine.statistics();
    assert.ok(after.freeableBytes > before.freeableBytes + 150_000, `${before.freeableBytes} bytes were free, ${after.freeableBytes} are`);
    for (let i = 0; i < 5; i++) await put(engine, id, `again ${i}`, random.bytes(2000));
    assert.equal(engine.statistics().dataFileBytes, after.dataFileBytes);
    const fates = await Promise.all([...Array(60).keys()].map(async (i) => codeOf(() => put(engine, id, `new ${i}`, random.bytes(30_000)))));
    assert.ok(fates.includes('no-space') && fates.every((code) => code === 'none' || code === 'no-space'), fates.join());
    sim.files.setCapacity(2 ** 30);
  });
}

/** The data file is full up to what is kept for jobs: deletes go down with that, and what they give back takes rows again. */
async function deletesOnKeptSpace(open: OpenEnvironment): Promise<void> {
  await withEngine(open, small, async (engine, id, sim) => {
    const random = await fillDisk(engine, id, sim);
    let filled = 0;
    for (let round = 0; round < 10; round++) {
      while ((await codeOf(() => put(engine, id, `fill ${filled}`, random.bytes(2000)))) === 'none') filled += 1;
      await sim.clock.sleep(2000);
    }
    const before = engine.statistics();
    for (let i = 0; i < 280; i++) assert.equal(await codeOf(() => remove(engine, id, `key ${i}`)), 'none', `delete ${i}`);
    await sim.clock.sleep(20_000);
    const after = engine.statistics();
    assert.ok(after.freeableBytes > before.freeableBytes + 150_000, `${before.freeableBytes} bytes were free, ${after.freeableBytes} are`);
    assert.equal(after.dataFileBytes, before.dataFileBytes);
    for (let i = 0; i < 20; i++) await put(engine, id, `again ${i}`, random.bytes(2000));
    sim.files.setCapacity(2 ** 30);
  });
}

/** Commits that begin together have room in the log each for itself: on a full disk those get none for whom there is not enough. */
async function roomForEach(open: OpenEnvironment): Promise<void> {
  const valueBytes = 10_000;
  await withEngine(open, { cacheBytes: 16 * MiB, logSegmentBytes: 131_072, dictionary }, async (engine, id, sim) => {
    const random = new SimRandom(7);
    await sim.clock.sleep(5000);
    await engine.checkpoint();
    sim.files.setCapacity(0);
    const values = Array.from({ length: 60 }, () => random.bytes(valueBytes));
    const fates = await Promise.all(values.map(async (value, i) => codeOf(() => put(engine, id, `key ${i}`, value))));
    assert.ok(fates.includes('none') && fates.includes('no-space') && fates.every((code) => code === 'none' || code === 'no-space'), fates.join());
    sim.files.setCapacity(2 ** 30);
    await sim.clock.sleep(2000);
    await put(engine, id, 'goes on');
    const read = engine.begin('read');
    for (const [i, code] of fates.entries()) assert.deepEqual(await read.get(id, encode(`key ${i}`)), code === 'none' ? values[i] : undefined);
    read.abort();
  });
}

export const fullDiskScenarios: Readonly<Record<string, Scenario>> = {
  'a full disk refuses what grows, lets deletes through, and uses what they give back': fullDisk,
  'deletes go down with the space that is kept for jobs': deletesOnKeptSpace,
  'commits that begin together have room in the log each for itself': roomForEach,
};
