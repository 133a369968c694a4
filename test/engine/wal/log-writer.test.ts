// Every way in which the log can write keeps what it promises: the same histories and crashes, whatever makes a group durable; and small durable
// writes leave the pool of threads only while the disk is quick.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openEnvironment } from '../../../src/engine/index.ts';
import type { LogWriterName } from '../../../src/engine/index.ts';
import { LogWriter, logWriters } from '../../../src/engine/wal/log-writer.ts';
import type { Clock, File } from '../../../src/env/index.ts';
import { SimEnv } from '../../sim/sim-env.ts';
import { runImages } from '../crash-history.ts';
import { History } from '../history.ts';

for (const logWriter of Object.keys(logWriters) as LogWriterName[]) {
  test(`histories and crashes with the log written by ${logWriter} give the answers of the model`, async () => {
    for (let seed = 801; seed <= 802; seed++) {
      const sim = await SimEnv.create({ seed });
      const result = await sim.run(() => History.run(openEnvironment, sim, { seed, operations: 250, options: { logWriter } }));
      assert.equal(result.ended, 'done');
    }
    const open: typeof openEnvironment = (env, path, options) => openEnvironment(env, path, { ...options, logWriter, durability: 'sync' });
    await runImages(open, { seed: 811 }, 15, 20);
  });
}

/** A file that notes how it was written, on a clock that each write moves on. */
class NotedFile {
  readonly notes: string[] = [];
  nowMs: number = 0;
  takesMs: number = 0.1;

  asFile(): File {
    const write = (how: string): void => {
      this.notes.push(how);
      this.nowMs += this.takesMs;
    };
    const nothing = (): Promise<void> => Promise.resolve();
    return {
      path: '/noted', read: () => Promise.resolve(0), readNow: () => undefined, writev: nothing, sync: nothing, size: () => Promise.resolve(0), truncate: nothing, close: nothing,
      write: () => {
        write('pool');
        return Promise.resolve();
      },
      writeNow: () => {
        write('now');
      },
    };
  }

  get clock(): Clock {
    return { nowMs: () => this.nowMs, monotonicMs: () => this.nowMs, sleep: () => Promise.resolve(), wait: () => Promise.resolve() };
  }
}

test('small durable writes are done at once while the disk is quick, and through the pool again after a slow one', async () => {
  const noted = new NotedFile();
  const file = noted.asFile();
  const writer = new LogWriter(logWriters['overwrite-dsync'], noted.clock, true);
  const small = new Uint8Array(4096);
  for (let i = 0; i < 16; i++) await writer.write(file, small, 0);
  assert.deepEqual(new Set(noted.notes), new Set(['pool']));
  assert.equal(writer.write(file, small, 0), undefined);
  assert.equal(noted.notes.at(-1), 'now');
  await writer.write(file, new Uint8Array(65_536), 0);
  assert.equal(noted.notes.at(-1), 'pool', 'a large one is not');
  noted.takesMs = 20;
  assert.equal(writer.write(file, small, 0), undefined, 'the slow one is met once');
  noted.takesMs = 0.1;
  await writer.write(file, small, 0);
  assert.equal(noted.notes.at(-1), 'pool');
});

/** How many of so many small writes are done at once; every `slowEach`th takes 2 ms. */
async function writtenNow(writes: number, slowEach: number): Promise<number> {
  const noted = new NotedFile();
  const file = noted.asFile();
  const writer = new LogWriter(logWriters['overwrite-dsync'], noted.clock, true);
  for (let i = 1; i <= writes; i++) {
    noted.takesMs = i % slowEach === 0 ? 2 : 0.1;
    await writer.write(file, new Uint8Array(4096), 0);
  }
  return noted.notes.filter((note) => note === 'now').length;
}

test('a write that is slow now and then changes nothing, and a disk that is slow is tried less and less often', async () => {
  assert.equal(await writtenNow(1000, 10), 1000 - 16);
  const tried = await writtenNow(10_000, 1);
  // Five tries each before it is given up, after 16, 32, 64 ... 4096 writes.
  assert.ok(tried > 0 && tried <= 50, `${tried} slow writes held the main thread`);
});

test('a writer under delayed durability never holds the main thread', async () => {
  const noted = new NotedFile();
  const writer = new LogWriter(logWriters['overwrite-dsync'], noted.clock, false);
  for (let i = 0; i < 100; i++) await writer.write(noted.asFile(), new Uint8Array(4096), 0);
  assert.deepEqual(new Set(noted.notes), new Set(['pool']));
});
