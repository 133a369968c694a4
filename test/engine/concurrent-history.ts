// Clients side by side on the simulated machine: statements that wait for each other's locks, snapshots that conflict, readers that hold a
// state for long, commits that are applied in slices, dictionaries that come and go. What each of them saw is judged afterwards by the one
// order that the seqs give: a state is the commits up to its seq, and nothing else. The ledger also judges what a crash left.

import assert from 'node:assert/strict';
import { EngineError } from '../../src/base/errors.ts';
import type { DictionaryId, EngineOptions, Environment, Transaction } from '../../src/engine/index.ts';
import type { SimEnv } from '../sim/sim-env.ts';
import type { SimRandom } from '../sim/sim-random.ts';
import { allRows, drawUpdate, hex, updated } from './history.ts';
import { State } from './state-at.ts';
import type { Change, Totals } from './state-at.ts';
import { isInside } from './state-at.ts';

/** One commit as it was asked for. */
export interface Commit {
  /** The mark that it leaves, by which it is known after a crash. */
  readonly mark: string;
  readonly changes: readonly Change[];
  /** Unknown until it is acknowledged. */
  seq: number | undefined;
}

/** What somebody saw. */
interface Sight {
  readonly what: string;
  /** State of this seq; of a transaction that locked first: the one just before its own. */
  readonly at: () => number | undefined;
  readonly check: (state: State) => void;
}

const encoder = new TextEncoder();
const allOfIt = { rows: 1000, bytes: 1_000_000 };
const encode = (text: string): Uint8Array => encoder.encode(text);

/** Codes with which a transaction may end here. */
const expected: ReadonlySet<string> = new Set(['write-conflict', 'deadlock', 'locked', 'unknown-dictionary', 'too-large']);

const nothing: ReadonlySet<string> = new Set();

/** Everything that was committed, and seen. */
export class Ledger {
  readonly options: Partial<EngineOptions>;
  readonly commits: Commit[] = [];
  readonly sights: Sight[] = [];
  /** How often which refusal came. */
  readonly refused: Map<string, number> = new Map();
  /** Newest seq that was acknowledged. */
  ackedSeq: number = 0;
  marks: number = 0;
  /** Codes with which the disk may refuse a piece of work at the moment. */
  weather: ReadonlySet<string> = new Set();

  constructor(options: Partial<EngineOptions>) {
    this.options = options;
  }

  /** Notes a refusal that can be; anything else is thrown on. */
  note(error: unknown, codes: ReadonlySet<string>): void {
    if (!(error instanceof EngineError && (codes.has(error.code) || this.weather.has(error.code)))) throw error;
    this.refused.set(error.code, (this.refused.get(error.code) ?? 0) + 1);
  }

  /** Under delayed durability the newest acknowledged commits may go; never in their middle. */
  get isDurable(): boolean {
    return this.options.durability === 'sync';
  }

  /** Commits with a known seq, in order. */
  inOrder(): Commit[] {
    const known = this.commits.filter((commit) => commit.seq !== undefined);
    return known.sort((a, b) => Number(a.seq) - Number(b.seq));
  }

  /** The state after all commits with a seq of at most `seq`. */
  stateAt(seq: number): State {
    const state = new State();
    for (const commit of this.inOrder()) if (Number(commit.seq) <= seq) state.apply(commit.changes);
    return state;
  }

  /** The dictionaries that are there after all commits with a seq, without the catalog. */
  dictionaries(): DictionaryId[] {
    return [...this.stateAt(Infinity).dictionaries()].map((id) => id as DictionaryId).filter((id) => id !== catalog);
  }

  /** Judges everything that was seen. */
  judgeSights(): void {
    const sights = this.sights.map((sight) => ({ ...sight, seq: sight.at() })).filter((sight) => sight.seq !== undefined);
    sights.sort((a, b) => Number(a.seq) - Number(b.seq));
    const state = new State();
    const commits = this.inOrder();
    let done = 0;
    for (const { seq, what, check } of sights) {
      for (; done < commits.length && Number(commits[done]?.seq) <= Number(seq); done++) state.apply((commits[done] as Commit).changes);
      try {
        check(state);
      } catch (cause) {
        throw new Error(`${what}, seq ${String(seq)}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
      }
    }
  }
}

/** Catalog rows that the history writes: marks of commits. */
export const catalog = 1 as DictionaryId;

/** The clients of one environment. */
export class Clients {
  readonly #sim: SimEnv;
  readonly #random: SimRandom;
  readonly #updates: SimRandom;
  readonly #ledger: Ledger;
  readonly #engine: Environment;
  readonly #dictionaries: DictionaryId[];
  readonly #keys: number;
  readonly #large: boolean;

  constructor(sim: SimEnv, random: SimRandom, ledger: Ledger, engine: Environment) {
    this.#sim = sim;
    this.#random = random;
    this.#updates = random.fork('updates');
    this.#ledger = ledger;
    this.#engine = engine;
    this.#keys = random.pick([12, 60, 400]);
    this.#large = (ledger.options.cacheBytes ?? 0) >= 4 * 1024 * 1024;
    // What earlier clients left is gone on with: nothing of it is in memory yet.
    this.#dictionaries = ledger.dictionaries();
  }

  /** So many transactions by a few clients at a time. */
  async run(transactions: number): Promise<void> {
    for (let i = this.#dictionaries.length; i < 2; i++) await this.#create();
    let left = transactions;
    const client = async (): Promise<void> => {
      while (left-- > 0) await this.#one().catch((error: unknown) => this.#ledger.note(error, nothing));
    };
    await Promise.all(Array.from({ length: this.#random.pick([1, 3, 6]) }, client));
    const { cacheBytesUsed } = this.#engine.statistics();
    const { cacheBytes = Infinity } = this.#ledger.options;
    // One path's worth of parts may be pinned beyond it.
    assert.ok(cacheBytesUsed <= cacheBytes * 1.15, `${cacheBytesUsed} bytes of ${cacheBytes}`);
  }

  async #one(): Promise<void> {
    const dice = this.#random.fraction();
    if (dice < 0.45) await this.#write('statement');
    else if (dice < 0.65) await this.#write('snapshot');
    else if (dice < 0.8) await this.#scan();
    else if (dice < 0.84) await this.#count();
    else if (dice < 0.87) await this.#create();
    else if (dice < 0.89) await this.#drop();
    else if (dice < 0.92) await this.#engine.checkpoint();
    else if (dice < 0.94) await this.#many();
    else if (dice < 0.97) await this.#deleteRange(this.#random.pick(['statement', 'snapshot']));
    else await this.#sim.clock.sleep(this.#random.below(30));
  }

  #key(): Uint8Array {
    const number = this.#random.below(this.#keys);
    return encode(number % 5 === 0 ? `k${number}` : `key/${'y'.repeat(number % 4)}/${number}`);
  }

  #value(): Uint8Array {
    const length = this.#random.chance(0.02) ? this.#random.below(this.#large ? 200_000 : 20_000) : this.#random.below(150);
    return new Uint8Array(length).fill(this.#random.below(256));
  }

  #dictionary(): DictionaryId {
    return this.#random.pick(this.#dictionaries);
  }

  /** Builds and commits a transaction; a refusal that can be is counted. */
  async #transact(mode: 'statement' | 'snapshot', build: (transaction: Transaction, changes: Change[], commit: Commit) => Promise<void>): Promise<Commit> {
    const transaction = this.#engine.begin(mode);
    const changes: Change[] = [];
    const mark = String(++this.#ledger.marks).padStart(6, '0');
    const commit: Commit = { mark, changes, seq: undefined };
    try {
      await build(transaction, changes, commit);
      await transaction.putCovered(catalog, encode(mark), encode('.'));
      changes.push({ kind: 'put', dictionary: catalog, key: hex(encode(mark)), value: hex(encode('.')) });
      this.#ledger.commits.push(commit);
      commit.seq = await transaction.commit();
      this.#ledger.ackedSeq = Math.max(this.#ledger.ackedSeq, commit.seq);
    } catch (error) {
      this.#ledger.note(error, expected);
      this.#forget(commit);
      transaction.abort();
    }
    return commit;
  }

  #forget(commit: Commit): void {
    const at = this.#ledger.commits.indexOf(commit);
    if (at >= 0) this.#ledger.commits.splice(at, 1);
  }

  async #write(mode: 'statement' | 'snapshot'): Promise<void> {
    await this.#transact(mode, async (transaction, changes, commit) => {
      const own = new Set<string>();
      for (let left = 1 + this.#random.below(6); left > 0; left--) {
        const id = this.#dictionary();
        const key = this.#key();
        const name = `${id}/${hex(key)}`;
        await transaction.lock(id, key);
        if (this.#random.chance(0.2)) await this.#sim.clock.sleep(this.#random.below(4));
        const before = await (mode === 'statement' ? transaction.getLatest(id, key) : transaction.get(id, key));
        if (!own.has(name)) this.#noteRead({ transaction, commit, id, key, value: before });
        own.add(name);
        await this.#change(transaction, changes, { id, key, before });
      }
    });
  }

  /** A key that was locked first is, at the commit, as it was read: whoever changed it after would have been waited for. */
  #noteRead(read: { transaction: Transaction; commit: Commit; id: DictionaryId; key: Uint8Array; value: Uint8Array | undefined }): void {
    const { transaction, commit, id } = read;
    const key = hex(read.key);
    const value = read.value === undefined ? undefined : hex(read.value);
    // Of a dictionary that was dropped meanwhile nobody wrote, or the commit would have been refused.
    const check = (state: State): void => assert.ok(!state.has(id) || state.get(id, key) === value, `key ${key} of dictionary ${id} was read as ${value}, and is ${state.get(id, key)}`);
    this.#ledger.sights.push({ what: `${transaction.mode} ${commit.mark} reads under its lock`, at: () => (commit.seq === undefined ? undefined : commit.seq - 1), check });
    if (transaction.mode === 'snapshot') this.#ledger.sights.push({ what: `${transaction.mode} ${commit.mark} reads its snapshot`, at: () => transaction.snapshot, check });
  }

  async #change(transaction: Transaction, changes: Change[], of: { id: DictionaryId; key: Uint8Array; before: Uint8Array | undefined }): Promise<void> {
    const { id, key, before } = of;
    const put = this.#random.chance(0.3) ? undefined : this.#value();
    const update = this.#updates.chance(0.3) ? drawUpdate(this.#updates) : undefined;
    const value = update === undefined ? put : updated(before, update);
    const mark = transaction.mark();
    if (update !== undefined) await transaction.update(id, key, update.number, update.argument);
    else if (value === undefined) await transaction.remove(id, key);
    else await transaction.put(id, key, value);
    const rows = (value === undefined ? 0 : 1) - (before === undefined ? 0 : 1);
    const bytes = (value?.length ?? 0) - (before?.length ?? 0);
    transaction.count(id, rows, bytes);
    if (this.#random.chance(0.1)) {
      transaction.rollbackTo(mark);
      return;
    }
    changes.push({ kind: 'count', dictionary: id, rows, bytes });
    changes.push({ kind: 'put', dictionary: id, key: hex(key), value: value === undefined ? undefined : hex(value) });
  }

  /** Totals change and nothing else does. */
  async #count(): Promise<void> {
    const id = this.#dictionary();
    const bytes = this.#random.pick([5, -5]);
    await this.#transact('statement', async (transaction, changes) => {
      await transaction.lock(id, encode('totals'));
      transaction.count(id, 0, bytes);
      changes.push({ kind: 'count', dictionary: id, rows: 0, bytes });
    });
  }

  /** Removes a range: a statement under its lock, what is there then; a snapshot what it sees, with some writes of its own before and after. */
  async #deleteRange(mode: 'statement' | 'snapshot'): Promise<void> {
    const id = this.#dictionary();
    const range = { ...(this.#random.chance(0.6) ? { from: this.#key() } : {}), ...(this.#random.chance(0.6) ? { to: this.#key() } : {}) };
    const bounds = { from: range.from === undefined ? undefined : hex(range.from), to: range.to === undefined ? undefined : hex(range.to) };
    await this.#transact(mode, async (transaction, changes, commit) => {
      if (mode === 'statement') await transaction.lockRange(id, range);
      else if (this.#random.chance(0.5)) await this.#putOne(transaction, changes, id);
      if (this.#random.chance(0.3)) await this.#sim.clock.sleep(this.#random.below(20));
      const reader = mode === 'statement' ? this.#engine.begin('read') : transaction;
      const keys: string[] = [];
      let bytes = 0;
      try {
        const cursor = reader.cursor(id, range, 1);
        for (let batch = await cursor.nextBatch(allOfIt); batch.length > 0; batch = await cursor.nextBatch(allOfIt)) {
          for (let i = 0; i < batch.length; i++) {
            keys.push(hex(batch.key(i)));
            bytes += batch.value(i).length;
          }
        }
      } finally {
        if (reader !== transaction) reader.abort();
      }
      await transaction.deleteRange(id, range, keys.length, bytes);
      // What a snapshot does not see it leaves alone; under its lock a statement sees all there is.
      if (mode === 'statement') changes.push({ kind: 'range', dictionary: id, ...bounds });
      else for (const key of keys) changes.push({ kind: 'put', dictionary: id, key, value: undefined });
      changes.push({ kind: 'count', dictionary: id, rows: -keys.length, bytes: -bytes });
      const check = (state: State): void => {
        const there = state.rows(id).map((row) => row.slice(0, row.indexOf('='))).filter((key) => isInside(key, bounds));
        assert.ok(!state.has(id) || mode === 'snapshot' || keys.join() === there.join(), `a range that is deleted holds ${there.join()}, and ${keys.join()} were seen`);
      };
      this.#ledger.sights.push({ what: `${mode} ${commit.mark} deletes a range`, at: () => (commit.seq === undefined ? undefined : commit.seq - 1), check });
      if (this.#random.chance(0.5)) await this.#putOne(transaction, changes, id);
    });
  }

  async #putOne(transaction: Transaction, changes: Change[], id: DictionaryId): Promise<void> {
    const key = this.#key();
    await transaction.lock(id, key);
    const before = await (transaction.mode === 'statement' ? transaction.getLatest(id, key) : transaction.get(id, key));
    await this.#change(transaction, changes, { id, key, before });
  }

  /** More than is applied in one slice; keys of its own. */
  async #many(): Promise<void> {
    if (!this.#large) return;
    const id = this.#dictionary();
    const byte = this.#random.below(256);
    await this.#transact('statement', async (transaction, changes) => {
      await transaction.lock(id, encode('many'));
      for (let i = 0; i < 4500; i++) {
        const key = encode(`m${String(i)}`);
        const value = Uint8Array.of(byte, i);
        await transaction.putCovered(id, key, value);
        changes.push({ kind: 'put', dictionary: id, key: hex(key), value: hex(value) });
      }
    });
  }

  async #create(): Promise<void> {
    if (this.#dictionaries.length > 6) return;
    const { seq, changes } = await this.#transact('statement', async (transaction, list) => {
      list.push({ kind: 'create', dictionary: transaction.createDictionary() });
      return Promise.resolve();
    });
    const [created] = changes;
    if (seq !== undefined && created?.kind === 'create') this.#dictionaries.push(created.dictionary);
  }

  async #drop(): Promise<void> {
    if (this.#dictionaries.length < 3) return;
    const [id] = this.#dictionaries.splice(this.#random.below(this.#dictionaries.length), 1);
    if (id === undefined) return;
    await this.#transact('statement', async (transaction, changes) => {
      transaction.dropDictionary(id);
      changes.push({ kind: 'drop', dictionary: id });
      return Promise.resolve();
    });
  }

  /** Reads a range at a snapshot, batch by batch, with time between; then its totals. */
  async #scan(): Promise<void> {
    const id = this.#dictionary();
    const transaction = this.#engine.begin(this.#random.pick(['read', 'snapshot']));
    const shared = this.#random.chance(0.3) ? this.#engine.begin('read', transaction) : undefined;
    const { snapshot } = transaction;
    try {
      const forward = this.#random.chance(0.5);
      const range = { ...(this.#random.chance(0.3) ? { from: this.#key() } : {}), ...(this.#random.chance(0.3) ? { to: this.#key() } : {}) };
      const reader = shared ?? transaction;
      if (shared !== undefined) transaction.abort();
      const cursor = reader.cursor(id, range, forward ? 1 : -1);
      const rows: string[] = [];
      for (;;) {
        const batch = await cursor.nextBatch({ rows: 1 + this.#random.below(40), bytes: 50_000 });
        if (batch.length === 0) break;
        for (let i = 0; i < batch.length; i++) rows.push(`${hex(batch.key(i))}=${hex(batch.value(i))}`);
        if (this.#random.chance(0.3)) await this.#sim.clock.sleep(this.#random.below(60));
      }
      const totals: Totals = { ...reader.totals(id) };
      const [from, to] = [range.from, range.to].map((key) => (key === undefined ? undefined : hex(key)));
      const check = (state: State): void => {
        const inside = state.rows(id).filter((row) => (from === undefined || row.slice(0, row.indexOf('=')) >= from) && (to === undefined || row.slice(0, row.indexOf('=')) < to));
        assert.deepEqual(rows, forward ? inside : inside.reverse());
        assert.deepEqual(totals, state.totals(id));
      };
      this.#ledger.sights.push({ what: `a scan of dictionary ${id}`, at: () => snapshot, check });
    } catch (error) {
      if (!(error instanceof EngineError && error.code === 'unknown-dictionary')) throw error;
    } finally {
      transaction.abort();
      shared?.abort();
    }
  }
}

/** The environment holds exactly this state. */
export async function assertState(engine: Environment, state: State): Promise<void> {
  const read = engine.begin('read');
  for (const id of state.dictionaries()) {
    const key = id as DictionaryId;
    assert.deepEqual(await allRows(read, key, 1), state.rows(id), `dictionary ${id}`);
    assert.deepEqual({ ...read.totals(key) }, state.totals(id), `totals of dictionary ${id}`);
  }
  for (const id of state.dropped()) assert.throws(() => read.cursor(id as DictionaryId, {}, 1), { code: 'unknown-dictionary' }, `dictionary ${id} was dropped`);
  read.abort();
}
