// Indexes built beside writers: what they do meanwhile is in the index at its end, writers are not held back for long, and a build that cannot
// be leaves nothing.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BsonArray } from '../../src/bson/index.ts';
import type { Document } from '../../src/bson/index.ts';
import type { Catalog, CatalogTransaction, openCatalog } from '../../src/catalog/index.ts';
import { namespaceOf, openCatalog as openHere } from '../../src/catalog/index.ts';
import { openEnvironment } from '../../src/engine/index.ts';
import { openMemoryEnv } from '../../src/env/index.ts';
import { plant } from '../support/plant.ts';
import type { Break } from '../support/plant.ts';
import { assertWhole, doc, insertAll, people, reading, refusal, spec } from './catalog-for-test.ts';

type OpenCatalog = typeof openCatalog;

const count = 3000;
const documents = (): Document[] => Array.from({ length: count }, (_, i) => doc({ _id: i, u: i, a: i % 7 }));

/** A change that a client makes while the index is built. */
type Change = (catalog: Catalog, txn: CatalogTransaction) => Promise<void>;

const change = (id: number, after: Document | undefined): Change => async (catalog, txn) => {
  const collection = await catalog.ensureCollection(txn, people);
  const key = collection.keyOf(id);
  await collection.lock(txn, key);
  const before = await collection.getLatest(txn, key);
  if (before === undefined) await collection.insert(txn, collection.prepare(after ?? doc({ _id: id })));
  else if (after === undefined) await collection.remove(txn, key, before);
  else await collection.update(txn, key, { before, after });
};

/** Builds `wanted` over the documents, with these changes made once the scan has begun; fails when a writer waits for the build. */
async function buildBeside(open: OpenCatalog, wanted: Document, changes: readonly Change[]): Promise<Catalog> {
  const env = await openMemoryEnv();
  const engine = await openEnvironment(env, '/data', { cacheBytes: 8 << 20 });
  const catalog = await open(engine, env);
  await insertAll(catalog, documents());
  let writers: Promise<void> | undefined;
  const checkInterrupt = (): void => {
    if ((catalog.builds()[0]?.documentsDone ?? 0) > 0) writers ??= (async () => {
      for (const one of changes) await catalog.run((txn) => one(catalog, txn));
      assert.equal(catalog.builds().length, 1, 'the writers waited for the build');
    })();
  };
  const build = catalog.createIndexes(people, [wanted], { checkInterrupt });
  await build.finally(() => writers);
  await assertWhole(catalog);
  return catalog;
}

/** Writers give keys away, take them, and remove documents that were scanned and that were not. */
const moves: readonly Change[] = [
  change(1, doc({ _id: 1, u: 5000, a: 1 })),
  change(5001, doc({ _id: 5001, u: 1, a: BsonArray.of([1, 2]) })),
  change(2, undefined),
  change(2900, undefined),
  change(2901, doc({ _id: 2901, u: 2, a: 3 })),
  change(2902, doc({ _id: 2902, u: 6000, a: 9 })),
  change(2902, doc({ _id: 2902, u: 2902, a: 9 })),
  change(5002, doc({ _id: 5002, u: 7000, a: 1 })),
  change(5002, undefined),
];

async function assertMoves(open: OpenCatalog, wanted: Document): Promise<void> {
  const catalog = await buildBeside(open, wanted, moves);
  const { txn, collection } = await reading(catalog);
  assert.equal(collection.indexes[1]?.isMultikey, wanted.get('name') === 'a_1');
  assert.equal(collection.indexes[1].totals(txn).rows, wanted.get('name') === 'a_1' ? count : count - 1);
  txn.abort();
}

for (const [name, wanted] of Object.entries({ plain: spec({ a: 1 }), unique: spec({ u: 1 }, { unique: true }), clustering: spec({ u: -1 }, { unique: true, clustering: true }) })) {
  test(`a ${name} index built beside writers has what they changed`, async () => {
    await assertMoves(openHere, wanted);
  });
}

async function assertDuplicateSeen(open: OpenCatalog): Promise<void> {
  const env = await openMemoryEnv();
  const engine = await openEnvironment(env, '/data', { cacheBytes: 8 << 20 });
  const catalog = await open(engine, env);
  await insertAll(catalog, documents());
  const before = engine.statistics().dictionaries;
  let writers: Promise<void> | undefined;
  const checkInterrupt = (): void => {
    if ((catalog.builds()[0]?.documentsDone ?? 0) > 0) writers ??= catalog.run((txn) => change(9000, doc({ _id: 9000, u: 17 }))(catalog, txn));
  };
  await assert.rejects(catalog.createIndexes(people, [spec({ a: 1 }), spec({ u: 1 }, { unique: true })], { checkInterrupt }), refusal(11000, /index: u_1 dup key: \{ u: 17 \}/));
  await writers;
  assert.equal((await reading(catalog)).collection.indexes.length, 1);
  await assertWhole(catalog);
  for (let turn = 0; turn < 300 && engine.statistics().dictionaries > before; turn++) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(engine.statistics().dictionaries, before);
  await insertAll(catalog, [doc({ _id: 'still', u: 17 })]);
  await assertWhole(catalog);
}

test('a key that a writer gives to a second document meanwhile is 11000 at the end, and nothing is left', async () => {
  await assertDuplicateSeen(openHere);
});

test('a build whose collection is dropped meanwhile ends with 276', async () => {
  const env = await openMemoryEnv();
  const engine = await openEnvironment(env, '/data', { cacheBytes: 8 << 20 });
  const catalog = await openHere(engine, env);
  await insertAll(catalog, documents());
  let dropping: Promise<unknown> | undefined;
  const checkInterrupt = (): void => {
    if ((catalog.builds()[0]?.documentsDone ?? 0) > 0) dropping ??= catalog.run((txn) => catalog.drop(txn, people));
  };
  await assert.rejects(catalog.createIndexes(people, [spec({ u: 1 }, { unique: true })], { checkInterrupt }), refusal(276));
  await dropping;
  for (let turn = 0; turn < 1000 && engine.statistics().dictionaries > 1; turn++) {
    await insertAll(catalog, [doc({ _id: turn })]);
    await catalog.run((txn) => catalog.drop(txn, people));
  }
  assert.ok(engine.statistics().dictionaries <= 2);
});

test('a rename waits for no build: it is refused with 12587', async () => {
  const env = await openMemoryEnv();
  const engine = await openEnvironment(env, '/data', { cacheBytes: 8 << 20 });
  const catalog = await openHere(engine, env);
  await insertAll(catalog, documents());
  let renaming: Promise<unknown> | undefined;
  const other = namespaceOf('test', 'other');
  const checkInterrupt = (): void => {
    renaming ??= assert.rejects(catalog.run((txn) => catalog.rename(txn, people, other, { dropTarget: false })), refusal(12587));
  };
  await catalog.createIndexes(people, [spec({ a: 1 })], { checkInterrupt });
  await renaming;
});

/** Each breaks law 29; the script beside it must see it. */
const breaks: readonly (readonly [string, Break, (open: OpenCatalog) => Promise<void>])[] = [
  [
    'a key that two documents have at the end of a build is not seen',
    { file: 'online-build.js', from: 'if (owners.length + (stays ? 1 : 0) > 1)', to: 'if (false)' }, assertDuplicateSeen,
  ],
  [
    'what a writer took out of a unique index that is being built stays',
    { file: 'document-change.js', from: 'sideValue(row.value, false)', to: 'sideValue(row.value, true)' }, (open) => assertMoves(open, spec({ u: 1 }, { unique: true })),
  ],
  [
    'a build that failed leaves its definition',
    { file: 'online-build.js', from: 'await this.#takeBack(building);', to: '' }, assertDuplicateSeen,
  ],
];

for (const [what, planted, run] of breaks) {
  test(`it is seen when ${what}`, async () => {
    const broken = (await plant('catalog', 'index.js', planted)) as { openCatalog: OpenCatalog };
    await assert.rejects(run(broken.openCatalog));
  });
}
