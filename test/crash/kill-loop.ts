// The kill -9 loop: writers of six kinds, a server killed under them at random, and a ledger of what was acknowledged. After every restart:
// each acknowledged write is there, each transaction whole or not at all, each retryable write done once however often it was asked for,
// counts and indexes agree with scans, and `validate` finds nothing.
//   node dist/test/crash/kill-loop.js [rounds] [seed]

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Binary, BsonArray, Document, type Value } from '../../src/bson/index.ts';
import { WireClient } from '../support/wire-client.ts';
import { ServerProcess } from './server-process.ts';

const INSERTERS = 3;
const TRANSFERRERS = 2;
const INCREMENTERS = 3;
const REMOVERS = 2;

/** Numbers from a seed. */
class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  below(limit: number): number {
    this.#state = (Math.imul(this.#state, 1664525) + 1013904223) >>> 0;
    return (this.#state >>> 8) % limit;
  }
}

/** What was acknowledged, and what may or may not have happened. */
class Ledger {
  readonly acknowledged: Set<number> = new Set();
  readonly doubtful: Set<number> = new Set();
  /** Documents whose removal was acknowledged. */
  readonly gone: Set<number> = new Set();
  readonly transfersAcknowledged: number[] = new Array<number>(TRANSFERRERS).fill(0);
  readonly transfersTried: number[] = new Array<number>(TRANSFERRERS).fill(0);
  /** Number of the last increment that was asked for, by incrementer; it is asked for again until it is answered. */
  readonly incrementsAsked: number[] = new Array<number>(INCREMENTERS).fill(0);
  readonly incrementsAnswered: number[] = new Array<number>(INCREMENTERS).fill(0);
  nextId = 1;
}

function session(kind: number, index: number): Document {
  const bytes = new Uint8Array(16);
  bytes[0] = kind;
  bytes[1] = index;
  return Document.of({ id: new Binary(bytes, 4) });
}

function failed(reply: Document): boolean {
  return reply.get('errmsg') !== undefined || reply.get('writeErrors') !== undefined;
}

async function insert(client: WireClient, ledger: Ledger, dice: Dice): Promise<void> {
  const ids = Array.from({ length: 1 + dice.below(20) }, () => ledger.nextId++);
  for (const id of ids) ledger.doubtful.add(id);
  const documents = BsonArray.of(ids.map((_id) => Document.of({ _id, half: Math.floor(_id / 2), unique: `u${String(_id)}`, text: 'x'.repeat(_id % 40 === 0 ? 20_000 + (_id % 500) : _id % 500) })));
  const reply = await client.command('crash', { insert: 'rows', documents });
  if (failed(reply)) return;
  for (const id of ids) {
    ledger.doubtful.delete(id);
    ledger.acknowledged.add(id);
  }
}

/** Some document that is acknowledged, or undefined; whoever takes it has it for itself. */
function takeOne(ledger: Ledger, dice: Dice): number | undefined {
  const from = dice.below(Math.max(1, ledger.nextId));
  for (let id = from; id < from + 200; id++) {
    if (!ledger.acknowledged.delete(id)) continue;
    ledger.doubtful.add(id);
    return id;
  }
  return undefined;
}

/** Removes a document: until the answer it may be there or not. */
async function remove(client: WireClient, ledger: Ledger, dice: Dice): Promise<void> {
  const id = takeOne(ledger, dice);
  const q = Document.of({ _id: id ?? 0 });
  const reply = await client.command('crash', { delete: 'rows', deletes: BsonArray.of([Document.of({ q, limit: 1 })]) });
  if (failed(reply) || id === undefined) return;
  ledger.doubtful.delete(id);
  ledger.gone.add(id);
}

/** Moves some documents in an index and makes them longer or shorter. */
async function change(client: WireClient, ledger: Ledger, dice: Dice): Promise<void> {
  const from = dice.below(Math.max(1, ledger.nextId));
  const q = Document.of({ _id: Document.of({ $gte: from, $lt: from + 4 }) });
  const u = Document.of({ $set: Document.of({ half: dice.below(1000), text: 'y'.repeat(dice.below(900) * (dice.below(20) === 0 ? 40 : 1)) }) });
  await client.command('crash', { update: 'rows', updates: BsonArray.of([Document.of({ q, u, multi: true })]) });
}

/** Sets one number in two documents of two collections, in one transaction. */
async function transfer(client: WireClient, ledger: Ledger, index: number): Promise<void> {
  const number = (ledger.transfersTried[index] ?? 0) + 1;
  ledger.transfersTried[index] = number;
  const inTransaction = { lsid: session(1, index), txnNumber: BigInt(number), autocommit: false };
  const set = (collection: string, start: Record<string, Value>): Promise<Document> =>
    client.command('crash', {
      update: collection,
      updates: BsonArray.of([Document.of({ q: Document.of({ _id: index }), u: Document.of({ $set: Document.of({ t: number }) }), upsert: true })]),
      ...inTransaction,
      ...start,
    });
  if (failed(await set('left', { startTransaction: true })) || failed(await set('right', {}))) return;
  const reply = await client.command('admin', { commitTransaction: 1, ...inTransaction });
  if (!failed(reply)) ledger.transfersAcknowledged[index] = number;
}

/** Adds one by a retryable write, or asks again for the one that was not answered. */
async function increment(client: WireClient, ledger: Ledger, index: number): Promise<void> {
  const asked = ledger.incrementsAsked[index] ?? 0;
  const number = asked > (ledger.incrementsAnswered[index] ?? 0) ? asked : asked + 1;
  ledger.incrementsAsked[index] = number;
  const reply = await client.command('crash', {
    update: 'counters',
    updates: BsonArray.of([Document.of({ q: Document.of({ _id: index }), u: Document.of({ $inc: Document.of({ n: 1 }) }), upsert: true })]),
    lsid: session(2, index),
    txnNumber: BigInt(number),
  });
  assert.equal(failed(reply), false, `increment: ${JSON.stringify(reply.get('errmsg') ?? '')}`);
  assert.equal(reply.get('n'), 1);
  ledger.incrementsAnswered[index] = number;
}

/** Writes until the server is killed. */
async function writeUntilKilled(port: number, work: (client: WireClient) => Promise<void>): Promise<void> {
  const client = await WireClient.open(port);
  try {
    for (;;) await work(client);
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error;
  } finally {
    client.close();
  }
}

async function all(client: WireClient, collection: string, hint?: Document): Promise<Document[]> {
  const found: Document[] = [];
  const first = await client.command('crash', { find: collection, ...(hint === undefined ? {} : { hint }) });
  let cursor = first.get('cursor');
  let batchName = 'firstBatch';
  while (cursor instanceof Document) {
    const batch = cursor.get(batchName);
    if (batch instanceof BsonArray) for (const item of batch.items()) if (item instanceof Document) found.push(item);
    const id = cursor.get('id');
    if (typeof id !== 'bigint' || id === 0n) break;
    cursor = (await client.command('crash', { getMore: id, collection })).get('cursor');
    batchName = 'nextBatch';
  }
  return found;
}

function numberOf(document: Document | undefined, field: string): number {
  const value = document?.get(field);
  return typeof value === 'number' ? value : 0;
}

function checkRows(rows: readonly Document[], ledger: Ledger): void {
  const ids = new Set(rows.map((row) => numberOf(row, '_id')));
  assert.equal(ids.size, rows.length, 'a document is there twice');
  for (const id of ledger.acknowledged) assert.ok(ids.has(id), `document ${String(id)} was acknowledged and is not there`);
  for (const id of ledger.gone) assert.ok(!ids.has(id), `document ${String(id)} was removed and is there`);
  for (const id of ids) assert.ok(ledger.acknowledged.has(id) || ledger.doubtful.has(id), `document ${String(id)} was never inserted`);
}

async function check(client: WireClient, ledger: Ledger): Promise<void> {
  const rows = await all(client, 'rows');
  checkRows(rows, ledger);
  for (const index of ['_id_', 'half_1', 'unique_1']) {
    const hinted = await client.command('crash', { count: 'rows', query: Document.of({ _id: Document.of({ $gte: 0 }) }), hint: index });
    assert.equal(hinted.get('n'), rows.length, `count by index ${index}`);
  }
  assert.equal((await client.command('crash', { count: 'rows' })).get('n'), rows.length, 'the total that travels with commits');
  const left = await all(client, 'left');
  const right = await all(client, 'right');
  for (let index = 0; index < TRANSFERRERS; index++) {
    const l = numberOf(left.find((document) => document.get('_id') === index), 't');
    const r = numberOf(right.find((document) => document.get('_id') === index), 't');
    assert.equal(l, r, 'half a transaction');
    assert.ok(l >= (ledger.transfersAcknowledged[index] ?? 0), 'an acknowledged transaction is not there');
  }
  // Whatever was not answered is asked for again: then each increment has happened exactly once.
  for (let index = 0; index < INCREMENTERS; index++) {
    if ((ledger.incrementsAsked[index] ?? 0) > (ledger.incrementsAnswered[index] ?? 0)) await increment(client, ledger, index);
  }
  for (const counter of await all(client, 'counters')) {
    const index = numberOf(counter, '_id');
    assert.equal(numberOf(counter, 'n'), ledger.incrementsAnswered[index], 'a retryable write was done twice or not at all');
  }
  for (const collection of ['rows', 'left', 'right', 'counters']) {
    const report = await client.command('crash', { validate: collection });
    assert.equal(report.get('valid'), true, `validate ${collection}`);
  }
}

async function prepare(client: WireClient): Promise<void> {
  for (const collection of ['left', 'right', 'counters']) await client.command('crash', { create: collection });
  const indexes = [
    Document.of({ key: Document.of({ half: 1 }), name: 'half_1', clustering: true }),
    Document.of({ key: Document.of({ unique: 1 }), name: 'unique_1', unique: true }),
  ];
  const reply = await client.command('crash', { createIndexes: 'rows', indexes: BsonArray.of(indexes) });
  assert.equal(failed(reply), false);
}

/** One life of the server: check what the last one left, write, kill. */
async function round(dbPath: string, ledger: Ledger, options: { dice: Dice; first: boolean }): Promise<void> {
  const server = await ServerProcess.start(dbPath);
  const client = await WireClient.open(server.port);
  if (options.first) await prepare(client);
  else await check(client, ledger);
  client.close();
  const writers = [
    ...Array.from({ length: INSERTERS }, () => writeUntilKilled(server.port, (each) => insert(each, ledger, options.dice))),
    ...Array.from({ length: REMOVERS }, () => writeUntilKilled(server.port, (each) => remove(each, ledger, options.dice))),
    writeUntilKilled(server.port, (each) => change(each, ledger, options.dice)),
    ...Array.from({ length: TRANSFERRERS }, (_, index) => writeUntilKilled(server.port, (each) => transfer(each, ledger, index))),
    ...Array.from({ length: INCREMENTERS }, (_, index) => writeUntilKilled(server.port, (each) => increment(each, ledger, index))),
  ];
  await sleep(50 + options.dice.below(700));
  await server.kill();
  await Promise.all(writers);
}

/** What a loop has seen. */
export interface KillLoopResult {
  readonly acknowledged: number;
  readonly removed: number;
  readonly doubtful: number;
  readonly transfers: number;
  readonly increments: number;
}

/** Runs the loop in a new directory, which stays when something is wrong. */
export async function killLoop(rounds: number, seed: number): Promise<KillLoopResult> {
  const dbPath = await mkdtemp(join(tmpdir(), 'frond-kill-'));
  const ledger = new Ledger();
  const dice = new Dice(seed);
  try {
    for (let number = 0; number < rounds; number++) await round(dbPath, ledger, { dice, first: number === 0 });
    const server = await ServerProcess.start(dbPath);
    const client = await WireClient.open(server.port);
    await check(client, ledger);
    client.close();
    await server.stop();
  } catch (error) {
    throw new Error(`seed ${String(seed)}, data kept in ${dbPath}`, { cause: error });
  }
  await rm(dbPath, { recursive: true });
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);
  return {
    acknowledged: ledger.acknowledged.size,
    removed: ledger.gone.size,
    doubtful: ledger.doubtful.size,
    transfers: sum(ledger.transfersAcknowledged),
    increments: sum(ledger.incrementsAnswered),
  };
}

if (process.argv[1]?.endsWith('kill-loop.js') === true) {
  const rounds = Number(process.argv[2] ?? 50);
  const seed = Number(process.argv[3] ?? Date.now() % 1_000_000);
  const startedMs = performance.now();
  const result = await killLoop(rounds, seed);
  console.log(JSON.stringify({ rounds, seed, seconds: Math.round((performance.now() - startedMs) / 1000), ...result }));
}
