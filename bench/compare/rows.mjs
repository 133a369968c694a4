// The rows of the experiments. `pairRow`: a random key of 16 bytes and a value of 100, of which half compresses. Two kinds of row with three
// indexes, both with 242 bytes of a user: `randomColumns`, an increasing key of 8 bytes, a value of 150 that holds three random columns of 20, and
// an entry of 28 (column, key) in each index, some 170 bytes of it random; and `purchases`, the table that iiBench publishes, some 70 of it random.

import { next, randomBytes } from './measured.mjs';

/** Names of the tables of a row with indexes: the rows, then the indexes. */
export const tables = ['rows', 'index0', 'index1', 'index2'];
const keyBytes = 8;
const columnBytes = 20;

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

function joined(...parts) {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let end = 0;
  for (const part of parts) {
    bytes.set(part, end);
    end += part.length;
  }
  return bytes;
}

/** Rows with three columns of random bytes, each of which is indexed: every entry goes to a place of its own, and next to nothing compresses. */
const randomColumns = {
  row(id) {
    const columns = [randomBytes(columnBytes), randomBytes(columnBytes), randomBytes(columnBytes)];
    const rest = halfCompressible(150 - 3 * columnBytes, columns[0]);
    return { id: idBytes(id), indexed: columns, value: joined(...columns, rest), columns: [...columns, rest] };
  },
  place: () => randomBytes(columnBytes),
};

const [registers, customers, products, maxPrice] = [1_000, 100_000, 10_000, 500];
const letters = new TextEncoder().encode('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/');
const dataBytes = 150;
/** Of `data` half is random, as letters of base 64, which carry three quarters of their bits; the rest is one letter. */
const randomLetters = Math.floor((dataBytes * 0.75) / 2);
/** When the first rows are bought; those of one commit have one time. */
const [firstMs, commitRows, commitMs] = [Date.UTC(2026, 0, 1), 1000, 25];

function uint(value) {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value);
  return bytes;
}

/** A price, which is not negative: its bytes have its order. */
function float(value) {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setFloat32(0, value);
  return bytes;
}

const price = (customer) => Math.round((next() / 2 ** 32) * maxPrice + customer) / 100;

/** iiBench's table: (transactionid, dateandtime, cashregisterid, customerid, productid, price, data), indexed by (price, customerid), (cashregisterid, price, customerid) and (price, dateandtime, customerid). */
const purchases = {
  row(id) {
    const customer = below(customers);
    const [register, product, paid] = [below(registers), below(products), price(customer)];
    const time = firstMs + Math.floor(id / commitRows) * commitMs;
    const data = new Uint8Array(dataBytes).fill(97);
    for (let i = dataBytes - randomLetters; i < dataBytes; i++) data[i] = letters[next() >>> 26];
    const [r, c, p, t] = [uint(register), uint(customer), float(paid), idBytes(time)];
    return {
      id: idBytes(id), indexed: [joined(p, c), joined(r, p, c), joined(p, t, c)], value: joined(t, r, c, uint(product), p, data),
      columns: [new Date(time), register, customer, product, paid, data],
    };
  },
  place: (index) => (index === 1 ? uint(below(registers)) : float(price(below(customers)))),
};

/** The rows with three indexes, by name: `row` makes one, `place` gives what a range of an index begins with, of its first column. */
export const shapes = { randomColumns, purchases };

const empty = new Uint8Array(0);

/** What a store of keys and values keeps of a row: table, key, value. */
export function entriesOf({ id, indexed, value }) {
  return [[0, id, value], ...indexed.map((columns, i) => [i + 1, joined(columns, id), empty])];
}

/** The key of the row that an entry of an index names. */
export function rowOf(entryKey) {
  return entryKey.slice(-keyBytes);
}

/** A random number below `end`. */
export function below(end) {
  return next() % end;
}
