// What each kind of small operation costs the server: `node dist/scripts/operation-cpu.js [--base DIST] [--only WORD] [--operations N] [--rounds N] [--warm N] [--bare] [--durable] [--flags=FLAGS]` starts
// `frond serve` over a directory of its own, and where another build is named (its `dist`) one of that beside it, and prints the server's processor time
// for an operation: of the main thread, and of all others (pool, collector, tree worker). The builds take turns round by round, and what is printed is the
// median, so that ratios hold where other work is done beside. FLAGS are Node's, for this build. `--bare` and `--durable`
// add servers that do nothing: at all, or but for a durable write of 4 KiB for what came together. Raw requests are made before the clock starts; each connection has one under way.

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { MongoClient } from 'mongodb';
import { AssertionError } from '../src/base/errors.ts';
import { Binary, BsonArray, Document, type Value } from '../src/bson/index.ts';
import { encodeMessage } from '../src/wire/index.ts';

const { values: options } = parseArgs({
  options: { base: { type: 'string' }, only: { type: 'string', default: '' }, operations: { type: 'string', default: '4000' }, rounds: { type: 'string', default: '5' }, warm: { type: 'string', default: '6' }, bare: { type: 'boolean', default: false }, durable: { type: 'boolean', default: false }, flags: { type: 'string', default: '' } },
});
const operations = Number(options.operations);
const rounds = Number(options.rounds);
const warm = Number(options.warm);

type Fields = Readonly<Record<string, Value>>;

function isRefused(reply: Uint8Array): boolean {
  const bytes = Buffer.from(reply.buffer, reply.byteOffset, reply.length);
  return bytes.includes('writeErrors\0') || bytes.includes('errmsg\0');
}

/** One connection that sends what it is given, a request at a time. */
class RawConnection {
  readonly #socket: Socket;
  #left = 0;
  #answered: () => void = () => undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Uint8Array) => {
      // Replies are short and come one at a time: a chunk is one or a part of one. A request that is refused costs little and says nothing.
      if (isRefused(chunk)) throw new AssertionError(`a request was refused: ${new TextDecoder('latin1').decode(chunk).replaceAll(/[^ -~]+/g, ' ')}`);
      this.#left = this.#left === 0 ? new DataView(chunk.buffer, chunk.byteOffset).getInt32(0, true) - chunk.length : this.#left - chunk.length;
      if (this.#left === 0) this.#answered();
    });
  }

  static async open(port: number): Promise<RawConnection> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    await once(socket, 'connect');
    return new RawConnection(socket);
  }

  send(request: Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      this.#answered = resolve;
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#socket.destroy();
  }
}

interface Spent {
  main: number;
  others: number;
}

/** A server that is measured. */
class Measured {
  readonly #process: ChildProcess;
  readonly port: number;
  readonly driver: MongoClient;
  readonly raw: RawConnection[] = [];

  private constructor(process: ChildProcess, driver: MongoClient, port: number) {
    this.#process = process;
    this.driver = driver;
    this.port = port;
  }

  static async start(flags: string, program: string, ...words: string[]): Promise<Measured> {
    const child = spawn(process.execPath, [...flags.split(' ').filter((flag) => flag !== ''), program, ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const uri = /mongodb:\/\/\S+?(?=,|\s|$)/.exec(line.toString())?.[0] ?? '';
    return new Measured(child, await new MongoClient(uri, { maxPoolSize: 64 }).connect(), Number(/:(\d+)\//.exec(uri)?.[1]));
  }

  /** So many raw connections. */
  async connections(count: number): Promise<RawConnection[]> {
    while (this.raw.length < count) this.raw.push(await RawConnection.open(this.port));
    return this.raw.slice(0, count);
  }

  /** Processor time of its threads so far, in microseconds. */
  cpu(): Spent {
    const pid = String(this.#process.pid ?? 0);
    const spent: Spent = { main: 0, others: 0 };
    for (const task of readdirSync(`/proc/${pid}/task`)) {
      const us = Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]) / 1000;
      if (task === pid) spent.main += us;
      else spent.others += us;
    }
    return spent;
  }

  async stop(): Promise<void> {
    for (const connection of this.raw) connection.close();
    await this.driver.close();
    this.#process.kill('SIGTERM');
    await once(this.#process, 'exit');
  }
}

/** A kind of operation: made ready for `count` operations of a round, it gives what does them. */
interface Kind {
  readonly name: string;
  readonly make: (server: Measured, round: number, count: number) => Promise<() => Promise<void>>;
}

const ordinary = (i: number): Fields => ({ a: i, b: `name ${String(i)}`, c: 'some more text that documents have', d: i * 7, e: i % 100 });

/** As the driver asks, with a session of each connection; of each kind its own, for numbers only grow. */
function sessionOf(kind: number, connection: number): Document {
  const id = new Uint8Array(16).fill(connection + 1);
  id[0] = kind;
  return Document.of({ id: new Binary(id, 4) });
}

type Request = (i: number, connection: number) => Fields;

let requestId = 1;

function encoded(fields: Fields): Uint8Array {
  const chunks = encodeMessage({ requestId: requestId++, responseTo: 0 }, Document.of({ ...fields, $db: fields['$db'] ?? 'raw' }));
  return Buffer.concat(chunks);
}

/** The requests spread over connections. */
function raw(name: string, connections: number, request: (round: number, count: number) => Request): Kind {
  return {
    name: `${name}, raw, ${String(connections)} connection${connections === 1 ? '' : 's'}`,
    make: async (server, round, count) => {
      const all = await server.connections(connections);
      const make = request(round, count);
      const requests = Array.from({ length: count }, (_, i) => encoded(make(i, i % connections)));
      return async () => {
        await Promise.all(all.map(async (connection, at) => {
          for (let i = at; i < count; i += connections) await connection.send(requests[i] as Uint8Array);
        }));
      };
    },
  };
}

type One = { _id: number; a?: number; d?: number };

function driver(name: string, depth: number, work: (server: Measured, id: number, i: number) => Promise<unknown>): Kind {
  return {
    name: `${name}, driver, ${String(depth)} under way`,
    make: (server, round, count) =>
      Promise.resolve(async () => {
        let next = 0;
        await Promise.all(Array.from({ length: depth }, async () => {
          for (let i = next++; i < count; i = next++) await work(server, round * count + i, i);
        }));
      }),
  };
}

/** A kind whose documents are there first. */
function prepared(kind: Kind, collection: string): Kind {
  return {
    name: kind.name,
    make: async (server, round, count) => {
      const documents = Array.from({ length: count }, (_, i) => ({ _id: round * count + i, ...ordinary(i) }));
      await server.driver.db('raw').collection<One>(collection).insertMany(documents);
      return kind.make(server, round, count);
    },
  };
}

/** A kind whose collection is there first: several transactions that make it are in each other's way. */
function existing(kind: Kind, collection: string): Kind {
  return {
    name: kind.name,
    make: async (server, round, count) => {
      if (round === 0) await server.driver.db('raw').createCollection(collection);
      return kind.make(server, round, count);
    },
  };
}

const numbered = (round: number, count: number, i: number): bigint => BigInt(round * count + i + 1);
const some = (i: number): number => (i * 7919) % operations;
const byDriver = (server: Measured) => server.driver.db('raw').collection<One>('read');

const insertOf: (collection: string) => (round: number, count: number) => Request = (collection) => (round, count) => (i) => ({ insert: collection, documents: BsonArray.of([Document.of({ _id: round * count + i, ...ordinary(i) })]), ordered: true });
let kindsWithSessions = 0;
const retryable: (make: (round: number, count: number) => Request) => (round: number, count: number) => Request = (make) => {
  const kind = ++kindsWithSessions;
  return (round, count) => {
    const request = make(round, count);
    return (i, connection) => ({ ...request(i, connection), lsid: sessionOf(kind, connection), txnNumber: numbered(round, count, i) });
  };
};
const findOf = (): Request => (i) => ({ find: 'read', filter: Document.of({ _id: some(i) }), limit: 1, singleBatch: true });
const updateOf = (): Request => (i) => ({ update: 'read', updates: BsonArray.of([Document.of({ q: Document.of({ _id: some(i) }), u: Document.of({ $inc: Document.of({ d: 1 }) }) })]), ordered: true });

/** A transaction of two inserts: three requests one after the other on each connection. */
const transactionOf = (connections: number) => (round: number, count: number): Request => (i, connection) => {
  const place = Math.floor(i / connections);
  const txnNumber = BigInt(round * count + Math.floor(place / 3) + 1);
  const session = { lsid: sessionOf(100 + connections, connection), txnNumber, autocommit: false };
  if (place % 3 === 2) return { commitTransaction: 1, ...session, $db: 'admin' };
  return { ...insertOf(`transaction${String(connections)}`)(round, count)(i, connection), ...session, ...(place % 3 === 0 ? { startTransaction: true } : {}) };
};
const upsertOf = (round: number, count: number): Request => (i) => ({ update: 'upserted', updates: BsonArray.of([Document.of({ q: Document.of({ _id: round * count + i }), u: Document.of({ $set: Document.of({ a: i }) }), upsert: true })]), ordered: true });

const kinds: readonly Kind[] = [
  driver('ping', 1, (server) => server.driver.db('raw').command({ ping: 1 })),
  raw('ping', 1, () => () => ({ ping: 1 })),
  driver('insertOne', 1, (server, id, i) => server.driver.db('raw').collection<One>('driven1').insertOne({ _id: id, ...ordinary(i) })),
  driver('insertOne', 16, (server, id, i) => server.driver.db('raw').collection<One>('driven16').insertOne({ _id: id, ...ordinary(i) })),
  driver('insertOne', 64, (server, id, i) => server.driver.db('raw').collection<One>('driven64').insertOne({ _id: id, ...ordinary(i) })),
  raw('insert', 1, insertOf('plain1')),
  raw('insert with a number', 1, retryable(insertOf('numbered1'))),
  raw('insert', 16, insertOf('plain16')),
  raw('insert with a number', 16, retryable(insertOf('numbered16'))),
  raw('insert', 64, insertOf('plain64')),
  raw('insert with a number', 64, retryable(insertOf('numbered64'))),
  driver('updateOne', 1, (server, _, i) => byDriver(server).updateOne({ _id: some(i) }, { $inc: { d: 1 } })),
  raw('update', 1, updateOf),
  raw('update', 16, updateOf),
  raw('update with a number', 16, retryable(updateOf)),
  raw('findAndModify', 1, () => (i) => ({ findAndModify: 'read', query: Document.of({ _id: some(i) }), update: Document.of({ $inc: Document.of({ d: 1 }) }), new: true })),
  raw('findAndModify with a number', 16, retryable(() => (i) => ({ findAndModify: 'read', query: Document.of({ _id: some(i) }), update: Document.of({ $inc: Document.of({ d: 1 }) }), new: true }))),
  raw('upsert with a number', 16, retryable(upsertOf)),
  existing(raw('request of a transaction of two inserts', 1, transactionOf(1)), 'transaction1'),
  existing(raw('request of a transaction of two inserts', 16, transactionOf(16)), 'transaction16'),
  prepared(raw('delete with a number', 16, retryable((round, count) => (i) => ({ delete: 'gone16', deletes: BsonArray.of([Document.of({ q: Document.of({ _id: round * count + i }), limit: 1 })]) }))), 'gone16'),
  prepared(raw('delete', 1, (round, count) => (i) => ({ delete: 'gone', deletes: BsonArray.of([Document.of({ q: Document.of({ _id: round * count + i }), limit: 1 })]) })), 'gone'),
  driver('findOne by _id', 1, (server, _, i) => byDriver(server).findOne({ _id: some(i) })),
  driver('findOne by _id', 16, (server, _, i) => byDriver(server).findOne({ _id: some(i) })),
  raw('find by _id', 1, findOf),
  raw('find by _id', 16, findOf),
  raw('find on an index, 10 documents', 1, () => (i) => ({ find: 'read', filter: Document.of({ a: Document.of({ $gte: some(i) }) }), limit: 10, singleBatch: true })),
  raw('aggregate of one by _id', 1, () => (i) => ({ aggregate: 'read', pipeline: BsonArray.of([Document.of({ $match: Document.of({ _id: some(i) }) })]), cursor: Document.empty })),
  raw('count by _id', 1, () => (i) => ({ count: 'read', query: Document.of({ _id: some(i) }) })),
];

/** Documents that are read and updated. */
async function fill({ driver: client }: Measured): Promise<void> {
  const collection = client.db('raw').collection<One>('read');
  await collection.createIndex({ a: 1 });
  for (let at = 0; at < operations; at += 1000) {
    await collection.insertMany(Array.from({ length: Math.min(1000, operations - at) }, (_, i) => ({ _id: at + i, ...ordinary(at + i) })));
  }
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

interface Figure extends Spent {
  readonly perSecond: number;
}

async function measure(kind: Kind, server: Measured, round: number): Promise<Figure> {
  const work = await kind.make(server, round, operations);
  const [before, begun] = [server.cpu(), performance.now()];
  await work();
  const [after, ended] = [server.cpu(), performance.now()];
  return { main: (after.main - before.main) / operations, others: (after.others - before.others) / operations, perSecond: (operations * 1000) / (ended - begun) };
}

const directories: string[] = [];

async function startFrond(dist: string, flags: string): Promise<Measured> {
  const directory = mkdtempSync(join(tmpdir(), 'frond-operation-'));
  directories.push(directory);
  const server = await Measured.start(flags, join(dist, 'src/bin/frond.js'), 'serve', '--dbpath', directory, '--port', '0', '--gateway', 'false', '--cache', '256MB');
  await fill(server);
  return server;
}

const own = fileURLToPath(new URL('..', import.meta.url));
const builds: [string, Measured][] = [];
if (options.base !== undefined) builds.push(['before', await startFrond(options.base, '')]);
builds.push([options.base === undefined ? 'now' : 'after', await startFrond(own, options.flags)]);
if (options.bare) builds.push(['bare', await Measured.start('', join(own, 'scripts/bare-server.js'))]);

if (options.durable) {
  const directory = mkdtempSync(join(tmpdir(), 'frond-operation-'));
  directories.push(directory);
  builds.push(['bare, durable', await Measured.start('', join(own, 'scripts/bare-server.js'), join(directory, 'log'))]);
}

for (const kind of kinds.filter(({ name }) => name.includes(options.only))) {
  const figures = builds.map((): Figure[] => []);
  for (let round = 0; round < warm + rounds; round++) {
    for (const [at, [, server]] of builds.entries()) {
      const figure = await measure(kind, server, round);
      // A function is compiled well when it has been called some ten thousand times: a server that has just started costs twice as much.
      if (round >= warm) figures[at]?.push(figure);
    }
  }
  const texts = builds.map(([build], at) => {
    const all = figures[at] ?? [];
    const [main, others, rate] = [median(all.map((one) => one.main)), median(all.map((one) => one.others)), median(all.map((one) => one.perSecond))];
    return `${build} ${(main + others).toFixed(1)} us (main ${main.toFixed(1)}, others ${others.toFixed(1)}), ${rate.toFixed(0)}/s`;
  });
  console.log(`${kind.name.padEnd(40)} ${texts.join('; ')}`);
}
for (const [, server] of builds) await server.stop();
for (const directory of directories) rmSync(directory, { recursive: true });
