// Several clients at once on one collection: statements and transactions that insert, replace and remove, while indexes come and go and the
// collection is dropped. One seed is one run. What must hold at the end, and after reopening: every document has exactly its entries, unique
// values are unique, stated totals are what is there.

import assert from 'node:assert/strict';
import { CommandError, EngineError } from '../../src/base/errors.ts';
import { BsonArray } from '../../src/bson/index.ts';
import type { Document, Value } from '../../src/bson/index.ts';
import type { Catalog, CatalogTransaction, openCatalog } from '../../src/catalog/index.ts';
import { openEnvironment } from '../../src/engine/index.ts';
import { openMemoryEnv } from '../../src/env/index.ts';
import { doc, people, spec } from './catalog-for-test.ts';

/** Codes that a client may be told in such a crowd. */
const allowedCodes: ReadonlySet<number> = new Set([11000, 26, 27, 85, 86, 171, 276]);

/** The indexes that come and go. */
export const crowdIndexes: readonly Document[] = [
  spec({ u: 1 }, { unique: true, sparse: true }),
  spec({ a: 1 }),
  spec({ b: -1, a: 1 }, { clustering: true }),
  spec({ 'c.x': 1 }, { partialFilterExpression: doc({ b: doc({ $gte: 2 }) }) }),
];

/** Numbers from a seed. */
class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = (seed * 2654435761) >>> 0 || 1;
  }

  below(limit: number): number {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    return (this.#state >>> 0) % limit;
  }
}

/** Lets others run. */
export type Turn = () => Promise<void>;

const turnOfLoop: Turn = () => new Promise((resolve) => setImmediate(resolve));

/** One client, its choices from a seed. */
export class Client {
  readonly #catalog: Catalog;
  readonly #dice: Dice;
  readonly #turn: Turn;

  constructor(catalog: Catalog, seed: number, turn: Turn = turnOfLoop) {
    this.#catalog = catalog;
    this.#dice = new Dice(seed);
    this.#turn = turn;
  }

  async run(operations: number): Promise<void> {
    for (let i = 0; i < operations; i++) {
      try {
        await this.#one();
      } catch (error) {
        const known = (error instanceof CommandError && allowedCodes.has(error.code)) || (error instanceof EngineError && isConflict(error));
        if (!known) throw error;
      }
    }
  }

  async #one(): Promise<void> {
    const kind = this.#dice.below(20);
    if (kind < 11) await this.#catalog.run((txn) => this.#write(txn));
    else if (kind < 16) await this.#transaction();
    else if (kind < 18) await this.#catalog.createIndexes(people, [this.#pick(crowdIndexes)]);
    else if (kind < 19) await this.#catalog.run((txn) => this.#catalog.dropIndexes(txn, people, this.#pick(['u_1', 'a_1', '*'])));
    else if (this.#dice.below(6) === 0) await this.#catalog.run((txn) => this.#catalog.drop(txn, people));
  }

  async #transaction(): Promise<void> {
    const txn = this.#catalog.begin('snapshot');
    try {
      for (let left = 1 + this.#dice.below(4); left > 0; left--) {
        const mark = txn.mark();
        await this.#write(txn);
        if (this.#dice.below(5) === 0) txn.rollbackTo(mark);
        await this.#turn();
      }
      if (this.#dice.below(4) === 0) txn.abort();
      else await txn.commit();
    } finally {
      txn.abort();
    }
  }

  async #write(txn: CatalogTransaction): Promise<void> {
    const collection = await this.#catalog.ensureCollection(txn, people);
    if (this.#dice.below(3) === 0) await this.#turn();
    const wanted = this.#document();
    const { document, key } = collection.prepare(wanted);
    await collection.lock(txn, key);
    const before = await (txn.mode === 'statement' ? collection.getLatest(txn, key) : collection.get(txn, key));
    if (this.#dice.below(4) === 0) await this.#turn();
    if (before === undefined) await collection.insert(txn, { document, key });
    else if (this.#dice.below(2) === 0) await collection.update(txn, key, { before, after: document });
    else await collection.remove(txn, key, before);
  }

  #document(): Document {
    const array = (): Value => BsonArray.of([this.#dice.below(4), this.#dice.below(4)]);
    return doc({
      _id: this.#dice.below(25),
      ...(this.#dice.below(3) === 0 ? {} : { u: this.#dice.below(12) }),
      a: this.#dice.below(3) === 0 ? array() : this.#dice.below(5),
      b: this.#dice.below(4),
      c: doc({ x: this.#dice.below(3) }),
    });
  }

  #pick<T>(from: readonly T[]): T {
    return from[this.#dice.below(from.length)] as T;
  }
}

const isConflict = (error: EngineError): boolean => error.code === 'write-conflict' || error.code === 'deadlock' || error.code === 'locked';

/** Whatever collection there is agrees with its indexes and totals. */
export async function assertCollectionWhole(catalog: Catalog): Promise<void> {
  const txn = catalog.begin('read');
  const collection = await catalog.collection(txn, people);
  if (collection !== undefined) assert.deepEqual((await collection.check(txn)).problems, []);
  txn.abort();
}

/** One run. `open`: the catalog under test. */
export async function crowd(open: typeof openCatalog, seed: number): Promise<void> {
  const env = await openMemoryEnv();
  const start = (): ReturnType<typeof openEnvironment> => openEnvironment(env, '/data', { cacheBytes: 8 << 20, lockWaitMs: 2000 });
  let engine = await start();
  // Half of the runs build every index beside its writers.
  const choices = seed % 2 === 0 ? { inlineDocumentsMax: 0 } : {};
  let catalog = await open(engine, env, choices);
  await catalog.createIndexes(people, crowdIndexes.slice(0, 2));
  await Promise.all([1, 2, 3, 4].map((client) => new Client(catalog, seed * 7 + client).run(20)));
  await assertCollectionWhole(catalog);
  await engine.close();
  engine = await start();
  catalog = await open(engine, env, choices);
  await assertCollectionWhole(catalog);
  await new Client(catalog, seed).run(10);
  await assertCollectionWhole(catalog);
  await engine.close();
}
