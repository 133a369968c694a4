// A short script over every path that writes: commits alone and side by side, flushes, pushes, splits, checkpoints, a dropped dictionary,
// closing and opening again. It is run with a fault at its n-th I/O, for every n. Each commit leaves a mark, so that after a failure it is
// known which of the commits of unknown fate are there; each must be there whole or not at all, and every acknowledged one must be there.

import assert from 'node:assert/strict';
import { EngineError } from '../../src/base/errors.ts';
import type { DictionaryId, EngineOptions, Environment, Transaction } from '../../src/engine/index.ts';
import type { Env } from '../../src/env/index.ts';
import { SimEnv } from '../sim/sim-env.ts';
import type { Operation } from '../sim/sim-faults.ts';
import { allRows, hex } from './history.ts';
import type { OpenEnvironment } from './history.ts';

const scriptOptions: Partial<EngineOptions> = {
  cacheBytes: 1024 * 1024, frontBytes: 900, bufferBytes: 1200, logBytes: 1, logSegmentBytes: 131_072, checkpointPeriodMs: 150,
  dictionary: { compression: 'lz4', pageBytes: 1024, readPageBytes: 512, fanout: 4 },
};

/** One commit as the script made it. Dictionaries are told apart by names of the script's own. */
interface ScriptCommit {
  readonly mark: number;
  /** Nothing but deletes: what is known of it is the answer alone. */
  readonly isUnmarked: boolean;
  readonly writes: readonly { readonly dictionary: string; readonly key: string; readonly value: string | undefined }[];
  readonly range: { readonly dictionary: string; readonly from: string | undefined; readonly to: string | undefined } | undefined;
  readonly creates: string | undefined;
  readonly drops: string | undefined;
  fate: 'open' | 'acknowledged' | 'refused' | 'unknown';
}

type Writes = ScriptCommit['writes'];

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Codes with which a commit says that nothing of it is there. */
const refusals: ReadonlySet<string> = new Set(['no-space', 'closed']);

/** What was asked for, what was answered, and the judge of what is found later. */
class Script {
  readonly #open: OpenEnvironment;
  /** Whether nothing may be acknowledged any more by what is open. */
  isBroken: () => boolean = () => false;
  openedAtMs: number = 0;
  readonly #commits: ScriptCommit[] = [];
  readonly #ids = new Map<string, DictionaryId>();
  /** Codes of errors that steps ended with. */
  readonly codes: Set<string> = new Set();
  #engine: Environment | undefined;

  constructor(open: OpenEnvironment) {
    this.#open = open;
  }

  get engine(): Environment | undefined {
    return this.#engine;
  }

  /** Opens the environment; false when a fault did not let it. */
  async open(env: Env): Promise<boolean> {
    const opened = await this.#attempt(async () => {
      this.#engine = await this.#open(env, '/data', scriptOptions);
      this.openedAtMs = env.clock.monotonicMs();
    });
    return opened;
  }

  /** The whole script. What fails is noted and the script goes on, as clients do. `closing` is called before the environment is closed. */
  async run(env: Env, closing: (engine: Environment) => Promise<void> = async () => undefined): Promise<void> {
    if (!(await this.open(env))) return;
    await this.#commit({ creates: 'a' });
    await this.#commit({ creates: 'b' });
    for (let round = 0; round < 5; round++) await this.#round(env, round);
    await this.#attempt(() => this.#engine?.checkpoint());
    await this.#commit({ range: { dictionary: 'b', from: '1', to: '2/2' } });
    await env.clock.sleep(8);
    await this.#commit({ range: { dictionary: 'a', from: undefined, to: undefined }, writes: this.puts(7, 0) });
    await this.#commit({ drops: 'b' });
    await this.#commit({ writes: [...Array(30).keys()].map((i) => ({ dictionary: 'a', key: `0/${i}`, value: undefined })) });
    for (let i = 0; i < 2; i++) await this.#commit({ writes: [{ dictionary: 'a', key: `large ${i}`, value: 'large'.repeat(4000 + i) }] });
    await Promise.all([...Array(5).keys()].map((i) => this.#commit({ writes: [{ dictionary: 'a', key: `at once ${i}`, value: 'large'.repeat(3000 + i) }] })));
    await env.clock.sleep(60);
    if (this.#engine !== undefined) await closing(this.#engine);
    await this.close();
    if (!(await this.open(env))) return;
    await this.#commit({ writes: [{ dictionary: 'a', key: 'late', value: 'x'.repeat(6000) }] });
    await this.close();
  }

  async #round(env: Env, round: number): Promise<void> {
    await Promise.all([0, 1, 2].map((writer) => this.#commit({ writes: this.puts(round, writer) })));
    await this.#commit({ writes: [{ dictionary: 'a', key: `1/${round}`, value: undefined }, { dictionary: 'b', key: `1/${round}`, value: undefined }] });
    await this.#read(`0/${round}`);
    await env.clock.sleep(8);
  }

  puts(round: number, writer: number): Writes {
    return [...Array(9).keys()].map((i) => ({ dictionary: i % 3 === 0 ? 'b' : 'a', key: `${writer}/${(i * 7 + round * 5) % 40}`, value: `${round}.${writer}.${i}`.padEnd(20 + i * 12, '-') }));
  }

  async #read(key: string): Promise<void> {
    await this.#attempt(async () => {
      const read = this.#engine?.begin('read');
      if (read === undefined) return;
      try {
        const id = this.#ids.get('a');
        if (id !== undefined) await read.get(id, encode(key));
      } finally {
        read.abort();
      }
    });
  }

  /** Makes one transaction of it; what comes of it is noted. */
  async commit(writes: Writes, isUnmarked: boolean = false): Promise<ScriptCommit> {
    return this.#commit({ writes, isUnmarked });
  }

  async #commit(given: Partial<Pick<ScriptCommit, 'writes' | 'range' | 'creates' | 'drops' | 'isUnmarked'>>): Promise<ScriptCommit> {
    const commit: ScriptCommit = { mark: this.#commits.length, isUnmarked: given.isUnmarked ?? false, writes: given.writes ?? [], range: given.range, creates: given.creates, drops: given.drops, fate: 'open' };
    this.#commits.push(commit);
    let transaction: Transaction | undefined;
    const built = await this.#attempt(async () => {
      transaction = this.#engine?.begin('statement');
      if (transaction !== undefined) await this.#build(transaction, commit);
    });
    if (!built || transaction === undefined) {
      transaction?.abort();
      this.#refused(commit);
      return commit;
    }
    const isBroken = this.isBroken();
    try {
      await transaction.commit();
      assert.ok(!isBroken, 'a commit that began after a failed write or sync was acknowledged');
      commit.fate = 'acknowledged';
    } catch (error) {
      if (refusals.has(this.#note(error))) this.#refused(commit);
      else commit.fate = 'unknown';
    }
    return commit;
  }

  #refused(commit: ScriptCommit): void {
    commit.fate = 'refused';
    if (commit.creates !== undefined) this.#ids.delete(commit.creates);
  }

  async #build(transaction: Transaction, commit: ScriptCommit): Promise<void> {
    const catalog = 1 as DictionaryId;
    if (!commit.isUnmarked) await transaction.put(catalog, encode(`mark/${commit.mark}`), encode('.'));
    if (commit.creates !== undefined) this.#ids.set(commit.creates, transaction.createDictionary());
    const dropped = commit.drops === undefined ? undefined : this.#ids.get(commit.drops);
    if (dropped !== undefined) transaction.dropDictionary(dropped);
    const { range } = commit;
    const ranged = range === undefined ? undefined : this.#ids.get(range.dictionary);
    if (range !== undefined && ranged !== undefined) {
      const bounds = { ...(range.from === undefined ? {} : { from: encode(range.from) }), ...(range.to === undefined ? {} : { to: encode(range.to) }) };
      await transaction.deleteRange(ranged, bounds, 0, 0);
    }
    for (const { dictionary, key, value } of commit.writes) {
      const id = this.#ids.get(dictionary);
      if (id === undefined) continue;
      if (value === undefined) await transaction.remove(id, encode(key));
      else await transaction.put(id, encode(key), encode(value));
    }
  }

  async close(): Promise<void> {
    const engine = this.#engine;
    this.#engine = undefined;
    await this.#attempt(() => engine?.close());
  }

  async #attempt(act: () => unknown): Promise<boolean> {
    try {
      await act();
      return true;
    } catch (error) {
      this.#note(error);
      return false;
    }
  }

  #note(error: unknown): string {
    if (!(error instanceof EngineError)) throw error;
    this.codes.add(error.code);
    return error.code;
  }

  /** Opens what is there, after the fault is gone, and judges it; leaves it closed. */
  async judge(env: Env): Promise<void> {
    const engine = await this.#open(env, '/data', scriptOptions);
    // A write that failed may have torn the one copy of a superblock that it went to; the next checkpoint writes it again.
    assert.deepEqual((await engine.verify()).problems.filter(({ message }) => message !== 'a copy of a superblock is damaged'), []);
    await engine.checkpoint();
    assert.deepEqual((await engine.verify()).problems, []);
    const read = engine.begin('read');
    const marks = new Set((await allRows(read, engine.catalogDictionary, 1)).map((row) => row.split('=')[0]));
    const there = (commit: ScriptCommit): boolean => (commit.isUnmarked ? commit.fate === 'acknowledged' : marks.has(hex(encode(`mark/${commit.mark}`))));
    for (const commit of this.#commits) {
      if (commit.fate === 'acknowledged') assert.ok(there(commit), `commit ${commit.mark} was acknowledged and is gone`);
      if (commit.fate === 'refused') assert.ok(!there(commit), `commit ${commit.mark} was refused and is there`);
    }
    const contents = contentsAfter(this.#commits.filter(there));
    for (const [name, rows] of contents) {
      const id = this.#ids.get(name) as DictionaryId;
      assert.deepEqual(await allRows(read, id, 1), [...rows].sort(([x], [y]) => (x < y ? -1 : 1)).map(([key, value]) => `${hex(encode(key))}=${hex(encode(value))}`), `dictionary ${name}`);
    }
    for (const [name, id] of this.#ids) {
      if (!contents.has(name)) assert.throws(() => read.cursor(id, {}, 1), { code: 'unknown-dictionary' }, `dictionary ${name} is not there`);
    }
    read.abort();
    await engine.close();
  }
}

/** Contents of every dictionary after these commits, which are in order; those of one round have keys of their own. */
function contentsAfter(commits: readonly ScriptCommit[]): Map<string, Map<string, string>> {
  const contents = new Map<string, Map<string, string>>();
  for (const { creates, drops, writes, range } of commits) {
    if (creates !== undefined) contents.set(creates, new Map());
    if (range !== undefined) removeRange(contents.get(range.dictionary) ?? new Map<string, string>(), range);
    for (const { dictionary, key, value } of writes) {
      if (value === undefined) contents.get(dictionary)?.delete(key);
      else contents.get(dictionary)?.set(key, value);
    }
    if (drops !== undefined) contents.delete(drops);
  }
  return contents;
}

function removeRange(rows: Map<string, string>, { from = '', to = '~' }: NonNullable<ScriptCommit['range']>): void {
  for (const key of [...rows.keys()]) if (from <= key && key < to) rows.delete(key);
}

/** How one run went. */
export interface Tally {
  /** Faults that came to pass; 0: the script ended before. */
  readonly failures: number;
}

/** Operations whose failure leaves the disk in doubt. */
const writing: readonly Operation[] = ['create', 'write', 'sync', 'truncate', 'rename', 'remove', 'makeDirectory', 'syncDirectory'];

/** The n-th operation that changes the disk fails with `io`. What was open by then must end, at once and for good. */
export async function failWrites(open: OpenEnvironment, n: number, lasting: boolean): Promise<Tally> {
  const sim = await SimEnv.create({ seed: n });
  const script = new Script(open);
  sim.files.faults.failAt({ at: n, code: 'io', lasting, kinds: writing });
  script.isBroken = () => sim.clock.time > sim.files.faults.failedAtMs && sim.files.faults.failedAtMs >= script.openedAtMs;
  await sim.run(async () => {
    await script.run(sim, async (engine) => {
      if (sim.files.faults.failures === 0) return;
      await sim.clock.sleep(1000);
      await assertPoisoned(sim, script, engine);
    });
  });
  sim.files.faults.heal();
  script.isBroken = () => false;
  await judgeHere(sim, script, n);
  return { failures: sim.files.faults.failures };
}

/** Every later commit is refused with `poisoned`, and `fatal` has resolved. */
async function assertPoisoned(sim: SimEnv, script: Script, engine: Environment): Promise<void> {
  const fatal = await Promise.race([engine.fatal, sim.clock.sleep(1000).then(() => undefined)]);
  assert.ok(fatal instanceof EngineError && fatal.code === 'poisoned', `fatal is ${String(fatal)}`);
  const before = new Set(script.codes);
  script.codes.clear();
  const commit = await script.commit([]);
  assert.notEqual(commit.fate, 'acknowledged');
  assert.deepEqual([...script.codes], ['poisoned']);
  for (const code of before) script.codes.add(code);
}

/** The n-th read fails. */
export async function failReads(open: OpenEnvironment, n: number, lasting: boolean): Promise<Tally> {
  const sim = await SimEnv.create({ seed: n });
  const script = new Script(open);
  sim.files.faults.failAt({ at: n, code: 'io', lasting, kinds: ['read', 'open'] });
  await sim.run(() => script.run(sim));
  sim.files.faults.heal();
  await judgeHere(sim, script, n);
  return { failures: sim.files.faults.failures };
}

/** One write says that there is no space, wherever it goes: where space was had before, that may poison. */
export async function failOnce(open: OpenEnvironment, n: number): Promise<Tally> {
  const sim = await SimEnv.create({ seed: n });
  const script = new Script(open);
  sim.files.faults.failAt({ at: n, code: 'no-space', lasting: false });
  await sim.run(() => script.run(sim));
  sim.files.faults.heal();
  await judgeHere(sim, script, n);
  return { failures: sim.files.faults.failures };
}

/** The disk has no free byte from the n-th I/O on, for so many operations; without an end, until the script is over and more. */
export async function fillDisk(open: OpenEnvironment, n: number, operations: number): Promise<Tally> {
  const sim = await SimEnv.create({ seed: n });
  const script = new Script(open);
  let [count, failures] = [0, 0];
  sim.files.onOperation = () => {
    count += 1;
    if (count === n) {
      sim.files.setCapacity(0);
      failures += 1;
    }
    if (count === n + operations) sim.files.setCapacity(roomy);
  };
  await sim.run(async () => {
    await script.run(sim, async (engine) => {
      if (failures > 0) await assertGoesOn(sim, script, engine);
    });
  });
  assert.ok(!script.codes.has('poisoned'), 'a full disk does not poison');
  sim.files.setCapacity(roomy);
  await judgeHere(sim, script, n);
  return { failures };
}

const roomy = 2 ** 30;

/** Deletes get through while the disk is full; once it is not, everything does. */
async function assertGoesOn(sim: SimEnv, script: Script, engine: Environment): Promise<void> {
  for (let i = 0; i < 8; i++) {
    const commit = await script.commit([{ dictionary: 'a', key: `2/${i % 40}`, value: undefined }], i > 2);
    assert.equal(commit.fate, 'acknowledged', `a delete on a full disk: ${[...script.codes].join()}`);
  }
  sim.files.setCapacity(roomy);
  await sim.clock.sleep(2000);
  const commit = await script.commit(script.puts(9, 2).filter(({ dictionary }) => dictionary === 'a'));
  assert.equal(commit.fate, 'acknowledged', 'a commit when there is space again');
  await engine.checkpoint();
  const fatal = await Promise.race([engine.fatal, sim.clock.sleep(10).then(() => undefined)]);
  assert.equal(fatal, undefined);
}

/** Judges what is there: on the same machine, or after a power failure. */
async function judgeHere(sim: SimEnv, script: Script, n: number): Promise<void> {
  const next = n % 2 === 0 ? sim.crash('power') : sim;
  next.files.onOperation = undefined;
  await next.run(() => script.judge(next));
}
