// Damage costs at most its own range: one bit is flipped anywhere in any file, and what salvage reads then is compared with what was
// acknowledged. Every row that is missing or old must lie within the keys of a damage that was reported; nothing is ever made up.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareBytes } from '../../src/base/bytes.ts';
import type { Damage, DictionaryId, EngineOptions, Environment } from '../../src/engine/index.ts';
import { openEnvironment, readDirectory } from '../../src/engine/index.ts';
import { unitBytes } from '../../src/engine/block/block-number.ts';
import { FoundStore } from '../../src/engine/salvage/found-store.ts';
import { decodeNode } from '../../src/engine/tree/node.ts';
import { SimEnv } from '../sim/sim-env.ts';
import { SimRandom } from '../sim/sim-random.ts';

const flips = Number(process.env['FROND_FLIPS'] ?? 40);
const text = new TextEncoder();
const options = {
  cacheBytes: 4 * 1024 * 1024, frontBytes: 8 * 1024, bufferBytes: 16 * 1024, logSegmentBytes: 131_072, checkpointPeriodMs: 1e9,
  dictionary: { compression: 'zlib', pageBytes: 16 * 1024, readPageBytes: 1024, fanout: 4 },
} as const;

interface Expected {
  /** By dictionary: key -> every value it ever had, the newest last. */
  readonly values: Map<DictionaryId, Map<string, string[]>>;
  /** The commit that wrote a key last, by dictionary and key. */
  readonly written: Map<string, number>;
  readonly files: readonly { readonly path: string; readonly bytes: number }[];
}

async function write(engine: Environment, expected: Expected, rows: readonly { readonly id: DictionaryId; readonly key: string; readonly value: string }[]): Promise<void> {
  const txn = engine.begin('statement');
  for (const { id, key, value } of rows) {
    await txn.put(id, text.encode(key), text.encode(value));
    const values = expected.values.get(id) ?? new Map<string, string[]>();
    expected.values.set(id, values);
    values.set(key, [...(values.get(key) ?? []), value]);
  }
  const seq = await txn.commit();
  for (const { id, key } of rows) expected.written.set(`${String(id)} ${key}`, seq);
}

async function fill(sim: SimEnv, given: Partial<EngineOptions> = options): Promise<Expected> {
  const expected = { values: new Map<DictionaryId, Map<string, string[]>>(), written: new Map<string, number>(), files: [] as { path: string; bytes: number }[] };
  const random = new SimRandom(7).fork('rows');
  const engine = await openEnvironment(sim, '/data', given);
  const txn = engine.begin('statement');
  const ids = [engine.catalogDictionary, txn.createDictionary(), txn.createDictionary()];
  await txn.commit();
  for (let batch = 0; batch < 60; batch++) {
    if (batch === 50) await engine.checkpoint();
    const rows = Array.from({ length: 60 }, () => ({
      id: random.pick(ids), key: `key ${String(random.below(1500)).padStart(5, '0')}`, value: `${String(batch)} ${'v'.repeat(random.below(120))}`,
    }));
    await write(engine, expected, rows);
  }
  for (const name of await sim.files.list('/data/log')) expected.files.push({ path: `/data/log/${name}`, bytes: (await sim.files.readAll(`/data/log/${name}`)).length });
  if (await sim.files.exists('/data/blob')) for (const name of await sim.files.list('/data/blob')) expected.files.push({ path: `/data/blob/${name}`, bytes: (await sim.files.readAll(`/data/blob/${name}`)).length });
  expected.files.push({ path: '/data/data.frond', bytes: (await sim.files.readAll('/data/data.frond')).length });
  return expected;
}

function covers(damage: Damage, id: DictionaryId, key: Uint8Array): boolean {
  if (damage.dictionary !== id) return false;
  const { fromKey, toKey } = damage;
  return (fromKey === undefined || compareBytes(fromKey, key) <= 0) && (toKey === undefined || compareBytes(key, toKey) <= 0);
}

/** Whether a damage says that the record of this commit is lost. Of the last group nobody can say whether it was whole. */
function losesRecord({ message }: Damage, seq: number, newest: number): boolean {
  if (message.startsWith('a group of the log is not whole')) return seq === newest;
  const [, from, to] = /^records (\d+) to (\d+) of the log are lost$/.exec(message) ?? [];
  return from !== undefined && Number(from) <= seq && seq <= Number(to);
}

/** Reads everything and compares; gives the damages that were reported. */
async function compare(sim: SimEnv, expected: Expected): Promise<readonly Damage[]> {
  const damages: Damage[] = [];
  const reader = await readDirectory(sim, '/data', (damage) => damages.push(damage));
  const decoder = new TextDecoder();
  for (const [id, values] of expected.values) {
    const found = new Map<string, string>();
    for await (const rows of reader.rows(id)) for (const { key, value } of rows) found.set(decoder.decode(key), decoder.decode(value));
    for (const [key, known] of values) {
      const value = found.get(key);
      found.delete(key);
      if (value === known.at(-1)) continue;
      assert.ok(value === undefined || known.includes(value), `${key} has a value that nobody wrote`);
      const seq = expected.written.get(`${String(id)} ${key}`) ?? 0;
      const excuse = damages.some((damage) => covers(damage, id, text.encode(key)) || losesRecord(damage, seq, Math.max(...expected.written.values())));
      assert.ok(excuse, `${key} of dictionary ${String(id)} is ${value === undefined ? 'missing' : 'old'} and no damage says so: ${JSON.stringify(damages.map(({ message }) => message))}`);
    }
    assert.deepEqual([...found.keys()], [], 'rows that nobody wrote');
  }
  await reader.close();
  return damages;
}

/** Flips bits in files and compares each time; how many were in bytes that are in use. */
async function flipBits(given: Partial<EngineOptions>): Promise<number> {
  const first = await SimEnv.create({ seed: 3 });
  let expected: Expected | undefined;
  await first.run(async () => {
    expected = await fill(first, given);
  });
  assert.ok(expected !== undefined);
  const known = expected;
  const sim = first.crash('process');
  const random = new SimRandom(11).fork('flips');
  let reported = 0;
  await sim.run(async () => {
    assert.deepEqual(await compare(sim, known), [], 'nothing is lost of what is whole');
    for (let flip = 0; flip < flips; flip++) {
      const { path, bytes } = random.pick(known.files);
      const offset = random.below(bytes);
      const mask = 1 << random.below(8);
      sim.files.corrupt(path, offset, mask);
      const damages = await compare(sim, known);
      if (damages.length > 0) reported += 1;
      sim.files.corrupt(path, offset, mask);
    }
  });
  return reported;
}

test('one flipped bit anywhere costs the keys that are named, and no more', async (context) => {
  const reported = await flipBits(options);
  assert.ok(reported > flips / 20, 'flips hit what is in use');
  context.diagnostic(`${String(flips)} flips, ${String(reported)} of them in bytes that are in use`);
});

test('so it does where most values are large ones, in segments of their own', async (context) => {
  const reported = await flipBits({ ...options, blobSegmentBytes: 30_000, dictionary: { ...options.dictionary, largeValueBytes: 50 } });
  assert.ok(reported > flips / 20, 'flips hit what is in use');
  context.diagnostic(`${String(flips)} flips, ${String(reported)} of them in bytes that are in use`);
});

/** Places of all basements of the leaves of a dictionary, and both copies of its root. */
async function leavesOf(sim: SimEnv, id: DictionaryId): Promise<{ readonly basements: readonly number[]; readonly root: readonly number[] }> {
  const store = await FoundStore.open(sim, '/data/data.frond', ({ message }) => assert.fail(message));
  const tree = store.trees.find((record) => record.id === id);
  assert.ok(tree !== undefined && tree.height > 0);
  const basements: number[] = [];
  const numbers = [tree.root];
  for (let at = 0; at < numbers.length; at++) {
    const number = numbers[at] as typeof tree.root;
    const node = decodeNode(number, await store.readMeta(number));
    if (node.kind === 'internal') numbers.push(...node.children);
    else if (node.extent !== undefined) for (let i = 0; i < node.extent.fences.length; i++) basements.push((store.offsetOf(node.extent.block) ?? 0) + node.extent.fences.storedOffset(i) + 5);
  }
  const place = store.places.get(tree.root);
  assert.ok(place !== undefined);
  await store.close();
  return { basements, root: [place.first, place.second].map((unit) => unit * unitBytes + 40) };
}

test('large values whose references are lost are found by the keys that they name; what the log says of these keys holds', async () => {
  const first = await SimEnv.create({ seed: 5 });
  const given = { ...options, blobSegmentBytes: 30_000, dictionary: { ...options.dictionary, pageBytes: 4096, largeValueBytes: 50 } };
  const id = 2 as DictionaryId;
  const expected = new Map<string, string>();
  await first.run(async () => {
    const engine = await openEnvironment(first, '/data', given);
    const txn = engine.begin('statement');
    assert.equal(txn.createDictionary(), id);
    await txn.commit();
    const write = async (from: number, to: number, what: string | undefined): Promise<void> => {
      const txn = engine.begin('statement');
      for (let i = from; i < to; i++) {
        const key = `key ${String(i).padStart(5, '0')}`;
        const value = `${what ?? ''} ${key} ${'v'.repeat(60)}`;
        if (what === undefined) {
          await txn.remove(id, text.encode(key));
          expected.delete(key);
        } else {
          await txn.put(id, text.encode(key), text.encode(value));
          expected.set(key, value);
        }
      }
      await txn.commit();
    };
    for (let round = 0; round < 3; round++) for (let i = 0; i < 900; i += 50) await write(i, i + 50, `round ${String(round)}`);
    await first.clock.sleep(5000);
    await engine.checkpoint();
    // These are in the log only.
    await write(100, 130, undefined);
    await write(200, 230, 'late');
    await write(900, 910, 'new');
  });
  for (const what of ['basements', 'root'] as const) {
    const sim = first.crash('power', 1);
    await sim.run(async () => {
      for (const offset of (await leavesOf(sim, id))[what]) sim.files.corrupt('/data/data.frond', offset, 1);
      const damages: Damage[] = [];
      const reader = await readDirectory(sim, '/data', (damage) => damages.push(damage));
      const found = new Map<string, string>();
      const decoder = new TextDecoder();
      for await (const rows of reader.rows(id)) for (const { key, value } of rows) found.set(decoder.decode(key), decoder.decode(value));
      await reader.close();
      assert.deepEqual([...found], [...expected].sort(([a], [b]) => (a < b ? -1 : 1)), what);
      assert.ok(damages.some(({ message }) => message.includes('large values that name such keys')), `what is lost is said: ${JSON.stringify(damages[0])}`);
    });
  }
});

test('segments of the log that are gone are named by their records, as far as the checkpoint knows of them', async () => {
  const first = await SimEnv.create({ seed: 3 });
  let checkpointed = 0;
  await first.run(async () => {
    await fill(first);
    const store = await FoundStore.open(first, '/data/data.frond', ({ message }) => assert.fail(message));
    checkpointed = (store.superblock.root?.nextSeq ?? 0) - 1;
    assert.ok((store.superblock.root?.logFrom.seq ?? Infinity) <= checkpointed, 'the checkpoint wants some of the log');
    await store.close();
  });
  const sim = first.crash('power', 1);
  await sim.run(async () => {
    for (const name of await sim.files.list('/data/log')) await sim.files.remove(`/data/log/${name}`);
    const damages: Damage[] = [];
    const reader = await readDirectory(sim, '/data', (damage) => damages.push(damage));
    await reader.close();
    assert.deepEqual(damages.map(({ message }) => /^records \d+ to (\d+) of the log are lost$/.exec(message)?.[1]), [String(checkpointed)]);
  });
});

test('with both copies of the newest superblock gone the older checkpoint and the log still give what they have', async () => {
  const first = await SimEnv.create({ seed: 3 });
  let expected: Expected | undefined;
  await first.run(async () => {
    expected = await fill(first);
  });
  const known = expected;
  assert.ok(known !== undefined);
  const sim = first.crash('process');
  await sim.run(async () => {
    const newest = await newestSlot(sim);
    for (const offset of newest) sim.files.corrupt('/data/data.frond', offset + 20, 0xff);
    await assert.rejects(openEnvironment(sim, '/data', options), { code: 'corruption' });
    const damages: Damage[] = [];
    const reader = await readDirectory(sim, '/data', (damage) => damages.push(damage));
    let rows = 0;
    for await (const batch of reader.rows(1 as DictionaryId)) rows += batch.length;
    await reader.close();
    assert.ok(rows > 0);
    assert.equal(damages.filter(({ message }) => message === 'a copy of a superblock is damaged').length, 2);
  });
});

/** Offsets of the two copies of the superblock that counts: the generation stands at 32. */
async function newestSlot(sim: SimEnv): Promise<readonly number[]> {
  const bytes = await sim.files.readAll('/data/data.frond');
  const generation = (offset: number): number => new DataView(bytes.buffer, bytes.byteOffset).getUint32(offset + 32, true);
  return generation(0) > generation(4096) ? [0, 64 * 4096] : [4096, 65 * 4096];
}
