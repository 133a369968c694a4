// A store of keys and values seen as what the experiments ask: pairs, and rows with three indexes kept as entries of their own.
// A plain store has: pid, write(entries) durable, get(table, keys) -> found, range(table, from, limit, visit), close().

import { entriesOf, rowOf } from '../rows.mjs';

const start = new Uint8Array(8);

/** The store's face for the experiments. */
export function asKeyValue(plain) {
  const count = async (table, from, limit) => {
    let rows = 0;
    await plain.range(table, from, limit, (key, value) => {
      if (key.length + value.length > 0) rows++;
    });
    return rows;
  };
  return {
    pid: process.pid,
    makeEntries: (rows) => rows.flatMap(entriesOf),
    makePairs: (pairs) => pairs.map(([key, value]) => [0, key, value]),
    write: (entries) => plain.write(entries),
    get: (keys) => plain.get(0, keys),
    scan: () => count(0, start, Infinity),
    indexRange: (index, place, limit) => count(index + 1, place, limit),
    async fetchRange(index, place, limit) {
      const keys = [];
      await plain.range(index + 1, place, limit, (key) => keys.push(rowOf(key)));
      return await plain.get(0, keys);
    },
    close: () => plain.close(),
  };
}
