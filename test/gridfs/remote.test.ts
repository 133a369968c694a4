// The store in front of a MongoDB server gives the answers of the embedded one, and keeps the order in which documents of a file come and go
// (GridFS specification; gateway.md, section 9).

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { GridFSBucket, MongoClient, ObjectId as DriverObjectId } from 'mongodb';
import { CommandError } from '../../src/base/errors.ts';
import { Binary, BsonArray, BsonSymbol, DateTime, Document, Double } from '../../src/bson/index.ts';
import type { Value } from '../../src/bson/index.ts';
import { concatBytes } from '../../src/base/bytes.ts';
import { openHostEnv } from '../../src/env/index.ts';
import { FileError, FileId, openRemoteStore, readBytes } from '../../src/gridfs/index.ts';
import type { FileBucket, FilePage, FileQuery, StoredFile } from '../../src/gridfs/index.ts';
import { patternBytes, StoreForTest } from '../support/file-store.ts';
import { openRemoteFor } from '../support/remote-store.ts';
import type { RemoteForTest } from '../support/remote-store.ts';

interface Both {
  readonly here: StoreForTest;
  readonly remote: RemoteForTest;
  readonly bucket: FileBucket;
}

async function withBoth(work: (both: Both) => Promise<void>): Promise<void> {
  const here = await StoreForTest.open();
  const remote = await openRemoteFor(here);
  try {
    await work({ here, remote, bucket: remote.store.bucket('test', 'fs') });
  } finally {
    await remote.close();
    await here.close();
  }
}

async function readAll(bucket: FileBucket, file: StoredFile): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  if (file.chunkCount > 0) await readBytes(bucket.open(file), 0, file.length - 1, (chunk) => chunks.push(chunk.slice()));
  return concatBytes(chunks);
}

const request = { filename: 'x', contentType: 'video/mp4', metadata: new Map([['title', 'T']]), chunkSize: 1024, onlyIfAbsent: false };
const code = (wanted: string) => (error: unknown): boolean => error instanceof FileError && error.code === wanted;

async function pages(bucket: FileBucket, query: FileQuery): Promise<string[]> {
  const names: string[] = [];
  let after: string | undefined;
  do {
    const page: FilePage = await bucket.list({ ...query, after });
    names.push(...page.files.map(({ id }) => id.text), '|');
    after = page.next;
  } while (after !== undefined);
  return names;
}

describe('the remote store', () => {
  test('lists the pages that the embedded one lists, of names, dates and lengths of every type', () => withBoth(async ({ here, bucket }) => {
    await here.createIndexes();
    const values: readonly Value[] = ['a', 'b', 'ab', 'abc', 'a', 'ä', '$x', '(', 5, new Double(2.5), null, new BsonSymbol('sym'), Document.of({ a: 1 }), new DateTime(7), new DateTime(-3), true];
    for (const [i, value] of values.entries()) {
      await here.plant({ filename: value, bytes: patternBytes(1), fields: { uploadDate: values[(i * 5) % values.length]!, length: values[(i * 7) % values.length]! } });
    }
    await here.plant({ filename: undefined, bytes: patternBytes(1), fields: { uploadDate: undefined, length: undefined } });
    for (const field of ['filename', 'uploadDate', 'length'] as const) {
      for (const direction of [1, -1] as const) {
        for (const prefix of ['', 'a', '(', '$']) {
          const query = { prefix, sort: { field, direction }, limit: 3, after: undefined, accepts: () => true };
          assert.deepEqual(await pages(bucket, query), await pages(here.bucket, query), JSON.stringify(query));
        }
      }
    }
    await assert.rejects(bucket.list({ prefix: '', sort: { field: 'length', direction: 1 }, limit: 2, after: 'AAAA', accepts: () => true }), code('bad-name'));
  }));

  test('finds revisions and ids as the embedded one does', () => withBoth(async ({ here, bucket }) => {
    for (const date of [30, 10, 20, 20, undefined]) await here.plant({ bytes: patternBytes(1), fields: { uploadDate: date === undefined ? undefined : new DateTime(date) } });
    for (const id of ['text', 7, new Double(1.5), Document.of({ a: 1 }), new Binary(patternBytes(16), 4)]) await here.plant({ id, bytes: patternBytes(1), filename: 'other' });
    for (let revision = -6; revision <= 5; revision++) assert.deepEqual(await bucket.byName('movie.mp4', revision), await here.bucket.byName('movie.mp4', revision), String(revision));
    for (const id of ['s:text', 'i:7', 'j:1.5', 'j:{"a":{"$numberInt":"1"}}', 's:none']) assert.deepEqual(await bucket.byId(FileId.parse(id)!), await here.bucket.byId(FileId.parse(id)!), id);
    assert.deepEqual([await bucket.revisions('movie.mp4'), await bucket.revisions('none')], [5, 0]);
  }));

  test('stores files that the driver and the embedded store read, with the indexes of drivers', () => withBoth(async ({ here, remote, bucket }) => {
    const bytes = patternBytes(3_000_001);
    for (const chunkSize of [1024 * 255, 2 ** 20, 4 * 2 ** 20]) {
      const upload = await bucket.create({ ...request, chunkSize });
      for (let at = 0; at < bytes.length; at += 100_000) await upload.write(bytes.subarray(at, at + 100_000));
      assert.notEqual((await bucket.byName('x', 0))?.chunkSize, chunkSize);
      const file = await upload.finish(createHash('sha256').update(bytes).digest('hex'));
      assert.deepEqual(await here.bucket.byId(file.id), file);
      assert.ok(Buffer.from(await readAll(here.bucket, file)).equals(bytes));
      assert.ok(Buffer.from(await readAll(bucket, file)).equals(bytes));
      assert.deepEqual(await bucket.check(file), await here.bucket.check(file));
      const client = await MongoClient.connect(remote.uri);
      const stream = new GridFSBucket(client.db('test')).openDownloadStream(DriverObjectId.createFromHexString(file.id.text));
      assert.ok(Buffer.concat((await stream.toArray()) as Buffer[]).equals(bytes));
      assert.deepEqual((await client.db('test').collection('fs.chunks').indexes()).map(({ key, unique }) => [key, unique]), [[{ _id: 1 }, undefined], [{ files_id: 1, n: 1 }, true]]);
      await client.close();
    }
    assert.equal(await here.count('fs.uploads'), 0);
  }));

  test('leaves nothing of an upload that is aborted, has another digest, or whose name is taken', () => withBoth(async ({ here, bucket }) => {
    const much = patternBytes(3_000_000);
    const aborted = await bucket.create({ ...request, chunkSize: 100_000 });
    for (let at = 0; at < much.length; at += 500_000) await aborted.write(much.subarray(at, at + 500_000));
    await aborted.abort();
    const other = await bucket.create(request);
    await other.write(much.subarray(0, 5000));
    await assert.rejects(other.finish('0'.repeat(64)), code('digest-mismatch'));
    await other.abort();
    assert.deepEqual([await here.count('fs.files'), await here.count('fs.chunks'), await here.count('fs.uploads')], [0, 0, 0]);
    const once = { ...request, filename: 'once', onlyIfAbsent: true };
    const uploads = [await bucket.create(once), await bucket.create(once)];
    const results = await Promise.allSettled(uploads.map((upload) => upload.finish()));
    assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    await assert.rejects(bucket.create(once), code('exists'));
    assert.deepEqual([await bucket.revisions('once'), await here.count('fs.uploads')], [1, 0]);
  }));

  test('removes what a killed gateway left when its time is over, and never the chunks of a file', () => withBoth(async ({ here, remote, bucket }) => {
    const file = await here.upload('whole', patternBytes(5000), { chunkSize: 1024 });
    const cut = await bucket.create({ ...request, chunkSize: 100_000 });
    for (let i = 0; i < 3; i++) await cut.write(patternBytes(1_000_000));
    await cut.write(patternBytes(1));
    assert.equal(await here.count('fs.uploads'), 1);
    assert.equal(await remote.store.removeExpired(), 0);
    const past = new DateTime(1);
    await here.insert('fs.uploads', [Document.of({ _id: FileId.parse(file.id.text)!.value, expires: past }), Document.of({ _id: 'gone', expires: past })]);
    await here.insert('fs.chunks', [Document.of({ _id: 1, files_id: 'gone', n: 0, data: new Binary(patternBytes(5)) })]);
    assert.equal(await remote.store.removeExpired(), 2);
    assert.ok(Buffer.from(await readAll(bucket, file)).equals(patternBytes(5000)));
    await cut.abort();
    assert.deepEqual([await here.count('fs.chunks'), await here.count('fs.uploads')], [5, 0]);
    assert.deepEqual([await bucket.remove(file.id), await bucket.remove(file.id), await here.count('fs.chunks'), await here.count('fs.uploads')], [true, false, 0, 0]);
  }));

  test('goes on with uploads wherever they were left, also another gateway, also after a crash between two writes', () => withBoth(async ({ here, remote, bucket }) => {
    const bytes = patternBytes(10_007);
    const plan = { length: undefined, expiresMs: here.env.clock.nowMs() + 1e9 };
    const { id } = await bucket.createResumable(request, plan);
    for (const end of [0, 1, 1023, 1024, 1025, 3500, 3501, 9000]) {
      const other = await openRemoteStore(remote.uri, here.env, { connectMs: 5000 });
      const upload = (await (end % 2 === 0 ? bucket : other.bucket('test', 'fs')).resume(id, plan))!;
      await upload.write(bytes.subarray(upload.offset, end));
      assert.equal(await upload.suspend(), end);
      await other.close();
    }
    // Chunks that were written and not told of.
    await here.insert('fs.chunks', [Document.of({ _id: 'more', files_id: id.value, n: 9, data: new Binary(patternBytes(1024, 5)) })]);
    const wrong = (await bucket.resume(id, plan))!;
    await wrong.write(patternBytes(5000, 9));
    await wrong.rewind();
    const upload = (await bucket.resume(id, { ...plan, length: 10_007 }))!;
    await upload.write(bytes.subarray(9000));
    const file = await upload.finish(createHash('sha256').update(bytes).digest('hex'));
    assert.ok(Buffer.from(await readAll(here.bucket, file)).equals(bytes));
    assert.deepEqual([await here.count('fs.chunks'), await here.count('fs.uploads'), await bucket.resumable(id), await bucket.removeResumable(id)], [10, 0, undefined, false]);
  }));

  test('changes names and metadata, and tells files that were replaced', () => withBoth(async ({ here, bucket }) => {
    const file = await here.upload('old', patternBytes(5000), { chunkSize: 1024 });
    const changed = await bucket.change(file.id, { filename: 'new', metadata: new Map([['n', '{"$numberLong":"5"}']]) });
    assert.deepEqual(changed, await here.bucket.byName('new', -1));
    assert.equal(await bucket.change(FileId.parse('s:none')!, { filename: 'new', metadata: new Map() }), undefined);
    const reader = bucket.open(file);
    await readBytes(reader, 0, 2047, () => undefined);
    await here.bucket.remove(file.id);
    await assert.rejects(() => readBytes(reader, 2048, 4095, () => undefined), code('gone'));
  }));

  test('keeps no cursor open', () => withBoth(async ({ here, remote, bucket }) => {
    const file = await here.upload('x', patternBytes(3_000_000), { chunkSize: 100_000 });
    const reader = bucket.open(file);
    await readBytes(reader, 0, 599_999, () => undefined);
    await bucket.list({ prefix: '', sort: { field: 'length', direction: 1 }, limit: 1, after: undefined, accepts: () => true });
    const client = await MongoClient.connect(remote.uri);
    const { metrics } = await client.db('admin').command({ serverStatus: 1 });
    await client.close();
    assert.equal((metrics as { cursor: { open: { total: number } } }).cursor.open.total, 0);
  }));
});

test('a server that cannot be reached is told in time, and one that refuses says why', async () => {
  const env = await openHostEnv();
  await assert.rejects(openRemoteStore('mongodb://127.0.0.1:1/', env, { connectMs: 200 }), code('unavailable'));
  await withBoth(async ({ here, remote }) => {
    await here.upload('x', patternBytes(5));
    const bucket = remote.store.bucket('test', 'fs');
    await assert.rejects(bucket.change(FileId.parse('s:x')!, { filename: '', metadata: new Map() }), code('bad-name'));
    assert.throws(() => remote.store.bucket('a.b', 'fs'), code('bad-name'));
    await here.catalog.run(async (txn) => {
      const { namespaceOf } = await import('../../src/catalog/index.ts');
      await here.catalog.create(txn, namespaceOf('test', 'v.files'), Document.of({ viewOn: 'fs.files', pipeline: BsonArray.of([]) }));
    });
    await assert.rejects(remote.store.bucket('test', 'v').remove((await bucket.byName('x', -1))!.id), CommandError);
  });
});
