// Buckets as the drivers' GridFS specification has them (indexes, revisions, order of deleting, layout of documents), and in the states that
// public reports show: the reader gives the right bytes or says what is wrong, never other bytes.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { Binary, BsonSymbol, DateTime, Document, Double, ObjectId } from '../../src/bson/index.ts';
import type { Value } from '../../src/bson/index.ts';
import { namespaceOf } from '../../src/catalog/index.ts';
import { concatBytes } from '../../src/base/bytes.ts';
import { FileError, FileId, readBytes, readMemoryBytes } from '../../src/gridfs/index.ts';
import type { FileBucket, FileReader, StoredFile } from '../../src/gridfs/index.ts';
import { patternBytes, StoreForTest } from '../support/file-store.ts';

async function withStore(work: (opened: StoreForTest) => Promise<void>): Promise<void> {
  const opened = await StoreForTest.open();
  try {
    await work(opened);
  } finally {
    await opened.close();
  }
}

async function readChunks(reader: FileReader, file: StoredFile, first: number, last: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  await readBytes(reader, first * file.chunkSize, Math.min((last + 1) * file.chunkSize, file.length) - 1, (chunk) => chunks.push(chunk.slice()));
  return concatBytes(chunks);
}

async function readAll(bucket: FileBucket, file: StoredFile): Promise<Uint8Array> {
  return file.chunkCount === 0 ? new Uint8Array(0) : await readChunks(bucket.open(file), file, 0, file.chunkCount - 1);
}

const corrupt = (n: number | undefined) => (error: unknown): boolean => {
  assert(error instanceof FileError, String(error));
  assert.equal(error.code, 'corrupt');
  assert.equal(error.place.n, n, error.message);
  assert.notEqual(error.place.id, undefined);
  return true;
};

function withField(document: Document, name: string, value: Value | undefined): Document {
  return Document.fromEntries(document.fields.flatMap(([field, old]): [string, Value][] => (field !== name ? [[field, old]] : value === undefined ? [] : [[field, value]])));
}

describe('an upload', () => {
  for (const length of [0, 1, 1023, 1024, 1025, 10_000, 5_000_000]) {
    test(`of ${length} bytes is read back, with the documents and indexes that drivers make`, () => withStore(async (opened) => {
      const bytes = patternBytes(length);
      const stored = await opened.upload('a/b.mp4', bytes, { chunkSize: length > 100_000 ? 100_000 : 1024, contentType: 'video/mp4' });
      const file = await opened.bucket.byName('a/b.mp4', -1);
      assert.deepEqual(file, stored);
      assert.equal(file.length, length);
      assert.equal(file.contentType, 'video/mp4');
      assert.equal(file.sha256, createHash('sha256').update(bytes).digest('hex'));
      assert.deepEqual(await readAll(opened.bucket, file), bytes);
      assert.equal(await opened.count('fs.chunks'), file.chunkCount);
      assert.equal(await opened.count('gridfsLeftovers', 'local'), 0);
      const txn = opened.catalog.begin('read');
      const indexes = async (name: string): Promise<string[]> => {
        const found = await opened.catalog.collection(txn, namespaceOf('test', name));
        return found!.indexes.map(({ key, unique }) => `${key.keys().join()}${unique ? ' unique' : ''}`);
      };
      assert.deepEqual(await indexes('fs.files'), ['_id', 'filename,uploadDate']);
      assert.deepEqual(await indexes('fs.chunks'), ['_id', 'files_id,n unique']);
      txn.abort();
    }));
  }

  test('that is aborted leaves neither a file nor chunks nor a marker', () => withStore(async (opened) => {
    const upload = await opened.bucket.create({ filename: 'x', contentType: undefined, metadata: new Map(), chunkSize: 1024, onlyIfAbsent: false });
    for (let i = 0; i < 40; i++) await upload.write(patternBytes(100_000, i + 1));
    assert.equal(await opened.bucket.byName('x', -1), undefined);
    await upload.abort();
    assert.equal(await opened.count('fs.files'), 0);
    assert.equal(await opened.count('fs.chunks'), 0);
    assert.equal(await opened.count('gridfsLeftovers', 'local'), 0);
    await assert.rejects(upload.finish(), FileError);
  }));

  test('that a crash cut is gone after the next start; chunks of other programs stay', () => withStore(async (opened) => {
    const upload = await opened.bucket.create({ filename: 'x', contentType: undefined, metadata: new Map(), chunkSize: 100_000, onlyIfAbsent: false });
    for (let i = 0; i < 40; i++) await upload.write(patternBytes(100_000, i + 1));
    await opened.insert('fs.chunks', [Document.of({ _id: 1, files_id: 'of a driver', n: 0, data: new Binary(patternBytes(5)) })]);
    const whole = await opened.upload('whole', patternBytes(3_000_000));
    assert.ok((await opened.count('fs.chunks')) > 30);
    assert.equal(await opened.count('gridfsLeftovers', 'local'), 1);
    await opened.engine.close();
    const again = await StoreForTest.open(opened.env);
    await again.store.close();
    assert.equal(await again.count('fs.chunks'), whole.chunkCount + 1);
    assert.equal(await again.count('gridfsLeftovers', 'local'), 0);
    assert.deepEqual(await readAll(again.bucket, whole), patternBytes(3_000_000));
    await again.close();
  }));

  test('of a name that must be new is refused when there is one, and only one of two at a time succeeds', () => withStore(async (opened) => {
    const request = { filename: 'once', contentType: undefined, metadata: new Map(), chunkSize: undefined, onlyIfAbsent: true };
    const uploads = [await opened.bucket.create(request), await opened.bucket.create(request)];
    const results = await Promise.allSettled(uploads.map(async (upload) => {
      await upload.write(patternBytes(10));
      return await upload.finish();
    }));
    assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    await assert.rejects(opened.bucket.create(request), (error: unknown) => error instanceof FileError && error.code === 'exists');
    assert.equal(await opened.bucket.revisions('once'), 1);
  }));

  test('takes chunk sizes from 1 KiB to 15 MiB and names without null bytes', () => withStore(async (opened) => {
    const request = { filename: 'x', contentType: undefined, metadata: new Map(), chunkSize: undefined, onlyIfAbsent: false };
    for (const chunkSize of [0, 1023, 1.5e3 + 0.5, 15 * 1024 * 1024 + 1]) await assert.rejects(opened.bucket.create({ ...request, chunkSize }), FileError);
    for (const filename of ['', 'a\0b']) await assert.rejects(opened.bucket.create({ ...request, filename }), FileError);
    for (const db of ['', 'a.b', 'a b']) assert.throws(() => opened.store.bucket(db, 'fs'), FileError);
  }));
});

describe('a file in a bucket', () => {
  test('is read whatever number types its documents have', () => withStore(async (opened) => {
    await opened.createIndexes();
    const bytes = patternBytes(10_000);
    const types: Readonly<Record<string, (value: number) => Value>> = { int: (value) => value, long: BigInt, double: (value) => new Double(value) };
    for (const [name, number] of Object.entries(types)) {
      await opened.plant({ filename: name, bytes, chunkSize: 4096, fields: { length: number(10_000), chunkSize: number(4096) }, chunks: (usual) => usual.map((chunk, n) => withField(chunk, 'n', number(n))) });
      const file = await opened.bucket.byName(name, -1);
      assert.deepEqual(await readAll(opened.bucket, file!), bytes);
    }
  }));

  test('has ids of any type, as text and back', () => withStore(async (opened) => {
    await opened.createIndexes();
    const uuid = new Binary(patternBytes(16), 4);
    const ids: readonly [Value, RegExp][] = [
      [new ObjectId(patternBytes(12)), /^[0-9a-f]{24}$/],
      ['name with / and ü', /^s:name with \/ and ü$/],
      ['0123456789abcdef01234567', /^s:0123456789abcdef01234567$/],
      [7, /^i:7$/],
      [2n ** 60n, /^i:1152921504606846976$/],
      [uuid, /^u:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/],
      [new Double(1.5), /^j:/],
      [Document.of({ a: 1, b: 'x' }), /^j:/],
      [new DateTime(5), /^j:/],
    ];
    for (const [id, form] of ids) {
      const bytes = patternBytes(3000, 7);
      await opened.plant({ id, bytes, chunkSize: 1024 });
      const { text } = FileId.of(id);
      assert.match(text, form);
      const file = await opened.bucket.byId(FileId.parse(text)!);
      assert.equal(file?.id.text, text);
      assert.deepEqual(await readAll(opened.bucket, file), bytes);
    }
    assert.equal((await opened.bucket.byId(FileId.parse('name with / and ü')!))?.id.text, 's:name with / and ü');
    for (const whole of ['i:0', 'i:-7', 'i:2147483648', 'i:-9223372036854775808', 'i:9223372036854775807']) assert.equal(FileId.parse(whole)?.text, whole);
    for (const text of ['i:9223372036854775808', 'i:', 'i:1.5', 'i:99999999999999999999', 'u:12', 'j:{', 'j:']) assert.equal(FileId.parse(text), undefined, text);
  }));

  test('whose id is a double is found by the whole number, for numbers are equal by value', () => withStore(async (opened) => {
    await opened.plant({ id: new Double(5), bytes: patternBytes(10) });
    assert.equal((await opened.bucket.byId(FileId.parse('i:5')!))?.length, 10);
  }));

  for (const indexed of [true, false]) {
    test(`with faulty chunks is corrupt, with id and n, ${indexed ? 'by index' : 'in a bucket without indexes'}`, () => withStore(async (opened) => {
      if (indexed) await opened.createIndexes();
      const bytes = patternBytes(10_000);
      const chunk = (usual: readonly Document[], n: number, name: string, value: Value | undefined): Document[] => usual.map((one, i) => (i === n ? withField(one, name, value) : one));
      const faults: readonly [string, number, (usual: readonly Document[]) => readonly Document[]][] = [
        ['none at all', 0, () => []],
        ['first missing', 0, (usual) => usual.slice(1)],
        ['middle missing', 1, (usual) => [usual[0]!, usual[2]!]],
        ['last missing', 2, (usual) => usual.slice(0, 2)],
        ['short', 1, (usual) => chunk(usual, 1, 'data', new Binary(patternBytes(4095)))],
        ['long', 1, (usual) => chunk(usual, 1, 'data', new Binary(patternBytes(4097)))],
        ['last long', 2, (usual) => chunk(usual, 2, 'data', new Binary(patternBytes(4096)))],
        ['empty', 0, (usual) => chunk(usual, 0, 'data', new Binary(new Uint8Array(0)))],
        ['text', 0, (usual) => chunk(usual, 0, 'data', 'text')],
        ['no data', 0, (usual) => chunk(usual, 0, 'data', undefined)],
        ['n is text', 1, (usual) => chunk(usual, 1, 'n', 'one')],
      ];
      for (const [name, n, chunks] of faults) {
        await opened.plant({ filename: name, bytes, chunkSize: 4096, chunks });
        const file = await opened.bucket.byName(name, -1);
        await assert.rejects(readAll(opened.bucket, file!), corrupt(n), name);
        assert.equal((await opened.bucket.check(file!)).sound, false, name);
        if (n > 0) assert.deepEqual(await readChunks(opened.bucket.open(file!), file!, 0, n - 1), bytes.subarray(0, n * 4096), name);
      }
    }));
  }

  test('with a chunk twice is corrupt, though both are alike', () => withStore(async (opened) => {
    const bytes = patternBytes(10_000);
    const twice = (at: number) => (usual: readonly Document[]): Document[] => [...usual, withField(usual[at]!, '_id', opened.nextId())];
    for (const at of [0, 1, 2]) {
      await opened.plant({ filename: `twice ${at}`, bytes, chunkSize: 4096, chunks: twice(at) });
      const file = await opened.bucket.byName(`twice ${at}`, -1);
      await assert.rejects(readAll(opened.bucket, file!), corrupt(at));
      assert.deepEqual((await opened.bucket.check(file!)).extra, [at]);
    }
  }));

  test('is read though chunks beyond its end are there, which a check tells', () => withStore(async (opened) => {
    await opened.createIndexes();
    const bytes = patternBytes(8192);
    const extra = (usual: readonly Document[]): Document[] => [...usual, withField(withField(usual[0]!, '_id', opened.nextId()), 'n', 2)];
    await opened.plant({ bytes, chunkSize: 4096, chunks: extra });
    const file = await opened.bucket.byName('movie.mp4', -1);
    assert.deepEqual(await readAll(opened.bucket, file!), bytes);
    const check = await opened.bucket.check(file!);
    assert.deepEqual([check.sound, check.chunksExpected, check.chunksFound, check.extra], [false, 2, 3, [2]]);
  }));

  test('in the old binary subtype is its content', () => withStore(async (opened) => {
    const bytes = patternBytes(5000);
    await opened.plant({ bytes, chunkSize: 4096, chunks: (usual) => usual.map((chunk, n) => withField(chunk, 'data', new Binary(bytes.slice(n * 4096, (n + 1) * 4096), 2))) });
    assert.deepEqual(await readAll(opened.bucket, (await opened.bucket.byName('movie.mp4', -1))!), bytes);
  }));

  test('whose document is broken is listed with its fault, and reading it is corrupt', () => withStore(async (opened) => {
    await opened.createIndexes();
    const broken: Readonly<Record<string, Value | undefined>>[] = [
      { length: undefined }, { length: -1 }, { length: new Double(1.5) }, { length: '10' }, { length: new Double(Number.NaN) }, { chunkSize: 0 }, { chunkSize: undefined }, { chunkSize: -5 }, { chunkSize: 2 ** 30 },
    ];
    for (const fields of broken) await opened.plant({ bytes: patternBytes(10), fields });
    const page = await opened.bucket.list({ prefix: '', sort: { field: 'filename', direction: 1 }, limit: 50, after: undefined, accepts: () => true });
    assert.equal(page.files.length, broken.length);
    for (const file of page.files) {
      assert.notEqual(file.fault, undefined);
      await assert.rejects(async () => opened.bucket.open(file).read(0, 0, { bytes: readMemoryBytes, memory: new Uint8Array(readMemoryBytes) }), corrupt(undefined));
    }
  }));

  test('may lack a name, a date and a type, or have other things there', () => withStore(async (opened) => {
    await opened.createIndexes();
    const id = await opened.plant({ bytes: patternBytes(10), filename: undefined, fields: { uploadDate: undefined } });
    const file = await opened.bucket.byId(FileId.of(id));
    assert.deepEqual([file?.filename, file?.uploadDateMs, file?.contentType, file?.metadata], [undefined, undefined, undefined, undefined]);
    const odd = await opened.plant({ bytes: patternBytes(10), filename: new BsonSymbol('x'), fields: { uploadDate: 'today', contentType: 5, metadata: 'text' } });
    const other = await opened.bucket.byId(FileId.of(odd));
    assert.deepEqual([other?.filename, other?.uploadDateMs, other?.contentType, other?.metadata], [undefined, undefined, undefined, '"text"']);
  }));

  test('of length 0 has no bytes, also where a driver stored one empty chunk', () => withStore(async (opened) => {
    await opened.plant({ bytes: new Uint8Array(0), chunks: () => [Document.of({ _id: 1, files_id: 'empty', n: 0, data: new Binary(new Uint8Array(0)) })], id: 'empty' });
    const file = await opened.bucket.byId(FileId.of('empty'));
    assert.equal(file?.chunkCount, 0);
    assert.equal((await opened.bucket.check(file)).sound, true);
    await opened.plant({ bytes: new Uint8Array(0), chunks: () => [Document.of({ _id: 2, files_id: 'odd', n: 0, data: new Binary(new Uint8Array(1)) })], id: 'odd' });
    const odd = await opened.bucket.byId(FileId.of('odd'));
    assert.deepEqual((await opened.bucket.check(odd!)).extra, [0]);
  }));

  test('is read past indexes that only look like those of the drivers', () => withStore(async (opened) => {
    const bytes = patternBytes(10_000);
    const keys: readonly (readonly [readonly string[], readonly number[], Readonly<Record<string, Value>>])[] = [
      [['files_id', 'n'], [1, -1], {}], [['n', 'files_id'], [1, 1], {}], [['files_id'], [1], {}], [['files_id', 'n', 'x'], [1, 1, 1], {}], [['files_id', 'n'], [1, 1], { sparse: true }],
    ];
    for (const [i, [paths, directions, options]] of keys.entries()) {
      const bucket = `odd${i}`;
      const spec = Document.of({ key: Document.fromEntries(paths.map((path, at) => [path, directions[at]!])), name: 'odd', ...options });
      await opened.catalog.createIndexes(namespaceOf('test', `${bucket}.chunks`), [spec]);
      await opened.plant({ bytes, chunkSize: 1000, chunks: (usual) => [...usual].reverse() }, bucket);
      const found = opened.store.bucket('test', bucket);
      assert.deepEqual(await readAll(found, (await found.byName('movie.mp4', -1))!), bytes);
    }
  }));
});

describe('revisions of a name', () => {
  for (const indexed of [true, false]) {
    test(`go by upload date, then id, ${indexed ? 'by index' : 'without one'}`, () => withStore(async (opened) => {
      if (indexed) await opened.createIndexes();
      const dates = [30, 10, 20, 20];
      const ids: Value[] = [];
      for (const date of dates) ids.push(await opened.plant({ bytes: patternBytes(1), fields: { uploadDate: new DateTime(date) } }));
      await opened.plant({ bytes: patternBytes(1), filename: 'movie.mp44' });
      const order = [1, 2, 3, 0].map((i) => FileId.of(ids[i]!).text);
      for (let revision = -5; revision <= 4; revision++) {
        const expected = order.at(revision) !== undefined && revision >= -4 && revision < 4 ? order.at(revision) : undefined;
        assert.equal((await opened.bucket.byName('movie.mp4', revision))?.id.text, expected, String(revision));
      }
      assert.equal(await opened.bucket.revisions('movie.mp4'), 4);
      assert.equal(await opened.bucket.revisions('none'), 0);
    }));
  }

  test('have versions of their own, though name, length and date are alike', () => withStore(async (opened) => {
    for (let i = 0; i < 2; i++) await opened.plant({ bytes: patternBytes(1) });
    assert.notEqual((await opened.bucket.byName('movie.mp4', 0))?.version, (await opened.bucket.byName('movie.mp4', 1))?.version);
  }));
});

describe('a list', () => {
  for (const indexed of [true, false]) {
    for (const field of ['filename', 'uploadDate', 'length'] as const) {
      for (const direction of [1, -1] as const) {
        test(`by ${field}, ${direction > 0 ? 'ascending' : 'descending'}, gives every file once, page by page, ${indexed ? 'with' : 'without'} indexes`, () => withStore(async (opened) => {
          if (indexed) await opened.createIndexes();
          const names = ['a', 'b', 'ab', 'abc', 'ä', 'B', 'a'];
          for (const [i, filename] of names.entries()) await opened.plant({ filename, bytes: patternBytes((i * 5) % 7), fields: { uploadDate: new DateTime((i * 3) % 4) } });
          await opened.plant({ filename: undefined, bytes: patternBytes(1), fields: { uploadDate: undefined } });
          const seen: StoredFile[] = [];
          let after: string | undefined;
          do {
            const page: { readonly files: readonly StoredFile[]; readonly next: string | undefined } = await opened.bucket.list({ prefix: '', sort: { field, direction }, limit: 3, after, accepts: () => true });
            assert.ok(page.files.length <= 3);
            seen.push(...page.files);
            after = page.next;
          } while (after !== undefined);
          assert.equal(new Set(seen.map(({ id }) => id.text)).size, names.length + 1);
          assert.equal(seen.length, names.length + 1);
          const valueOf = (file: StoredFile): number | string => (field === 'filename' ? (file.filename ?? '') : field === 'length' ? file.length : (file.uploadDateMs ?? -1));
          for (const [i, file] of seen.slice(1).entries()) {
            const [a, b] = [valueOf(seen[i]!), valueOf(file)];
            assert.ok(direction > 0 ? a <= b : a >= b, `${a} ${b}`);
          }
          const prefixed = await opened.bucket.list({ prefix: 'ab', sort: { field, direction }, limit: 10, after: undefined, accepts: () => true });
          assert.deepEqual(prefixed.files.map(({ filename }) => filename).sort(), ['ab', 'abc']);
          const chosen = await opened.bucket.list({ prefix: '', sort: { field, direction }, limit: 2, after: undefined, accepts: ({ length }) => length > 4 });
          assert.deepEqual(chosen.files.map(({ length }) => length).sort(), [5, 6]);
        }));
      }
    }
  }

  test('of a bucket that is not there is empty, and a false page end is refused', () => withStore(async (opened) => {
    const query = { prefix: '', sort: { field: 'length', direction: 1 }, limit: 2, after: undefined, accepts: () => true } as const;
    assert.deepEqual(await opened.bucket.list(query), { files: [], next: undefined });
    await opened.plant({ bytes: patternBytes(1) });
    await assert.rejects(opened.bucket.list({ ...query, after: '%' }), FileError);
  }));
});

test('deleting takes the file document first, then all chunks, and a file that is being read is then gone', () => withStore(async (opened) => {
  const file = await opened.upload('x', patternBytes(2_000_000), { chunkSize: 10_000 });
  const other = await opened.upload('x', patternBytes(20_000), { chunkSize: 10_000 });
  const reader = opened.bucket.open(file);
  await readChunks(reader, file, 0, 3);
  assert.equal(await opened.bucket.remove(file.id), true);
  assert.equal(await opened.bucket.remove(file.id), false);
  assert.equal(await opened.count('fs.chunks'), 2);
  assert.equal(await opened.count('gridfsLeftovers', 'local'), 0);
  await assert.rejects(readChunks(reader, file, 4, 7), (error: unknown) => error instanceof FileError && error.code === 'gone');
  assert.deepEqual(await readAll(opened.bucket, other), patternBytes(20_000));
}));

test('a file that is put in the place of another, under its id, is never read as the one that was opened', () => withStore(async (opened) => {
  await opened.createIndexes();
  await opened.plant({ id: 'same', bytes: patternBytes(10_000, 1), chunkSize: 1000 });
  const file = (await opened.bucket.byId(FileId.of('same')))!;
  const reader = opened.bucket.open(file);
  assert.deepEqual(await readChunks(reader, file, 0, 4), patternBytes(10_000, 1).subarray(0, 5000));
  await opened.bucket.remove(FileId.of('same'));
  await opened.plant({ id: 'same', bytes: patternBytes(10_000, 2), chunkSize: 1000, fields: { uploadDate: new DateTime(1) } });
  await assert.rejects(readChunks(reader, file, 5, 9), (error: unknown) => error instanceof FileError && error.code === 'gone');
}));

describe('an upload that is left and gone on with', () => {
  const request = { filename: 'long', contentType: 'video/mp4', metadata: new Map([['title', 'T']]), chunkSize: 1024, onlyIfAbsent: false };
  const plan = { length: undefined, expiresMs: Number.MAX_SAFE_INTEGER };
  const bytes = patternBytes(10_007);
  const sha256 = createHash('sha256').update(bytes).digest('hex');

  for (const restarts of [false, true]) {
    test(`becomes the same file, wherever it was left${restarts ? ', after restarts' : ''}`, async () => {
      let opened = await StoreForTest.open();
      const { id } = await opened.bucket.createResumable(request, plan);
      for (const end of [0, 1, 1023, 1024, 1025, 3072, 3500, 3501, 9000, 10_007]) {
        const upload = (await opened.bucket.resume(id, plan))!;
        for (let at = upload.offset; at < end; at += 300) await upload.write(bytes.subarray(at, Math.min(end, at + 300)));
        assert.equal(await upload.suspend(), end);
        assert.equal((await opened.bucket.resumable(id))?.offset, end);
        assert.equal(await opened.bucket.byName('long', -1), undefined);
        if (!restarts) continue;
        await opened.store.close();
        await opened.engine.close();
        opened = await StoreForTest.open(opened.env);
      }
      const file = await (await opened.bucket.resume(id, plan))!.finish(sha256);
      assert.deepEqual([file.id.text, file.length, file.sha256, file.contentType, JSON.parse(file.metadata!)], [id.text, 10_007, sha256, 'video/mp4', { title: 'T', contentType: 'video/mp4', sha256 }]);
      assert.deepEqual(await readAll(opened.bucket, file), bytes);
      assert.equal((await opened.bucket.check(file)).sound, true);
      assert.deepEqual([await opened.bucket.resumable(id), await opened.count('gridfsUploads', 'local'), await opened.count('fs.chunks')], [undefined, 0, 10]);
      await opened.close();
    });
  }

  test('forgets what came since, where it is told to', () => withStore(async (opened) => {
    const { id } = await opened.bucket.createResumable(request, plan);
    for (const [begin, end] of [[0, 2500], [2500, 2501], [2501, 4000]] as const) {
      const wrong = (await opened.bucket.resume(id, plan))!;
      for (let i = 0; i < 3; i++) await wrong.write(patternBytes(1_500_000, 99));
      await wrong.rewind();
      assert.equal((await opened.bucket.resumable(id))?.offset, begin);
      const right = (await opened.bucket.resume(id, plan))!;
      await right.write(bytes.subarray(begin, end));
      await right.suspend();
    }
    const upload = (await opened.bucket.resume(id, plan))!;
    await upload.write(bytes.subarray(4000));
    assert.deepEqual(await readAll(opened.bucket, await upload.finish(sha256)), bytes);
    assert.equal(await opened.count('fs.chunks'), 10);
  }));

  test('keeps what was durable when the server is killed in the middle', () => withStore(async (opened) => {
    const { id } = await opened.bucket.createResumable({ ...request, chunkSize: 100_000 }, plan);
    const much = patternBytes(5_000_000, 4);
    const upload = (await opened.bucket.resume(id, plan))!;
    for (let at = 0; at < 3_000_000; at += 250_000) await upload.write(much.subarray(at, at + 250_000));
    await opened.engine.close();
    const again = await StoreForTest.open(opened.env);
    const { offset } = (await again.bucket.resumable(id))!;
    assert.ok(offset >= 1_000_000 && offset <= 3_000_000, String(offset));
    const next = (await again.bucket.resume(id, plan))!;
    await next.write(much.subarray(offset));
    assert.deepEqual(await readAll(again.bucket, await next.finish()), much);
    await again.close();
  }));

  test('is removed, or expires, with all that came of it', () => withStore(async (opened) => {
    const ids = [];
    for (const expiresMs of [plan.expiresMs, opened.env.clock.nowMs() - 1]) {
      const { id } = await opened.bucket.createResumable(request, plan);
      const upload = (await opened.bucket.resume(id, { ...plan, expiresMs }))!;
      await upload.write(bytes);
      await upload.suspend();
      ids.push(id);
    }
    assert.equal(await opened.bucket.resumable(ids[1]!), undefined);
    assert.deepEqual([await opened.store.removeExpired(), await opened.store.removeExpired(), await opened.count('fs.chunks')], [1, 0, 10]);
    assert.deepEqual([await opened.bucket.removeResumable(ids[0]!), await opened.bucket.removeResumable(ids[0]!)], [true, false]);
    assert.deepEqual([await opened.count('fs.chunks'), await opened.count('gridfsUploads', 'local'), await opened.count('gridfsLeftovers', 'local')], [0, 0, 0]);
    assert.equal(await opened.bucket.resume(ids[0]!, plan), undefined);
  }));

  test('belongs to its bucket, holds its name to be new, and may learn its length later', () => withStore(async (opened) => {
    const { id } = await opened.bucket.createResumable({ ...request, onlyIfAbsent: true }, plan);
    assert.equal(await opened.store.bucket('test', 'other').resumable(id), undefined);
    assert.equal(await opened.store.bucket('other', 'fs').resume(id, plan), undefined);
    await (await opened.bucket.resume(id, { ...plan, length: 5 }))!.suspend();
    assert.equal((await opened.bucket.resumable(id))?.length, 5);
    await opened.upload('long', bytes);
    const upload = (await opened.bucket.resume(id, plan))!;
    await assert.rejects(upload.finish(), (error: unknown) => error instanceof FileError && error.code === 'exists');
  }));
});

describe('a change of a file', () => {
  test('gives it another name and merges its metadata; everything else stays where it was', () => withStore(async (opened) => {
    const stored = await opened.upload('old', patternBytes(10));
    const changed = await opened.bucket.change(stored.id, { filename: 'new/name', metadata: new Map([['title', '"A"'], ['year', '{"$numberLong":"9007199254740993"}']]) });
    assert.deepEqual([changed?.filename, changed?.version, changed?.sha256, JSON.parse(changed!.metadata!)], ['new/name', stored.version, stored.sha256, { sha256: stored.sha256, title: 'A', year: 9007199254740993 }]);
    assert.match(changed!.metadata!, /9007199254740993/);
    const again = await opened.bucket.change(stored.id, { filename: undefined, metadata: new Map([['title', 'null']]) });
    assert.deepEqual([again?.filename, Object.keys(JSON.parse(again!.metadata!) as object)], ['new/name', ['sha256', 'year']]);
    assert.deepEqual(await opened.bucket.byName('new/name', -1), again);
    assert.equal(await opened.bucket.byName('old', -1), undefined);
    assert.deepEqual(await readAll(opened.bucket, again!), patternBytes(10));
  }));

  test('is refused for what files cannot have, and finds nothing where there is no file', () => withStore(async (opened) => {
    const { id } = await opened.upload('old', patternBytes(10));
    const none = new Map<string, string>();
    for (const filename of ['', 'a\0']) await assert.rejects(opened.bucket.change(id, { filename, metadata: none }), FileError);
    for (const [name, json] of [['sha256', '"x"'], ['$a', '1'], ['a.b', '1'], ['', '1'], ['a', '{'], ['a', '{"$numberInt":"x"}']] as const) {
      await assert.rejects(opened.bucket.change(id, { filename: undefined, metadata: new Map([[name, json]]) }), (error: unknown) => error instanceof FileError && error.code === 'bad-metadata', name);
    }
    assert.equal(await opened.bucket.change(FileId.of('none'), { filename: 'x', metadata: none }), undefined);
    assert.equal(await opened.store.bucket('test', 'none').change(id, { filename: 'x', metadata: none }), undefined);
  }));
});

test('a check of a whole file is sound and its digest is that of the bytes', () => withStore(async (opened) => {
  const bytes = patternBytes(300_000);
  const file = await opened.upload('x', bytes, { chunkSize: 4096 });
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const { chunkCount } = file;
  assert.deepEqual(await opened.bucket.check(file), {
    sound: true, chunksExpected: chunkCount, chunksFound: chunkCount, bytesFound: bytes.length, missing: [], extra: [], wrongLength: [], sha256, sha256Agrees: true, fault: undefined,
  });
}));
