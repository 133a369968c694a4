// Random histories of puts, removes and range deletes on deep trees of few rows, with snapshots that stay open while their ranges go down to
// the leaves: reads at each, both ways and key by key, must give what a plain map gives, and nothing of what went may take space for long.

import assert from 'node:assert/strict';
import type { DictionaryId, Environment, Transaction } from '../../src/engine/index.ts';
import { SimEnv } from '../sim/sim-env.ts';
import { SimRandom } from '../sim/sim-random.ts';
import { updateTable } from '../support/update-functions.ts';
import { allRows, drawUpdate, hex, updated } from './history.ts';
import type { OpenEnvironment } from './history.ts';

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const keysMax = 800;

interface Held {
  readonly reader: Transaction;
  readonly rows: ReadonlyMap<string, string>;
}

class RangeHistory {
  readonly #sim: SimEnv;
  readonly #random: SimRandom;
  readonly #updates: SimRandom;
  readonly #engine: Environment;
  readonly #id: DictionaryId;
  #rows: Map<string, string> = new Map();
  #held: Held[] = [];

  constructor(sim: SimEnv, random: SimRandom, engine: Environment, id: DictionaryId) {
    this.#sim = sim;
    this.#random = random;
    this.#updates = random.fork('updates');
    this.#engine = engine;
    this.#id = id;
  }

  async step(): Promise<void> {
    const dice = this.#random.fraction();
    if (dice < 0.5) await this.#write();
    else if (dice < 0.62) await this.#deleteRange();
    else if (dice < 0.7) this.#hold();
    else if (dice < 0.78) this.#release();
    else if (dice < 0.9) await this.#look();
    else if (dice < 0.92) await this.#engine.checkpoint();
    else await this.#sim.clock.sleep(this.#random.below(400));
  }

  #key(): Uint8Array {
    return encode(String(this.#random.below(keysMax)).padStart(4, '0'));
  }

  async #write(): Promise<void> {
    const transaction = this.#engine.begin('statement');
    for (let left = this.#random.below(30); left >= 0; left--) {
      const key = this.#key();
      const put = this.#random.chance(0.15) ? undefined : new Uint8Array(this.#random.below(60)).fill(this.#random.below(256));
      const update = this.#updates.chance(0.4) ? drawUpdate(this.#updates) : undefined;
      const before = this.#rows.get(hex(key));
      const value = update === undefined ? put : updated(before === undefined ? undefined : Uint8Array.from(Buffer.from(before, 'hex')), update);
      if (update !== undefined) await transaction.update(this.#id, key, update.number, update.argument);
      else if (value === undefined) await transaction.remove(this.#id, key);
      else await transaction.put(this.#id, key, value);
      if (value === undefined) this.#rows.delete(hex(key));
      else this.#rows.set(hex(key), hex(value));
    }
    await transaction.commit();
  }

  async #deleteRange(): Promise<void> {
    const [a, b] = [this.#key(), this.#key()];
    const range = { ...(this.#random.chance(0.8) ? { from: a } : {}), ...(this.#random.chance(0.8) ? { to: b } : {}) };
    const transaction = this.#engine.begin('statement');
    await transaction.deleteRange(this.#id, range, 0, 0);
    const isInside = (key: string): boolean => (range.from === undefined || key >= hex(range.from)) && (range.to === undefined || key < hex(range.to));
    for (const key of [...this.#rows.keys()]) if (isInside(key)) this.#rows.delete(key);
    const late = this.#key();
    if (this.#random.chance(0.5)) {
      await transaction.put(this.#id, late, late);
      this.#rows.set(hex(late), hex(late));
    }
    await transaction.commit();
  }

  #hold(): void {
    if (this.#held.length < 4) this.#held.push({ reader: this.#engine.begin('read'), rows: new Map(this.#rows) });
  }

  #release(): void {
    const [held] = this.#held.splice(this.#random.below(Math.max(1, this.#held.length)), 1);
    held?.reader.abort();
  }

  /** Compares one state with what was true of it. */
  async #look(): Promise<void> {
    this.#hold();
    const held = this.#random.pick(this.#held);
    const rows = [...held.rows].map(([key, value]) => `${key}=${value}`).sort();
    const forward = this.#random.chance(0.5);
    assert.deepEqual(await allRows(held.reader, this.#id, forward ? 1 : -1), forward ? rows : rows.reverse());
    for (let left = 20; left > 0; left--) {
      const key = this.#key();
      const found = await held.reader.get(this.#id, key);
      assert.equal(found === undefined ? undefined : hex(found), held.rows.get(hex(key)), `key ${hex(key)}`);
    }
  }

  async end(): Promise<void> {
    await this.#look();
    while (this.#held.length > 0) this.#release();
    const transaction = this.#engine.begin('statement');
    await transaction.deleteRange(this.#id, {}, 0, 0);
    await transaction.commit();
    await this.#sim.clock.sleep(60_000);
    const { leaves, diskBytes } = this.#engine.dictionaryStatistics(this.#id);
    // What is smaller than a front is not worth a flush: of 4,000 bytes at most, in leaves that are at least half full, and with what stands around rows.
    assert.ok(leaves <= 8 && diskBytes < 4500, `${leaves} leaves and ${diskBytes} bytes of nothing`);
    assert.deepEqual((await this.#engine.verify()).problems, []);
  }
}

/** One history. */
export async function runRanges(open: OpenEnvironment, seed: number, steps: number): Promise<void> {
  const sim = await SimEnv.create({ seed });
  const random = new SimRandom(seed).fork('ranges');
  await sim.run(async () => {
    const engine = await open(sim, '/data', {
      cacheBytes: 1024 * 1024, frontBytes: random.pick([300, 1000, 4000]), bufferBytes: random.pick([300, 1000, 4000]), checkpointPeriodMs: random.pick([20, 100_000]),
      dictionary: { compression: 'none', pageBytes: 1024, readPageBytes: 512, fanout: 4 }, updates: updateTable,
    });
    const first = engine.begin('statement');
    const id = first.createDictionary();
    await first.commit();
    const history = new RangeHistory(sim, random, engine, id);
    for (let i = 0; i < steps; i++) await history.step();
    await history.end();
    await engine.close();
  });
}
