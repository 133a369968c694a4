// Damage through a running server: one flipped bit in each kind of block. Clients are told so by a typed error where they ask for what is lost; everything
// else goes on in that collection, in others, and in the server; `verifyData` names the place, and `frond salvage` brings the rest.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Binary, MongoServerError, type Document as Doc, type MongoClient } from 'mongodb';
import { openMemoryEnv } from '../../src/env/index.ts';
import type { Env } from '../../src/env/index.ts';
import { salvageDirectory } from '../../src/tools/index.ts';
import { placesIn } from '../engine/damage-places.ts';
import type { Place } from '../engine/damage-places.ts';
import { patternBytes } from '../support/file-store.ts';
import { openServerForTest } from '../support/open-server-for-test.ts';

const documents = 1500;

const pad = (i: number): string => `${String(i)} ${'p'.repeat(i % 300)}`;

/** The files of a server that was filled and stopped. */
async function filled(): Promise<ReadonlyMap<string, Uint8Array>> {
  const server = await openServerForTest();
  const db = (await server.driver()).db('test');
  for (let i = 0; i < documents; i += 500) await db.collection('hurt').insertMany(Array.from({ length: 500 }, (_, k) => ({ _id: i + k as never, a: (i + k) % 100, pad: pad(i + k) })));
  await db.collection('hurt').createIndex({ a: 1, pad: 1 });
  await db.collection('other').insertMany(Array.from({ length: 200 }, (_, i) => ({ _id: i as never, b: i })));
  await db.collection('large').insertMany(Array.from({ length: 10 }, (_, i) => ({ _id: i as never, data: new Binary(patternBytes(40_000, i + 1)) })));
  await server.close();
  const files = new Map<string, Uint8Array>();
  for (const directory of ['/data', '/data/log', '/data/blob']) {
    for (const name of await server.env.files.list(directory)) if (name.includes('.')) files.set(`${directory}/${name}`, await server.env.files.readAll(`${directory}/${name}`));
  }
  return files;
}

/** A machine with these files. */
async function machineWith(files: ReadonlyMap<string, Uint8Array>): Promise<Env> {
  const env = await openMemoryEnv();
  for (const directory of ['/data', '/data/log', '/data/blob']) await env.files.makeDirectory(directory);
  for (const [path, bytes] of files) await env.files.writeWhole(path, bytes);
  return env;
}

async function errorOf(work: Promise<unknown>): Promise<MongoServerError | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    assert.ok(error instanceof MongoServerError, String(error));
    return error;
  }
}

/** What a client can read of a collection document by document. */
async function readable(client: MongoClient, name: string, count: number): Promise<Doc[]> {
  const found: Doc[] = [];
  for (let i = 0; i < count; i++) {
    const error = await errorOf(client.db('test').collection(name).findOne({ _id: i as never }).then((document) => document === null || found.push(document)));
    if (error !== undefined) assert.deepEqual([error.code, error.codeName], [301, 'DataCorruptionDetected']);
  }
  return found;
}

interface Expected {
  /** The collection that loses documents, and how many at most; the rest is there. */
  readonly loses?: { readonly collection: string; readonly of: number; readonly atMost: number };
  /** Asked for by their index documents are refused. */
  readonly indexIsHurt?: boolean;
  /** What `verifyData` says; absent: opening has mended it. */
  readonly named?: RegExp;
  /** Nothing can be inserted into the collection, for nobody knows which keys it has. */
  readonly takesNothing?: boolean;
}

/** The files with a bit flipped at each place. */
function flipped(files: ReadonlyMap<string, Uint8Array>, damaged: readonly Place[]): ReadonlyMap<string, Uint8Array> {
  const copy = new Map(files);
  for (const { file, offset } of damaged) {
    const bytes = copy.get(file)?.slice();
    assert.ok(bytes?.[offset] !== undefined);
    bytes[offset] ^= 8;
    copy.set(file, bytes);
  }
  return copy;
}

/** What clients are told of what is lost, and what they still read. */
async function assertReads(client: MongoClient, { loses, indexIsHurt, named }: Expected): Promise<void> {
  const db = client.db('test');
  assert.equal(await db.collection('other').countDocuments(), 200);
  if (loses === undefined) assert.equal((await db.collection('hurt').find({}, { hint: { _id: 1 } }).toArray()).length, documents);
  else {
    const found = await readable(client, loses.collection, loses.of);
    assert.ok(found.length < loses.of && found.length >= loses.of - loses.atMost, `${String(found.length)} of ${String(loses.of)} can be read`);
    const error = await errorOf(db.collection(loses.collection).find({}).toArray());
    assert.deepEqual([error?.code, error?.codeName], [301, 'DataCorruptionDetected']);
    assert.match(error?.message ?? '', named ?? /./);
  }
  if (indexIsHurt !== true) return;
  let refused = 0;
  for (let a = 0; a < 100; a++) if ((await errorOf(db.collection('hurt').find({ a }, { hint: { a: 1, pad: 1 } }).toArray())) !== undefined) refused += 1;
  assert.ok(refused > 0 && refused < 90, `${String(refused)} of 100 values are refused`);
}

async function assertNamed(client: MongoClient, named: RegExp | undefined): Promise<void> {
  const report = await client.db().admin().command({ verifyData: 1 });
  const problems = report['problems'] as Doc[];
  assert.equal(report['valid'], named === undefined, JSON.stringify(problems));
  if (named !== undefined) assert.ok(problems.some(({ message, file }) => named.test(String(message)) && file !== undefined), JSON.stringify(problems));
}

/** Opens a server over the damaged files, looks at everything, writes, opens it again, and salvages. */
async function judge(files: ReadonlyMap<string, Uint8Array>, damaged: readonly Place[], expected: Expected): Promise<void> {
  const { loses, named, takesNothing = false } = expected;
  const env = await machineWith(flipped(files, damaged));
  const server = await openServerForTest({ env });
  const client = await server.driver();
  const db = client.db('test');
  await assertReads(client, expected);
  await assertNamed(client, named);
  // What is written from now on is there, and stays.
  const target = takesNothing ? 'other' : 'hurt';
  if (takesNothing) assert.equal((await errorOf(db.collection('hurt').insertOne({ _id: documents as never })))?.code, 301);
  await db.collection(target).insertMany(Array.from({ length: 300 }, (_, i) => ({ _id: documents + i as never, a: 1000, pad: 'new' })));
  await db.admin().command({ fsync: 1 });
  const added = async (of: MongoClient): Promise<number> => await of.db('test').collection(target).countDocuments({ _id: { $gte: documents as never } }, { hint: { _id: 1 } });
  assert.equal(await added(client), 300);
  await server.close();
  const again = await openServerForTest({ env });
  assert.equal(await added(await again.driver()), 300);
  await again.close();
  const salvaged = await salvageDirectory(env, { from: '/data', to: '/safe', cacheBytes: 32 << 20 });
  assert.ok(salvaged.documents >= documents + 300 + 200 + 10 - (loses?.atMost ?? 0), JSON.stringify(salvaged));
  assert.ok(salvaged.indexes >= 1);
}

const files = await filled();
const places = await placesIn(await machineWith(files), documents);

test('a basement of documents: its documents are refused, the others are read, by other ways too', async () => {
  await judge(files, [places.document], { loses: { collection: 'hurt', of: documents, atMost: 400 }, named: /data\.frond.*damaged basement/ });
});

test('a basement of index entries: that index refuses what it has lost, the documents are all there', async () => {
  await judge(files, [places.entry], { indexIsHurt: true, named: /data\.frond.*damaged basement/ });
});

test('a node of which both copies are damaged: its collection is refused, all others go on', async () => {
  await judge(files, places.nodeBoth, { loses: { collection: 'hurt', of: documents, atMost: documents }, takesNothing: true, named: /data\.frond.*both copies/ });
});

test('one copy of what names other things: nothing is lost, and it is named', async () => {
  for (const place of [places.nodeCopy, places.table, places.dictionaryTable]) await judge(files, [place], { named: /a copy of/ });
  await judge(files, [places.superblock], {});
});

test('a large value: it is refused, and costs itself alone', async () => {
  await judge(files, [places.large], { loses: { collection: 'large', of: 10, atMost: 1 }, named: /blob.*large value/ });
});
