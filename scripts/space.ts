// What removing and overwriting much costs, and whether the space comes back: `node dist/scripts/space.js [RANGE_ROWS] [ROWS]`, engine in
// process, 64 MiB of cache. RANGE_ROWS rows of 116 bytes and ten behind them are loaded, the first go as one range, and the next row is read; then
// ROWS rows in random order are written, overwritten ten times, and nine of ten of them removed, each time with idle time behind it.

import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEnvironment } from '../src/engine/index.ts';
import type { DictionaryId } from '../src/engine/index.ts';
import { openHostEnv } from '../src/env/index.ts';

const rangeRows = Number(process.argv[2] ?? 10_000_000);
const rows = Number(process.argv[3] ?? 1_000_000);
const rowsACommit = 1000;
const valueBytes = 100;
const idleMs = 1000;
/** So long the files must stay as they are to be taken for tidy. */
const quietLooks = 8;

const directory = mkdtempSync(join(process.env['FROND_BENCH_DIR'] ?? tmpdir(), 'frond-space-'));
const data = join(directory, 'data');
const engine = await openEnvironment(await openHostEnv(), data, { cacheBytes: 64 * 2 ** 20 });
const mb = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

/** The key of a row: rows are in order, or scattered over all keys. */
function keyOf(row: number, isScattered: boolean): Uint8Array {
  const key = new Uint8Array(16);
  const view = new DataView(key.buffer);
  if (isScattered) {
    view.setUint32(0, Math.imul(row, 0x9e3779b1) >>> 0);
    view.setUint32(4, Math.imul(row ^ 0x5bd1e995, 0x85ebca6b) >>> 0);
  }
  view.setUint32(12, row);
  return key;
}

/** Half of it compresses. */
function valueOf(row: number, round: number): Uint8Array {
  const value = new Uint8Array(valueBytes).fill(97 + round);
  for (let i = 0, mixed = row * 31 + round; i < valueBytes / 2; i++) value[i] = (mixed = Math.imul(mixed, 1_664_525) + 1_013_904_223) >>> 24;
  return value;
}

async function dictionary(): Promise<DictionaryId> {
  const transaction = engine.begin('statement');
  const id = transaction.createDictionary();
  await transaction.commit();
  return id;
}

function fileBytes(): { readonly data: number; readonly log: number } {
  const log = readdirSync(join(data, 'log')).reduce((sum, name) => sum + statSync(join(data, 'log', name)).size, 0);
  return { data: statSync(join(data, 'data.frond')).size, log };
}

/** Waits until nothing changes any more; how long that took. */
async function idle(): Promise<number> {
  const begun = performance.now();
  let [last, same, since] = ['', 0, begun];
  while (same < quietLooks) {
    await new Promise((resolve) => setTimeout(resolve, idleMs));
    const { dataBytesWritten, jobs, checkpoints } = engine.statistics();
    const now = JSON.stringify([fileBytes(), dataBytesWritten, jobs, checkpoints]);
    if (now === last) same += 1;
    else [last, same, since] = [now, 0, performance.now()];
  }
  return (since - begun) / 1000;
}

async function say(what: string, liveRows: number): Promise<void> {
  const before = fileBytes();
  const seconds = await idle();
  const after = fileBytes();
  const live = liveRows * (16 + valueBytes);
  console.log(`${what}: data file ${mb(before.data)}, after ${seconds.toFixed(0)} s of idle time ${mb(after.data)} and log ${mb(after.log)}, for ${mb(live)} of live rows (${(after.data / live).toFixed(2)}); rss ${mb(process.memoryUsage().rss)}`);
}

async function firstRow(id: DictionaryId): Promise<number> {
  const begun = performance.now();
  const transaction = engine.begin('read');
  const cursor = transaction.cursor(id, {}, 1);
  const batch = await cursor.nextBatch({ rows: 1, bytes: 1 << 20 });
  cursor.close();
  transaction.abort();
  if (batch.length !== 1) console.log('NO ROW');
  return performance.now() - begun;
}

async function removeRange(): Promise<void> {
  const id = await dictionary();
  const load = engine.load(id);
  for (let row = 0; row < rangeRows + 10; row++) {
    const waits = load.add(keyOf(row, false), valueOf(row, 0));
    if (waits !== undefined) await waits;
  }
  await load.finish();
  console.log(`${String(rangeRows + 10)} rows loaded; the first row is read in ${(await firstRow(id)).toFixed(1)} ms`);
  const begun = performance.now();
  const transaction = engine.begin('statement');
  await transaction.deleteRange(id, { to: keyOf(rangeRows, false) }, rangeRows, rangeRows * (16 + valueBytes));
  await transaction.commit();
  console.log(`${String(rangeRows)} rows removed by one range in ${(performance.now() - begun).toFixed(1)} ms; then the first row is read in ${(await firstRow(id)).toFixed(1)} ms`);
  await say('after the range', 10);
}

/** Does something to each row in commits; rows a second of each tenth. */
async function forEach(count: number, act: (transaction: ReturnType<typeof engine.begin>, row: number) => void | Promise<void>): Promise<number> {
  const begun = performance.now();
  for (let from = 0; from < count; from += rowsACommit) {
    const transaction = engine.begin('statement');
    for (let row = from; row < Math.min(count, from + rowsACommit); row++) {
      const waits = act(transaction, row);
      if (waits !== undefined) await waits;
    }
    await transaction.commit();
  }
  return count / ((performance.now() - begun) / 1000);
}

async function overwrite(): Promise<DictionaryId> {
  const id = await dictionary();
  const rates: string[] = [];
  for (let round = 0; round <= 10; round++) {
    const cpu = process.cpuUsage();
    const rate = await forEach(rows, (transaction, row) => transaction.put(id, keyOf(row, true), valueOf(row, round)));
    const { user, system } = process.cpuUsage(cpu);
    rates.push(`${rate.toFixed(0)} (${((user + system) / rows).toFixed(1)} us)`);
    if (round === 0) await say(`${String(rows)} rows written`, rows);
  }
  console.log(`rows a second (processor time a row), written and overwritten ten times: ${rates.join(', ')}`);
  await say('after ten overwrites', rows);
  return id;
}

if (rangeRows > 0) await removeRange();
if (rows > 0) {
  const id = await overwrite();
  await forEach(rows, (transaction, row) => (row % 10 === 0 ? undefined : transaction.remove(id, keyOf(row, true))));
  await say('after removing nine of ten', rows / 10);
}
await engine.close();
rmSync(directory, { recursive: true });
