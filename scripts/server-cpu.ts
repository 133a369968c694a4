// What an operation costs the server: `node dist/scripts/server-cpu.js [OPERATIONS]` starts `frond serve` over a directory of its own and prints
// the server's processor time for each kind of operation, by the official driver and by a raw client that waits for each reply.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MongoClient } from 'mongodb';
import { BsonArray, Document } from '../src/bson/index.ts';
import { WireClient } from '../test/support/wire-client.ts';

const operations = Number(process.argv[2] ?? '20000');
const directory = mkdtempSync(join(tmpdir(), 'frond-cpu-'));
const program = fileURLToPath(new URL('../src/bin/frond.js', import.meta.url));
const server = spawn(process.execPath, [program, 'serve', '--dbpath', directory, '--port', '0', '--gateway', 'false', '--cache', '256MB'], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const [line] = (await once(server.stdout, 'data')) as [Buffer];
const uri = /mongodb:\/\/\S+?(?=,|\s|$)/.exec(line.toString())?.[0] ?? '';
const port = Number(/:(\d+)\//.exec(uri)?.[1]);

/** Processor time of the server so far, in microseconds; the kernel counts in hundredths of a second. */
function cpuUs(): number {
  const fields = readFileSync(`/proc/${server.pid ?? 0}/stat`, 'utf8').split(' ');
  return (Number(fields[13]) + Number(fields[14])) * 10_000;
}

async function measure(name: string, units: number, work: () => Promise<void>): Promise<void> {
  const [cpu, wall] = [cpuUs(), performance.now()];
  await work();
  const used = cpuUs() - cpu;
  console.log(`${name.padEnd(44)} ${(used / units).toFixed(1).padStart(8)} us of server CPU, ${Math.round((units / (performance.now() - wall)) * 1000)} a second`);
}

const driver = await new MongoClient(uri).connect();
const raw = await WireClient.open(port);
const ordinary = (i: number): Record<string, number | string> => ({ a: i, b: `name ${i}`, c: 'some more text that documents have', d: i * 7 });

/** Keeps so many requests of the raw client under way. */
async function pipelined(count: number, depth: number, request: (i: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  await Promise.all(Array.from({ length: depth }, async () => {
    for (let i = next++; i < count; i = next++) await request(i);
  }));
}

for (const round of ['warming up', 'measured']) {
  const count = round === 'measured' ? operations : Math.ceil(operations / 4);
  const db = round === 'measured' ? 'cpu' : 'warm';
  console.log(round);
  const one = driver.db(db).collection('one');
  await measure('insertOne, driver', count, async () => {
    for (let i = 0; i < count; i++) await one.insertOne(ordinary(i));
  });
  await measure('insert of one, raw client, 16 under way', count, () => pipelined(count, 16, (i) => raw.command(db, { insert: 'raw', documents: BsonArray.of([Document.of({ _id: i, ...ordinary(i) })]) })));
  const many = driver.db(db).collection('many');
  await many.createIndex({ a: 1 });
  const batches = Math.ceil(count / 250);
  await measure('insertMany of 1000, one secondary index, raw', batches * 1000, async () => {
    for (let batch = 0; batch < batches; batch++) {
      const documents = Array.from({ length: 1000 }, (_, i) => Document.of({ _id: batch * 1000 + i, ...ordinary(batch * 1000 + i) }));
      await raw.command(db, { insert: 'many' }, { sequences: [{ name: 'documents', documents }] });
    }
  });
  await measure('findOne by _id, driver', count, async () => {
    const byId = driver.db(db).collection<{ _id: number }>('many');
    for (let i = 0; i < count; i++) await byId.findOne({ _id: (i * 7919) % (batches * 1000) });
  });
  await measure('find by _id, raw client, 16 under way', count, () => pipelined(count, 16, (i) => raw.command(db, { find: 'many', filter: Document.of({ _id: (i * 7919) % (batches * 1000) }), limit: 1, singleBatch: true })));
}

raw.close();
await driver.close();
server.kill('SIGTERM');
await once(server, 'exit');
rmSync(directory, { recursive: true });
