// The bulk loader: sorted in bounded memory, beneath what others write meanwhile, all or nothing at any crash.

import assert from 'node:assert/strict';
import type { DictionaryId, Environment, EngineOptions } from '../../src/engine/index.ts';
import { SimEnv } from '../sim/sim-env.ts';
import { SimRandom } from '../sim/sim-random.ts';
import { allRows, hex } from './history.ts';
import type { OpenEnvironment } from './history.ts';
import { codeOf, encode, put, withEngine } from './scenario-engine.ts';

const small: Partial<EngineOptions> = {
  cacheBytes: 1024 * 1024, frontBytes: 4000, bufferBytes: 4000, checkpointPeriodMs: 1_000_000, dictionary: { compression: 'lz4', pageBytes: 4096, readPageBytes: 1024, fanout: 4 },
};

interface Row {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

function randomRows(random: SimRandom, count: number, valueBytes: number): Row[] {
  const numbers = Array.from({ length: count }, (_, i) => i);
  for (let i = count - 1; i > 0; i--) {
    const j = random.below(i + 1);
    [numbers[i], numbers[j]] = [numbers[j] as number, numbers[i] as number];
  }
  return numbers.map((i) => ({ key: encode(`row ${String(i).padStart(7, '0')}`), value: new Uint8Array(random.below(valueBytes)).fill(random.below(256)) }));
}

const textOf = (rows: readonly Row[]): string[] => rows.map(({ key, value }) => `${hex(key)}=${hex(value)}`).sort();

async function rowsOf(engine: Environment, id: DictionaryId, direction: 1 | -1 = 1): Promise<string[]> {
  const read = engine.begin('read');
  const rows = await allRows(read, id, direction);
  read.abort();
  return rows;
}

/** More than the cache, in several rounds of merges; found again after a restart, with totals that a commit states. */
export async function loadMuch(open: OpenEnvironment): Promise<void> {
  const rows = randomRows(new SimRandom(7), 16_000, 120);
  const sim = await withEngine(open, small, async (engine, id) => {
    const load = engine.load(id);
    for (const { key, value } of rows) await load.add(key, value);
    const { cacheBytesUsed } = engine.statistics();
    assert.ok(cacheBytesUsed < 1024 * 1024 * 1.6, `${cacheBytesUsed} bytes are held`);
    const { logBytesWritten } = engine.statistics();
    const loaded = await load.finish();
    assert.equal(loaded.rows, rows.length);
    assert.ok(engine.statistics().logBytesWritten - logBytesWritten < 10_000, 'rows went through the log');
    const commit = engine.begin('statement');
    commit.count(id, loaded.rows, loaded.bytes);
    await commit.commit();
    const wanted = textOf(rows);
    assert.deepEqual(await rowsOf(engine, id), wanted);
    assert.deepEqual(await rowsOf(engine, id, -1), wanted.reverse());
    const { leaves, rawBytes } = engine.dictionaryStatistics(id);
    assert.ok(leaves < (rawBytes / 4096) * 1.2, `${leaves} leaves for ${rawBytes} bytes`);
    assert.deepEqual((await engine.verify()).problems, []);
  });
  const crashed = sim.crash();
  await crashed.run(async () => {
    const engine = await open(crashed, '/data', small);
    assert.deepEqual(await rowsOf(engine, 2 as DictionaryId), textOf(rows));
    assert.equal(engine.dictionaryStatistics(2 as DictionaryId).rows, rows.length);
    await engine.close();
  });
}

/** What others put, remove and delete by range during a load is newer than its rows. */
export async function loadBeneath(open: OpenEnvironment): Promise<void> {
  await withEngine(open, small, async (engine, id, sim) => {
    const rows = randomRows(new SimRandom(3), 3000, 60);
    const expected = new Map(rows.map(({ key, value }) => [hex(key), hex(value)]));
    const load = engine.load(id);
    const random = new SimRandom(4);
    for (const [i, { key, value }] of rows.entries()) {
      await load.add(key, value);
      if (i % 10 !== 0) continue;
      const other = rows[random.below(rows.length)] as Row;
      const transaction = engine.begin('statement');
      if (i % 20 === 0) {
        await transaction.remove(id, other.key);
        expected.delete(hex(other.key));
      } else {
        await transaction.put(id, other.key, encode(`newer ${i}`));
        expected.set(hex(other.key), hex(encode(`newer ${i}`)));
      }
      if (i === 1500) {
        const range = { from: encode('row 0000100'), to: encode('row 0000400') };
        await transaction.deleteRange(id, range, 0, 0);
        for (const found of [...expected.keys()]) if (found >= hex(range.from) && found < hex(range.to)) expected.delete(found);
      }
      await transaction.commit();
      if (i === 1000) await sim.clock.sleep(100);
      if (i === 2000) await engine.checkpoint();
    }
    await load.finish();
    const wanted = [...expected].map(([key, value]) => `${key}=${value}`).sort();
    assert.deepEqual(await rowsOf(engine, id), wanted);
    await sim.clock.sleep(30_000);
    assert.deepEqual(await rowsOf(engine, id, -1), wanted.toReversed());
    assert.deepEqual((await engine.verify()).problems, []);
  });
}

/** A key that comes twice is found, wherever it lies, and everything is given back; so it is after an abort and after a drop. */
export async function loadRefused(open: OpenEnvironment): Promise<void> {
  await withEngine(open, small, async (engine, id, sim) => {
    const rows = randomRows(new SimRandom(5), 20_000, 60);
    const used = (): number => engine.statistics().dataFileBytes - engine.statistics().freeableBytes;
    const before = used();
    for (const at of [17, 19_999]) {
      const load = engine.load(id);
      for (const { key, value } of rows) await load.add(key, value);
      await load.add((rows[at] as Row).key, encode('twice'));
      assert.equal(await codeOf(() => load.finish()), 'duplicate');
    }
    const aborted = engine.load(id);
    for (const { key, value } of rows) await aborted.add(key, value);
    aborted.abort();
    await sim.clock.sleep(1000);
    assert.equal(await codeOf(() => aborted.add(encode('late'), encode('late'))), 'closed');
    const dropped = engine.load(id);
    for (const { key, value } of rows) await dropped.add(key, value);
    const drop = engine.begin('statement');
    drop.dropDictionary(id);
    await drop.commit();
    await sim.clock.sleep(1000);
    assert.equal(await codeOf(() => dropped.finish()), 'unknown-dictionary');
    await engine.checkpoint();
    assert.ok(used() - before < 100_000, `${used() - before} bytes more are in use`);
    await put(engine, engine.catalogDictionary, 'and it goes on');
    assert.deepEqual((await engine.verify()).problems, []);
  });
}

/** A crash at any I/O of a load leaves a dictionary without its rows, or with all of them. */
export async function loadCrashes(open: OpenEnvironment): Promise<void> {
  const rows = randomRows(new SimRandom(9), 4000, 40);
  const wanted = textOf(rows).join();
  const sim = await SimEnv.create({ seed: 9 });
  const images: { readonly sim: SimEnv; readonly isFinished: boolean }[] = [];
  let [isLoading, isFinished, operation] = [false, false, 0];
  sim.files.onOperation = () => {
    operation += 1;
    if (isLoading && operation % 2 === 0) images.push({ sim: sim.crash(), isFinished });
  };
  await sim.run(async () => {
    const engine = await open(sim, '/data', { ...small, checkpointPeriodMs: 50 });
    const first = engine.begin('statement');
    const id = first.createDictionary();
    await first.commit();
    isLoading = true;
    const load = engine.load(id);
    for (const { key, value } of rows) await load.add(key, value);
    await load.finish();
    isFinished = true;
    await put(engine, engine.catalogDictionary, 'ready');
    isLoading = false;
    await engine.close();
  });
  assert.ok(images.length > 20, `${images.length} images of ${operation} operations`);
  for (const image of images) {
    await image.sim.run(async () => {
      const engine = await open(image.sim, '/data', small);
      const found = (await rowsOf(engine, 2 as DictionaryId)).join();
      assert.ok(found === wanted || (found === '' && !image.isFinished), 'a load is there by half, or gone');
      assert.deepEqual((await engine.verify()).problems, []);
      await engine.close();
    });
  }
}

/** The disk is full in the middle of a load: it is refused, all is given back, and the engine goes on. */
export async function loadOnFullDisk(open: OpenEnvironment): Promise<void> {
  await withEngine(open, small, async (engine, id, sim) => {
    const rows = randomRows(new SimRandom(11), 20_000, 60);
    sim.files.setCapacity(engine.statistics().dataFileBytes + engine.statistics().logBytesOnDisk + 200_000);
    const load = engine.load(id);
    const code = await codeOf(async () => {
      for (const { key, value } of rows) await load.add(key, value);
      await load.finish();
    });
    assert.equal(code, 'no-space');
    load.abort();
    sim.files.setCapacity(2 ** 30);
    await sim.clock.sleep(2000);
    await put(engine, id, 'goes on');
    assert.equal((await rowsOf(engine, id)).length, 1);
  });
}
