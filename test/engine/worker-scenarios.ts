// Law 19: workers of the simulator that die at given messages.

import assert from 'node:assert/strict';
import { SimEnv } from '../sim/sim-env.ts';
import type { OpenEnvironment } from './history.ts';
import { codeOf, encode, MiB, put } from './scenario-engine.ts';
import type { Scenario } from './scenario-engine.ts';

const rows = 400;
const value = (i: number): string => `${String(i)} `.repeat(60);

/** Fills an environment whose workers die so, and gives the bytes that are in use then; rejects when a row is missing or a commit is refused. */
async function usedAfter(open: OpenEnvironment, deaths: readonly number[]): Promise<number> {
  const sim = await SimEnv.create({ seed: 3, worker: { sentBytesMin: 0, dies: false, deaths } });
  let used = 0;
  await sim.run(async () => {
    const options = { cacheBytes: MiB, frontBytes: 8000, bufferBytes: 16_000, checkpointPeriodMs: 1e9, dictionary: { compression: 'none', pageBytes: 4096, readPageBytes: 512, fanout: 4 } } as const;
    const engine = await open(sim, '/data', options);
    const id = engine.catalogDictionary;
    for (let i = 0; i < rows; i++) {
      await put(engine, id, `key ${String((i * 7919) % 100_000)}`, value(i));
      await sim.tasks.pause();
    }
    await sim.clock.sleep(20_000);
    await engine.checkpoint();
    await engine.checkpoint();
    const read = engine.begin('read');
    for (let i = 0; i < rows; i += 7) assert.deepEqual(await read.get(id, encode(`key ${String((i * 7919) % 100_000)}`)), encode(value(i)));
    read.abort();
    assert.deepEqual((await engine.verify()).problems, []);
    const { dataFileBytes, freeableBytes, workerDeaths } = engine.statistics();
    assert.equal(workerDeaths, deaths.length);
    used = dataFileBytes - freeableBytes;
    await engine.close();
  });
  return used;
}

/** Workers that die at different messages, never twice in one job: the jobs run once more, and nothing that dead ones had made takes space. */
async function deadWorkers(open: OpenEnvironment): Promise<void> {
  const none = await usedAfter(open, []);
  const some = await usedAfter(open, [25, 60, 35, 45]);
  assert.ok(some <= none * 1.1, `${String(some)} bytes are in use after deaths, ${String(none)} without`);
}

/** Two that die at once are taken for the fault of the job. */
async function twiceDead(open: OpenEnvironment): Promise<void> {
  assert.equal(await codeOf(() => usedAfter(open, [5, 1])), 'poisoned');
}

/** By name, as planted breaks give them. */
export const workerScenarios: Readonly<Record<string, Scenario>> = {
  'a worker that dies leaves nothing, and its job runs once more': deadWorkers,
  'a second death in the same job poisons': twiceDead,
};
