// Law 8: rows whose keys begin with the commit's stamp are in the order of commits, and are there exactly when the commit is.

import assert from 'node:assert/strict';
import type { DictionaryId, Environment, StampedRows } from '../../src/engine/index.ts';
import { openMemoryEnv } from '../../src/env/index.ts';
import type { OpenEnvironment } from './history.ts';
import type { Scenario } from './scenario-engine.ts';

/** Stamps that count up. */
export class Stamps {
  given = 0;

  next(): Uint8Array {
    const stamp = new Uint8Array(8);
    new DataView(stamp.buffer).setUint32(4, ++this.given);
    return stamp;
  }
}

/** All rows of a dictionary of stamped rows. */
export async function rowsOf(engine: Environment, id: DictionaryId): Promise<{ stamp: number; place: number; value: string }[]> {
  const txn = engine.begin('read');
  const cursor = txn.cursor(id, {}, 1);
  const rows = [];
  for (;;) {
    const batch = await cursor.nextBatch({ rows: 7, bytes: 1 << 16 });
    if (batch.length === 0) break;
    for (let i = 0; i < batch.length; i++) {
      const key = batch.key(i).slice();
      const view = new DataView(key.buffer);
      rows.push({ stamp: view.getUint32(4), place: view.getUint16(8), value: new TextDecoder().decode(batch.value(i)) });
    }
  }
  cursor.close();
  txn.abort();
  return rows;
}

export const text = (value: string): Uint8Array => new TextEncoder().encode(value);

/** An environment with a dictionary, and one for stamped rows. */
export async function opened(openEnvironment: OpenEnvironment): Promise<{ open: () => Promise<Environment>; engine: Environment; data: DictionaryId; log: DictionaryId }> {
  const env = await openMemoryEnv();
  const open = (): Promise<Environment> => openEnvironment(env, '/data', { cacheBytes: 8 << 20 });
  const engine = await open();
  const setup = engine.begin('statement');
  const data = setup.createDictionary();
  const log = setup.createDictionary();
  await setup.commit();
  return { open, engine, data, log };
}

/** Commits at once give rows in their order, after reopening too. */
async function inOrder(openEnvironment: OpenEnvironment): Promise<void> {
  const { open, engine, data, log } = await opened(openEnvironment);
  const stamps = new Stamps();
  const seqs = new Map<string, number>();
  await Promise.all(
    Array.from({ length: 60 }, async (_, i) => {
      const txn = engine.begin('statement');
      await txn.put(data, Uint8Array.of(i), text(`value ${i}`));
      const rows: StampedRows = { dictionary: () => log, stamp: () => stamps.next(), values: [text(`first ${i}`), text(`second ${i}`)], counted: 2 };
      seqs.set(`first ${i}`, await txn.commit(rows));
    }),
  );
  const check = async (environment: Environment): Promise<void> => {
    const rows = await rowsOf(environment, log);
    assert.deepEqual(rows.map(({ stamp, place }) => [stamp, place]), Array.from({ length: 120 }, (_, i) => [Math.floor(i / 2) + 1, i % 2]));
    const order = rows.filter(({ place }) => place === 0).map(({ value }) => seqs.get(value) ?? 0);
    assert.deepEqual(order, [...order].sort((a, b) => a - b));
    const txn = environment.begin('read');
    assert.equal(txn.totals(log).rows, 120);
    txn.abort();
  };
  await check(engine);
  await engine.close();
  const again = await open();
  await check(again);
  assert.deepEqual((await again.verify()).problems, []);
  await again.close();
}

export const stampScenarios: Readonly<Record<string, Scenario>> = { 'rows with stamps are in the order of commits': inOrder };
