// The engines that are compared, each behind the same few calls: open, write a batch durably, get, scan, close. Same cache, same durability: a batch
// is on the disk when `write` resolves. Values and keys are given as bytes and taken as bytes.

import { join } from 'node:path';

const zeroKey = new Uint8Array(0);

async function openFrond(directory, cacheBytes) {
  const { openEnvironment } = await import('../../dist/src/engine/index.js');
  const { openHostEnv } = await import('../../dist/src/env/index.js');
  const engine = await openEnvironment(await openHostEnv(), join(directory, 'data'), { cacheBytes });
  const id = engine.catalogDictionary;
  return {
    async write(rows) {
      const transaction = engine.begin('statement');
      for (const [key, value] of rows) {
        const waits = transaction.put(id, key, value);
        if (waits !== undefined) await waits;
      }
      await transaction.commit();
    },
    async get(keys) {
      const transaction = engine.begin('read');
      let found = 0;
      for (const key of keys) {
        const value = transaction.get(id, key);
        if ((value instanceof Promise ? await value : value) !== undefined) found++;
      }
      transaction.abort();
      return found;
    },
    async scan() {
      const transaction = engine.begin('read');
      const cursor = transaction.cursor(id, {}, 1);
      let rows = 0;
      for (let batch = await cursor.nextBatch({ rows: 1000, bytes: 1 << 20 }); batch.length > 0; batch = await cursor.nextBatch({ rows: 1000, bytes: 1 << 20 })) {
        for (let i = 0; i < batch.length; i++) if (batch.value(i).length >= 0) rows++;
      }
      cursor.close();
      transaction.abort();
      return rows;
    },
    close: () => engine.close(),
  };
}

async function openLevel(directory, cacheBytes) {
  const { ClassicLevel } = await import('classic-level');
  const db = new ClassicLevel(join(directory, 'data'), { keyEncoding: 'view', valueEncoding: 'view', cacheSize: cacheBytes / 2, writeBufferSize: cacheBytes / 4 });
  await db.open();
  return {
    write: (rows) => db.batch(rows.map(([key, value]) => ({ type: 'put', key, value })), { sync: true }),
    async get(keys) {
      let found = 0;
      for (const key of keys) if ((await db.get(key)) !== undefined) found++;
      return found;
    },
    async scan() {
      const iterator = db.iterator({ gte: zeroKey });
      let rows = 0;
      for (let batch = await iterator.nextv(1000); batch.length > 0; batch = await iterator.nextv(1000)) rows += batch.length;
      await iterator.close();
      return rows;
    },
    close: () => db.close(),
  };
}

async function openLmdb(directory) {
  const { open } = await import('lmdb');
  // It has no cache of its own: the page cache is what it uses.
  const db = open({ path: join(directory, 'data'), keyEncoding: 'binary', encoding: 'binary', overlappingSync: false });
  return {
    write: (rows) => db.transaction(() => {
      for (const [key, value] of rows) void db.put(Buffer.from(key), Buffer.from(value));
    }),
    get: (keys) => keys.filter((key) => db.getBinary(Buffer.from(key)) !== undefined).length,
    scan() {
      let rows = 0;
      for (const { value } of db.getRange({})) if (value.length >= 0) rows++;
      return rows;
    },
    close: () => db.close(),
  };
}

async function openSqlite(directory, cacheBytes) {
  const { default: Database } = await import('better-sqlite3');
  const db = new Database(join(directory, 'data.sqlite'));
  for (const pragma of ['journal_mode = WAL', 'synchronous = FULL', `cache_size = -${String(cacheBytes >> 10)}`]) db.pragma(pragma);
  db.exec('CREATE TABLE t (k BLOB PRIMARY KEY, v BLOB) WITHOUT ROWID');
  const put = db.prepare('INSERT OR REPLACE INTO t VALUES (?, ?)');
  const get = db.prepare('SELECT v FROM t WHERE k = ?');
  const all = db.prepare('SELECT k, v FROM t ORDER BY k');
  const write = db.transaction((rows) => {
    for (const [key, value] of rows) put.run(key, value);
  });
  return {
    write,
    get: (keys) => keys.filter((key) => get.get(key) !== undefined).length,
    scan() {
      let rows = 0;
      for (const row of all.iterate()) if (row !== undefined) rows++;
      return rows;
    },
    close: () => db.close(),
  };
}

/** Openers by name. */
export const engines = { fronddb: openFrond, 'classic-level': openLevel, lmdb: openLmdb, 'better-sqlite3': openSqlite };
