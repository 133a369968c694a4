// TokuMX's options of collections and indexes, and reIndex, which changes them. What is shown and refused follows its manual and its tests
// (`reindex_change_index_attrs`): quantities as "64k", options listed as they were given, figures in bytes.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import type { Db, Document } from 'mongodb';

import { openServerForTest } from '../support/open-server-for-test.ts';
import type { ServerForTest } from '../support/open-server-for-test.ts';

let server: ServerForTest;
let db: Db;

before(async () => {
  server = await openServerForTest();
  db = (await server.driver()).db('kept');
});
after(() => server.close());

interface Kept {
  readonly compression: string;
  readonly pageSize: number;
  readonly readPageSize: number;
  readonly fanout: number;
}

/** How the documents and each index are kept, as collStats says. */
async function kept(name: string): Promise<Record<string, Kept>> {
  const stats = await db.command({ collStats: name });
  const frond = stats['frond'] as Kept;
  const indexDetails = stats['indexDetails'] as Record<string, Kept>;
  const of = ({ compression, pageSize, readPageSize, fanout }: Kept): Kept => ({ compression, pageSize, readPageSize, fanout });
  return Object.fromEntries(Object.entries({ documents: frond, ...indexDetails }).map(([index, figures]) => [index, of(figures)]));
}

async function codeOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 0,
    (error: unknown) => (error as { code?: unknown }).code,
  );
}

const index = (key: Document, name: string, options: Document = {}): Document => ({ key, name, ...options });

test('collections and indexes take compression, pageSize, readPageSize and fanout, as numbers and as quantities', async () => {
  await db.command({ create: 'all', compression: 'quicklz', pageSize: '4MB', readPageSize: '64k', fanout: 8 });
  await db.command({
    createIndexes: 'all',
    indexes: [
      index({ a: 1 }, 'a', { compression: 'lzma', pageSize: 131072, readPageSize: '32 KB' }),
      index({ b: 1 }, 'b', { storageEngine: { frond: { compression: 'none', fanout: 32, readPageSize: '4k' } }, clustering: true }),
      index({ c: 1 }, 'c'),
    ],
  });
  assert.deepEqual(await kept('all'), {
    documents: { compression: 'lz4', pageSize: 4 << 20, readPageSize: 64 << 10, fanout: 8 },
    a: { compression: 'zstd', pageSize: 131072, readPageSize: 32 << 10, fanout: 16 },
    b: { compression: 'none', pageSize: 1 << 20, readPageSize: 4 << 10, fanout: 32 },
    c: { compression: 'zstd', pageSize: 1 << 20, readPageSize: 8 << 10, fanout: 16 },
  });
  const [listed] = await db.listCollections({ name: 'all' }).toArray();
  assert.deepEqual((listed as { options?: Document }).options, { compression: 'quicklz', pageSize: '4MB', readPageSize: '64k', fanout: 8 });
  const specs = await db.collection('all').indexes();
  assert.deepEqual(specs.find(({ name }) => name === 'a'), { v: 2, key: { a: 1 }, name: 'a', compression: 'lzma', pageSize: 131072, readPageSize: '32 KB' });
});

test('what cannot be is refused where it is said', async () => {
  const refused: readonly [Document, number][] = [
    [{ compression: 'brotli' }, 2],
    [{ compression: 5 }, 14],
    [{ pageSize: 'many' }, 2],
    [{ pageSize: '64x' }, 2],
    [{ pageSize: true }, 14],
    [{ pageSize: 10 }, 2],
    [{ pageSize: '1GB' }, 2],
    [{ readPageSize: '2MB' }, 2],
    [{ fanout: 1 }, 2],
    [{ fanout: 4.5 }, 2],
  ];
  for (const [options, code] of refused) {
    assert.equal(await codeOf(db.command({ create: 'refused', ...options })), code, JSON.stringify(options));
    assert.equal(await codeOf(db.command({ createIndexes: 'refused', indexes: [index({ a: 1 }, 'a', options)] })), code, JSON.stringify(options));
    assert.equal(await codeOf(db.command({ create: 'refused', storageEngine: { frond: options } })), code, JSON.stringify(options));
    assert.equal(await codeOf(db.command({ reIndex: 'all', options })), code, JSON.stringify(options));
  }
});

test('reIndex changes how one index, or the documents, are kept, and says how they were', async () => {
  const c = db.collection<{ _id: number; i: number }>('changed');
  await c.insertMany(Array.from({ length: 2000 }, (_, _id) => ({ _id, i: _id % 7, text: 'much the same '.repeat(20) })));
  await db.command({ createIndexes: 'changed', indexes: [index({ i: 1 }, 'i_1', { compression: 'none', clustering: true })] });
  const old = await kept('changed');
  for (const which of ['_id_', { _id: 1 }]) {
    const reply = await db.command({ reIndex: 'changed', index: which, options: { compression: 'lzma', readPageSize: '32k' } });
    assert.equal(reply['nIndexes'], 2);
    assert.equal((reply['was'] as Document)['name'], '_id_');
  }
  const now = await kept('changed');
  assert.deepEqual(now['documents'], { ...old['documents'], compression: 'zstd', readPageSize: 32 << 10 });
  assert.deepEqual(now['i_1'], old['i_1']);
  const sizeOf = async (): Promise<number> => ((await db.command({ collStats: 'changed' }))['indexSizes'] as { i_1: number }).i_1;
  const before = await sizeOf();
  const reply = await db.command({ reIndex: 'changed', index: '*', options: { compression: 'zlib', pageSize: '8MB' } });
  assert.deepEqual((reply['was'] as { name: string; compression: string }[]).map((was) => [was.name, was.compression]), [['_id_', 'zstd'], ['i_1', 'none']]);
  assert.deepEqual(await kept('changed'), {
    documents: { compression: 'zlib', pageSize: 8 << 20, readPageSize: 32 << 10, fanout: 16 },
    i_1: { ...old['i_1'], compression: 'zlib', pageSize: 8 << 20 },
  });
  assert.ok((await sizeOf()) * 3 < before || before === 0);
  assert.equal(await c.countDocuments({ i: 3 }, { hint: 'i_1' }), 286);
  assert.deepEqual((await db.command({ validate: 'changed' }))['errors'], []);
  assert.equal((await c.indexes()).find(({ name }) => name === 'i_1')?.['compression'], 'zlib');
});

test('reIndex without options writes all anew; what is not there is told', async () => {
  const reply = await db.command({ reIndex: 'changed' });
  assert.deepEqual([reply['nIndexesWas'], reply['nIndexes'], reply['was']], [2, 2, undefined]);
  assert.equal(await codeOf(db.command({ reIndex: 'nothing' })), 26);
  assert.equal(await codeOf(db.command({ reIndex: 'changed', index: 'nothing' })), 27);
  assert.equal(await codeOf(db.command({ reIndex: 'changed', options: { clustering: true } })), 72);
});

test('the parts of a partitioned collection change together, and those that come are as the others', async () => {
  await db.command({ create: 'parts', partitioned: true });
  await db.command({ createIndexes: 'parts', indexes: [index({ a: 1 }, 'a_1')] });
  await db.command({ addPartition: 'parts', newMax: { _id: 10 } });
  await db.command({ reIndex: 'parts', index: '*', options: { compression: 'quicklz' } });
  await db.command({ addPartition: 'parts', newMax: { _id: 20 } });
  const partitions = (await db.command({ collStats: 'parts' }))['partitions'] as { frond: Kept; indexDetails: Record<string, Kept> }[];
  assert.deepEqual(partitions.map(({ frond, indexDetails }) => [frond.compression, indexDetails['a_1']?.compression]), [['lz4', 'lz4'], ['lz4', 'lz4'], ['lz4', 'lz4']]);
});
