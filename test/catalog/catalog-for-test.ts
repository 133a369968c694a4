// A catalog over the model of the engine, and short ways to say what tests need.

import assert from 'node:assert/strict';
import { CommandError, EngineError } from '../../src/base/errors.ts';
import { describeValue, Document } from '../../src/bson/index.ts';
import type { Value } from '../../src/bson/index.ts';
import { namespaceOf, openCatalog } from '../../src/catalog/index.ts';
import type { Catalog, CatalogTransaction, Collection, Namespace } from '../../src/catalog/index.ts';
import { openEnvironment } from '../../src/engine/index.ts';
import type { Environment } from '../../src/engine/index.ts';
import { openMemoryEnv } from '../../src/env/index.ts';
import { ModelEnvironment } from '../support/model-environment.ts';

export const people: Namespace = namespaceOf('test', 'people');

export interface Opened {
  readonly engine: Environment;
  readonly catalog: Catalog;
  /** Calls `look` with this catalog, then closes the environment and calls it with the catalog that opening it again gives. */
  readonly beforeAndAfterReopening: (look: (catalog: Catalog, engine: Environment) => Promise<void>) => Promise<void>;
}

/** A catalog over the engine, on files in memory. */
export async function openForTest(): Promise<Opened> {
  const env = await openMemoryEnv();
  const open = (): Promise<Environment> => openEnvironment(env, '/data', { cacheBytes: 8 << 20 });
  const engine = await open();
  const catalog = await openCatalog(engine, env);
  const beforeAndAfterReopening: Opened['beforeAndAfterReopening'] = async (look) => {
    await look(catalog, engine);
    await engine.close();
    const again = await open();
    await look(await openCatalog(again, env), again);
    assert.deepEqual((await again.verify()).problems, []);
  };
  return { engine, catalog, beforeAndAfterReopening };
}

/** A catalog over the model of the engine. */
export async function openOverModel(): Promise<Catalog> {
  return openCatalog(new ModelEnvironment(), await openMemoryEnv());
}

export const doc = (fields: Readonly<Record<string, Value>>): Document => Document.of(fields);

/** The specification of an index, named as a shell would. */
export function spec(key: Readonly<Record<string, Value>>, options: Readonly<Record<string, Value>> = {}): Document {
  const name = Object.entries(key).map(([path, direction]) => `${path}_${describeValue(direction)}`).join('_');
  return Document.of({ key: Document.of(key), name, ...options });
}

/** Inserts in one statement; the collection is made if needed. */
export async function insertAll(catalog: Catalog, documents: readonly Document[], ns: Namespace = people): Promise<void> {
  await catalog.run(async (txn) => {
    const collection = await catalog.ensureCollection(txn, ns);
    for (const document of documents) await collection.insert(txn, collection.prepare(document));
  });
}

/** The collection and a transaction that reads it. */
export async function reading(catalog: Catalog, ns: Namespace = people): Promise<{ txn: CatalogTransaction; collection: Collection }> {
  const txn = catalog.begin('read');
  const collection = await catalog.collection(txn, ns);
  assert(collection !== undefined);
  return { txn, collection };
}

/** Every document has its entries and no more, and the totals agree. */
export async function assertWhole(catalog: Catalog, ns: Namespace = people): Promise<void> {
  const { txn, collection } = await reading(catalog, ns);
  const { problems } = await collection.check(txn);
  assert.deepEqual(problems, []);
  txn.abort();
}

/** What an assertion of a refusal by this MongoDB code takes. */
export const refusal = (code: number, message?: RegExp) => (error: unknown): boolean => {
  assert(error instanceof CommandError, String(error));
  assert.equal(error.code, code, error.message);
  if (message !== undefined) assert.match(error.message, message);
  return true;
};

export const conflict = (error: unknown): boolean => error instanceof EngineError && error.code === 'write-conflict';
