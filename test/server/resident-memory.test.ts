// The promise of memory as an operator sees it: a server process is resident with no more than its cache and 150 MB, whatever is asked of it
// (docs/decisions/0005-room-for-garbage.md). FROND_MEMORY_FACTOR=10 does ten times as much of everything.

import assert from 'node:assert/strict';
import { randomFillSync } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { GridFSBucket, MongoClient } from 'mongodb';
import type { Db } from 'mongodb';
import { ServerProcess } from '../crash/server-process.ts';

const factor = Number(process.env['FROND_MEMORY_FACTOR'] ?? 1);
const cacheBytes = 32 * 1024 * 1024;
const besides = 150_000_000;
/** Starts anywhere give bytes that do not compress and are not the same twice. */
const noise = randomFillSync(new Uint8Array(17 * 1024 * 1024));

function piece(bytes: number, n: number): Buffer {
  const from = (n * 7919) % (noise.length - bytes);
  return Buffer.from(noise.buffer, from, bytes);
}

async function load(db: Db, rows: number): Promise<void> {
  const things = db.collection('things');
  await things.createIndexes([{ key: { a: 1 } }, { key: { b: 1 } }]);
  for (let n = 0; n < rows; n += 1000) {
    await things.insertMany(Array.from({ length: 1000 }, (_, i) => ({ a: Math.imul(n + i, 0x9e3779b1), b: (n + i) % 1000, text: piece(90, n + i).toString('hex') })), { ordered: false });
  }
}

/** Many cursors that have begun and not ended. */
async function readSlowly(db: Db, cursors: number): Promise<void> {
  const open = Array.from({ length: cursors }, (_, i) => db.collection('things').find({}, { batchSize: 50, sort: i % 2 === 0 ? { a: 1 } : {} }));
  for (let round = 0; round < 2; round++) await Promise.all(open.map((cursor) => cursor.next()));
  await Promise.all(open.map((cursor) => cursor.close()));
}

async function sendFile(db: Db, megabytes: number): Promise<number> {
  const bucket = new GridFSBucket(db);
  const upload = bucket.openUploadStream('file');
  for (let n = 0; n < megabytes; n++) if (!upload.write(piece(1_000_000, n))) await new Promise((resolve) => upload.once('drain', resolve));
  await new Promise<void>((resolve) => {
    upload.end(() => resolve());
  });
  let read = 0;
  for await (const chunk of bucket.openDownloadStreamByName('file')) read += (chunk as Buffer).length;
  return read;
}

async function exchangeLarge(db: Db, documents: number): Promise<void> {
  const large = db.collection<{ _id: number; content: Buffer }>('large');
  const all = Array.from({ length: documents }, (_, n) => n);
  await Promise.all(all.map((n) => large.insertOne({ _id: n, content: piece(15_000_000, n) })));
  await Promise.all(all.map((n) => large.findOne({ _id: n })));
}

describe('a server with a cache of 32 MiB', { skip: !existsSync('/proc/self/status') }, () => {
  let directory: string;
  let server: ServerProcess;
  let client: MongoClient;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'frond-resident-'));
    server = await ServerProcess.start(directory);
    client = await new MongoClient(`mongodb://127.0.0.1:${server.port}/?directConnection=true`).connect();
  });
  after(async () => {
    await client.close();
    await server.stop();
    await rm(directory, { recursive: true });
  });

  const loads: readonly (readonly [what: string, run: (db: Db) => Promise<unknown>])[] = [
    ['a load with indexes', (db) => load(db, 20_000 * factor)],
    ['an index build', (db) => db.collection('things').createIndex({ b: 1, a: -1 })],
    ['many open cursors', (db) => readSlowly(db, 100)],
    ['a file through GridFS and back', (db) => sendFile(db, 48 * factor)],
    ['documents of 15 MB at once', (db) => exchangeLarge(db, factor > 1 ? 4 : 2)],
    ['a count without an index', (db) => db.collection('things').countDocuments({ text: /^zz/ })],
  ];
  for (const [what, run] of loads) {
    test(`is resident with no more than 150 MB beside it after ${what}`, async (t) => {
      await run(client.db('memory'));
      const most = Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]) * 1024;
      t.diagnostic(`${Math.round(most / 1e6)} MB`);
      assert.ok(most <= cacheBytes + besides, `${most} bytes`);
    });
  }
});
