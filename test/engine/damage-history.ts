// A directory is filled and closed; one of its blocks is damaged; then it is opened again and goes on: writes, reads, checkpoints, idle time, another
// start, a salvage, a drop. Damage costs the keys that are named and nothing else: nothing ends, what is written from then on is there, other dictionaries
// are whole, and `verify` names the place.

import assert from 'node:assert/strict';
import { compareBytes } from '../../src/base/bytes.ts';
import { EngineError } from '../../src/base/errors.ts';
import type { EngineErrorPlace } from '../../src/base/errors.ts';
import { readDirectory } from '../../src/engine/index.ts';
import type { Damage, DictionaryId, EngineOptions, Environment, Transaction } from '../../src/engine/index.ts';
import { FoundStore } from '../../src/engine/salvage/found-store.ts';
import { blockKinds } from '../../src/engine/block/block-table.ts';
import { unitBytes } from '../../src/engine/block/block-number.ts';
import { SimEnv } from '../sim/sim-env.ts';
import { SimRandom } from '../sim/sim-random.ts';
import { updateTable } from '../support/update-functions.ts';
import { drawUpdate, hex, updated } from './history.ts';
import type { OpenEnvironment } from './history.ts';
import { encode } from './scenario-engine.ts';

const dataFile = '/data/data.frond';
const keyCount = 900;

function optionsFor(random: SimRandom): Partial<EngineOptions> {
  return {
    updates: updateTable, cacheBytes: 2 * 1024 * 1024, frontBytes: random.pick([600, 3000, 12_000]), bufferBytes: random.pick([1000, 5000]), logSegmentBytes: 131_072,
    checkpointPeriodMs: random.pick([20, 500, 1e9]),
    dictionary: { compression: random.pick(['none', 'lz4', 'zlib'] as const), pageBytes: random.pick([2048, 8192]), readPageBytes: random.pick([512, 1024]), fanout: random.pick([4, 8]) },
  };
}

/** What is known of the rows of one dictionary. */
interface Known {
  readonly rows: Map<string, Uint8Array>;
  /** Keys that were written since the damage: these are there. */
  readonly since: Set<string>;
}

/** How a run went. */
export interface DamageTally {
  /** Reads that damage has refused. */
  readonly refused: number;
}

/** One run. */
class DamagedLife {
  refused = 0;
  readonly #open: OpenEnvironment;
  readonly #sim: SimEnv;
  readonly #random: SimRandom;
  readonly #options: Partial<EngineOptions>;
  readonly #known = new Map<DictionaryId, Known>();
  /** Dictionaries in which damage was met. */
  readonly #hurt = new Set<DictionaryId>();
  #engine: Environment | undefined;
  #isDamaged = false;

  constructor(open: OpenEnvironment, sim: SimEnv, seed: number) {
    this.#open = open;
    this.#sim = sim;
    this.#random = new SimRandom(seed).fork('damage');
    this.#options = optionsFor(this.#random);
  }

  get #opened(): Environment {
    assert.ok(this.#engine !== undefined);
    return this.#engine;
  }

  async run(): Promise<void> {
    await this.#fill();
    await this.#damage();
    this.#isDamaged = true;
    for (let life = 0; life < 2; life++) {
      await this.#start();
      await this.#goOn(12);
      await this.#stop();
    }
    await this.#salvage();
    await this.#start();
    await this.#drop();
    await this.#stop();
  }

  async #start(): Promise<void> {
    this.#engine = await this.#open(this.#sim, '/data', this.#options);
  }

  async #stop(): Promise<void> {
    assert.equal(await Promise.race([this.#opened.fatal, this.#sim.clock.sleep(1).then(() => undefined)]), undefined, 'damage ends nothing');
    await this.#opened.close();
  }

  async #fill(): Promise<void> {
    await this.#start();
    const first = this.#opened.begin('statement');
    for (const id of [this.#opened.catalogDictionary, first.createDictionary(), first.createDictionary()]) this.#known.set(id, { rows: new Map(), since: new Set() });
    await first.commit();
    for (let batch = 0; batch < 40; batch++) await this.#write(60);
    if (this.#random.chance(0.5)) await this.#sim.clock.sleep(3000);
    await this.#stop();
  }

  /** A commit of puts and removes. */
  async #write(operations: number): Promise<void> {
    const transaction = this.#opened.begin('statement');
    const id = this.#random.pick([...this.#known.keys()]);
    const known = this.#known.get(id) as Known;
    if (this.#random.chance(0.1)) await this.#deleteRange(transaction, id, known);
    for (let i = 0; i < operations; i++) {
      const key = this.#key();
      if (this.#random.chance(0.15)) {
        const update = drawUpdate(this.#random);
        await transaction.update(id, encode(key), update.number, update.argument);
        const value = updated(known.rows.get(key), update);
        if (value === undefined) known.rows.delete(key);
        else known.rows.set(key, value);
        continue;
      }
      if (this.#isDamaged) known.since.add(key);
      if (this.#random.chance(0.15)) {
        await transaction.remove(id, encode(key));
        known.rows.delete(key);
      } else {
        const value = `${String(this.#random.below(1e6))} ${'v'.repeat(this.#random.below(100))}`;
        await transaction.put(id, encode(key), encode(value));
        known.rows.set(key, encode(value));
      }
    }
    await transaction.commit();
  }

  async #deleteRange(transaction: Transaction, id: DictionaryId, { rows, since }: Known): Promise<void> {
    const [from, to] = [this.#key(), this.#key()].sort() as [string, string];
    await transaction.deleteRange(id, { from: encode(from), to: encode(to) }, 0, 0);
    for (const key of [...rows.keys()]) if (from <= key && key < to) rows.delete(key);
    for (let i = 0; this.#isDamaged && i < keyCount; i++) if (from <= keyOf(i) && keyOf(i) < to) since.add(keyOf(i));
  }

  #key(): string {
    return keyOf(this.#random.below(keyCount));
  }

  /** Flips a bit of a data block, or of both copies of a node. */
  async #damage(): Promise<void> {
    const store = await FoundStore.open(this.#sim, dataFile, ({ message }) => assert.fail(message));
    const nodes = new Set<number>(store.trees.map(({ root }) => root));
    const places = [...store.places.values()].filter(({ kind, number }) => kind === blockKinds.data || (number !== store.superblock.root?.dictionaryTable && (nodes.has(number) || this.#random.chance(0.2))));
    await store.close();
    const place = this.#random.pick(places);
    const at = this.#random.below(place.length);
    const units = place.kind === blockKinds.meta ? [place.first, place.second] : [place.first];
    for (const unit of units) this.#sim.files.corrupt(dataFile, unit * unitBytes + at, 1 << this.#random.below(8));
  }

  async #goOn(rounds: number): Promise<void> {
    for (let round = 0; round < rounds; round++) {
      await this.#write(20 + this.#random.below(60));
      await this.#readSome();
      if (this.#random.chance(0.2)) await this.#opened.checkpoint();
      if (this.#random.chance(0.2)) await this.#sim.clock.sleep(2500);
    }
    const met = await this.#scanAll();
    const { problems } = await this.#opened.verify();
    for (const id of met) {
      const own = problems.filter(({ dictionary }) => dictionary === id);
      assert.ok(own.some(({ file, offset }) => file === dataFile && offset !== undefined), `verify names the damage: ${JSON.stringify(problems)}`);
    }
    for (const { dictionary, message } of problems) if (dictionary !== undefined) this.#mayBeHurt(dictionary as DictionaryId, message);
  }

  /** Damage is in one dictionary. */
  #mayBeHurt(id: DictionaryId, message: string): void {
    this.#hurt.add(id);
    assert.equal(this.#hurt.size, 1, `one block was damaged, and two dictionaries are: ${message}`);
  }

  async #readSome(): Promise<void> {
    const read = this.#opened.begin('read');
    for (const [id, known] of this.#known) {
      for (let i = 0; i < 20; i++) {
        const key = this.#key();
        try {
          const value = await read.get(id, encode(key));
          assert.deepEqual(value === undefined ? undefined : hex(value), hexOf(known.rows.get(key)));
        } catch (error) {
          this.#excuse(id, encode(key), error);
          assert.ok(!known.since.has(key), `${key} was written after the damage: ${String(error)}`);
        }
      }
    }
    read.abort();
  }

  /** Whether an error is damage of that key, in words and place. */
  #excuse(id: DictionaryId, key: Uint8Array, error: unknown): void {
    if (!(error instanceof EngineError)) throw error;
    assert.equal(error.code, 'corruption');
    this.refused += 1;
    this.#mayBeHurt(id, error.message);
    const { file, offset, dictionary } = error.place;
    assert.deepEqual([file, dictionary], [dataFile, id]);
    assert.ok(offset !== undefined && covers(error.place, key), `the key is in the range that is named: ${error.message}`);
  }

  /** Scans; behind damage each scan goes on. Gives the dictionaries in which it met damage. */
  async #scanAll(): Promise<ReadonlySet<DictionaryId>> {
    const met = new Set<DictionaryId>();
    const read = this.#opened.begin('read');
    for (const [id, known] of this.#known) {
      const found = new Map<string, string>(); // values in hex
      const lost: EngineErrorPlace[] = [];
      let from: Uint8Array | undefined;
      for (let left = 100; left > 0; left--) {
        const cursor = read.cursor(id, from === undefined ? {} : { from }, 1);
        const failure = await this.#readOn(cursor, found).then(() => undefined, (error: unknown) => error);
        if (failure === undefined) break;
        assert.ok(failure instanceof EngineError && failure.code === 'corruption', 'a scan fails with damage only');
        this.#mayBeHurt(id, failure.message);
        met.add(id);
        this.refused += 1;
        lost.push(failure.place);
        const { fromKey, toKey } = failure.place;
        // The batch that met it had rows before it.
        if (fromKey !== undefined) await this.#readOn(read.cursor(id, { ...(from === undefined ? {} : { from }), to: fromKey }, 1), found);
        if (toKey === undefined) break;
        from = Uint8Array.of(...toKey, 0);
        if (left === 1) assert.fail('a scan that starts behind the damage meets it again and again');
      }
      for (const [key, value] of known.rows) {
        if (found.get(key) !== hex(value)) assert.ok(found.get(key) === undefined && lost.some((place) => place.toKey === undefined || covers(place, encode(key))), `${key} is missing or wrong: ${JSON.stringify(lost.map((place) => [place.file, place.offset, place.fromKey, place.toKey].map((each) => (each instanceof Uint8Array ? new TextDecoder().decode(each) : each))))}`);
      }
      for (const key of found.keys()) assert.ok(known.rows.has(key), `${key} was removed`);
    }
    read.abort();
    return met;
  }

  async #readOn(cursor: ReturnType<ReturnType<Environment['begin']>['cursor']>, found: Map<string, string>): Promise<void> {
    const decoder = new TextDecoder();
    for (;;) {
      const batch = await cursor.nextBatch({ rows: 7, bytes: 10_000 });
      if (batch.length === 0) return;
      for (let i = 0; i < batch.length; i++) found.set(decoder.decode(batch.key(i)), hex(batch.value(i)));
    }
  }

  /** What salvage reads: everything but what it names. */
  async #salvage(): Promise<void> {
    const damages: Damage[] = [];
    const reader = await readDirectory(this.#sim, '/data', (damage) => damages.push(damage), updateTable.functions);
    const decoder = new TextDecoder();
    for (const [id, { rows }] of this.#known) {
      const found = new Map<string, string>(); // values in hex
      for await (const some of reader.rows(id)) for (const { key, value } of some) found.set(decoder.decode(key), hex(value));
      for (const [key, value] of rows) {
        if (found.get(key) === hex(value)) continue;
        assert.ok(damages.some((damage) => damage.dictionary === id && covers(damage, encode(key))), `salvage lost ${key} and does not say so`);
      }
    }
    await reader.close();
  }

  /** The dictionary that is hurt is dropped; then nothing is wrong any more. */
  async #drop(): Promise<void> {
    for (const id of this.#hurt) {
      if (id === this.#opened.catalogDictionary) return;
      const transaction = this.#opened.begin('statement');
      transaction.dropDictionary(id);
      await transaction.commit();
    }
    await this.#sim.clock.sleep(5000);
    await this.#opened.checkpoint();
    assert.deepEqual((await this.#opened.verify()).problems, []);
  }
}

const keyOf = (number: number): string => `key ${String(number).padStart(5, '0')}`;
const hexOf = (value: Uint8Array | undefined): string | undefined => (value === undefined ? undefined : hex(value));

function covers({ fromKey, toKey }: Pick<EngineErrorPlace, 'fromKey' | 'toKey'>, key: Uint8Array): boolean {
  return (fromKey === undefined || compareBytes(fromKey, key) <= 0) && (toKey === undefined || compareBytes(key, toKey) <= 0);
}

/** Runs one seed. */
export async function runDamage(open: OpenEnvironment, seed: number): Promise<DamageTally> {
  const sim = await SimEnv.create({ seed, ...(seed % 3 === 0 ? { worker: { sentBytesMin: 0, dies: false } } : {}) });
  const life = new DamagedLife(open, sim, seed);
  await sim.run(() => life.run());
  return { refused: life.refused };
}
