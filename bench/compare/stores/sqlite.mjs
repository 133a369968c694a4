// SQLite (better-sqlite3): a table without row ids for the rows and for each index, write-ahead log, synchronous FULL.

import { join } from 'node:path';
import { tables } from '../rows.mjs';
import { asKeyValue } from './key-value.mjs';

export async function openSqlite(directory, cacheBytes) {
  const { default: Database } = await import('better-sqlite3');
  const db = new Database(join(directory, 'data.sqlite'));
  for (const pragma of ['journal_mode = WAL', 'synchronous = FULL', `cache_size = -${String(cacheBytes >> 10)}`]) db.pragma(pragma);
  for (const name of tables) db.exec(`CREATE TABLE ${name} (k BLOB PRIMARY KEY, v BLOB) WITHOUT ROWID`);
  const puts = tables.map((name) => db.prepare(`INSERT OR REPLACE INTO ${name} VALUES (?, ?)`));
  const gets = tables.map((name) => db.prepare(`SELECT v FROM ${name} WHERE k = ?`));
  const ranges = tables.map((name) => db.prepare(`SELECT k, v FROM ${name} WHERE k >= ? ORDER BY k LIMIT ?`));
  return asKeyValue({
    write: db.transaction((entries) => {
      for (const [table, key, value] of entries) puts[table].run(key, value);
    }),
    get: (table, keys) => keys.filter((key) => gets[table].get(key) !== undefined).length,
    range(table, from, limit, visit) {
      for (const { k, v } of ranges[table].iterate(from, limit === Infinity ? -1 : limit)) visit(k, v);
    },
    close: () => db.close(),
  });
}
