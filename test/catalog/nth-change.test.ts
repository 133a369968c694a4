// Changes of collections, each with a power failure, a failed write, or a full disk at its n-th I/O: reIndex with other options, online builds, a unique index that is
// prepared, parts that come and go, capped collections that are full, copies, renames, drops. After it documents, entries and totals of every collection agree, no
// document is lost that nobody dropped, and the change is there whole if it was acknowledged. FROND_NTH_STRIDE=1 takes every n.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommandError, EngineError } from '../../src/base/errors.ts';
import type { Catalog } from '../../src/catalog/index.ts';
import { namespaceOf, openCatalog } from '../../src/catalog/index.ts';
import { openEnvironment } from '../../src/engine/index.ts';
import { SimEnv } from '../sim/sim-env.ts';
import { doc, insertAll, people, spec } from './catalog-for-test.ts';

const stride = Number(process.env['FROND_NTH_STRIDE'] ?? 47);
const parted = namespaceOf('test', 'parted');
const capped = namespaceOf('test', 'capped');
const engineOptions = { cacheBytes: 8 << 20, lockWaitMs: 500 };
const documents = 300;

/** How many documents each collection has; one that may be either has both. */
type Counts = Readonly<Record<string, readonly number[]>>;

const before: Counts = { people: [documents], parted: [60], capped: [20] };

/** A change, and what the collections hold when it was acknowledged; where it was not, that or what was there. */
interface Change {
  readonly act: (catalog: Catalog) => Promise<unknown>;
  readonly after?: Counts;
  /** Indexes of `people` after it. */
  readonly indexes?: number;
}

const person = (i: number): ReturnType<typeof doc> => doc({ _id: i, name: `name ${String(i)}`, half: i % 2, text: 'words '.repeat(i % 40) });

const changes: Readonly<Record<string, Change>> = {
  'reIndex with other options': { act: (catalog) => catalog.reIndex(people, { which: '*', options: doc({ compression: 'zlib', pageSize: 8192 }), checkInterrupt: () => undefined }) },
  'an index that is built online': { act: (catalog) => catalog.createIndexes(people, [spec({ half: 1, text: 1 })]), indexes: 3 },
  'a unique index that is built online': { act: (catalog) => catalog.createIndexes(people, [spec({ name: -1 }, { unique: true })]), indexes: 3 },
  'a part that comes': { act: (catalog) => catalog.addPartition(parted, undefined) },
  'a part that goes': { act: (catalog) => catalog.run((txn) => catalog.dropPartition(txn, parted, 0)), after: { ...before, parted: [30] } },
  'a capped collection that is full': {
    act: async (catalog) => {
      for (let i = 100; i < 140; i++) await insertAll(catalog, [doc({ _id: i, n: i })], capped);
    },
  },
  'a copy into a capped collection': {
    act: (catalog) => catalog.copyAsCapped({ from: people, to: namespaceOf('test', 'copy'), sizeBytes: 1 << 20, replaces: false, checkInterrupt: () => undefined }), after: { ...before, copy: [documents] },
  },
  'a rename over another': { act: (catalog) => catalog.run((txn) => catalog.rename(txn, people, parted, { dropTarget: true })), after: { parted: [documents], capped: [20] } },
  'a drop': { act: (catalog) => catalog.run((txn) => catalog.drop(txn, people)), after: { parted: [60], capped: [20] } },
};

async function prepared(): Promise<SimEnv> {
  const sim = await SimEnv.create({ seed: 2 });
  await sim.run(async () => {
    const engine = await openEnvironment(sim, '/data', engineOptions);
    const catalog = await openCatalog(engine, sim, { inlineDocumentsMax: 0 });
    await insertAll(catalog, Array.from({ length: documents }, (_, i) => person(i)));
    await catalog.createIndexes(people, [spec({ name: 1 })]);
    await catalog.run((txn) => catalog.create(txn, parted, doc({ partitioned: true, primaryKey: doc({ at: 1, _id: 1 }) })));
    for (const half of [0, 1]) {
      await insertAll(catalog, Array.from({ length: 30 }, (_, i) => doc({ _id: half * 30 + i, at: half * 30 + i })), parted);
      if (half === 0) await catalog.addPartition(parted, undefined);
    }
    await catalog.run((txn) => catalog.create(txn, capped, doc({ capped: true, size: 1 << 20, max: 20 })));
    await insertAll(catalog, Array.from({ length: 40 }, (_, i) => doc({ _id: i, n: i })), capped);
    await engine.close();
  });
  return sim;
}

/** What can happen to a machine at its n-th I/O. */
const faults: Readonly<Record<string, (sim: SimEnv, n: number) => void>> = {
  'a power failure': (sim, n) => sim.files.faults.crashAt(n),
  'a failed write': (sim, n) => sim.files.faults.failAt({ at: n, code: 'io', lasting: false, kinds: ['create', 'write', 'sync', 'truncate', 'rename', 'remove', 'syncDirectory'] }),
  'no space': (sim, n) => {
    let count = 0;
    sim.files.onOperation = () => {
      count += 1;
      if (count === n) sim.files.setCapacity(0);
    };
  },
};

/** With space again every collection that is there takes documents, whatever became of the change. */
async function assertGoesOn(catalog: Catalog, sim: SimEnv): Promise<void> {
  await sim.clock.sleep(1500);
  const read = catalog.begin('read');
  const names = (await catalog.collections(read, 'test')).map(({ ns }) => ns).filter(({ collection }) => collection !== 'capped');
  read.abort();
  for (const ns of names) {
    const txn = catalog.begin('statement');
    const collection = await catalog.collection(txn, ns);
    assert.ok(collection !== undefined);
    await collection.insert(txn, collection.prepare(doc({ _id: 'goes on', at: 1000 })));
    txn.abort();
  }
}

/** One run; false when there was no n-th I/O. */
async function run(base: SimEnv, change: Change, fault: string, n: number): Promise<boolean> {
  const sim = base.crash('power', n);
  let [isDone, cameToPass] = [false, false];
  const result = await sim.run(async () => {
    const engine = await openEnvironment(sim, '/data', engineOptions);
    const catalog = await openCatalog(engine, sim, { inlineDocumentsMax: 0 });
    faults[fault]?.(sim, n);
    try {
      await change.act(catalog);
      isDone = true;
    } catch (error) {
      if (!(error instanceof EngineError) && !(error instanceof CommandError)) throw error;
    }
    cameToPass = sim.files.faults.failures > 0 || sim.files.isFull;
    sim.files.faults.heal();
    sim.files.onOperation = undefined;
    sim.files.setCapacity(2 ** 30);
    if (fault === 'no space') await assertGoesOn(catalog, sim);
    await engine.close().catch((error: unknown) => {
      if (!(error instanceof EngineError)) throw error;
    });
  }).catch((error: unknown) => {
    // Whoever was in the middle of something hears of the power failure.
    if (sim.files.isOff) return { ended: 'crashed' as const };
    throw error;
  });
  const next = sim.crash('power');
  await next.run(() => judge(next, change, isDone));
  return cameToPass || result.ended === 'crashed';
}

async function judge(sim: SimEnv, { after = before, indexes }: Change, isDone: boolean): Promise<void> {
  const engine = await openEnvironment(sim, '/data', engineOptions);
  assert.deepEqual((await engine.verify()).problems, []);
  const catalog = await openCatalog(engine, sim, {});
  const txn = catalog.begin('read');
  const found: Record<string, number> = {};
  for (const collection of await catalog.collections(txn, 'test')) {
    if (!('check' in collection)) continue;
    const { problems, documents: count, entries } = await collection.check(txn);
    assert.deepEqual(problems, []);
    found[collection.ns.collection] = count;
    if (isDone && indexes !== undefined && collection.ns.collection === 'people') assert.equal(entries.size, indexes);
  }
  const agrees = (counts: Counts): boolean => Object.keys(found).every((name) => counts[name]?.includes(found[name] ?? -1)) && Object.keys(counts).every((name) => name in found);
  assert.ok(agrees(after) || (!isDone && agrees(before)) || (!isDone && 'copy' in found && agrees({ ...before, copy: [found['copy'] ?? 0] })), `${isDone ? 'done' : 'not done'}: ${JSON.stringify(found)}`);
  txn.abort();
  await engine.close();
}

for (const [name, change] of Object.entries(changes)) {
  test(`${name}: collections are whole after any fault`, async (t) => {
    const base = await prepared();
    let runs = 0;
    for (const fault of Object.keys(faults)) {
      for (let n = 1 + (runs * 7) % stride; ; n += stride) {
        try {
          if (!(await run(base, change, fault, n))) break;
          runs += 1;
        } catch (cause) {
          throw new Error(`${fault} at I/O ${String(n)}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
        }
      }
    }
    t.diagnostic(`${String(runs)} faults`);
  });
}

/** The disk is full, and everybody knows it. */
async function fillDisk(catalog: Catalog, sim: SimEnv): Promise<void> {
  sim.files.setCapacity(0);
  const isRefused = (error: unknown): true => {
    if (error instanceof EngineError && error.code === 'no-space') return true;
    throw error;
  };
  for (let i = 0; ; i++) if ((await insertAll(catalog, [doc({ _id: `filler ${String(i)}`, text: 'x'.repeat(12_000) })]).catch(isRefused)) === true) return;
}

test('a change that a full disk refuses leaves collections as they were: with space again they take documents', async () => {
  const base = await prepared();
  let refused = 0;
  for (const [name, { act }] of Object.entries(changes)) {
    const sim = base.crash('power', 1);
    await sim.run(async () => {
      const engine = await openEnvironment(sim, '/data', engineOptions);
      const catalog = await openCatalog(engine, sim, { inlineDocumentsMax: 0 });
      await fillDisk(catalog, sim);
      await act(catalog).catch((error: unknown) => {
        if (!(error instanceof EngineError && error.code === 'no-space')) throw new Error(name, { cause: error });
        refused += 1;
      });
      sim.files.setCapacity(2 ** 30);
      await assertGoesOn(catalog, sim);
      await engine.close();
    });
  }
  assert.ok(refused > 3, `${String(refused)} changes were refused`);
});
