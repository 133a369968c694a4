// Where files and chunks are is remembered while nobody writes (src/gridfs/remembered.ts): whatever is written, by whomever, is seen by the next read.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { concatBytes } from '../../src/base/bytes.ts';
import { Binary, Document } from '../../src/bson/index.ts';
import type { Value } from '../../src/bson/index.ts';
import { namespaceOf } from '../../src/catalog/index.ts';
import type { CatalogTransaction, Collection } from '../../src/catalog/index.ts';
import { FileError, FileId, readBytes } from '../../src/gridfs/index.ts';
import type { FileReader, StoredFile } from '../../src/gridfs/index.ts';
import { patternBytes, StoreForTest } from '../support/file-store.ts';

async function withStore(work: (opened: StoreForTest) => Promise<void>): Promise<void> {
  const opened = await StoreForTest.open();
  try {
    await work(opened);
  } finally {
    await opened.close();
  }
}

async function readAll(reader: FileReader, file: StoredFile): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  await readBytes(reader, 0, file.length - 1, (bytes) => pieces.push(bytes.slice()));
  return concatBytes(pieces);
}

describe('what was found once is looked for again when somebody has written', () => {
  const bytes = patternBytes(100_000);
  const changes: readonly (readonly [name: string, change: (opened: StoreForTest, chunks: readonly Document[]) => Promise<void>, n: number | 'gone' | undefined])[] = [
    ['another file', async (opened) => { await opened.upload('other', patternBytes(50_000, 9), { chunkSize: 20_000 }); }, undefined],
    ['a chunk that is removed', async (opened, chunks) => { await write(opened, (txn, collection) => removeRow(txn, collection, chunks[2]!)); }, 2],
    ['a chunk that is shorter', async (opened, chunks) => { await write(opened, (txn, collection) => replaceRow(txn, collection, chunks[3]!, { data: new Binary(new Uint8Array(19_999)) })); }, 3],
    ['a chunk that has another number', async (opened, chunks) => { await write(opened, (txn, collection) => replaceRow(txn, collection, chunks[1]!, { n: 77 })); }, 1],
    ['one number twice', async (opened, chunks) => { await opened.insert('fs.chunks', [Document.fromEntries([...chunks[4]!.fields.filter(([name]) => name !== '_id'), ['_id', opened.nextId()]])]); }, 4],
    ['the file deleted', async (opened) => { await opened.bucket.remove(FileId.of('film')); }, 'gone'],
  ];
  for (const [name, change, n] of changes) test(name, () => withStore(async (opened) => {
    const all: Document[] = [];
    await opened.plant({ id: 'film', bytes, chunkSize: 20_000, chunks: (usual) => { all.push(...usual); return usual; } });
    const file = (await opened.bucket.byId(FileId.of('film')))!;
    const reader = opened.bucket.open(file);
    for (let round = 0; round < 3; round++) {
      assert.deepEqual(await opened.bucket.byName('movie.mp4', -1), file);
      assert.deepEqual(await readAll(reader, file), bytes);
    }
    await change(opened, all);
    const again = opened.bucket.open(file);
    if (n === undefined) for (const one of [reader, again]) assert.deepEqual(await readAll(one, file), bytes);
    else if (n === 'gone') await assert.rejects(readAll(reader, file), (error: unknown) => error instanceof FileError && error.code === 'gone');
    else await assert.rejects(readAll(again, file), (error: unknown) => error instanceof FileError && error.code === 'corrupt' && error.place.n === n);
    assert.deepEqual(await opened.bucket.byId(FileId.of('film')), n === 'gone' ? undefined : file);
  }));
});

async function write(opened: StoreForTest, work: (txn: CatalogTransaction, collection: Collection) => Promise<void>): Promise<void> {
  await opened.catalog.run(async (txn) => {
    await work(txn, await opened.catalog.ensureCollection(txn, namespaceOf('test', 'fs.chunks')));
  });
}

async function removeRow(txn: CatalogTransaction, collection: Collection, document: Document): Promise<void> {
  const key = collection.keyOf(document.get('_id') ?? null);
  await collection.lock(txn, key);
  await collection.remove(txn, key, document);
}

async function replaceRow(txn: CatalogTransaction, collection: Collection, before: Document, fields: Readonly<Record<string, Value>>): Promise<void> {
  const key = collection.keyOf(before.get('_id') ?? null);
  await collection.lock(txn, key);
  await collection.update(txn, key, { before, after: Document.fromEntries(before.fields.map(([name, value]) => [name, fields[name] ?? value])) });
}
