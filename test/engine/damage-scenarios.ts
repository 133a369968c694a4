// Scripts with one damaged block: what a big transaction has spilled costs its own keys and nothing else; idle time leaves what is damaged alone.

import assert from 'node:assert/strict';
import { compareBytes } from '../../src/base/bytes.ts';
import { EngineError } from '../../src/base/errors.ts';
import { unitBytes } from '../../src/engine/block/block-number.ts';
import type { BlockNumber } from '../../src/engine/block/block-number.ts';
import { blockKinds } from '../../src/engine/block/block-table.ts';
import type { DictionaryId, EngineOptions, Environment } from '../../src/engine/index.ts';
import { FoundStore } from '../../src/engine/salvage/found-store.ts';
import { decodeNode } from '../../src/engine/tree/node.ts';
import { SimEnv } from '../sim/sim-env.ts';
import type { OpenEnvironment } from './history.ts';
import { encode, put, withEngine } from './scenario-engine.ts';
import type { Scenario } from './scenario-engine.ts';

const dataFile = '/data/data.frond';
const keyOf = (i: number): string => `key ${String(i).padStart(5, '0')}`;
/** Long enough for a few basements. */
const valueOf = (text: string): Uint8Array => encode(`${text} ${'v'.repeat(60)}`);
const small: Partial<EngineOptions> = { checkpointPeriodMs: 1_000_000, frontBytes: 20_000, bufferBytes: 5000, dictionary: { compression: 'none', pageBytes: 4096, readPageBytes: 512, fanout: 4 } };

/** What of a transaction's keys is refused, by the key; its other keys have its values. */
async function refusedKeys(engine: Environment, id: DictionaryId, keys: number): Promise<Map<string, EngineError>> {
  const refused = new Map<string, EngineError>();
  const read = engine.begin('read');
  for (let i = 0; i < keys; i++) {
    const found = await (async (): Promise<unknown> => read.get(id, encode(keyOf(i))))().catch((error: unknown) => error);
    if (found instanceof EngineError) refused.set(keyOf(i), found);
    else assert.deepEqual(found, valueOf(i % 3 === 0 ? 'new' : 'old'), keyOf(i));
  }
  read.abort();
  return refused;
}

/** Damages two basements of what a commit has spilled, as the checkpoint before it has it. */
async function damageSpill(sim: SimEnv): Promise<void> {
  const store = await FoundStore.open(sim, dataFile, ({ message }) => assert.fail(message));
  const [spill] = store.spills;
  const extent = spill?.extents[0];
  assert.ok(extent !== undefined && extent.fences.length > 6, 'something is spilled');
  for (const index of [2, 5]) sim.files.corrupt(dataFile, (store.offsetOf(extent.block) ?? 0) + extent.fences.storedOffset(index) + 9, 4);
  await store.close();
}

/** Law 7 and 18: it costs the keys of the damaged basements; the rest of the commit is there, all else goes on, and what is written then is there. */
async function damagedSpill(open: OpenEnvironment, rows: number): Promise<void> {
  const images: SimEnv[] = [];
  await withEngine(open, { ...small, spillBytes: 2000 }, async (engine, id, sim) => {
    for (let from = 0; from < rows; from += 100) {
      const transaction = engine.begin('statement');
      for (let i = from; i < Math.min(rows, from + 100); i++) await transaction.put(id, encode(keyOf(i)), valueOf('old'));
      await transaction.commit();
    }
    const big = engine.begin('statement');
    for (let i = 0; i < rows; i += 3) await big.put(id, encode(keyOf(i)), valueOf('new'));
    await big.commit();
    images.push(sim.crash());
  });
  const [sim] = images as [SimEnv];
  const id = 2 as DictionaryId;
  await sim.run(async () => {
    await damageSpill(sim);
    let lost = new Set<string>();
    for (let life = 0; life < 2; life++) {
      const engine = await open(sim, '/data', small);
      const refused = await refusedKeys(engine, id, rows);
      assert.ok(refused.size > 0 && refused.size < rows / 2, `${refused.size} keys are refused`);
      for (const [key, { code, place }] of refused) {
        assert.equal(code, 'corruption');
        assert.ok(place.file === dataFile && place.dictionary === id && compareBytes(place.fromKey ?? encode('~'), encode(key)) <= 0, `${key} is named: ${JSON.stringify(place)}`);
      }
      if (life > 0) assert.deepEqual([...refused.keys()].filter((key) => !lost.has(key)), [], 'no key is lost later');
      lost = new Set(refused.keys());
      for (let i = 0; i < 300; i++) await put(engine, id, `other ${i}`);
      const again = [...lost][0] ?? '';
      await put(engine, id, again, 'again');
      await sim.clock.sleep(5000);
      await engine.checkpoint();
      const read = engine.begin('read');
      assert.deepEqual(await read.get(id, encode(again)), encode('again'));
      assert.deepEqual(await read.get(id, encode('other 299')), encode('v'));
      read.abort();
      // For the next life it is as it was.
      await put(engine, id, again, valueOf('new'));
      assert.ok((await engine.verify()).problems.some(({ dictionary, file }) => dictionary === id && file === dataFile), 'verify names it');
      assert.equal(await Promise.race([engine.fatal, sim.clock.sleep(1).then(() => undefined)]), undefined, 'damage ends nothing');
      await engine.close();
    }
    const engine = await open(sim, '/data', small);
    const drop = engine.begin('statement');
    drop.dropDictionary(id);
    await drop.commit();
    await sim.clock.sleep(5000);
    assert.deepEqual((await engine.verify()).problems, []);
    await engine.close();
  });
}

/** Where both copies of a node lie. */
async function placesOfLeaf(sim: SimEnv, id: DictionaryId): Promise<number[]> {
  const store = await FoundStore.open(sim, dataFile, ({ message }) => assert.fail(message));
  let number: BlockNumber | undefined = store.trees.find((tree) => tree.id === id)?.root;
  for (;;) {
    const node = decodeNode(number ?? (0 as BlockNumber), await store.readMeta(number ?? (0 as BlockNumber)));
    if (node.kind === 'leaf') break;
    number = node.children[1] ?? node.children[0];
  }
  const place = store.places.get(number ?? 0);
  await store.close();
  assert.ok(place !== undefined && place.second > 0);
  return [place.first, place.second].map((unit) => unit * unitBytes);
}

/** Law 18: idle time ends above a damaged leaf: once it has been met, nobody reads it again. */
async function idleReads(open: OpenEnvironment): Promise<void> {
  const sim = await withEngine(open, small, async (engine, id) => {
    for (let i = 0; i < 900; i++) await put(engine, id, keyOf(i), 'v'.repeat(30));
  });
  const id = 2 as DictionaryId;
  const next = sim.crash();
  await next.run(async () => {
    for (const offset of await placesOfLeaf(next, id)) next.files.corrupt(dataFile, offset + 40, 1);
    const engine = await open(next, '/data', small);
    await put(engine, id, 'somebody writes, and no more');
    await next.clock.sleep(20_000);
    let reads = 0;
    next.files.onOperation = (kind, path) => {
      if (kind === 'read' && path === dataFile) reads += 1;
    };
    await next.clock.sleep(20_000);
    assert.equal(reads, 0, 'reads in idle time');
    next.files.onOperation = undefined;
    assert.ok((await engine.verify()).problems.length > 0);
    await engine.close();
  });
}

/** Law 18: nodes of which one copy is spoiled are found by reading, or by `verify`, and are there twice again after some idle time. */
async function copiesMended(open: OpenEnvironment): Promise<void> {
  const sim = (await withEngine(open, small, async (engine, id) => {
    for (let i = 0; i < 900; i++) await put(engine, id, keyOf(i), 'v'.repeat(30));
  })).crash();
  await sim.run(async () => {
    for (const copy of ['first', 'second'] as const) {
      const store = await FoundStore.open(sim, dataFile, ({ message }) => assert.fail(message));
      const nodes = [...store.places.values()].filter(({ kind, number }) => kind === blockKinds.meta && number !== store.superblock.root?.dictionaryTable);
      await store.close();
      assert.ok(nodes.length > 5);
      for (const place of nodes) sim.files.corrupt(dataFile, place[copy] * unitBytes + 40, 1);
      const engine = await open(sim, '/data', small);
      const { problems } = await engine.verify();
      assert.ok(problems.length > 5, 'they are named');
      await sim.clock.sleep(8000);
      assert.deepEqual((await engine.verify()).problems, [], copy);
      const read = engine.begin('read');
      for (let i = 0; i < 900; i += 50) assert.equal((await read.get(2 as DictionaryId, encode(keyOf(i))))?.length, 30);
      read.abort();
      await engine.close();
    }
  });
}

/**
 * Law 22: a process ends when the first copy of a superblock is written and not synced. The next start finds it in the page cache, and makes the log shorter
 * by it; after a power failure it must still be there.
 */
async function superblockInCache(open: OpenEnvironment): Promise<void> {
  const options: Partial<EngineOptions> = { ...small, frontBytes: 2000, logSegmentBytes: 131_072 };
  const sim = await SimEnv.create({ seed: 1 });
  await sim.run(async () => {
    const engine = await open(sim, '/data', options);
    for (let i = 0; i < 40; i++) await put(engine, engine.catalogDictionary, keyOf(i), 'x'.repeat(300));
    await engine.checkpoint();
    for (let i = 0; i < 120; i++) await put(engine, engine.catalogDictionary, keyOf(i), 'y'.repeat(3000));
    await sim.clock.sleep(500);
    let syncs = 0;
    sim.files.onOperation = (kind, path) => {
      if (kind === 'sync' && path === dataFile) syncs += 1;
      // The first is that of the blocks.
      if (syncs === 2) sim.files.turnOff();
    };
    await engine.checkpoint();
    assert.fail('the process ends');
  });
  const second = sim.crash('process');
  await second.run(async () => {
    const engine = await open(second, '/data', options);
    await put(engine, engine.catalogDictionary, 'late');
  });
  const third = second.crash('power');
  await third.run(async () => {
    const engine = await open(third, '/data', options);
    const read = engine.begin('read');
    for (let i = 0; i < 120; i++) assert.equal((await read.get(engine.catalogDictionary, encode(keyOf(i))))?.length, 3000);
    assert.deepEqual(await read.get(engine.catalogDictionary, encode('late')), encode('v'));
    read.abort();
    await engine.close();
  });
}

/** Law 14: a node that is read slowly, and changed meanwhile, is not what was read: whoever comes later sees what was written. */
async function staleNode(open: OpenEnvironment): Promise<void> {
  const options: Partial<EngineOptions> = { ...small, frontBytes: 3000, bufferBytes: 1_000_000, dictionary: { compression: 'none', pageBytes: 4096, readPageBytes: 512, fanout: 16 } };
  const sim = (await withEngine(open, options, async (engine, id) => {
    for (let i = 0; i < 600; i++) await put(engine, id, keyOf(i), 'v'.repeat(30));
  })).crash();
  const id = 2 as DictionaryId;
  await sim.run(async () => {
    const engine = await open(sim, '/data', options);
    let reads = 0;
    sim.files.slow = (kind, path) => (kind === 'read' && path === dataFile && reads++ === 0 ? 500 : 0);
    const read = engine.begin('read');
    const slow = (async () => read.get(id, encode(keyOf(7))))();
    for (let i = 0; i < 100; i++) await put(engine, id, `new ${String(i)}`, 'w'.repeat(30));
    await sim.clock.sleep(300);
    assert.equal((await slow)?.length, 30);
    read.abort();
    await engine.checkpoint();
    const after = engine.begin('read');
    for (let i = 0; i < 100; i += 3) assert.equal((await after.get(id, encode(`new ${String(i)}`)))?.length, 30, `row ${String(i)}`);
    after.abort();
    await engine.close();
  });
}

export const damageScenarios: Readonly<Record<string, Scenario>> = {
  'damage in what a commit has spilled costs the keys of the damaged parts': async (open) => {
    await damagedSpill(open, 240);
    await damagedSpill(open, 1500);
  },
  'idle time leaves a damaged leaf alone': idleReads,
  'a node that was changed while it was read is read again': staleNode,
  'a superblock that is in the page cache only is written again': superblockInCache,
  'a node with one whole copy left is there twice again after some idle time': copiesMended,
};
