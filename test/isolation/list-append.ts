// Concurrent transactions over lists, with the server killed under them: what they saw is judged by snapshot-isolation.ts. Each session runs
// transactions of one to four steps (append to a list, read a list, both by one findAndModify), and single finds of two lists at once. Lists are few and
// soon full, so that transactions meet.
//   node dist/test/isolation/list-append.js [seconds] [seed] [kills: yes|no]

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Binary, BsonArray, Document, toExtendedJson, type Value } from '../../src/bson/index.ts';
import { ServerProcess } from '../crash/server-process.ts';
import { SimRandom } from '../sim/sim-random.ts';
import { WireClient } from '../support/wire-client.ts';
import type { Observed, Step } from './observed.ts';
import { faultsOf } from './snapshot-isolation.ts';

const SESSIONS = 8;
const LISTS_AT_ONCE = 5;
const LIST_LENGTH = 40;
const WriteConflict = 112;
const NoSuchTransaction = 251;

/** The connection broke: what was asked for last may have happened or not. */
class Broken extends Error {
  override readonly name: string = 'Broken';
}

/** What a run came to. */
export interface ListAppendResult {
  readonly committed: number;
  readonly aborted: number;
  readonly unknown: number;
  readonly kills: number;
  readonly faults: readonly string[];
}

/** All that the sessions of one run share. */
class Run {
  readonly history: Observed[] = [];
  readonly random: SimRandom;
  nextValue: number = 1;
  /** Appends asked for so far, by list. */
  readonly #lengths: Map<number, number> = new Map();
  #firstList: number = 1;
  #time: number = 0;
  server: ServerProcess | undefined;
  isOver: boolean = false;

  constructor(seed: number) {
    this.random = new SimRandom(seed).fork('lists');
  }

  /** A clock that only orders: one more each time it is read. */
  tick(): number {
    return ++this.#time;
  }

  list(): number {
    return this.#firstList + this.random.below(LISTS_AT_ONCE);
  }

  noteAppend(list: number): void {
    const length = (this.#lengths.get(list) ?? 0) + 1;
    this.#lengths.set(list, length);
    if (list === this.#firstList && length >= LIST_LENGTH) this.#firstList += 1;
  }

  get lists(): readonly number[] {
    return [...this.#lengths.keys()];
  }
}

function valuesOf(document: Value | undefined): readonly number[] {
  const values = document instanceof Document ? document.get('values') : undefined;
  return values instanceof BsonArray ? values.items().filter((value) => typeof value === 'number') : [];
}

function firstBatch(reply: Document): readonly Value[] {
  const cursor = reply.get('cursor');
  const batch = cursor instanceof Document ? cursor.get('firstBatch') : undefined;
  return batch instanceof BsonArray ? batch.items() : [];
}

/** One session: a connection that is made anew after every kill. */
class Session {
  readonly #run: Run;
  readonly #index: number;
  readonly #lsid: Document;
  #number: number = 0;

  constructor(run: Run, index: number) {
    this.#run = run;
    this.#index = index;
    const id = new Uint8Array(16);
    id[15] = index + 1;
    this.#lsid = Document.of({ id: new Binary(id, 4) });
  }

  /** Runs transactions until the run is over. */
  async work(): Promise<void> {
    while (!this.#run.isOver) {
      const { server } = this.#run;
      const client = server === undefined ? undefined : await WireClient.open(server.port).catch(() => undefined);
      if (client === undefined) await sleep(5);
      else await this.#talk(client);
    }
  }

  /** Runs transactions until the connection breaks or the run is over. */
  async #talk(client: WireClient): Promise<void> {
    try {
      while (!this.#run.isOver) await (this.#run.random.below(5) === 0 ? this.#readTwo(client) : this.#transact(client));
    } catch (error) {
      if (!(error instanceof Broken)) throw error;
    } finally {
      client.close();
    }
  }

  async #command(client: WireClient, command: Readonly<Record<string, Value>>, db: string = 'lists'): Promise<Document> {
    try {
      return await client.command(db, command);
    } catch (cause) {
      throw new Broken('the server is gone', { cause });
    }
  }

  /** Two lists in one find: one statement sees one state. */
  async #readTwo(client: WireClient): Promise<void> {
    const begun = this.#run.tick();
    const wanted = [...new Set([this.#run.list(), this.#run.list()])];
    const filter = Document.of({ _id: Document.of({ $in: BsonArray.of(wanted) }) });
    const found = firstBatch(await this.#command(client, { find: 'lists', filter }));
    const steps = wanted.map((list): Step => ({ kind: 'read', list, values: valuesOf(found.find((each) => each instanceof Document && each.get('_id') === list)) }));
    this.#note(begun, 'committed', steps);
  }

  async #transact(client: WireClient): Promise<void> {
    const begun = this.#run.tick();
    const steps: Step[] = [];
    const number = ++this.#number;
    const inTransaction = { lsid: this.#lsid, txnNumber: BigInt(number), autocommit: false };
    try {
      for (let left = 1 + this.#run.random.below(4); left > 0; left--) {
        const start = steps.length === 0 ? { startTransaction: true } : {};
        if (!(await this.#step(client, { ...inTransaction, ...start }, steps))) { this.#note(begun, 'aborted', steps); return; }
      }
      if (this.#run.random.below(12) === 0) {
        await this.#command(client, { abortTransaction: 1, ...inTransaction }, 'admin');
        this.#note(begun, 'aborted', steps); return;
      }
    } catch (error) {
      // The commit was never asked for.
      if (error instanceof Broken) this.#note(begun, 'aborted', steps);
      throw error;
    }
    try {
      const reply = await this.#command(client, { commitTransaction: 1, ...inTransaction }, 'admin');
      this.#note(begun, refused(reply) ? 'aborted' : 'committed', steps);
    } catch (error) {
      if (error instanceof Broken) this.#note(begun, 'unknown', steps);
      throw error;
    }
  }

  /** One step; false when the transaction was aborted by a conflict. */
  async #step(client: WireClient, transaction: Readonly<Record<string, Value>>, steps: Step[]): Promise<boolean> {
    const list = this.#run.list();
    const choice = this.#run.random.below(3);
    if (choice === 0) {
      const reply = await this.#command(client, { find: 'lists', filter: Document.of({ _id: list }), ...transaction });
      if (refused(reply)) return false;
      steps.push({ kind: 'read', list, values: valuesOf(firstBatch(reply)[0]) });
      return true;
    }
    const value = this.#run.nextValue++;
    this.#run.noteAppend(list);
    steps.push({ kind: 'append', list, value });
    const push = Document.of({ $push: Document.of({ values: value }) });
    if (choice === 1) {
      const updates = BsonArray.of([Document.of({ q: Document.of({ _id: list }), u: push, upsert: true })]);
      return !refused(await this.#command(client, { update: 'lists', updates, ...transaction }));
    }
    const reply = await this.#command(client, { findAndModify: 'lists', query: Document.of({ _id: list }), update: push, upsert: true, new: true, ...transaction });
    if (refused(reply)) return false;
    steps.push({ kind: 'read', list, values: valuesOf(reply.get('value')) });
    return true;
  }

  #note(begun: number, outcome: Observed['outcome'], steps: readonly Step[]): void {
    this.#run.history.push({ session: this.#index, begun, ended: outcome === 'unknown' ? Infinity : this.#run.tick(), outcome, steps });
  }
}

/** Whether the server aborted the transaction; any other error is a fault of the test or the server. */
function refused(reply: Document): boolean {
  const code = reply.get('code');
  if (code === WriteConflict || code === NoSuchTransaction) return true;
  if (reply.has('errmsg') || reply.has('writeErrors')) throw new Error(`the server refused: ${toExtendedJson(reply, 'relaxed')}`);
  return false;
}

/** Reads every list at the end. */
async function readAll(run: Run, port: number): Promise<void> {
  const client = await WireClient.open(port);
  const begun = run.tick();
  const steps: Step[] = [];
  for (const list of run.lists) {
    const reply = await client.command('lists', { find: 'lists', filter: Document.of({ _id: list }) });
    steps.push({ kind: 'read', list, values: valuesOf(firstBatch(reply)[0]) });
  }
  run.history.push({ session: SESSIONS, begun, ended: run.tick(), outcome: 'committed', steps });
  client.close();
}

const committedOf = (run: Run): number => run.history.filter(({ outcome }) => outcome === 'committed').length;

/**
 * Runs for so many seconds, and on a slow machine up to ten times as long until so many transactions have committed; with kills the server dies and
 * comes back every second or so. The directory stays when something is wrong.
 */
export async function listAppend(seconds: number, seed: number, { withKills, committedMin = 0 }: { readonly withKills: boolean; readonly committedMin?: number }): Promise<ListAppendResult> {
  const dbPath = await mkdtemp(join(tmpdir(), 'frond-lists-'));
  const run = new Run(seed);
  let kills = 0;
  run.server = await ServerProcess.start(dbPath);
  const sessions = Array.from({ length: SESSIONS }, (_, index) => new Session(run, index).work());
  const begunMs = performance.now();
  const passed = (): number => (performance.now() - begunMs) / 1000;
  while (passed() < seconds || (committedOf(run) < committedMin && passed() < 10 * seconds)) {
    await sleep(withKills ? 300 + run.random.below(1500) : 1000);
    if (!withKills) continue;
    const { server } = run;
    run.server = undefined;
    await server.kill();
    kills += 1;
    run.server = await ServerProcess.start(dbPath);
  }
  run.isOver = true;
  await Promise.all(sessions);
  await readAll(run, run.server.port);
  await run.server.stop();
  const faults = faultsOf(run.history);
  if (faults.length === 0) await rm(dbPath, { recursive: true });
  const count = (outcome: Observed['outcome']): number => run.history.filter((each) => each.outcome === outcome).length;
  return { committed: committedOf(run), aborted: count('aborted'), unknown: count('unknown'), kills, faults };
}

if (process.argv[1]?.endsWith('list-append.js') === true) {
  const seconds = Number(process.argv[2] ?? 600);
  const seed = Number(process.argv[3] ?? Date.now() % 1_000_000);
  const result = await listAppend(seconds, seed, { withKills: process.argv[4] !== 'no' });
  console.log(JSON.stringify({ seconds, seed, ...result, faults: result.faults.slice(0, 5) }));
  process.exitCode = result.faults.length === 0 ? 0 : 1;
}
