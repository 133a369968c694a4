// Reads from data ten times the cache: point gets of keys that are there (a few hot ones; any) and that are not, and scans both ways. Rows came in
// random order, so there are runs on the way to every leaf. "Cold" is not in the engine's cache, and in that of the system.

import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEnvironment } from '../../src/engine/index.ts';
import type { DictionaryId, Direction, Environment, Transaction } from '../../src/engine/index.ts';
import { openHostEnv } from '../../src/env/index.ts';
import { bench } from '../support/bench.ts';
import type { Bench, Prepared, Work } from '../support/bench.ts';

interface Data {
  readonly rows: number;
  readonly valueBytes: number;
  readonly cacheBytes: number;
}

const MiB = 1024 * 1024;
const keyBytes = 16;
const smallData: Data = { rows: 3000, valueBytes: 100, cacheBytes: MiB };
const largeData: Data = { rows: 300_000, valueBytes: 100, cacheBytes: 4 * MiB };

/** Key number `n`: as random as a UUID; even ones are stored. */
function fillKey(key: Uint8Array, n: number): void {
  const view = new DataView(key.buffer);
  let state = Math.imul(n + 1, 0x9e3779b1) >>> 0;
  for (let at = 0; at < keyBytes; at += 4) {
    state = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
    state = Math.imul(state ^ (state >>> 13), 0xc2b2ae35) ^ n;
    view.setUint32(at, state);
  }
}

/** Half of a value compresses. */
function fillValue(value: Uint8Array, n: number): void {
  let state = n;
  value.fill(n & 7);
  for (let at = 0; at < value.length / 2; at++) value[at] = state = (Math.imul(state, 1103515245) + 12345) >>> 8;
}

const stores = new Map<string, Promise<string>>();

/** The directory with the data, made once a process. */
async function store(data: Data): Promise<string> {
  const name = JSON.stringify(data);
  const known = stores.get(name) ?? load(data);
  stores.set(name, known);
  return known;
}

async function load({ rows, valueBytes, cacheBytes }: Data): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'frond-bench-'));
  process.once('exit', () => { rmSync(directory, { recursive: true, force: true }); });
  const engine = await openEnvironment(await openHostEnv(), directory, { cacheBytes, durability: { delayedMs: 100 } });
  const key = new Uint8Array(keyBytes);
  const value = new Uint8Array(valueBytes);
  let transaction = engine.begin('statement');
  const id = transaction.createDictionary();
  for (let n = 0; n < rows; n++) {
    fillKey(key, n * 2);
    fillValue(value, n);
    await transaction.putCovered(id, key, value);
    if (n % 1000 !== 999) continue;
    await transaction.commit();
    transaction = engine.begin('statement');
  }
  await transaction.commit();
  await engine.close();
  return directory;
}

async function opened(data: Data, use: (transaction: Transaction, id: DictionaryId, engine: Environment) => Promise<Work>): Promise<Prepared> {
  const engine = await openEnvironment(await openHostEnv(), await store(data), { cacheBytes: data.cacheBytes, durability: { delayedMs: 100 } });
  const id = (engine.catalogDictionary + 1) as DictionaryId;
  const run = async (): Promise<Work> => {
    const transaction = engine.begin('read');
    try {
      return await use(transaction, id, engine);
    } finally {
      transaction.abort();
    }
  };
  return { run, close: () => engine.close() };
}

interface Gets extends Data {
  readonly gets: number;
  /** Keys are drawn from so many. */
  readonly among: number;
  readonly present: boolean;
}

const gets = bench<Gets>({
  name: 'engine/get',
  small: { ...smallData, gets: 500, among: 3000, present: true },
  large: [
    { ...largeData, gets: 100_000, among: 40, present: true },
    { ...largeData, gets: 10_000, among: largeData.rows, present: true },
    { ...largeData, gets: 100_000, among: 40, present: false },
    { ...largeData, gets: 20_000, among: largeData.rows, present: false },
  ],
  prepare: (parameters): Promise<Prepared> =>
    opened(parameters, async (transaction, id) => {
      const key = new Uint8Array(keyBytes);
      let found = 0;
      let state = 1;
      for (let i = 0; i < parameters.gets; i++) {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        fillKey(key, (state % parameters.among) * 2 + (parameters.present ? 0 : 1));
        const got = transaction.get(id, key);
        const value = got instanceof Promise ? await got : got;
        if (value !== undefined) found++;
      }
      if (found !== (parameters.present ? parameters.gets : 0)) throw new Error(`${found} of ${parameters.gets} keys found`);
      return { operations: parameters.gets, bytes: 0, checksum: found };
    }),
});

interface Scans extends Data {
  readonly direction: Direction;
  readonly batchRows: number;
}

const scans = bench<Scans>({
  name: 'engine/scan',
  small: { ...smallData, direction: 1, batchRows: 100 },
  large: [
    { ...largeData, direction: 1, batchRows: 1000 },
    { ...largeData, direction: -1, batchRows: 1000 },
  ],
  prepare: (parameters): Promise<Prepared> =>
    opened(parameters, async (transaction, id) => {
      const cursor = transaction.cursor(id, {}, parameters.direction);
      let rows = 0;
      let bytes = 0;
      for (;;) {
        const batch = await cursor.nextBatch({ rows: parameters.batchRows, bytes: 4 * MiB });
        if (batch.length === 0) break;
        rows += batch.length;
        for (let i = 0; i < batch.length; i++) bytes += batch.key(i).length + batch.value(i).length;
      }
      if (rows !== parameters.rows) throw new Error(`${rows} rows of ${parameters.rows}`);
      return { operations: rows, bytes, checksum: bytes };
    }),
});

export const benches: readonly Bench[] = [gets, scans];
