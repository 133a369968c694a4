// A node that is being read while an edit makes another one of it: what comes back late is what the node was before, and must not be taken for
// what it is, neither at once nor after the checkpoint that writes the newer one.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EngineOptions, Environment } from '../../src/engine/index.ts';
import { openEnvironment } from '../../src/engine/index.ts';
import type { Env, File, FileSystem } from '../../src/env/index.ts';
import { openMemoryEnv } from '../../src/env/index.ts';
import { allRows } from './history.ts';

const options: Partial<EngineOptions> = {
  cacheBytes: 4 * 1024 * 1024, frontBytes: 2000, bufferBytes: 4000, checkpointPeriodMs: 1e9,
  dictionary: { compression: 'none', pageBytes: 1024, readPageBytes: 512, fanout: 4 },
};
const rows = 600;
const encoder = new TextEncoder();

/** Holds the first read of the data file that begins while it is armed, its bytes already read, until it is let go. */
class HeldRead {
  isArmed: boolean = false;
  #release: () => void = () => undefined;
  readonly held: Promise<void>;
  #begun: () => void = () => undefined;
  readonly #over: Promise<void> = new Promise((resolve) => {
    this.#release = resolve;
  });

  constructor() {
    this.held = new Promise((resolve) => {
      this.#begun = resolve;
    });
  }

  letGo(): void {
    this.#release();
  }

  files(files: FileSystem): FileSystem {
    return delegate(files, { open: async (...words) => this.#file(await files.open(...words)) });
  }

  #file(file: File): File {
    if (!file.path.endsWith('data.frond')) return file;
    const read = async (target: Uint8Array, offset: number): Promise<number> => {
      const isHeld = this.isArmed;
      this.isArmed = false;
      const got = await file.read(target, offset);
      if (isHeld) {
        this.#begun();
        await this.#over;
      }
      return got;
    };
    return delegate(file, { read });
  }
}

/** The object with some methods replaced. */
function delegate<T extends object>(target: T, own: Partial<T>): T {
  return new Proxy(target, {
    get: (_, name): unknown => {
      const value: unknown = Reflect.get(Object.hasOwn(own, name) ? own : target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

async function putAll(engine: Environment, value: string): Promise<void> {
  for (let start = 0; start < rows; start += 20) {
    const txn = engine.begin('statement');
    for (let i = start; i < start + 20; i++) await txn.put(engine.catalogDictionary, encoder.encode(`key ${String(i).padStart(5, '0')}`), encoder.encode(value));
    await txn.commit();
  }
}

/** Waits until the background has nothing more to do: its jobs are no more after many turns of the event loop. */
async function settled(engine: Environment): Promise<void> {
  for (let quiet = 0, jobs = -1; quiet < 200; quiet++) {
    await new Promise((resolve) => setImmediate(resolve));
    const now = engine.statistics().jobs;
    if (now !== jobs) quiet = 0;
    jobs = now;
  }
}

test('a node that was read before an edit is not taken for the newer one after the next checkpoint', async () => {
  const env = await openMemoryEnv();
  const first = await openEnvironment(env, '/data', options);
  await putAll(first, 'old'.repeat(20));
  await first.close();
  const slow = new HeldRead();
  const engine = await openEnvironment({ ...env, files: slow.files(env.files) } satisfies Env, '/data', options);
  slow.isArmed = true;
  const reader = engine.begin('read');
  const reading = reader.get(engine.catalogDictionary, encoder.encode('key 00300'));
  await slow.held;
  await putAll(engine, 'new'.repeat(20));
  await settled(engine);
  slow.letGo();
  assert.equal(new TextDecoder().decode(await reading), 'old'.repeat(20));
  reader.abort();
  await engine.checkpoint();
  assert.deepEqual((await engine.verify()).problems, []);
  const after = engine.begin('read');
  const found = await allRows(after, engine.catalogDictionary, 1);
  after.abort();
  assert.equal(found.length, rows);
  assert.deepEqual(found.filter((row) => row.includes('old') || row.includes(Buffer.from('old').toString('hex'))), [], 'old states are gone');
  await engine.close();
});
