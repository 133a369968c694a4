// The block store without crashes: what comes back and when space does, damage to either copy of what is kept twice (law 18), full disks and
// failing ones (law 25), and the order of the writes of a checkpoint.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '../../../src/base/errors.ts';
import type { Env, File, FileSystem } from '../../../src/env/index.ts';
import { openMemoryEnv } from '../../../src/env/index.ts';
import type { BlockNumber, CheckpointRoot } from '../../../src/engine/block/block-number.ts';
import { unitBytes } from '../../../src/engine/block/block-number.ts';
import { BlockStore } from '../../../src/engine/block/block-store.ts';
import { superblockUnits } from '../../../src/engine/block/superblock.ts';
import { SimEnv } from '../../sim/sim-env.ts';
import { path, StoreHistory } from './store-history.ts';

const hasCode = (code: string) => (error: unknown): boolean => error instanceof EngineError && error.code === code;

function rootAt(dictionaryTable: BlockNumber, nextSeq: number): CheckpointRoot {
  return { dictionaryTable, nextSeq, nextDictionary: 3, logFrom: { segment: 4, seq: 2 } };
}

const pattern = (length: number, salt: number): Uint8Array => Uint8Array.from({ length }, (_, i) => (i * 31 + salt) & 0xff);

async function problemsOf(store: BlockStore): Promise<string[]> {
  const found: string[] = [];
  for await (const { message } of store.verify()) found.push(message);
  return found;
}

/** A checkpoint with these meta blocks. */
async function publish(store: BlockStore, metas: ReadonlyMap<BlockNumber, Uint8Array>, seq: number): Promise<void> {
  store.beginCheckpoint();
  for (const [number, payload] of metas) await store.writeMeta(number, payload);
  await store.publish(rootAt([...metas.keys()][0]!, seq));
}

test('a new store is empty, small, whole, and has no root', async () => {
  const env = await openMemoryEnv();
  const store = await BlockStore.create(env, path);
  assert.ok(store.statistics.fileBytes < 500_000);
  await store.close();
  const { store: again, root } = await BlockStore.open(env, path);
  assert.equal(root, undefined);
  assert.equal(again.statistics.blocks, 0);
  assert.deepEqual(await problemsOf(again), []);
});

test('creating over a data file and opening none are refused', async () => {
  const env = await openMemoryEnv();
  await assert.rejects(BlockStore.open(env, path), hasCode('io'));
  await BlockStore.create(env, path);
  await assert.rejects(BlockStore.create(env, path), hasCode('io'));
});

test('a published root, its meta blocks and its data blocks come back; what was not adopted does not', async () => {
  const env = await openMemoryEnv();
  const store = await BlockStore.create(env, path);
  const data = await store.writeData(pattern(50_000, 1));
  store.adopt(data);
  const waiting = await store.writeData(pattern(10, 2));
  const meta = store.reserveNumber();
  await publish(store, new Map([[meta, pattern(5000, 3)]]), 77);
  await store.close();
  const { store: again, root } = await BlockStore.open(env, path);
  assert.deepEqual(root, rootAt(meta, 77));
  assert.deepEqual(await again.readMeta(meta), pattern(5000, 3));
  assert.deepEqual(await again.readData(data, 40_000, 1234), pattern(50_000, 1).subarray(40_000, 41_234));
  assert.equal(again.statistics.blocks, 2);
  assert.equal(again.placeOf(waiting), undefined);
  assert.deepEqual(await problemsOf(again), []);
  const fresh = again.reserveNumber();
  assert.ok(fresh > data && fresh > meta);
});

test('what is changed after the capture is in the next checkpoint only', async () => {
  const env = await openMemoryEnv();
  const store = await BlockStore.create(env, path);
  const [table, node, dropped] = [store.reserveNumber(), store.reserveNumber(), store.reserveNumber()];
  const before = await store.writeData(pattern(9000, 1));
  store.adopt(before);
  await publish(store, new Map([[table, pattern(1, 1)], [node, pattern(2, 1)], [dropped, pattern(3, 1)]]), 1);
  store.beginCheckpoint();
  const after = await store.writeData(pattern(9000, 2));
  store.adopt(after);
  store.drop(before);
  store.drop(dropped);
  // The node that is dropped by now is in the captured state, in a newer version.
  await store.writeMeta(dropped, pattern(3, 2));
  await store.writeMeta(table, pattern(1, 2));
  await store.publish(rootAt(table, 2));
  const used = store.statistics.usedBytes;
  await store.close();
  const { store: again } = await BlockStore.open(env, path);
  assert.deepEqual(await again.readData(before, 0, 9000), pattern(9000, 1));
  assert.deepEqual(await again.readMeta(dropped), pattern(3, 2));
  assert.deepEqual(await again.readMeta(node), pattern(2, 1));
  assert.equal(again.placeOf(after), undefined);
  assert.equal(again.statistics.blocks, 4);
  assert.ok(used > 0);
});

test('a long block table is written in slices, and what others do between them is not in it', async () => {
  const memory = await openMemoryEnv();
  let between: (() => void) | undefined;
  const pause = async (): Promise<void> => {
    between?.();
    return memory.tasks.pause();
  };
  const env: Env = { ...memory, tasks: { ...memory.tasks, pause } };
  const store = await BlockStore.create(env, path);
  const table = store.reserveNumber();
  const numbers: BlockNumber[] = [];
  for (let i = 0; i < 9000; i++) {
    numbers.push(await store.writeData(Uint8Array.of(i, i >>> 8)));
    store.adopt(numbers[i]!);
  }
  const fresh = [await store.writeData(Uint8Array.of(1)), await store.writeData(Uint8Array.of(2))];
  let turns = 0;
  store.beginCheckpoint();
  await store.writeMeta(table, pattern(3, 1));
  between = () => {
    // Of what was listed and of what was not: blocks go, and one comes.
    for (let i = turns; i < 9000; i += 1500) store.drop(numbers[i]!);
    if (fresh[turns] !== undefined) store.adopt(fresh[turns]!);
    turns++;
  };
  await store.publish(rootAt(table, 1));
  between = undefined;
  assert.ok(turns >= 2);
  await store.close();
  const { store: again } = await BlockStore.open(memory, path);
  assert.equal(again.statistics.blocks, 9001);
  for (let i = 0; i < 9000; i += 500) assert.deepEqual(await again.readData(numbers[i]!, 0, 2), Uint8Array.of(i, i >>> 8));
  for (const number of fresh) assert.equal(again.placeOf(number), undefined);
});

test('dropping most of a store shrinks its file at the next checkpoints', async () => {
  const env = await openMemoryEnv();
  const store = await BlockStore.create(env, path);
  const table = store.reserveNumber();
  const numbers: BlockNumber[] = [];
  for (let i = 0; i < 100; i++) {
    const number = await store.writeData(pattern(100_000, i));
    store.adopt(number);
    numbers.push(number);
  }
  await publish(store, new Map([[table, pattern(10, 0)]]), 1);
  const full = store.statistics.fileBytes;
  assert.ok(full > 10_000_000);
  for (const number of numbers) store.drop(number);
  assert.equal(store.statistics.fileBytes, full);
  assert.ok(store.statistics.freeableBytes > 10_000_000);
  for (let seq = 2; seq < 5; seq++) await publish(store, new Map([[table, pattern(10, seq)]]), seq);
  assert.ok(store.statistics.fileBytes < 600_000, String(store.statistics.fileBytes));
  const file = await env.files.open(path, 'read');
  assert.equal(await file.size(), store.statistics.fileBytes);
  assert.deepEqual(await problemsOf(store), []);
});

test('idle work moves what is left into the gaps, and the file shrinks to what is in it', async () => {
  const env = await openMemoryEnv();
  const store = await BlockStore.create(env, path);
  const metas = new Map(Array.from({ length: 20 }, (_, i) => [store.reserveNumber(), pattern(5000, i)]));
  const numbers: BlockNumber[] = [];
  for (let i = 0; i < 200; i++) {
    numbers.push(await store.writeData(pattern(60_000 + i, i)));
    store.adopt(numbers[i]!);
    if (i === 150) await publish(store, metas, 1);
  }
  await publish(store, new Map([...metas].slice(0, 1)), 2);
  numbers.forEach((number, i) => { if (i % 10 !== 9) store.drop(number); });
  await publish(store, new Map([...metas].slice(0, 1)), 3);
  for (let seq = 4; seq < 9; seq++) {
    for (let moves = 0; moves < 200 && (await store.moveDown()); moves++);
    await publish(store, new Map([...metas].slice(0, 1)), seq);
  }
  const { fileBytes, usedBytes } = store.statistics;
  assert.ok(fileBytes < 2 * usedBytes + 1_000_000, `${fileBytes} bytes for ${usedBytes}`);
  await store.close();
  const { store: again } = await BlockStore.open(env, path);
  for (let i = 9; i < 200; i += 10) assert.deepEqual(await again.readData(numbers[i]!, 0, 60_000 + i), pattern(60_000 + i, i));
  for (const [number, payload] of metas) assert.deepEqual(await again.readMeta(number), payload);
  assert.deepEqual(await problemsOf(again), []);
});

test('steady change of a store does not make its file grow without end', async () => {
  const env = await openMemoryEnv();
  const store = await BlockStore.create(env, path);
  const table = store.reserveNumber();
  let live: BlockNumber[] = [];
  for (let seq = 1; seq < 25; seq++) {
    const fresh: BlockNumber[] = [];
    for (let i = 0; i < 20; i++) {
      const number = await store.writeData(pattern(30_000 + ((seq * 7919 + i * 104_729) % 40_000), seq));
      store.adopt(number);
      fresh.push(number);
    }
    for (const number of live) store.drop(number);
    live = fresh;
    await publish(store, new Map([[table, pattern(100, seq)]]), seq);
  }
  const { fileBytes, usedBytes } = store.statistics;
  assert.ok(fileBytes < 4 * usedBytes, `${fileBytes} bytes for ${usedBytes}`);
});

/** A store with a checkpoint in each slot, closed. */
async function twoCheckpoints(): Promise<{ env: Env; data: BlockNumber; meta: BlockNumber }> {
  const env = await openMemoryEnv();
  const store = await BlockStore.create(env, path);
  const meta = store.reserveNumber();
  const data = await store.writeData(pattern(20_000, 9));
  store.adopt(data);
  await publish(store, new Map([[meta, pattern(6000, 1)]]), 1);
  await publish(store, new Map([[meta, pattern(6000, 2)]]), 2);
  await store.close();
  return { env, data, meta };
}

async function flip(env: Env, offset: number): Promise<void> {
  const file = await env.files.open(path, 'write');
  const byte = new Uint8Array(1);
  await file.read(byte, offset);
  await file.write(Uint8Array.of(byte[0]! ^ 0x10), offset);
  await file.close();
}

/** Units of the file in which a byte pattern of some meta image begins. */
async function unitsWith(env: Env, text: string): Promise<number[]> {
  const bytes = await env.files.readAll(path);
  const wanted = [...new TextEncoder().encode(text)];
  const units: number[] = [];
  for (let at = 0; at + 4 <= bytes.length; at += unitBytes) if (wanted.every((byte, i) => bytes[at + i] === byte)) units.push(at / unitBytes);
  return units;
}

test('either copy of a superblock can be damaged, and verify says so', async () => {
  for (const unit of superblockUnits.flat()) {
    const { env, meta } = await twoCheckpoints();
    await flip(env, unit * unitBytes + 40);
    const { store, root } = await BlockStore.open(env, path);
    assert.equal(root?.nextSeq, 2);
    assert.deepEqual(await store.readMeta(meta), pattern(6000, 2));
    await store.close();
  }
});

test('a slot without a whole copy is refused: the other may be an older state', async () => {
  for (const copies of superblockUnits) {
    const { env } = await twoCheckpoints();
    for (const unit of copies) await flip(env, unit * unitBytes + 40);
    await assert.rejects(BlockStore.open(env, path), hasCode('corruption'));
  }
});

test('either copy of each meta image, block table included, can be damaged; both are an error that names file and offset', async () => {
  const { env } = await twoCheckpoints();
  const { store } = await BlockStore.open(env, path);
  const images = new Map<string, number[]>();
  const bytes = await env.files.readAll(path);
  for (const unit of await unitsWith(env, 'FMET')) {
    const image = Buffer.from(bytes.subarray(unit * unitBytes, unit * unitBytes + 32)).toString('hex');
    images.set(image, [...(images.get(image) ?? []), unit]);
  }
  await store.close();
  let harmful = 0;
  for (const units of images.values()) {
    assert.equal(units.length, 2, 'each meta image is there twice');
    assert.ok(Math.abs(units[0]! - units[1]!) >= 16, 'far apart');
    for (const broken of [[units[0]!], [units[1]!], units]) {
      const fresh = await twoCheckpoints();
      for (const unit of broken) await flip(fresh.env, unit * unitBytes + 33);
      const result = await openAndRead(fresh.env, fresh.meta);
      if (broken.length === 1) assert.equal(result, 'whole');
      else if (result !== 'whole') {
        harmful++;
        assert.match(result, /^corruption \/data\.frond \d+$/);
      }
    }
  }
  assert.equal(harmful, 2, 'block table and meta block of the newest checkpoint');
});

async function openAndRead(env: Env, meta: BlockNumber): Promise<string> {
  try {
    const { store } = await BlockStore.open(env, path);
    const payload = await store.readMeta(meta);
    await store.close();
    return Buffer.from(payload).equals(pattern(6000, 2)) ? 'whole' : 'wrong';
  } catch (error) {
    assert.ok(error instanceof EngineError);
    return `${error.code} ${String(error.place.file)} ${String(error.place.offset)}`;
  }
}

test('verify names a damaged copy of a meta block while its twin still serves', async () => {
  const { env, meta } = await twoCheckpoints();
  const { store } = await BlockStore.open(env, path);
  await flip(env, store.placeOf(meta)!.offset + 100);
  assert.deepEqual(await problemsOf(store), [`a copy of meta block ${String(meta)}: damaged meta block`]);
  assert.deepEqual(await store.readMeta(meta), pattern(6000, 2));
});

test('a data file of a later format is refused as such', async () => {
  const { env } = await twoCheckpoints();
  const { crc32c } = await import('../../../src/base/crc32c.ts');
  const file = await env.files.open(path, 'write');
  const superblock = new Uint8Array(unitBytes);
  await file.read(superblock, 0);
  superblock[8] = 77;
  new DataView(superblock.buffer).setUint32(152, crc32c(superblock, 0, 152), true);
  await file.write(superblock, 0);
  await file.close();
  await assert.rejects(BlockStore.open(env, path), hasCode('format'));
});

test('a flipped bit in anything that is kept twice is named by verify, loses nothing, and is gone after a checkpoint', async () => {
  const { env: before } = await twoCheckpoints();
  const whole = await before.files.readAll(path);
  const places: { start: number; length: number }[] = superblockUnits.flat().map((unit) => ({ start: unit * unitBytes, length: 156 }));
  for (const unit of await unitsWith(before, 'FMET')) {
    const start = unit * unitBytes;
    places.push({ start, length: 32 + new DataView(whole.buffer, whole.byteOffset + start).getUint32(4, true) });
  }
  let named = 0;
  for (const { start, length } of places) {
    for (let at = 0; at < length; at += Math.max(1, Math.floor(length / 12))) {
      const { env, meta } = await twoCheckpoints();
      await flip(env, start + at);
      const { store, root } = await BlockStore.open(env, path);
      assert.equal(root?.nextSeq, 2);
      assert.deepEqual(await store.readMeta(meta), pattern(6000, 2));
      named += (await problemsOf(store)).length;
      for (const seq of [3, 4]) await publish(store, new Map([[meta, pattern(6000, 2)]]), seq);
      assert.deepEqual(await problemsOf(store), []);
      await store.close();
    }
  }
  // Flips in the other slot, and in images of the newest checkpoint; what only the checkpoint before had is free by now, and the chosen slot was written again.
  assert.ok(named > 40, `${named} named`);
});

test('verify finds nothing in a store that is being written to', async () => {
  for (let seed = 1; seed <= 10; seed++) {
    const sim = await SimEnv.create({ seed });
    const history = new StoreHistory(seed);
    const result = await sim.run(async () => {
      await history.create(sim, BlockStore);
      await history.runVerified(60);
    });
    assert.equal(result.ended, 'done');
  }
});

/** A file system that notes the writes and syncs of files. */
function recording(files: FileSystem, notes: string[]): FileSystem {
  const wrap = (file: File): File => ({
    path: file.path,
    read: async (target, offset) => file.read(target, offset),
    readNow: (target, offset) => file.readNow(target, offset),
    write: async (source, offset) => {
      notes.push(`write ${String(offset / unitBytes)}`);
      await file.write(source, offset);
    },
    writev: async (sources, offset) => file.writev(sources, offset),
    sync: async () => {
      await file.sync();
      notes.push('sync');
    },
    size: async () => file.size(),
    truncate: async (size) => file.truncate(size),
    close: async () => file.close(),
  });
  return new Proxy(files, {
    get: (target, name) => {
      if (name === 'open') return async (...of: Parameters<FileSystem['open']>) => wrap(await target.open(...of));
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function' ? (member.bind(target) as unknown) : member;
    },
  });
}

test('a checkpoint syncs its blocks, then one copy of the superblock, then the other (laws 17 and 18)', async () => {
  const memory = await openMemoryEnv();
  const notes: string[] = [];
  const env = { ...memory, files: recording(memory.files, notes) };
  const store = await BlockStore.create(env, path);
  const meta = store.reserveNumber();
  for (const [seq, slot] of [[1, 0], [2, 1], [3, 0]] as const) {
    notes.length = 0;
    await publish(store, new Map([[meta, pattern(10, seq)]]), seq);
    const places = superblockUnits[slot];
    const from = notes.indexOf('sync');
    assert.deepEqual(notes.slice(from, from + 5), ['sync', `write ${String(places[0])}`, 'sync', `write ${String(places[1])}`, 'sync']);
    assert.ok(notes.slice(0, from).every((note) => note.startsWith('write')));
    assert.equal(notes.filter((note) => superblockUnits.flat().some((unit) => note === `write ${String(unit)}`)).length, 2);
  }
});

test('after any failed write or sync nothing more is written, and reopening gives a published checkpoint', async () => {
  for (let at = 1; ; at++) {
    const sim = await SimEnv.create({ seed: at });
    const history = new StoreHistory(at % 5);
    const result = await sim.run(async () => {
      await history.create(sim, BlockStore);
      sim.files.faults.failAt({ at, code: 'io', lasting: at % 2 === 0, kinds: ['write', 'sync', 'truncate'] });
      try {
        await history.run(25);
        return 'whole';
      } catch (error) {
        assert.ok(error instanceof EngineError && (error.code === 'io' || error.code === 'poisoned'), String(error));
        await assert.rejects(history.write(), hasCode('poisoned'));
        return 'failed';
      }
    });
    assert.equal(result.ended, 'done');
    if (sim.files.faults.failures === 0) break;
    const next = sim.crash(at % 3 === 0 ? 'process' : 'power');
    await next.run(async () => new StoreHistory(at).recover(next, BlockStore, history.expectation));
    assert.ok(at < 500, 'the loop over failures ends');
  }
});

test('a full disk loses nothing: writes say no-space, a checkpoint is given up, and both go on when space is back', async () => {
  let full = 0;
  for (let seed = 1; seed <= 20; seed++) {
    const sim = await SimEnv.create({ seed });
    const history = new StoreHistory(seed);
    await sim.run(async () => {
      await history.create(sim, BlockStore);
      await history.run(10);
      sim.files.setCapacity(300_000 + (seed % 20) * 50_000);
      for (let i = 0; i < 10; i++) full += await history.runWithFullDisk(10);
      sim.files.setCapacity(2 ** 30);
      await history.run(20);
      await history.checkAll();
    });
    const next = sim.crash();
    await next.run(async () => new StoreHistory(seed).recover(next, BlockStore, history.expectation));
  }
  assert.ok(full > 40, `${full} refusals`);
});
