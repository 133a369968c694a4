// Short scripts, each for a law that random histories seldom come near. They take the function that opens an environment, so that a copy with
// a break in it can be put to the same test.

import assert from 'node:assert/strict';
import { EngineError } from '../../src/base/errors.ts';
import type { DictionaryId, EngineOptions, Transaction } from '../../src/engine/index.ts';
import { SimEnv } from '../sim/sim-env.ts';
import type { OpenEnvironment } from './history.ts';
import { damageScenarios } from './damage-scenarios.ts';
import { fullDiskScenarios } from './full-disk-scenarios.ts';
import { conflictWithRange, deleteAllUnread, deleteOlder, deletePart, deleteUnderReader, pointsBesideRange, rangeLocks } from './range-scenarios.ts';
import { largeValueScenarios } from './large-value-scenarios.ts';
import { readScenarios } from './read-scenarios.ts';
import { loadBeneath, loadCrashes, loadMuch, loadOnFullDisk, loadRefused } from './load-scenarios.ts';
import { spaceScenarios } from './space-scenarios.ts';
import { stampScenarios } from './stamp-scenarios.ts';
import { spillCrashes, spilledLocks, spilledMarks, spillGivenBack, spillMuch } from './spill-scenarios.ts';
import { assertCode, codeOf, encode, MiB, put, withEngine } from './scenario-engine.ts';
import type { Scenario } from './scenario-engine.ts';
import { steadyScenarios } from './steady-scenarios.ts';
import { updateScenarios } from './update-scenarios.ts';
import { workerScenarios } from './worker-scenarios.ts';

/** Law 4: what is forgotten raises the floor, and a writer from below it is refused. */
async function forgottenKeys(open: OpenEnvironment): Promise<void> {
  await withEngine(open, {}, async (engine, id) => {
    const old = engine.begin('snapshot');
    await put(engine, id, 'first');
    for (let batch = 0; batch < 5; batch++) {
      const transaction = engine.begin('statement');
      for (let i = 0; i < 400; i++) await transaction.putCovered(id, encode(`${batch}/${i}`), Uint8Array.of(1));
      await transaction.commit();
    }
    await assertCode(() => old.lock(id, encode('first')), 'write-conflict');
    old.abort();
  });
}

/** Law 5: a removal that was committed after the snapshot is a conflict too. */
async function removedSince(open: OpenEnvironment): Promise<void> {
  await withEngine(open, {}, async (engine, id) => {
    await put(engine, id, 'key');
    const old = engine.begin('snapshot');
    const other = engine.begin('statement');
    await other.remove(id, encode('key'));
    await other.commit();
    await assertCode(() => old.put(id, encode('key'), encode('again')), 'write-conflict');
    old.abort();
  });
}

/** Law 4: so is a put. */
async function putSince(open: OpenEnvironment): Promise<void> {
  await withEngine(open, {}, async (engine, id) => {
    const old = engine.begin('snapshot');
    await put(engine, id, 'key');
    await assertCode(() => old.put(id, encode('key'), encode('again')), 'write-conflict');
    old.abort();
  });
}

/** Law 3: a snapshot is copied from an open transaction only. */
async function endedSnapshot(open: OpenEnvironment): Promise<void> {
  await withEngine(open, {}, async (engine) => {
    const ended = engine.begin('read');
    ended.abort();
    await assertCode(() => engine.begin('read', ended), 'closed');
  });
}

/** Law 3: a dropped dictionary goes on for those who saw it. */
async function droppedUnderReader(open: OpenEnvironment): Promise<void> {
  await withEngine(open, { frontBytes: 400 }, async (engine, id, sim) => {
    for (let i = 0; i < 40; i++) await put(engine, id, `key ${i}`, 'x'.repeat(100));
    const reader = engine.begin('read');
    const drop = engine.begin('statement');
    drop.dropDictionary(id);
    await drop.commit();
    await sim.clock.sleep(1000);
    for (let i = 0; i < 40; i++) assert.equal((await reader.get(id, encode(`key ${i}`)))?.length, 100);
    reader.abort();
    await sim.clock.sleep(1000);
    await put(engine, engine.catalogDictionary, 'so that the background looks');
    await sim.clock.sleep(1000);
    assert.equal(engine.statistics().dictionaries, 1);
  });
}

/** A transaction that ends while it waits leaves the queue, and what was granted to it at that moment. */
async function endedWhileWaiting(open: OpenEnvironment): Promise<void> {
  await withEngine(open, {}, async (engine, id, sim) => {
    const holder = engine.begin('statement');
    await holder.lock(id, encode('key'));
    const waiting = engine.begin('statement');
    const lock = codeOf(() => waiting.lock(id, encode('key')));
    await sim.clock.sleep(1);
    waiting.abort();
    holder.abort();
    assert.equal(await lock, 'closed');
    await put(engine, id, 'key');
  });
}


/** Law 1: a large commit is seen whole or not at all, at whatever moment a reader begins. */
async function seenWhole(open: OpenEnvironment): Promise<void> {
  await withEngine(open, { cacheBytes: 64 * MiB }, async (engine, id, sim) => {
    const transaction = engine.begin('statement');
    for (let i = 0; i < 20_000; i++) await transaction.putCovered(id, encode(`many ${String(i).padStart(5, '0')}`), Uint8Array.of(1));
    const { logGroups } = engine.statistics();
    const committed = transaction.commit();
    while (engine.statistics().logGroups === logGroups) await sim.clock.sleep(0.001);
    for (let rows = 0; rows < 20_000; ) {
      const read = engine.begin('read');
      rows = await countRows(read, id, 'many');
      assert.ok(rows === 0 || rows === 20_000, `${rows} rows of a commit of 20000`);
      read.abort();
      await sim.clock.sleep(0.005);
    }
    await committed;
  });
}

/** Law 14: a commit that is applied in slices is flushed whole, also when the environment is closed in its middle. */
async function freezeInTheMiddle(open: OpenEnvironment): Promise<void> {
  const options: Partial<EngineOptions> = { cacheBytes: 64 * MiB };
  for (let seed = 1; seed <= 3; seed++) {
    const sim = await SimEnv.create({ seed });
    await sim.run(async () => {
      const engine = await open(sim, '/data', options);
      const id = engine.catalogDictionary;
      // The tree is known to hold something before the large commit comes.
      await put(engine, id, 'first');
      const transaction = engine.begin('statement');
      for (let i = 0; i < 40_000; i++) await transaction.putCovered(id, encode(`many ${String(i).padStart(6, '0')}`), Uint8Array.of(1));
      const { logGroups } = engine.statistics();
      const committed = transaction.commit();
      while (engine.statistics().logGroups === logGroups) await sim.clock.sleep(0.001);
      await engine.close();
      await committed;
      const again = await open(sim, '/data', options);
      const read = again.begin('read');
      assert.equal(await countRows(read, id, 'many'), 40_000);
      read.abort();
      await again.close();
    });
  }
}

async function countRows(read: Transaction, id: DictionaryId, prefix: string): Promise<number> {
  const cursor = read.cursor(id, { from: encode(prefix), to: encode(`${prefix}~`) }, 1);
  for (let rows = 0; ; ) {
    const batch = await cursor.nextBatch({ rows: 1000, bytes: MiB });
    if (batch.length === 0) return rows;
    rows += batch.length;
  }
}

/** A log of a few groups in a machine that was turned off; its current segment. */
async function someLog(open: OpenEnvironment, options: Partial<EngineOptions> = {}): Promise<{ sim: SimEnv; segment: string }> {
  const sim = await SimEnv.create({ seed: 1 });
  let segment = '';
  await sim.run(async () => {
    const engine = await open(sim, '/data', { cacheBytes: MiB, ...options });
    for (let i = 0; i < 6; i++) await put(engine, engine.catalogDictionary, `key ${i}`, 'x'.repeat(100));
    const names = await sim.files.list('/data/log');
    segment = `/data/log/${names[0] ?? ''}`;
  });
  return { sim, segment };
}

/** Law 21: damage before the end of the log is refused with its place; a torn end is cut. */
async function damagedLog(open: OpenEnvironment): Promise<void> {
  for (let group = 0; group < 6; group++) {
    const { sim, segment } = await someLog(open);
    const next = sim.crash('power');
    next.files.corrupt(segment, group * 4096 + 60, 1);
    await next.run(async () => {
      try {
        const engine = await open(next, '/data', { cacheBytes: MiB });
        assert.equal(group, 5, `damage of group ${group} went unseen`);
        assert.equal(engine.visible, 5);
        await engine.close();
      } catch (error) {
        if (!(error instanceof EngineError)) throw error;
        assert.ok(group < 5, error.message);
        assert.deepEqual([error.code, error.place.file, error.place.offset], ['corruption', segment, group * 4096]);
      }
    });
  }
}

/** Law 21: a log that is gone is no empty log. */
async function missingLog(open: OpenEnvironment): Promise<void> {
  const sim = await SimEnv.create({ seed: 1 });
  await sim.run(async () => {
    const engine = await open(sim, '/data', { cacheBytes: MiB });
    for (let i = 0; i < 6; i++) await put(engine, engine.catalogDictionary, `key ${i}`);
    await engine.checkpoint();
  });
  const next = sim.crash('power');
  await next.run(async () => {
    // Without its data file a directory is not a new one, though its log begins with the first record; nothing is made there.
    const dataFile = await next.files.readAll('/data/data.frond');
    await next.files.remove('/data/data.frond');
    await assertCode(() => open(next, '/data', { cacheBytes: MiB }), 'corruption');
    assert.equal(await next.files.exists('/data/data.frond'), false);
    await next.files.writeWhole('/data/data.frond', dataFile);
    for (const name of await next.files.list('/data/log')) await next.files.remove(`/data/log/${name}`);
    await assertCode(() => open(next, '/data', { cacheBytes: MiB }), 'corruption');
  });
}

/** Law 20: nothing of a recycled segment's earlier life validates. */
async function recycledSegments(open: OpenEnvironment): Promise<void> {
  const options: Partial<EngineOptions> = { cacheBytes: MiB, logSegmentBytes: 131_072, logBytes: 1, frontBytes: 2000, checkpointPeriodMs: 20 };
  const sim = await SimEnv.create({ seed: 1 });
  const images: { sim: SimEnv; acked: number }[] = [];
  await sim.run(async () => {
    const engine = await open(sim, '/data', options);
    for (let i = 0; i < 420; i++) {
      await put(engine, engine.catalogDictionary, `key ${i}`, 'x'.repeat(300));
      if (i % 5 === 0) images.push({ sim: sim.crash('power'), acked: engine.visible });
    }
    await engine.close();
  });
  for (const image of images) {
    await image.sim.run(async () => {
      const engine = await open(image.sim, '/data', options);
      assert.equal(engine.visible, image.acked);
      await engine.close();
    });
  }
}

/** Law 25: a sync that failed in a checkpoint poisons; what the disk has is not known. */
async function failedCheckpoint(open: OpenEnvironment): Promise<void> {
  const sim = await SimEnv.create({ seed: 1 });
  await sim.run(async () => {
    const engine = await open(sim, '/data', { cacheBytes: MiB, checkpointPeriodMs: 100_000 });
    await put(engine, engine.catalogDictionary, 'before');
    sim.files.faults.failAt({ at: 1, code: 'io', lasting: false, kinds: ['sync'], pathPart: 'data.frond' });
    await assertCode(() => engine.checkpoint(), 'poisoned');
    await assertCode(() => put(engine, engine.catalogDictionary, 'after'), 'poisoned');
    await engine.close();
  });
}

/** Totals that cancel out pin no log, and the next ones do not ask for what is gone. */
async function cancelledTotals(open: OpenEnvironment): Promise<void> {
  const options: Partial<EngineOptions> = { cacheBytes: MiB, logSegmentBytes: 131_072, checkpointPeriodMs: 100_000 };
  const sim = await withEngine(open, options, async (engine, id, machine) => {
    const count = async (rows: number): Promise<void> => {
      const transaction = engine.begin('statement');
      transaction.count(id, rows, 0);
      await transaction.commit();
    };
    await engine.checkpoint();
    await count(1);
    await count(-1);
    for (let i = 0; i < 80; i++) await put(engine, engine.catalogDictionary, `key ${i}`, 'x'.repeat(3000));
    await engine.checkpoint();
    await machine.clock.sleep(10);
    await count(1);
    await engine.checkpoint();
    const image = machine.crash('power');
    await image.run(async () => {
      const again = await open(image, '/data', options);
      const read = again.begin('read');
      assert.equal(read.totals(id).rows, 1);
      read.abort();
      await again.close();
    });
  });
  assert.ok(!sim.files.isOff);
}

/** Law 10: a remove that waits above a leaf still hides what is in the leaf. */
async function removeAboveLeaf(open: OpenEnvironment): Promise<void> {
  const options: Partial<EngineOptions> = { frontBytes: 3000, bufferBytes: 1_000_000, dictionary: { compression: 'none', pageBytes: 1024, readPageBytes: 512, fanout: 4 } };
  await withEngine(open, options, async (engine, id, sim) => {
    for (let i = 0; i < 100; i++) await put(engine, id, `key ${i}`, 'x'.repeat(100));
    await sim.clock.sleep(100);
    const remove = engine.begin('statement');
    for (let i = 0; i < 100; i++) await remove.remove(id, encode(`key ${i}`));
    await remove.commit();
    for (let i = 0; i < 30; i++) await put(engine, id, `other ${i}`, 'x'.repeat(100));
    await sim.clock.sleep(100);
    const read = engine.begin('read');
    for (let i = 0; i < 100; i++) assert.equal(await read.get(id, encode(`key ${i}`)), undefined);
    read.abort();
  });
}

/** Law 11: of two versions in one front the older one goes down with the newer while somebody sees it. */
async function flushUnderReader(open: OpenEnvironment): Promise<void> {
  const options: Partial<EngineOptions> = { frontBytes: 3000, bufferBytes: 1_000_000, dictionary: { compression: 'none', pageBytes: 1024, readPageBytes: 512, fanout: 4 } };
  await withEngine(open, options, async (engine, id, sim) => {
    for (let i = 0; i < 100; i++) await put(engine, id, `key ${i}`, 'x'.repeat(100));
    await sim.clock.sleep(100);
    await put(engine, id, 'key 50', 'older');
    const read = engine.begin('read');
    await put(engine, id, 'key 50', 'newer');
    for (let i = 0; i < 30; i++) await put(engine, id, `other ${i}`, 'x'.repeat(100));
    await sim.clock.sleep(100);
    assert.deepEqual(await read.get(id, encode('key 50')), encode('older'));
    read.abort();
  });
}

/** Law 17: the log is made shorter only behind a durable checkpoint. */
async function shorterLog(open: OpenEnvironment): Promise<void> {
  const options: Partial<EngineOptions> = { cacheBytes: MiB, logSegmentBytes: 131_072, checkpointPeriodMs: 1_000_000, frontBytes: 50_000 };
  const images: { sim: SimEnv; acked: number }[] = [];
  await withEngine(open, options, async (engine, id, sim) => {
    for (let i = 0; i < 60; i++) await put(engine, id, `key ${i}`, 'x'.repeat(12_000));
    await sim.clock.sleep(1000);
    sim.files.onOperation = () => images.push({ sim: sim.crash('power'), acked: engine.visible });
    // Beside the checkpoint, so that segments which it gave back too soon are written over.
    const checkpoint = engine.checkpoint();
    for (let i = 0; i < 40; i++) await put(engine, id, `key ${i}`, 'x'.repeat(12_000));
    await checkpoint;
    sim.files.onOperation = undefined;
  });
  for (const image of images.filter((_, i) => i % 3 === 0)) {
    await image.sim.run(async () => {
      const engine = await open(image.sim, '/data', options);
      assert.ok(engine.visible >= image.acked);
      await engine.close();
    });
  }
}

/** Law 20: a segment is written full, synced, and its directory synced, before anything is logged in it. */
async function wholeSegments(open: OpenEnvironment): Promise<void> {
  const sim = await SimEnv.create({ seed: 1 });
  const steps = new Map<string, string[]>();
  sim.files.onOperation = (kind, path) => {
    if (path === '/data/log') for (const list of steps.values()) list.push(kind);
    else if (path.startsWith('/data/log/')) steps.set(path, [...(steps.get(path) ?? []), kind]);
  };
  await sim.run(async () => {
    const engine = await open(sim, '/data', { cacheBytes: MiB, logSegmentBytes: 131_072 });
    for (let i = 0; i < 40; i++) await put(engine, engine.catalogDictionary, `key ${i}`, 'x'.repeat(10_000));
    await engine.close();
  });
  let used = 0;
  for (const [path, list] of steps) {
    const opened = list.lastIndexOf('open');
    if (!list.includes('write', opened)) continue;
    used += 1;
    const before = list.slice(0, opened);
    assert.ok(before.lastIndexOf('write') < before.lastIndexOf('sync') && before.lastIndexOf('sync') < before.lastIndexOf('syncDirectory'), `${path}: ${before.join()}`);
  }
  assert.ok(used >= 2);
}

/** Law 26 and the one budget: whatever is read and written, memory stays within it, but for one path's worth. */
async function boundedMemory(open: OpenEnvironment): Promise<void> {
  const options: Partial<EngineOptions> = { cacheBytes: MiB, dictionary: { compression: 'none', pageBytes: 20_000, readPageBytes: 4096, fanout: 8 } };
  await withEngine(open, options, async (engine, id, sim) => {
    let most = 0;
    const look = (): void => {
      most = Math.max(most, engine.statistics().cacheBytesUsed);
    };
    for (let i = 0; i < 300; i++) {
      const transaction = engine.begin('statement');
      for (let j = 0; j < 10; j++) await transaction.put(id, encode(`${(i * 7919 + j * 104_729) % 100_003}`), new Uint8Array(700));
      await transaction.commit();
      look();
    }
    await sim.clock.sleep(100);
    const read = engine.begin('read');
    const cursor = read.cursor(id, {}, 1);
    while ((await cursor.nextBatch({ rows: 50, bytes: MiB })).length > 0) look();
    for (let i = 0; i < 300; i++) {
      await read.get(id, encode(`${(i * 7919) % 100_003}`));
      look();
    }
    read.abort();
    assert.ok(most < MiB * 1.1, `${most} bytes of ${MiB}`);
  });
}

export const scenarios: Readonly<Record<string, Scenario>> = {
  'keys that were forgotten raise the floor, and an older writer is refused': forgottenKeys,
  'a key that was removed after the snapshot is a conflict': removedSince,
  'a key that was put after the snapshot is a conflict': putSince,
  'a snapshot is not copied from a transaction that has ended': endedSnapshot,
  'a dropped dictionary goes on for its readers and is gone after them': droppedUnderReader,
  'a transaction that ends while it waits for a lock leaves nothing behind': endedWhileWaiting,
  'a transaction of ten times the cache is one commit': spillMuch,
  'marks and range deletes hold for what is spilled': spilledMarks,
  'what is spilled and not committed gives its space back': spillGivenBack,
  'locks of a transaction that spills are one on the dictionary': spilledLocks,
  'a crash in a spilled transaction leaves all of it or nothing': spillCrashes,
  'a commit applied in slices is seen whole or not at all': seenWhole,
  'a commit applied in slices is flushed whole': freezeInTheMiddle,
  'damage in the log is refused and named, a torn end is cut': damagedLog,
  'a log that is gone is refused, and so is a data file': missingLog,
  'nothing of a recycled segment comes back': recycledSegments,
  'a checkpoint that failed poisons': failedCheckpoint,
  'totals that cancel out pin no log': cancelledTotals,
  'the log is made shorter only behind a durable checkpoint': shorterLog,
  'a log segment is whole on the disk before it is used': wholeSegments,
  'memory stays within the budget': boundedMemory,
  'a remove above a leaf hides what is in the leaf': removeAboveLeaf,
  'an older version goes down with the newer one while somebody sees it': flushUnderReader,
  'deleting everything reads no leaf and gives the space back': deleteAllUnread,
  'a range in the middle frees whole subtrees, and reads step over it': deletePart,
  'a snapshot goes on seeing what a range delete took, and the space comes back after it': deleteUnderReader,
  'a range delete in an older transaction takes only what it sees': deleteOlder,
  'a range waits for writers, and writers for it': rangeLocks,
  'a key that went with a range after the snapshot is a conflict': conflictWithRange,
  'a load of more than the cache is sorted in pieces and found again': loadMuch,
  'what is written during a load is newer than its rows': loadBeneath,
  'a load that is refused, aborted or dropped gives everything back': loadRefused,
  'a crash in a load leaves all of it or nothing': loadCrashes,
  'a full disk refuses a load and goes on': loadOnFullDisk,
  'points before a range delete of their transaction go, points after it stay': pointsBesideRange,
  ...readScenarios,
  ...largeValueScenarios,
  ...updateScenarios,
  ...workerScenarios,
  ...steadyScenarios,
  ...spaceScenarios,
  ...stampScenarios,
  ...fullDiskScenarios,
  ...damageScenarios,
};
