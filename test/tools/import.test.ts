// The import tool against a server: what a file holds is what the collection holds, and every record that is not imported is told by its line.

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Collection, Db } from 'mongodb';
import { MongoClient } from 'mongodb';
import { openHostEnv } from '../../src/env/index.ts';
import { start } from '../../src/index.ts';
import { importFile, parseUri } from '../../src/tools/index.ts';
import type { FormatOptions, ImportReport } from '../../src/tools/index.ts';

interface Choices extends Partial<FormatOptions> {
  readonly database?: string;
  readonly stopOnError?: boolean;
  readonly bulk?: boolean;
}

interface Imported extends ImportReport {
  readonly told: string[];
}

/** Runs `work` with a collection, and a function that imports a text into it. */
async function imported(work: (rows: Collection, run: (text: string, choices?: Choices) => Promise<Imported>, database: Db) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'frond-import-'));
  const server = await start({ memory: true });
  const client = await MongoClient.connect(server.uri);
  const env = await openHostEnv();
  const csv: FormatOptions = { type: 'csv', fields: undefined, headerLine: true, columnsHaveTypes: false, ignoreBlanks: false, grace: 'stop', jsonArray: false };
  try {
    await work(client.db('test').collection('rows'), async (text, { database = 'test', stopOnError = false, bulk = false, ...format } = {}) => {
      const file = join(directory, 'file');
      await writeFile(file, text);
      const told: string[] = [];
      const watcher = { progress: (): void => undefined, fault: (fault: { readonly line: number; readonly message: string }): unknown => told.push(`${String(fault.line)}: ${fault.message}`) };
      const report = await importFile(env, { place: parseUri(server.uri), database, collection: 'rows', file, workers: 2, format: { ...csv, ...format }, drop: false, bulk, stopOnError }, watcher);
      return { ...report, told };
    }, client.db('test'));
  } finally {
    await client.close();
    await server.stop();
    await rm(directory, { recursive: true });
  }
}

test('a file of many batches and chunks is imported whole, whatever its fields are', async () => {
  await imported(async (rows, run) => {
    // 30,000 records are 1.2 MB: several chunks, thirty batches, and texts that are copied in both ways.
    const text = (i: number): string => (i % 3 === 0 ? `"a, ""b""${String(i)}"` : i % 3 === 1 ? `tekst ${'é'.repeat(40)}` : `plain ${'x'.repeat(i % 60)}`);
    const lines = Array.from({ length: 30_000 }, (_, i) => `${String(i * 7)},${text(i)},${String(-i)},00${String(i)},${String(i)}.5`);
    const { inserted, faults } = await run(`_id,text,whole,zip,half\n${lines.join('\n')}\n`);
    assert.deepEqual([inserted, faults, await rows.countDocuments()], [30_000, 0, 30_000]);
    assert.deepEqual(await rows.find({ _id: { $in: [0, 21, 28, 35] as never[] } }).toArray(), [
      { _id: 0, text: 'a, "b"0', whole: 0, zip: '000', half: 0.5 },
      { _id: 21, text: 'a, "b"3', whole: -3, zip: '003', half: 3.5 },
      { _id: 28, text: `tekst ${'é'.repeat(40)}`, whole: -4, zip: '004', half: 4.5 },
      { _id: 35, text: 'plain xxxxx', whole: -5, zip: '005', half: 5.5 },
    ]);
  });
});

test('without an _id each document gets one, and they differ', async () => {
  await imported(async (rows, run) => {
    await run('a\n1\n2\n3\n');
    const ids = (await rows.find().toArray()).map(({ _id }) => String(_id));
    assert.deepEqual([ids.every((id) => /^[0-9a-f]{24}$/.test(id)), new Set(ids).size], [true, 3]);
  });
});

test('what is wrong with a record, and what the server refuses, is told with its line; the rest is there', async () => {
  await imported(async (rows, run) => {
    const lines = Array.from({ length: 2500 }, (_, i) => (i === 1200 ? '1200,2,3' : `${String(i === 2400 ? 7 : i)},x`));
    const { inserted, faults, told } = await run(`_id,a\n${lines.join('\n')}`);
    assert.deepEqual([inserted, faults, await rows.countDocuments()], [2498, 2, 2498]);
    assert.equal(told[0], '1202: 3 fields where the header names 2');
    assert.match(told[1] ?? '', /^2402: E11000 duplicate key error collection: test\.rows index: _id_ dup key: \{ _id: 7 \}/);
  });
});

test('with stopOnError nothing behind the batch of the first fault is imported', async () => {
  await imported(async (rows, run) => {
    const lines = Array.from({ length: 9000 }, (_, i) => String(i === 1500 ? 3 : i));
    const { faults } = await run(`_id\n${lines.join('\n')}`, { stopOnError: true });
    // The next batch may be under way when the first fault is met.
    assert.deepEqual([faults, (await rows.countDocuments()) <= 3000], [1, true]);
  });
});

test('what the server refuses as a whole rejects the import', async () => {
  await imported(async (_rows, run) => {
    await assert.rejects(run(`a\n${'1\n'.repeat(5000)}`, { database: 'a b' }), { code: 73 });
  });
});

test('documents of JSON come as they are, one behind the other or as an array', async () => {
  await imported(async (rows, run) => {
    await run('{"_id": 1, "n": {"$numberLong": "5"}, "inner": {"list": [1, "b"]}}\n{"_id": 2}', { type: 'json', headerLine: false });
    await run('[{"_id": 3}, {"_id": 4, "d": {"$date": "2013-06-21T13:11:19Z"}}]', { type: 'json', headerLine: false, jsonArray: true });
    assert.deepEqual(await rows.find().sort({ _id: 1 }).toArray(), [
      { _id: 1, n: 5, inner: { list: [1, 'b'] } }, { _id: 2 }, { _id: 3 }, { _id: 4, d: new Date('2013-06-21T13:11:19Z') },
    ]);
  });
});

test('a bulk load fills an empty collection, which keeps its options and indexes, in one commit', async () => {
  await imported(async (rows, run, database) => {
    await database.createCollection('rows', { validator: { a: { $type: 'int' } }, collation: { locale: 'de' } });
    await rows.createIndexes([{ key: { a: -1 }, name: 'down' }, { key: { b: 1 }, unique: true, name: 'b' }]);
    const before = await rows.indexes();
    const { inserted } = await run(`_id,a,b\n${Array.from({ length: 20_000 }, (_, i) => `${String((i * 7919) % 20_000)},${String(i % 9)},b${String(i)}`).join('\n')}`, { bulk: true });
    assert.deepEqual([inserted, await rows.countDocuments(), await rows.countDocuments({ a: 4 }, { hint: 'down' })], [20_000, 20_000, 2222]);
    assert.deepEqual(await rows.indexes(), before);
    assert.deepEqual((await rows.options())['validator'], { a: { $type: 'int' } });
    assert.equal((await database.command({ validate: 'rows' }))['valid'], true);
  });
});

test('a bulk load into documents is refused, and one with a duplicate or a fault leaves everything as it was', async () => {
  await imported(async (rows, run) => {
    await rows.createIndexes([{ key: { a: 1 }, name: 'a' }]);
    await assert.rejects(run('_id,a\n1,1\n2,2\n1,3\n', { bulk: true }), (error: Error & { code: number }) => error.code === 11_000 && error.message.endsWith('dup key: { _id: 1 } (lines 2, 4)'));
    const { inserted, faults } = await run('_id,a\n1,1\n2,2,2\n', { bulk: true, stopOnError: true });
    assert.deepEqual([inserted, faults, await rows.countDocuments(), (await rows.indexes()).length], [0, 1, 0, 2]);
    await rows.insertOne({ a: 5 });
    await assert.rejects(run('_id,a\n1,1\n', { bulk: true }), { code: 48 });
    assert.equal(await rows.countDocuments(), 1);
  });
});
