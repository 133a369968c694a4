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

/** Bytes of one commit's rows, written one after the other: what making rows leaves to the collector is charged to the store under test. */
class Bytes {
  #bytes;
  #view;
  #end = 0;

  constructor(length) {
    this.#bytes = new Uint8Array(length);
    this.#view = new DataView(this.#bytes.buffer);
  }

  get end() {
    return this.#end;
  }

  from(start) {
    return this.#bytes.subarray(start, this.#end);
  }

  random(length) {
    for (const end = this.#end + length; this.#end < end; this.#end++) this.#bytes[this.#end] = next() >>> 11;
  }

  letters(length, of) {
    for (const end = this.#end + length; this.#end < end; this.#end++) this.#bytes[this.#end] = of();
  }

  again(start, length) {
    this.#bytes.copyWithin(this.#end, start, start + length);
    this.#end += length;
  }

  uint(value) {
    this.#view.setUint32(this.#end, value);
    this.#end += 4;
  }

  /** One that is not negative: its bytes have its order. */
  float(value) {
    this.#view.setFloat32(this.#end, value);
    this.#end += 4;
  }

  long(value) {
    this.uint(Math.floor(value / 2 ** 32));
    this.uint(value >>> 0);
  }
}

const valueBytes = 150;
const rowBytes = keyBytes + valueBytes + 3 * (columnBytes + keyBytes);

function randomRow(id, bytes) {
  const start = bytes.end;
  bytes.long(id);
  const key = bytes.from(start);
  const at = bytes.end;
  bytes.random(3 * columnBytes);
  const rest = (valueBytes - 3 * columnBytes) / 2;
  const letter = 97 + (id % 26);
  bytes.letters(rest, () => letter);
  bytes.random(rest);
  const value = bytes.from(at);
  const entries = [0, 1, 2].map((i) => {
    const from = bytes.end;
    bytes.again(at + i * columnBytes, columnBytes);
    bytes.long(id);
    return bytes.from(from);
  });
  return { key, value, entries, columns: () => [...[0, 1, 2].map((i) => value.subarray(i * columnBytes, (i + 1) * columnBytes)), value.subarray(3 * columnBytes)] };
}

/** Rows with three columns of random bytes, each of which is indexed: every entry goes to a place of its own, and next to nothing compresses. */
const randomColumns = { row: randomRow, place: () => randomBytes(columnBytes) };

const [registers, customers, products, maxPrice] = [1_000, 100_000, 10_000, 500];
const letters = new TextEncoder().encode('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/');
const dataBytes = 150;
/** Of `data` half is random, as letters of base 64, which carry three quarters of their bits; the rest is one letter. */
const randomLetters = Math.floor((dataBytes * 0.75) / 2);
/** When the first rows are bought; those of one commit have one time. */
const [firstMs, commitRows, commitMs] = [Date.UTC(2026, 0, 1), 1000, 25];

const price = (customer) => Math.round((next() / 2 ** 32) * maxPrice + customer) / 100;

function purchase(id, bytes) {
  const customer = below(customers);
  const [register, product, paid] = [below(registers), below(products), price(customer)];
  const time = firstMs + Math.floor(id / commitRows) * commitMs;
  const start = bytes.end;
  bytes.long(id);
  const key = bytes.from(start);
  const at = bytes.end;
  bytes.long(time);
  for (const number of [register, customer, product]) bytes.uint(number);
  bytes.float(paid);
  bytes.letters(dataBytes - randomLetters, () => 97);
  bytes.letters(randomLetters, () => letters[next() >>> 26]);
  const value = bytes.from(at);
  const entries = [0, 1, 2].map((index) => {
    const from = bytes.end;
    if (index === 1) bytes.uint(register);
    bytes.float(paid);
    if (index === 2) bytes.long(time);
    bytes.uint(customer);
    bytes.long(id);
    return bytes.from(from);
  });
  return { key, value, entries, columns: () => [new Date(time), register, customer, product, paid, value.subarray(value.length - dataBytes)] };
}

function asBytes(write) {
  const bytes = new Bytes(4);
  write(bytes);
  return bytes.from(0);
}

/** iiBench's table: (transactionid, dateandtime, cashregisterid, customerid, productid, price, data), indexed by (price, customerid), (cashregisterid, price, customerid) and (price, dateandtime, customerid). */
const purchases = {
  row: purchase,
  place: (index) => asBytes((bytes) => (index === 1 ? bytes.uint(below(registers)) : bytes.float(price(below(customers))))),
};

/** The rows with three indexes, by name: `row` makes one, `place` gives what a range of an index begins with, of its first column. */
export const shapes = { randomColumns, purchases };

/** So many rows from number `first` on. */
export function rowsOf(shape, first, count) {
  const bytes = new Bytes(count * rowBytes);
  return Array.from({ length: count }, (_, i) => shape.row(first + i, bytes));
}

const empty = new Uint8Array(0);

/** What a store of keys and values keeps of a row: table, key, value. */
export function entriesOf({ key, value, entries }) {
  return [[0, key, value], [1, entries[0], empty], [2, entries[1], empty], [3, entries[2], empty]];
}

/** The key of the row that an entry of an index names. */
export function rowOf(entryKey) {
  return entryKey.slice(-keyBytes);
}

/** A random number below `end`. */
export function below(end) {
  return next() % end;
}
