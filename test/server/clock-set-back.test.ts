// The wall clock is set back by an hour under a running server, and stays so over a restart: logical times rise all the same, a change stream misses nothing,
// sessions and transactions live on.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Timestamp, type Document as Doc, type MongoClient } from 'mongodb';
import { openMemoryEnv } from '../../src/env/index.ts';
import type { Clock, Env } from '../../src/env/index.ts';
import { openServerForTest } from '../support/open-server-for-test.ts';

const hourMs = 3_600_000;

/** An env whose wall clock can be moved. */
async function movableEnv(): Promise<{ readonly env: Env; readonly move: (ms: number) => void }> {
  const env = await openMemoryEnv();
  let moved = 0;
  const { clock: own } = env;
  const clock: Clock = {
    nowMs: () => own.nowMs() + moved,
    monotonicMs: () => own.monotonicMs(),
    wait: (ms) => own.wait(ms),
    sleep: (ms, signal) => own.sleep(ms, signal),
  };
  const move = (ms: number): void => {
    moved += ms;
  };
  return { env: { files: env.files, clock, random: env.random, tasks: env.tasks, codecs: env.codecs, host: env.host }, move };
}

/** Times of the oplog in the order of its entries, each as one number. */
async function times(client: MongoClient): Promise<bigint[]> {
  const entries = await client.db('local').collection('oplog.rs').find({}, { sort: { $natural: 1 } }).toArray();
  return entries.map(({ ts }) => (ts as Timestamp).toBigInt());
}

test('times rise though the clock is set back, and nothing is missed', async () => {
  const { env, move } = await movableEnv();
  const seen: unknown[] = [];
  for (let run = 0; run < 2; run++) {
    const server = await openServerForTest({ env });
    const client = await server.driver();
    const rows = client.db('test').collection('rows');
    await rows.insertOne({ _id: `${String(run)} before`, at: new Timestamp(0n) } as Doc);
    const stream = rows.watch();
    const session = client.startSession();
    session.startTransaction();
    await rows.insertOne({ _id: `${String(run)} begun before`, at: new Timestamp(0n) } as Doc, { session });
    const first = stream.tryNext();
    move(-hourMs);
    await first;
    await rows.insertOne({ _id: `${String(run)} after`, at: new Timestamp(0n) } as Doc);
    await session.commitTransaction();
    await session.endSession();
    for (let i = 0; i < 2; i++) seen.push((await stream.next() as { documentKey?: { _id: unknown } }).documentKey?._id);
    await stream.close();
    const inserted = await rows.find({}, { sort: { at: 1 } }).toArray();
    assert.equal(new Set(inserted.map(({ at }) => String(at))).size, inserted.length, 'no time is given twice');
    const all = await times(client);
    for (let i = 1; i < all.length; i++) assert.ok((all[i - 1] as bigint) < (all[i] as bigint), `entry ${String(i)} of ${String(all.length)}, run ${String(run)}`);
    await server.close();
  }
  assert.deepEqual(seen, ['0 after', '0 begun before', '1 after', '1 begun before']);
});
