// A change stream through kills: writers of documents one by one and in transactions, a server killed under them, a watcher that resumes after the
// last token it has seen. In the end its events, applied one after the other, must give the collection as it is, each acknowledged write must have been
// told once, tokens must have risen, and the oplog must give the same collection.
//   node dist/test/crash/stream-loop.js [rounds] [seed]

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Binary, BsonArray, Document, toExtendedJson, type Value } from '../../src/bson/index.ts';
import { SimRandom } from '../sim/sim-random.ts';
import { WireClient } from '../support/wire-client.ts';
import { ServerProcess } from './server-process.ts';

const WRITERS = 4;
const database = 'crash';
const collection = 'rows';

function field(document: Document, name: string): Document {
  const value = document.get(name);
  assert.ok(value instanceof Document, `${name} in ${toExtendedJson(document, 'canonical')}`);
  return value;
}

function documents(holder: Document, name: string): Document[] {
  const value = holder.get(name);
  return value instanceof BsonArray ? value.items().filter((item): item is Document => item instanceof Document) : [];
}

function assertDone(reply: Document): void {
  assert.ok(reply.get('errmsg') === undefined && reply.get('writeErrors') === undefined, toExtendedJson(reply, 'canonical'));
}

/** The collection as events tell it. */
class Told {
  readonly rows: Map<number, Map<string, Value>> = new Map();
  /** How often each write was told, by the mark that it set. */
  readonly marks: Map<number, number> = new Map();

  apply(kind: Value | undefined, key: Document, change: Document | undefined): void {
    const id = Number(key.get('_id'));
    if (kind === 'delete') {
      assert.ok(this.rows.delete(id), `document ${String(id)} is removed and was not there`);
      return;
    }
    assert.ok(change !== undefined);
    if (kind === 'insert') assert.ok(!this.rows.has(id), `document ${String(id)} is inserted and was there`);
    const row = kind === 'insert' ? new Map<string, Value>() : this.rows.get(id);
    assert.ok(row !== undefined, `document ${String(id)} is changed and was not there`);
    for (const [name, value] of change.entries()) row.set(name, value);
    this.rows.set(id, row);
    const mark = Number(row.get('mark'));
    this.marks.set(mark, (this.marks.get(mark) ?? 0) + 1);
  }

  text(): string[] {
    return [...this.rows].sort(([a], [b]) => a - b).map(([id, row]) => `${String(id)} ${JSON.stringify([...row].map(([name, value]) => [name, toExtendedJson(value, 'canonical')]))}`);
  }
}

/** What all lives of the server share. */
class Run {
  readonly told: Told = new Told();
  readonly acknowledged: Set<number> = new Set();
  readonly random: SimRandom;
  events: number = 0;
  resumed: number = 0;
  nextMark: number = 1;
  #nextId: number = 1;
  /** Documents that are surely there and that nobody works on. */
  readonly #free: number[] = [];
  #token: Document | undefined;
  #lastToken: string = '';
  /** Tells the watcher to stop: when this document was told. */
  sentinel: number | undefined;

  constructor(seed: number) {
    this.random = new SimRandom(seed).fork('stream');
  }

  /** Insert, update or delete of one document, or two inserts in a transaction. */
  async write(client: WireClient, writer: number, number: number): Promise<void> {
    const dice = this.random.fraction();
    const known = this.#free.splice(this.random.below(Math.max(1, this.#free.length)), 1)[0];
    if (dice < 0.2) await this.#transaction(client, writer, number);
    else if (dice < 0.5 || known === undefined) await this.#insert(client);
    else if (dice < 0.85) await this.#update(client, known);
    else await this.#run(client, { delete: collection, deletes: BsonArray.of([Document.of({ q: Document.of({ _id: known }), limit: 1 })]) });
  }

  #row(): { id: number; mark: number; row: Document } {
    const [id, mark] = [this.#nextId++, this.nextMark++];
    return { id, mark, row: Document.of({ _id: id, mark, text: 'x'.repeat(this.random.below(300)) }) };
  }

  async #run(client: WireClient, command: Readonly<Record<string, Value>>): Promise<void> {
    const reply = await client.command(database, command);
    assertDone(reply);
  }

  async #insert(client: WireClient): Promise<void> {
    const { id, mark, row } = this.#row();
    await this.#run(client, { insert: collection, documents: BsonArray.of([row]) });
    this.acknowledged.add(mark);
    this.#free.push(id);
  }

  async #update(client: WireClient, id: number): Promise<void> {
    const mark = this.nextMark++;
    const u = Document.of({ $set: Document.of({ mark, text: 'y'.repeat(this.random.below(300)) }) });
    await this.#run(client, { update: collection, updates: BsonArray.of([Document.of({ q: Document.of({ _id: id }), u })]) });
    this.acknowledged.add(mark);
    this.#free.push(id);
  }

  async #transaction(client: WireClient, writer: number, number: number): Promise<void> {
    const rows = [this.#row(), this.#row()];
    const id = new Uint8Array(16);
    id[0] = writer;
    const inside = { lsid: Document.of({ id: new Binary(id, 4) }), txnNumber: BigInt(number), autocommit: false };
    for (const [index, { row }] of rows.entries()) await this.#run(client, { insert: collection, documents: BsonArray.of([row]), ...inside, ...(index === 0 ? { startTransaction: true } : {}) });
    const reply = await client.command('admin', { commitTransaction: 1, ...inside });
    assertDone(reply);
    for (const row of rows) {
      this.acknowledged.add(row.mark);
      this.#free.push(row.id);
    }
  }

  /** Follows the stream until the connection breaks or the sentinel was told. */
  async watch(port: number, opened: () => void): Promise<void> {
    const client = await WireClient.open(port);
    try {
      const options = this.#token === undefined ? {} : { resumeAfter: this.#token };
      if (this.#token !== undefined) this.resumed += 1;
      const pipeline = BsonArray.of([Document.of({ $changeStream: Document.of(options) })]);
      let cursor = field(await client.command(database, { aggregate: collection, pipeline, cursor: Document.of({ batchSize: 1 + this.random.below(50) }) }), 'cursor');
      this.#take(cursor, 'firstBatch');
      opened();
      while (this.sentinel === undefined || !this.told.rows.has(this.sentinel)) {
        cursor = field(await client.command(database, { getMore: cursor.get('id') as bigint, collection, maxTimeMS: 50 }), 'cursor');
        this.#take(cursor, 'nextBatch');
      }
    } finally {
      client.close();
    }
  }

  #take(cursor: Document, batch: string): void {
    for (const event of documents(cursor, batch)) {
      const token = field(event, '_id');
      const text = toExtendedJson(token, 'canonical');
      assert.ok(text > this.#lastToken, `${text} comes after ${this.#lastToken}`);
      this.#lastToken = text;
      const kind = event.get('operationType');
      const change = kind === 'update' ? field(field(event, 'updateDescription'), 'updatedFields') : event.get('fullDocument');
      this.told.apply(kind, field(event, 'documentKey'), change instanceof Document ? change : undefined);
      this.#token = token;
      this.events += 1;
    }
    const after = cursor.get('postBatchResumeToken');
    if (after instanceof Document) this.#token = after;
  }
}

async function all(client: WireClient, db: string, name: string, filter: Document): Promise<Document[]> {
  const found: Document[] = [];
  let cursor = field(await client.command(db, { find: name, filter }), 'cursor');
  found.push(...documents(cursor, 'firstBatch'));
  while (cursor.get('id') !== 0n) {
    cursor = field(await client.command(db, { getMore: cursor.get('id') as bigint, collection: name }), 'cursor');
    found.push(...documents(cursor, 'nextBatch'));
  }
  return found;
}

/** The operations of an entry: its own, or those of a transaction. */
function operationsOf(entry: Document): Document[] {
  const o = field(entry, 'o');
  return o.get('applyOps') instanceof BsonArray ? documents(o, 'applyOps') : [entry];
}

/** Applies the oplog. */
function replayed(entries: readonly Document[]): Told {
  const told = new Told();
  const namespace = `${database}.${collection}`;
  for (const operation of entries.flatMap(operationsOf)) {
    const op = operation.get('op');
    if (operation.get('ns') !== namespace || typeof op !== 'string' || !'iud'.includes(op)) continue;
    const o = field(operation, 'o');
    if (op === 'u') {
      const diff = field(o, 'diff');
      const set = [diff.get('u'), diff.get('i')].filter((part): part is Document => part instanceof Document);
      told.apply('update', field(operation, 'o2'), Document.of(Object.fromEntries(set.flatMap((part) => [...part.entries()]))));
    } else told.apply(op === 'i' ? 'insert' : 'delete', o, o);
  }
  return told;
}

async function judge(client: WireClient, run: Run): Promise<void> {
  const rows = await all(client, database, collection, Document.empty);
  const there = new Told();
  for (const row of rows) there.apply('insert', row, row);
  assert.deepEqual(run.told.text(), there.text(), 'the stream, applied, is the collection');
  for (const mark of run.acknowledged) assert.equal(run.told.marks.get(mark), 1, `how often write ${String(mark)} was told`);
  for (const [mark, times] of run.told.marks) assert.equal(times, 1, `how often write ${String(mark)} was told`);
  const entries = await all(client, 'local', 'oplog.rs', Document.empty);
  const times = entries.map((entry) => toExtendedJson(entry.get('ts') ?? null, 'canonical'));
  assert.equal(new Set(times).size, times.length, 'times of the oplog are different');
  assert.deepEqual(replayed(entries).text(), there.text(), 'the oplog, applied, is the collection');
}

/** Whether it ended because the server was killed; a judgement is thrown. */
async function untilKilled(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error;
  }
}

async function life(dbPath: string, run: Run, isLast: boolean): Promise<void> {
  const server = await ServerProcess.start(dbPath);
  let ready = (): void => undefined;
  const isOpen = new Promise<void>((resolve) => {
    ready = resolve;
  });
  const watching = untilKilled(() => run.watch(server.port, ready));
  await Promise.race([isOpen, watching]);
  const base = run.nextMark * 1000;
  const writers = Array.from({ length: WRITERS }, (_, writer) => untilKilled(async () => {
    const client = await WireClient.open(server.port);
    for (let number = base; !isLast || number < base + 20; number++) await run.write(client, writer, number);
    client.close();
  }));
  if (!isLast) {
    await sleep(50 + run.random.below(500));
    await server.kill();
  }
  await Promise.all(writers);
  if (isLast) {
    const client = await WireClient.open(server.port);
    run.sentinel = -1;
    await client.command(database, { insert: collection, documents: BsonArray.of([Document.of({ _id: -1, mark: run.nextMark++ })]) });
    await watching;
    await judge(client, run);
    client.close();
    await server.stop();
  }
  await watching;
}

/** What a loop has seen. */
export interface StreamLoopResult {
  readonly events: number;
  readonly acknowledged: number;
  readonly resumed: number;
}

/** Runs so many lives over a new directory, which stays when something is wrong. */
export async function streamLoop(rounds: number, seed: number): Promise<StreamLoopResult> {
  const dbPath = await mkdtemp(join(tmpdir(), 'frond-stream-'));
  const run = new Run(seed);
  try {
    const server = await ServerProcess.start(dbPath);
    const client = await WireClient.open(server.port);
    await client.command(database, { create: collection });
    client.close();
    await server.kill();
    for (let number = 1; number <= rounds; number++) await life(dbPath, run, number === rounds);
  } catch (error) {
    throw new Error(`seed ${String(seed)}, data kept in ${dbPath}`, { cause: error });
  }
  await rm(dbPath, { recursive: true });
  return { events: run.events, acknowledged: run.acknowledged.size, resumed: run.resumed };
}

if (process.argv[1]?.endsWith('stream-loop.js') === true) {
  const [rounds, seed] = [Number(process.argv[2] ?? 30), Number(process.argv[3] ?? 1)];
  console.log(JSON.stringify({ rounds, seed, ...(await streamLoop(rounds, seed)) }));
}
