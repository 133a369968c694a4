// LMDB (lmdb): it has no cache of its own, the page cache is what it uses. A transaction is on the disk when it resolves.

import { join } from 'node:path';
import { tables } from '../rows.mjs';
import { asKeyValue } from './key-value.mjs';

const asBuffer = (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);

export async function openLmdb(directory) {
  const { open } = await import('lmdb');
  const root = open({ path: join(directory, 'data'), overlappingSync: false, maxDbs: tables.length });
  const dbs = tables.map((name) => root.openDB({ name, keyEncoding: 'binary', encoding: 'binary' }));
  return asKeyValue({
    write: (entries) => root.transaction(() => {
      for (const [table, key, value] of entries) void dbs[table].put(asBuffer(key), asBuffer(value));
    }),
    get: (table, keys) => keys.filter((key) => dbs[table].getBinary(asBuffer(key)) !== undefined).length,
    range(table, from, limit, visit) {
      for (const { key, value } of dbs[table].getRange({ start: asBuffer(from), ...(limit === Infinity ? {} : { limit }) })) visit(key, value);
    },
    close: () => root.close(),
  });
}
