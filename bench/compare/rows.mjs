// The rows of the experiments. `pairRow`: a random key of 16 bytes and a value of 100, of which half compresses. `indexedRow`: the iiBench shape, 242
// bytes of a user: an increasing key of 8 bytes, a value of 150 that holds three random columns of 20, and an entry of 28 (column, key) in each of
// three indexes.

import { next, randomBytes } from './measured.mjs';

/** Names of the tables of an indexed row: the rows, then an index a column. */
export const tables = ['rows', 'index0', 'index1', 'index2'];
export const columnBytes = 20;
/** Bytes of a user in an indexed row. */
export const indexedRowBytes = 8 + 150 + 3 * (columnBytes + 8);

function halfCompressible(length, seed) {
  const bytes = randomBytes(length);
  for (let i = 0; i < length >> 1; i++) bytes[i] = 97 + (seed[i & 7] % 26);
  return bytes;
}

/** A key and a value. */
export function pairRow() {
  const key = randomBytes(16);
  return [key, halfCompressible(100, key)];
}

function idBytes(id) {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(id));
  return bytes;
}

/** One row of the iiBench shape. */
export function indexedRow(id) {
  const columns = [randomBytes(columnBytes), randomBytes(columnBytes), randomBytes(columnBytes)];
  return { id: idBytes(id), columns, rest: halfCompressible(150 - 3 * columnBytes, columns[0]) };
}

function joined(...parts) {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let end = 0;
  for (const part of parts) {
    bytes.set(part, end);
    end += part.length;
  }
  return bytes;
}

const empty = new Uint8Array(0);

/** What a store of keys and values keeps of a row: table, key, value. */
export function entriesOf({ id, columns, rest }) {
  return [[0, id, joined(...columns, rest)], ...columns.map((column, i) => [i + 1, joined(column, id), empty])];
}

/** A random place in an index. */
export function randomColumn() {
  return joined(randomBytes(columnBytes), new Uint8Array(8));
}

/** The key of the row that an entry of an index names. */
export function rowOf(entryKey) {
  return entryKey.slice(columnBytes, columnBytes + 8);
}

/** A random number below `end`. */
export function below(end) {
  return next() % end;
}
