// What an operation makes is dead when it has been answered, and the small collections must find it so: what they take for alive waits in the old
// generation for a full one, which costs more than the operation. Shapes made per object, and the old tables of a Map whose entries come and
// go, keep whole operations alive that way. Measured in a thread of its own: the test runner follows every promise.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { BsonArray, Document } from '../../src/bson/index.ts';
import { openServerForTest } from '../support/open-server-for-test.ts';
import { WireClient } from '../support/wire-client.ts';

/** Bytes of garbage for each operation that only a full collection finds. */
interface Kept {
  readonly inserted: number;
  readonly found: number;
}

async function measure(): Promise<Kept> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options?: { readonly type: 'minor' }) => void;
  const kept = async (count: number, operation: (i: number) => Promise<unknown>): Promise<number> => {
    let next = 0;
    const run = async (until: number): Promise<void> => {
      await Promise.all(Array.from({ length: 8 }, async () => {
        while (next < until) await operation(next++);
      }));
    };
    await run(count);
    // All that lives is in the old generation now, tables and connections among it.
    collect();
    await run(2 * count);
    collect({ type: 'minor' });
    collect({ type: 'minor' });
    const { used_heap_size: withGarbage } = getHeapStatistics();
    collect();
    return (withGarbage - getHeapStatistics().used_heap_size) / count;
  };
  const server = await openServerForTest();
  const client = await WireClient.open(server.port);
  const inserted = await kept(2000, (i) => client.command('d', { insert: 'c', documents: BsonArray.of([Document.of({ _id: i, a: i, text: 'some text' })]) }));
  const found = await kept(2000, (i) => client.command('d', { find: 'c', filter: Document.of({ _id: i % 100 }), limit: 1, singleBatch: true }));
  client.close();
  await server.close();
  return { inserted, found };
}

if (isMainThread) {
  test('what finds and inserts make does not outlive the small collections', async () => {
    const worker = new Worker(new URL(import.meta.url));
    const [{ inserted, found }] = (await once(worker, 'message')) as [Kept];
    await worker.terminate();
    // A find made 20,000 bytes, of which 9,000 were kept.
    assert.ok(found < 1000, `${String(Math.round(found))} bytes a find`);
    assert.ok(inserted < 1500, `${String(Math.round(inserted))} bytes an insert`);
  });
} else {
  parentPort?.postMessage(await measure());
}
