import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openCatalog } from '../../src/catalog/index.ts';
import { openEnvironment } from '../../src/engine/index.ts';
import { openMemoryEnv } from '../../src/env/index.ts';
import { plant } from '../support/plant.ts';
import type { Break } from '../support/plant.ts';
import { conflict, doc, insertAll, people, spec } from './catalog-for-test.ts';
import { crowd } from './concurrency.ts';

const seeds = 40;

test('documents and entries agree whatever statements, transactions and index builds run at once', async () => {
  for (let seed = 1; seed <= seeds; seed++) {
    await crowd(openCatalog, seed).catch((error: unknown) => {
      throw new assert.AssertionError({ message: `seed ${seed}: ${String(error)}` });
    });
  }
});

/** Each breaks one promise of the catalog; some seed must see it. */
const breaks: readonly (readonly [string, Break])[] = [
  ['a write set built under an older definition commits', { file: 'transaction.js', from: 'if (old === undefined && !loud)', to: 'if (true)' }],
  ['a unique key is looked up without its lock', { file: 'document-change.js', from: 'afterSoon(txn.engine.lock(index.dictionary, row.key), ', to: 'afterSoon(undefined, ' }],
  ['old entries stay when a document changes', { file: 'document-change.js', from: 'for (const row of going)', to: 'for (const row of [])' }],
  ['an entry that changes is not written anew', { file: 'document-change.js', from: 'if (!equalBytes(old.value, row.value))', to: 'if (false)' }],
  ['rows are counted without those that go', { file: 'document-change.js', from: '-1, -rowBytes(row)', to: '0, -rowBytes(row)' }],
  ['a build does not wait for commits under way', { file: 'hold.js', from: 'await Promise.allSettled(state.committing.all());', to: '' }],
  ['a build does not hold writers back', { file: 'hold.js', from: 'state.held = promise;', to: '' }],
  ['writers do not keep an index that is being built', { file: 'stored-collection.js', from: '[...this.secondaries, ...parts.building]', to: 'this.secondaries' }],
  ['what writers kept beside a unique index is not taken over', { file: 'online-build.js', from: 'if (sides.length === 0)', to: 'if (true)' }],
  ['rows of a load are counted twice or not at all', { file: 'online-build.js', from: 'txn.engine.count(row.dictionary, loaded.rows, loaded.bytes);', to: '' }],
  ['arrays are not noted in the catalog', { file: 'document-change.js', from: 'return txn.engine.putCovered(collection.catalogDictionary', to: 'return undefined; txn.engine.putCovered(collection.catalogDictionary' }],
];

for (const [what, change] of breaks) {
  test(`the crowd sees it when ${what}`, async (context) => {
    const broken = (await plant('catalog', 'index.js', change)) as { openCatalog: typeof openCatalog };
    for (let seed = 1; seed <= 5 * seeds; seed++) {
      const failed = await crowd(broken.openCatalog, seed).then(() => false, () => true);
      if (!failed) continue;
      context.diagnostic(`seen by seed ${seed}`);
      return;
    }
    assert.fail('no seed saw it');
  });
}

/** A unique key that an open transaction has taken away is neither there nor free: whoever wants it conflicts (law 5). */
async function assertRemovedKeyIsLocked(open: typeof openCatalog): Promise<void> {
  const env = await openMemoryEnv();
  const engine = await openEnvironment(env, '/data');
  const catalog = await open(engine, env);
  await catalog.createIndexes(people, [spec({ u: 1 }, { unique: true })]);
  await insertAll(catalog, [doc({ _id: 1, u: 5 })]);
  const [one, two] = [catalog.begin('snapshot'), catalog.begin('snapshot')];
  const collection = await catalog.ensureCollection(one, people);
  await collection.remove(one, collection.keyOf(1), doc({ _id: 1, u: 5 }));
  const other = await catalog.ensureCollection(two, people);
  await assert.rejects(async () => other.insert(two, other.prepare(doc({ _id: 2, u: 5 }))), conflict);
  one.abort();
  two.abort();
  await engine.close();
}

test('a unique key that an open transaction removed is a conflict, not a duplicate', async () => {
  await assertRemovedKeyIsLocked(openCatalog);
  const change = { file: 'document-change.js', from: 'index.unique ? txn.engine.remove(', to: 'index.unique ? txn.engine.removeCovered(' };
  const broken = (await plant('catalog', 'index.js', change)) as { openCatalog: typeof openCatalog };
  await assert.rejects(assertRemovedKeyIsLocked(broken.openCatalog), { code: 'ERR_ASSERTION' });
});
