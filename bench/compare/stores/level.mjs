// The log-structured stores of npm: LevelDB (classic-level) and RocksDB in two bindings. Tables are a first byte of the key; half of the cache is
// for blocks, a quarter a memtable, of which there are two. A batch is written with `sync`.

import { promisify } from 'node:util';
import { join } from 'node:path';
import { asKeyValue } from './key-value.mjs';

function prefixed(table, key) {
  const bytes = Buffer.allocUnsafe(key.length + 1);
  bytes[0] = table;
  bytes.set(key, 1);
  return bytes;
}

const operations = (entries) => entries.map(([table, key, value]) => ({ type: 'put', key: prefixed(table, key), value: Buffer.from(value.buffer, value.byteOffset, value.length) }));

async function drain(rows, limit, table, visit) {
  for (let left = limit; left > 0; ) {
    const batch = await rows(Math.min(left, 1000));
    if (batch.length === 0) return;
    for (const [key, value] of batch) {
      if (key[0] !== table) return;
      visit(key.subarray(1), value);
    }
    left -= batch.length;
  }
}

function asStore(db) {
  return asKeyValue({
    write: (entries) => db.batch(operations(entries), { sync: true }),
    async get(table, keys) {
      let found = 0;
      for (const key of keys) if ((await db.get(prefixed(table, key)).catch(() => undefined)) !== undefined) found++;
      return found;
    },
    async range(table, from, limit, visit) {
      const iterator = db.iterator({ gte: prefixed(table, from) });
      await drain((size) => iterator.nextv(size), limit, table, visit);
      await iterator.close();
    },
    close: () => db.close(),
  });
}

const encodings = { keyEncoding: 'buffer', valueEncoding: 'buffer' };

export async function openClassicLevel(directory, cacheBytes) {
  const { ClassicLevel } = await import('classic-level');
  const db = new ClassicLevel(join(directory, 'data'), { ...encodings, cacheSize: cacheBytes / 2, writeBufferSize: cacheBytes / 4 });
  await db.open();
  return asStore(db);
}

export async function openNextRocks(directory, cacheBytes) {
  const { RocksLevel } = await import('@nxtedition/rocksdb');
  const db = new RocksLevel(join(directory, 'data'), { ...encodings });
  await db.open({ createIfMissing: true, cacheSize: cacheBytes / 2, memtableMemoryBudget: cacheBytes / 2, compression: true, parallelism: 2 });
  return asStore(db);
}

export async function openRocks(directory, cacheBytes) {
  const { default: rocksdb } = await import('rocksdb');
  const db = rocksdb(join(directory, 'data'));
  await promisify(db.open.bind(db))({ createIfMissing: true, cacheSize: cacheBytes / 2, writeBufferSize: cacheBytes / 4 });
  const batch = promisify(db.batch.bind(db));
  const get = promisify(db.get.bind(db));
  return asStore({
    batch,
    get: (key) => get(key, { asBuffer: true }),
    iterator(range) {
      const iterator = db.iterator({ ...range, keyAsBuffer: true, valueAsBuffer: true });
      const step = () => new Promise((resolve, reject) => iterator.next((error, key, value) => (error ? reject(error) : resolve(key === undefined ? undefined : [key, value]))));
      return {
        async nextv(size) {
          const rows = [];
          for (let row = await step(); row !== undefined; row = rows.length < size ? await step() : undefined) rows.push(row);
          return rows;
        },
        close: () => promisify(iterator.end.bind(iterator))(),
      };
    },
    close: () => promisify(db.close.bind(db))(),
  });
}
