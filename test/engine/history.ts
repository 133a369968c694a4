// A random history of transactions, snapshots, cursors, checkpoints and reopenings, done to the engine and to the model at once; every answer
// must be the same. One seed gives one history. Nothing is done twice at a time here: crash-history.ts has commits that overlap.

import assert from 'node:assert/strict';
import { crc32c } from '../../src/base/crc32c.ts';
import { EngineError } from '../../src/base/errors.ts';
import type { openEnvironment, Cursor, DictionaryId, Durability, EngineOptions, Environment, Transaction, TransactionMode } from '../../src/engine/index.ts';
import type { Env } from '../../src/env/index.ts';
import { SimRandom } from '../sim/sim-random.ts';
import { ModelEnvironment } from '../support/model-environment.ts';
import { testFunctions, updateTable } from '../support/update-functions.ts';

/** Small everything, so that few operations reach splits, pushes and evictions. */
export function smallOptions(random: SimRandom): Partial<EngineOptions> {
  const pick = <T>(...choices: readonly T[]): T => choices[random.uint32() % choices.length] as T;
  return {
    cacheBytes: pick(1, 1, 2, 8) * 1024 * 1024,
    frontBytes: pick(400, 2000, 10_000, 60_000),
    bufferBytes: pick(500, 2000, 20_000),
    logBytes: pick(200_000, 4_000_000),
    logSegmentBytes: pick(131_072, 262_144),
    checkpointPeriodMs: pick(5, 50, 1000, 100_000),
    durability: pick<Durability>('sync', 'sync', { delayedMs: 20 }),
    updates: updateTable,
    dictionary: {
      compression: pick('none' as const, 'lz4' as const, 'zlib' as const, 'zstd' as const), pageBytes: pick(1024, 4096, 30_000),
      readPageBytes: pick(512, 1024, 4096), fanout: pick(4, 5, 16),
    },
  };
}

/** The real function, or one of a copy with a break in it. */
export type OpenEnvironment = typeof openEnvironment;

interface Pair {
  readonly mode: TransactionMode;
  readonly engine: Transaction;
  readonly model: Transaction;
  readonly cursors: { readonly engine: Cursor; readonly model: Cursor }[];
  /** What the transaction has made or dropped, known to others after its commit. */
  readonly created: { readonly engine: DictionaryId; readonly model: DictionaryId }[];
}

type Outcome = { readonly value: unknown } | { readonly code: string };

async function outcomeOf(act: () => unknown): Promise<Outcome> {
  try {
    return { value: await act() };
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return { code: error.code };
  }
}

/** What a history has done, for the report. */
export interface HistoryReport {
  readonly operations: number;
  readonly commits: number;
  readonly conflicts: number;
  readonly reopenings: number;
}

/** A history. `mayConflict`: the engine may have more conflicts than the model, for it forgets single keys of what a commit spilled. */
export interface HistoryScript {
  readonly seed: number;
  readonly operations: number;
  readonly options?: Partial<EngineOptions>;
  readonly mayConflict?: boolean;
}

/** One history. */
export class History {
  readonly #openEnvironment: OpenEnvironment;
  readonly #env: Env;
  readonly #random: SimRandom;
  /** What becomes an update is drawn apart, so that the rest of a history is the same with or without. */
  readonly #updates: SimRandom;
  readonly #options: Partial<EngineOptions>;
  readonly #model: ModelEnvironment = new ModelEnvironment();
  readonly #keys: number;
  /** Draws the places of keys where these come in neighbourhoods, so that what is written in one time belongs to one leaf. */
  readonly #places: SimRandom | undefined;
  #place: number = 0;
  /** Options that stay when the environment is opened with others. */
  #fixed: Partial<EngineOptions> = {};
  #mayConflict: boolean = false;
  #engine: Environment;
  #open: Pair[] = [];
  #dictionaries: { readonly engine: DictionaryId; readonly model: DictionaryId }[] = [];
  #report = { operations: 0, commits: 0, conflicts: 0, reopenings: 0 };

  private constructor(start: { open: OpenEnvironment; env: Env }, random: SimRandom, options: Partial<EngineOptions>, engine: Environment) {
    this.#openEnvironment = start.open;
    this.#env = start.env;
    this.#random = random;
    this.#updates = random.fork('updates');
    this.#options = options;
    this.#engine = engine;
    this.#keys = random.uint32() % 3 === 0 ? 40 : 1500;
    const places = random.fork('places');
    this.#places = places.uint32() % 4 === 0 ? places : undefined;
    this.#dictionaries.push({ engine: engine.catalogDictionary, model: this.#model.catalogDictionary });
  }

  /** Runs a history of so many operations and verifies the files at its end. `options` go before those that the seed draws. */
  static async run(open: OpenEnvironment, env: Env, script: HistoryScript): Promise<HistoryReport> {
    const random = new SimRandom(script.seed).fork('history');
    const options = { ...smallOptions(random), ...script.options };
    const engine = await open(env, '/data', options);
    const history = new History({ open, env }, random, options, engine);
    history.#fixed = script.options ?? {};
    history.#mayConflict = script.mayConflict ?? false;
    for (let i = 0; i < script.operations; i++) await history.#step();
    await history.#end();
    return history.#report;
  }

  #chance(share: number): boolean {
    return this.#random.fraction() < share;
  }

  #below(n: number): number {
    return this.#random.uint32() % n;
  }

  #key(): Uint8Array {
    const number = this.#below(this.#keys);
    const places = this.#places;
    if (places?.chance(0.02) === true) this.#place = places.chance(0.5) ? this.#place + 1 : places.uint32() % 100;
    if (places?.chance(0.95) === true) return new TextEncoder().encode(`near/${String(this.#place).padStart(3, '0')}/${number % 12}`);
    // Long and short keys, some a prefix of others.
    return new TextEncoder().encode(number % 7 === 0 ? `k${number}` : `key/${'x'.repeat(number % 5)}/${number}`);
  }

  async #step(): Promise<void> {
    this.#report.operations += 1;
    const dice = this.#random.fraction();
    if (this.#open.length === 0 || (dice < 0.06 && this.#open.length < 6)) this.#begin();
    else if (dice < 0.14) await this.#endOne();
    else if (dice < 0.15) await this.#engine.checkpoint();
    else if (dice < 0.153) await this.#reopen();
    else if (dice < 0.2) this.#openCursor();
    else if (dice < 0.35) await this.#readCursor();
    else if (dice < 0.36) await this.#dictionary();
    else if (dice < 0.4) await this.#env.clock.sleep(this.#below(30));
    else await this.#readOrWrite();
  }

  #begin(): void {
    const mode: TransactionMode = this.#chance(0.7) ? 'snapshot' : 'read';
    const from = mode === 'read' && this.#chance(0.3) ? this.#open[0] : undefined;
    this.#open.push({
      mode, engine: this.#engine.begin(mode, from?.engine), model: this.#model.begin(mode, from?.model), cursors: [], created: [],
    });
  }

  #one(): Pair | undefined {
    return this.#open[this.#below(this.#open.length)];
  }

  async #endOne(): Promise<void> {
    const pair = this.#one();
    if (pair === undefined) return;
    this.#open = this.#open.filter((other) => other !== pair);
    if (this.#chance(0.2)) {
      pair.engine.abort();
      pair.model.abort();
      return;
    }
    await pair.engine.commit();
    await pair.model.commit();
    this.#dictionaries.push(...pair.created);
    this.#report.commits += 1;
  }

  async #reopen(): Promise<void> {
    for (const pair of this.#open) pair.model.abort();
    this.#open = [];
    await this.#engine.close();
    this.#engine = await this.#openEnvironment(this.#env, '/data', { ...this.#options, ...(this.#chance(0.5) ? smallOptions(this.#random) : {}), ...this.#fixed });
    this.#report.reopenings += 1;
  }

  #openCursor(): void {
    const pair = this.#one();
    const id = this.#dictionaries[this.#below(this.#dictionaries.length)];
    if (pair === undefined || id === undefined) return;
    const [a, b] = [this.#key(), this.#key()];
    const range = { ...(this.#chance(0.5) ? { from: a } : {}), ...(this.#chance(0.5) ? { to: b } : {}) };
    const direction = this.#chance(0.5) ? 1 : -1;
    try {
      const model = pair.model.cursor(id.model, range, direction);
      pair.cursors.push({ model, engine: pair.engine.cursor(id.engine, range, direction) });
    } catch (error) {
      assert.ok(error instanceof EngineError && error.code === 'unknown-dictionary', String(error));
      assert.throws(() => pair.engine.cursor(id.engine, range, direction), { code: 'unknown-dictionary' });
    }
  }

  async #readCursor(): Promise<void> {
    const pair = this.#one();
    const cursor = pair?.cursors[this.#below(Math.max(1, pair.cursors.length))];
    if (cursor === undefined) return;
    if (this.#chance(0.15)) {
      const key = this.#key();
      cursor.engine.seek(key);
      cursor.model.seek(key);
    }
    const limit = { rows: 1 + this.#below(80), bytes: 1_000_000 };
    const [engine, model] = [await cursor.engine.nextBatch(limit), await cursor.model.nextBatch(limit)];
    const rows = (batch: typeof engine): string[] => Array.from({ length: batch.length }, (_, i) => `${hex(batch.key(i))}=${hex(batch.value(i))}`);
    assert.deepEqual(rows(engine), rows(model));
  }

  async #dictionary(): Promise<void> {
    const pair = this.#one();
    if (pair?.mode !== 'snapshot') return;
    if (this.#chance(0.6) && this.#dictionaries.length < 8) {
      pair.created.push({ engine: pair.engine.createDictionary(), model: pair.model.createDictionary() });
      return;
    }
    const id = this.#dictionaries[1 + this.#below(Math.max(1, this.#dictionaries.length - 1))];
    if (id === undefined || this.#open.length > 1) return;
    const [engine, model] = [await outcomeOf(() => pair.engine.dropDictionary(id.engine)), await outcomeOf(() => pair.model.dropDictionary(id.model))];
    assert.deepEqual(engine, model);
    if ('value' in model) {
      this.#open = [];
      await pair.engine.commit();
      await pair.model.commit();
    }
    this.#dictionaries = this.#dictionaries.filter((other) => other !== id);
  }

  async #readOrWrite(): Promise<void> {
    const pair = this.#one();
    if (pair === undefined) return;
    const known = [...this.#dictionaries, ...pair.created];
    const id = known[this.#below(known.length)];
    if (id === undefined) return;
    const act = pair.mode === 'read' || this.#chance(0.3) ? this.#reader() : this.#writer();
    const [engine, model] = [await outcomeOf(() => act(pair.engine, id.engine)), await outcomeOf(() => act(pair.model, id.model))];
    const isMore = this.#mayConflict && 'code' in engine && engine.code === 'write-conflict';
    if (!isMore) assert.deepEqual(engine, model);
    if ('code' in engine) {
      this.#report.conflicts += 1;
      this.#open = this.#open.filter((other) => other !== pair);
      pair.engine.abort();
      pair.model.abort();
    }
  }

  #reader(): (transaction: Transaction, id: DictionaryId) => unknown {
    const key = this.#key();
    if (this.#chance(0.1)) return (transaction, id) => ({ ...transaction.totals(id) });
    return async (transaction, id) => {
      const value = await transaction.get(id, key);
      return value === undefined ? undefined : hex(value);
    };
  }

  #writer(): (transaction: Transaction, id: DictionaryId) => unknown {
    const key = this.#key();
    if (this.#chance(0.25)) {
      return async (transaction, id) => {
        const before = await transaction.get(id, key);
        await transaction.remove(id, key);
        if (before !== undefined) transaction.count(id, -1, -before.length);
      };
    }
    if (this.#chance(0.05)) {
      return async (transaction, id) => {
        const mark = transaction.mark();
        await transaction.put(id, key, key);
        transaction.count(id, 1, 1);
        transaction.rollbackTo(mark);
      };
    }
    if (this.#chance(0.06)) return this.#rangeDeleter();
    const length = this.#chance(0.02) ? 3000 + this.#below(9000) : this.#below(120);
    const value = new Uint8Array(length).fill(this.#below(256));
    if (this.#updates.chance(0.35)) return this.#updater(key);
    return async (transaction, id) => {
      const before = await transaction.get(id, key);
      await transaction.put(id, key, value);
      transaction.count(id, before === undefined ? 1 : 0, value.length - (before?.length ?? 0));
    };
  }

  /** Changes a value without reading it; now and then takes it back, or does it many times over. */
  #updater(key: Uint8Array): (transaction: Transaction, id: DictionaryId) => unknown {
    const { number, argument } = drawUpdate(this.#updates);
    const times = this.#updates.chance(0.02) ? 100 : 1;
    const takesBack = this.#updates.chance(0.1);
    return async (transaction, id) => {
      const mark = transaction.mark();
      for (let i = 0; i < times; i++) await transaction.update(id, key, number, argument);
      if (takesBack) transaction.rollbackTo(mark);
    };
  }

  /** Removes a range, and states what the transaction sees of it. */
  #rangeDeleter(): (transaction: Transaction, id: DictionaryId) => unknown {
    const [a, b] = [this.#key(), this.#key()];
    const range = { ...(this.#chance(0.7) ? { from: a } : {}), ...(this.#chance(0.7) ? { to: b } : {}) };
    const takesBack = this.#chance(0.1);
    return async (transaction, id) => {
      const mark = transaction.mark();
      const cursor = transaction.cursor(id, range, 1);
      let [rows, bytes] = [0, 0];
      for (let batch = await cursor.nextBatch(allOfIt); batch.length > 0; batch = await cursor.nextBatch(allOfIt)) {
        for (let i = 0; i < batch.length; i++) bytes += batch.value(i).length;
        rows += batch.length;
      }
      await transaction.deleteRange(id, range, rows, bytes);
      if (takesBack) transaction.rollbackTo(mark);
      return rows;
    };
  }

  async #end(): Promise<void> {
    for (const pair of this.#open) {
      pair.engine.abort();
      pair.model.abort();
    }
    this.#open = [];
    for (const round of ['as it is', 'reopened']) {
      await this.#compareAll(round);
      const { problems } = await this.#engine.verify();
      assert.deepEqual(problems, [], round);
      await this.#engine.close();
      this.#engine = await this.#openEnvironment(this.#env, '/data', this.#options);
    }
    await this.#engine.close();
  }

  async #compareAll(round: string): Promise<void> {
    const pair = { engine: this.#engine.begin('read'), model: this.#model.begin('read') };
    for (const id of this.#dictionaries) {
      for (const direction of [1, -1] as const) {
        const [engine, model] = [await allRows(pair.engine, id.engine, direction), await allRows(pair.model, id.model, direction)];
        assert.deepEqual(engine, model, `dictionary ${id.engine} ${round}`);
      }
      assert.deepEqual({ ...pair.engine.totals(id.engine) }, { ...pair.model.totals(id.model) });
    }
    pair.engine.abort();
    pair.model.abort();
  }
}

/** One of the functions with an argument; more often than not one that changes what others leave. */
export function drawUpdate(random: SimRandom): { readonly number: number; readonly argument: Uint8Array } {
  const dice = random.fraction();
  const byte = random.uint32() % 256;
  if (dice < 0.35) return { number: testFunctions.add, argument: Uint8Array.of(byte, byte, 1, 0) };
  if (dice < 0.85) return { number: testFunctions.append, argument: new Uint8Array(1 + (byte % 3)).fill(byte) };
  return { number: testFunctions.cap, argument: Uint8Array.of(byte % 24) };
}

/** What an update makes of a value. */
export function updated(value: Uint8Array | undefined, { number, argument }: { readonly number: number; readonly argument: Uint8Array }): Uint8Array | undefined {
  return updateTable.functions.get(number)?.apply(value, argument);
}

const allOfIt = { rows: 1000, bytes: 1_000_000 };

export function hex(bytes: Uint8Array): string {
  return bytes.length > 64 ? `${Buffer.from(bytes.subarray(0, 8)).toString('hex')}*${bytes.length}.${crc32c(bytes)}` : Buffer.from(bytes).toString('hex');
}

/** All rows of a dictionary as text. */
export async function allRows(transaction: Transaction, id: DictionaryId, direction: 1 | -1): Promise<string[]> {
  const cursor = transaction.cursor(id, {}, direction);
  const rows: string[] = [];
  for (;;) {
    const batch = await cursor.nextBatch({ rows: 97, bytes: 100_000 });
    if (batch.length === 0) return rows;
    for (let i = 0; i < batch.length; i++) rows.push(`${hex(batch.key(i))}=${hex(batch.value(i))}`);
  }
}
