// FrondDB's engine in this process, each commit on the disk before it is answered.

import { join } from 'node:path';
import { tables } from '../rows.mjs';
import { asKeyValue } from './key-value.mjs';

const batchLimit = { rows: 1000, bytes: 1 << 20 };

export async function openFrond(directory, cacheBytes) {
  const { openEnvironment } = await import('../../../dist/src/engine/index.js');
  const { openHostEnv } = await import('../../../dist/src/env/index.js');
  const engine = await openEnvironment(await openHostEnv(), join(directory, 'data'), { cacheBytes });
  const making = engine.begin('statement');
  const ids = tables.map(() => making.createDictionary());
  await making.commit();
  return asKeyValue({
    async write(entries) {
      const transaction = engine.begin('statement');
      for (const [table, key, value] of entries) {
        // An entry of an index is covered by the lock of its row, as in the product's catalog.
        const waits = table === 0 ? transaction.put(ids[table], key, value) : transaction.putCovered(ids[table], key, value);
        if (waits !== undefined) await waits;
      }
      await transaction.commit();
    },
    async get(table, keys) {
      const transaction = engine.begin('read');
      let found = 0;
      for (const key of keys) {
        const value = transaction.get(ids[table], key);
        if ((value instanceof Promise ? await value : value) !== undefined) found++;
      }
      transaction.abort();
      return found;
    },
    async range(table, from, limit, visit) {
      const transaction = engine.begin('read');
      const cursor = transaction.cursor(ids[table], { from }, 1);
      let left = limit;
      while (left > 0) {
        const batch = await cursor.nextBatch({ ...batchLimit, rows: Math.min(left, batchLimit.rows) });
        for (let i = 0; i < batch.length; i++) visit(batch.key(i), batch.value(i));
        left = batch.length === 0 ? 0 : left - batch.length;
      }
      cursor.close();
      transaction.abort();
    },
    close: () => engine.close(),
  });
}
