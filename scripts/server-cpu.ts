// What an operation costs the server: `node dist/scripts/server-cpu.js [OPERATIONS] [DOCUMENTS]` starts `frond serve` over a directory of its own and
// prints the server's processor time for each kind of operation, all its threads, by the official driver and by a raw client; the large
// collection has so many documents. First the same by a server that does nothing (`bare-server.ts`): what no server can be below. The
// client's time is not counted.

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MongoClient } from 'mongodb';
import { BsonArray, Document } from '../src/bson/index.ts';
import { WireClient } from '../test/support/wire-client.ts';

const operations = Number(process.argv[2] ?? '20000');
const documents = Number(process.argv[3] ?? '100000');

/** Groups, and documents whose `a` lies within a range that is read. */
const groups = 100;
const rangeRows = 1000;

/** A server that is measured. */
class Measured {
  readonly #process: ChildProcess;
  readonly driver: MongoClient;
  readonly raw: WireClient;

  private constructor(process: ChildProcess, driver: MongoClient, raw: WireClient) {
    this.#process = process;
    this.driver = driver;
    this.raw = raw;
  }

  static async start(program: string, ...words: string[]): Promise<Measured> {
    const child = spawn(process.execPath, [fileURLToPath(new URL(program, import.meta.url)), ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const uri = /mongodb:\/\/\S+?(?=,|\s|$)/.exec(line.toString())?.[0] ?? '';
    return new Measured(child, await new MongoClient(uri).connect(), await WireClient.open(Number(/:(\d+)\//.exec(uri)?.[1])));
  }

  /** Processor time of all its threads so far, in microseconds. */
  #cpuUs(): number {
    const tasks = `/proc/${this.#process.pid ?? 0}/task`;
    return readdirSync(tasks).reduce((sum, task) => sum + Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[0]) / 1000, 0);
  }

  async measure(name: string, units: number, work: () => Promise<void>): Promise<void> {
    const [cpu, wall] = [this.#cpuUs(), performance.now()];
    await work();
    const used = (this.#cpuUs() - cpu) / units;
    console.log(`${name.padEnd(52)} ${used.toFixed(used < 10 ? 2 : 1).padStart(8)} us of server CPU, ${Math.round((units / (performance.now() - wall)) * 1000)} a second`);
  }

  async stop(): Promise<void> {
    this.raw.close();
    await this.driver.close();
    this.#process.kill('SIGTERM');
    await once(this.#process, 'exit');
  }
}

const ordinary = (i: number): Record<string, number | string> => ({ a: i, b: `name ${i}`, c: 'some more text that documents have', d: i * 7, e: i % groups });

/** Keeps so many requests under way. */
async function pipelined(count: number, depth: number, request: (i: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  await Promise.all(Array.from({ length: depth }, async () => {
    for (let i = next++; i < count; i = next++) await request(i);
  }));
}

/** An operation a time: what a client does that waits for each reply. */
async function single(server: Measured, db: string, count: number): Promise<void> {
  const one = server.driver.db(db).collection<{ _id: number; d?: number }>('one');
  const { raw } = server;
  const byId = (i: number): Document => Document.of({ _id: (i * 7919) % count });
  await server.measure('ping, driver', count, async () => {
    for (let i = 0; i < count; i++) await server.driver.db(db).command({ ping: 1 });
  });
  await server.measure('insertOne, driver', count, async () => {
    for (let i = 0; i < count; i++) await one.insertOne({ _id: i, ...ordinary(i) });
  });
  await server.measure('insert of one, raw client, 16 under way', count, () => pipelined(count, 16, (i) => raw.command(db, { insert: 'raw', documents: BsonArray.of([Document.of({ _id: i, ...ordinary(i) })]) })));
  await server.measure('updateOne by _id, driver', count, async () => {
    for (let i = 0; i < count; i++) await one.updateOne({ _id: (i * 7919) % count }, { $inc: { d: 1 } });
  });
  await server.measure('findOne by _id, driver', count, async () => {
    for (let i = 0; i < count; i++) await one.findOne({ _id: (i * 7919) % count });
  });
  await server.measure('find by _id, raw client, 16 under way', count, () => pipelined(count, 16, (i) => raw.command(db, { find: 'one', filter: byId(i), limit: 1, singleBatch: true })));
}

/** Statements over many documents, by the raw client. */
async function many(server: Measured, db: string, count: number): Promise<void> {
  const { raw } = server;
  const run = (body: Record<string, string | number | Document | BsonArray>): Promise<unknown> => raw.command(db, body);
  await server.driver.db(db).collection('many').createIndex({ a: 1 });
  await server.measure('insertMany of 1000, one secondary index, a document', count, async () => {
    for (let batch = 0; batch * 1000 < count; batch++) {
      const sent = Array.from({ length: 1000 }, (_, i) => Document.of({ _id: batch * 1000 + i, ...ordinary(batch * 1000 + i) }));
      await raw.command(db, { insert: 'many' }, { sequences: [{ name: 'documents', documents: sent }] });
    }
  });
  const ranges = Math.max(1, Math.min(100, Math.floor(count / rangeRows)));
  const range = (i: number): Document => Document.of({ a: Document.of({ $gte: i * rangeRows, $lt: (i + 1) * rangeRows }) });
  await server.measure('find of an indexed range with fetch, a document', ranges * rangeRows, () => pipelined(ranges, 1, (i) => run({ find: 'many', filter: range(i), batchSize: 2 * rangeRows })));
  const onlyA = Document.of({ _id: 0, a: 1 });
  await server.measure('the same, covered by the index, a row', ranges * rangeRows, () => pipelined(ranges, 1, (i) => run({ find: 'many', filter: range(i), projection: onlyA, batchSize: 2 * rangeRows })));
  await server.measure('count of an indexed range, a row', ranges * rangeRows, () => pipelined(ranges, 1, (i) => run({ count: 'many', query: range(i) })));
  await server.measure('count of everything, a command', 1000, () => pipelined(1000, 1, () => run({ count: 'many' })));
  const group = BsonArray.of([Document.of({ $group: Document.of({ _id: '$e', n: Document.of({ $sum: 1 }), sum: Document.of({ $sum: '$d' }) }) })]);
  await server.measure('$group into 100 groups, a document', count, () => run({ aggregate: 'many', pipeline: group, cursor: Document.empty }).then(() => undefined));
}

const bare = await Measured.start('bare-server.js');
await single(bare, 'bare', Math.ceil(operations / 4));
console.log('a server that does nothing');
await single(bare, 'bare', operations);
await bare.stop();

const directory = mkdtempSync(join(tmpdir(), 'frond-cpu-'));
const server = await Measured.start('../src/bin/frond.js', 'serve', '--dbpath', directory, '--port', '0', '--gateway', 'false', '--cache', '256MB');
console.log('warming up');
await single(server, 'warm', Math.ceil(operations / 4));
await many(server, 'warm', Math.ceil(documents / 10_000) * 1000);
console.log('measured');
await single(server, 'cpu', operations);
await many(server, 'cpu', Math.ceil(documents / 1000) * 1000);
await server.stop();
rmSync(directory, { recursive: true });
