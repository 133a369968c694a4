// Every way in which the engine writes, each with a fault at its n-th I/O: a failed write or read, once or from then on; a full disk for a moment or for good; the
// power; and a worker that dies. What was there before is there afterwards; what the path does is there whole, or not at all unless it was acknowledged;
// nothing is damaged; and a full disk ends nothing.

import assert from 'node:assert/strict';
import { EngineError } from '../../src/base/errors.ts';
import type { DictionaryId, EngineOptions, Environment } from '../../src/engine/index.ts';
import { SimEnv } from '../sim/sim-env.ts';
import type { Operation } from '../sim/sim-faults.ts';
import { testFunctions, updateTable } from '../support/update-functions.ts';
import { allRows, hex } from './history.ts';
import type { OpenEnvironment } from './history.ts';
import { encode } from './scenario-engine.ts';

/** Rows of one dictionary by key, as text. */
type Rows = ReadonlyMap<string, string>;

/** What a path does to the dictionary `id`, and which rows it leaves there. */
interface Path {
  readonly options?: Partial<EngineOptions>;
  /** Rows before; `rows` of them if not said. */
  readonly rows?: number;
  /** Rejects where it was not done. Its end is its acknowledgement. */
  act(place: { readonly engine: Environment; readonly id: DictionaryId; readonly sim: SimEnv }): Promise<void>;
  /** Rows after; the same as before if not said; undefined: the dictionary is gone. */
  after?(before: Rows): Rows | undefined;
  /** Rows in between that may be found where it was not acknowledged: several commits, in order. */
  between?(before: Rows): readonly Rows[];
  /** Looks at what else it has left, when it was acknowledged or not. */
  look?(place: { readonly open: OpenEnvironment; readonly sim: SimEnv; readonly before: Rows; readonly isDone: boolean }): Promise<void>;
}

const base: Partial<EngineOptions> = {
  cacheBytes: 1024 * 1024, frontBytes: 3000, bufferBytes: 3000, logSegmentBytes: 131_072, checkpointPeriodMs: 1e9, updates: updateTable,
  dictionary: { compression: 'lz4', pageBytes: 2048, readPageBytes: 1024, fanout: 4 },
};

const keyOf = (i: number): string => `key ${String(i).padStart(5, '0')}`;
const valueOf = (i: number): string => `value of ${String(i)} ${'v'.repeat((i * 7) % 60)}`;
const largeOptions = { ...base, blobSegmentBytes: 6000, dictionary: { ...base.dictionary, largeValueBytes: 40 } as EngineOptions['dictionary'] };

/** Puts rows in one commit. */
async function put(engine: Environment, id: DictionaryId, rows: Rows): Promise<void> {
  const transaction = engine.begin('statement');
  try {
    for (const [key, value] of rows) await transaction.put(id, encode(key), encode(value));
  } catch (error) {
    transaction.abort();
    throw error;
  }
  await transaction.commit();
}

function rowsFrom(from: number, to: number, value: (i: number) => string = valueOf): Map<string, string> {
  return new Map(Array.from({ length: to - from }, (_, i) => [keyOf(from + i), value(from + i)]));
}

const merged = (...all: readonly Rows[]): Rows => new Map(all.flatMap((rows) => [...rows]));
const without = (rows: Rows, from: string, to: string): Rows => new Map([...rows].filter(([key]) => key < from || key >= to));

async function deleteRange(engine: Environment, id: DictionaryId, from: string, to: string): Promise<void> {
  const transaction = engine.begin('statement');
  try {
    await transaction.deleteRange(id, { from: encode(from), to: encode(to) }, 0, 0);
  } catch (error) {
    transaction.abort();
    throw error;
  }
  await transaction.commit();
}

/** The ways to write, by name. */
export const paths: Readonly<Record<string, Path>> = {
  'a bulk load': {
    rows: 0,
    act: async ({ engine, id }) => {
      const load = engine.load(id);
      try {
        for (let i = 0; i < 700; i++) await load.add(encode(keyOf((i * 37) % 700)), encode(valueOf((i * 37) % 700)));
        await load.finish();
      } catch (error) {
        load.abort();
        throw error;
      }
    },
    after: () => rowsFrom(0, 700),
  },
  'writing a dictionary anew': { act: ({ engine, id }) => engine.rewrite(id) },
  'a transaction that spills': {
    options: { ...base, spillBytes: 5000 },
    act: ({ engine, id }) => put(engine, id, rowsFrom(100, 500, (i) => `spilled ${String(i)}`)),
    after: (before) => merged(before, rowsFrom(100, 500, (i) => `spilled ${String(i)}`)),
  },
  'large values': {
    options: largeOptions,
    act: ({ engine, id }) => put(engine, id, rowsFrom(200, 260, (i) => `large ${String(i)} ${'x'.repeat(200)}`)),
    after: (before) => merged(before, rowsFrom(200, 260, (i) => `large ${String(i)} ${'x'.repeat(200)}`)),
  },
  'collecting large values': {
    options: largeOptions,
    act: async ({ engine, id, sim }) => {
      await put(engine, id, rowsFrom(0, 200, (i) => `short ${String(i)}`));
      await sim.clock.sleep(8000);
      await engine.checkpoint();
    },
    after: (before) => merged(before, rowsFrom(0, 200, (i) => `short ${String(i)}`)),
  },
  'a hot backup': {
    options: largeOptions,
    act: async ({ engine }) => {
      await engine.backup('/copy');
    },
    look: async ({ open, sim, before, isDone }) => {
      if (!isDone && !(await sim.files.exists('/copy/data.frond'))) return;
      const copy = await open(sim, '/copy', largeOptions);
      assert.deepEqual(await rowsIn(copy, 2 as DictionaryId), before);
      assert.deepEqual((await copy.verify()).problems, []);
      await copy.close();
    },
  },
  'a range delete': {
    act: async ({ engine, id, sim }) => {
      await deleteRange(engine, id, keyOf(40), keyOf(260));
      await sim.clock.sleep(3000);
      await engine.checkpoint();
    },
    after: (before) => without(before, keyOf(40), keyOf(260)),
  },
  'a range delete over everything': {
    act: async ({ engine, id, sim }) => {
      await deleteRange(engine, id, keyOf(0), keyOf(99_999));
      await sim.clock.sleep(3000);
      await engine.checkpoint();
    },
    after: () => new Map(),
  },
  'a dropped dictionary': {
    act: async ({ engine, id, sim }) => {
      const transaction = engine.begin('statement');
      transaction.dropDictionary(id);
      await transaction.commit();
      await sim.clock.sleep(3000);
      await engine.checkpoint();
    },
    after: () => undefined,
  },
  'space that comes back': {
    rows: 600,
    act: async ({ engine, id, sim }) => {
      const transaction = engine.begin('statement');
      try {
        for (let i = 0; i < 600; i++) if (i % 10 !== 0) await transaction.remove(id, encode(keyOf(i)));
      } catch (error) {
        transaction.abort();
        throw error;
      }
      await transaction.commit();
      await sim.clock.sleep(10_000);
    },
    after: (before) => new Map([...before].filter(([key]) => key.endsWith('0'))),
  },
  'updates without a read': {
    act: async ({ engine, id, sim }) => {
      const transaction = engine.begin('statement');
      try {
        for (let i = 0; i < 300; i += 3) await transaction.update(id, encode(keyOf(i)), testFunctions.append, encode('!'));
      } catch (error) {
        transaction.abort();
        throw error;
      }
      await transaction.commit();
      await sim.clock.sleep(3000);
      await engine.checkpoint();
    },
    after: (before) => new Map([...before].map(([key, value], i) => [key, i % 3 === 0 ? `${value}!`.slice(-20) : value])),
  },
  'log segments that are used again': {
    act: async ({ engine, id }) => {
      for (let part = 0; part < 8; part++) {
        await put(engine, id, rowsFrom(part * 20, part * 20 + 20, (i) => `${String(part)} ${String(i)} ${'y'.repeat(2000)}`));
        if (part % 3 === 2) await engine.checkpoint();
      }
    },
    between: (before) => Array.from({ length: 9 }, (_, parts) => merged(before, ...Array.from({ length: parts }, (_each, part) => rowsFrom(part * 20, part * 20 + 20, (i) => `${String(part)} ${String(i)} ${'y'.repeat(2000)}`)))),
    after: (before) => merged(before, ...Array.from({ length: 8 }, (_each, part) => rowsFrom(part * 20, part * 20 + 20, (i) => `${String(part)} ${String(i)} ${'y'.repeat(2000)}`))),
  },
};

/** A fault by its name: it is armed for the n-th I/O of a machine, and says whether it came to pass. */
type Fault = (sim: SimEnv, n: number) => () => boolean;

const writing: readonly Operation[] = ['create', 'write', 'sync', 'truncate', 'rename', 'remove', 'makeDirectory', 'syncDirectory'];
const reading: readonly Operation[] = ['read', 'open'];
const roomy = 2 ** 30;

const failing = (code: 'io' | 'no-space', lasting: boolean, kinds?: readonly Operation[]): Fault => (sim, n) => {
  sim.files.faults.failAt({ at: n, code, lasting, ...(kinds === undefined ? {} : { kinds }) });
  return () => sim.files.faults.failures > 0;
};

const full = (operations: number): Fault => (sim, n) => {
  let count = 0;
  sim.files.onOperation = () => {
    count += 1;
    if (count === n) sim.files.setCapacity(0);
    if (count === n + operations) sim.files.setCapacity(roomy);
  };
  return () => count >= n;
};

export const faults: Readonly<Record<string, Fault>> = {
  'a failed write or sync': failing('io', false, writing),
  'writes and syncs that fail from then on': failing('io', true, writing),
  'a failed read': failing('io', false, reading),
  'no space once': failing('no-space', false),
  'a full disk for a moment': full(6),
  'a full disk': full(Infinity),
  'a power failure': (sim, n) => {
    sim.files.faults.crashAt(n);
    return () => sim.files.isOff;
  },
};

/** Faults after which the environment goes on. */
/** Workers die in the middle of what was sent to them. */
export const deaths: readonly string[] = ['a worker that dies', 'two workers that die'];

const passing: ReadonlySet<string> = new Set(['a full disk for a moment', 'a full disk']);

async function rowsIn(engine: Environment, id: DictionaryId): Promise<Rows> {
  const read = engine.begin('read');
  const rows = await allRows(read, id, 1);
  read.abort();
  return new Map(rows.map((row) => row.split('=') as [string, string]));
}

const inHex = (rows: Rows): Rows => new Map([...rows].map(([key, value]) => [hex(encode(key)), hex(encode(value))]));

/** A directory with the rows that a path begins with, closed. */
export async function prepare(open: OpenEnvironment, path: Path): Promise<SimEnv> {
  const sim = await SimEnv.create({ seed: 1 });
  await sim.run(async () => {
    const engine = await open(sim, '/data', path.options ?? base);
    const first = engine.begin('statement');
    const id = first.createDictionary();
    await first.commit();
    for (const [from, to] of chunks(path.rows ?? 300)) await put(engine, id, rowsFrom(from, to));
    await sim.clock.sleep(3000);
    await engine.close();
  });
  return sim;
}

function* chunks(count: number): Generator<readonly [number, number]> {
  for (let from = 0; from < count; from += 50) yield [from, Math.min(count, from + 50)];
}

/** One run of a path with a fault at its n-th I/O; false when it had no n-th. */
export async function runPath(open: OpenEnvironment, prepared: SimEnv, path: Path, fault: { readonly name: string; readonly n: number }): Promise<boolean> {
  // A worker dies at its n-th message; so does, in the other fault, the one that comes after it.
  const dying = fault.name === 'a worker that dies' ? [fault.n] : fault.name === 'two workers that die' ? [fault.n, fault.n] : undefined;
  const sim = prepared.crash('power', fault.n, dying === undefined ? undefined : { sentBytesMin: 0, dies: false, deaths: dying });
  const id = 2 as DictionaryId;
  const arm = faults[fault.name];
  let cameToPass = (): boolean => false;
  let isDone = false;
  const result = await sim.run(async () => {
    const engine = await open(sim, '/data', path.options ?? base);
    if (arm !== undefined) cameToPass = arm(sim, fault.n);
    isDone = await succeeds(() => path.act({ engine, id, sim }));
    const died = engine.statistics().workerDeaths > 0;
    if (dying !== undefined) cameToPass = () => died;
    const isPassing = passing.has(fault.name) || dying?.length === 1;
    if (isPassing && cameToPass()) await assertGoesOn(engine, sim);
    if (dying?.length === 1) assert.ok(isDone, 'a worker that dies once changes nothing');
    sim.files.faults.heal();
    await succeeds(() => engine.close());
  });
  sim.files.onOperation = undefined;
  sim.files.setCapacity(roomy);
  const next = result.ended === 'crashed' || dying !== undefined || fault.n % 2 === 0 ? sim.crash('power', undefined, { sentBytesMin: Infinity, dies: false }) : sim;
  await next.run(() => judge(open, next, path, isDone));
  return cameToPass();
}

async function succeeds(act: () => Promise<unknown>): Promise<boolean> {
  try {
    await act();
    return true;
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return false;
  }
}

/** With space again everything is taken. */
async function assertGoesOn(engine: Environment, sim: SimEnv): Promise<void> {
  sim.files.onOperation = undefined;
  sim.files.setCapacity(roomy);
  await sim.clock.sleep(3000);
  const fatal = await Promise.race([engine.fatal, sim.clock.sleep(1).then(() => undefined)]);
  assert.equal(fatal, undefined, 'a full disk ends nothing');
  await put(engine, engine.catalogDictionary, new Map([['goes on', 'yes']]));
}

/** What may be there, as text, and the rows of the beginning in hexadecimal. */
interface Allowed {
  readonly before: Rows;
  readonly undone: readonly string[];
  readonly done: string;
}

/** Made once a path: it is the same for every fault. */
const allowedOf = new Map<Path, Allowed>();

function allowedFor(path: Path): Allowed {
  let known = allowedOf.get(path);
  if (known === undefined) {
    const before = rowsFrom(0, path.rows ?? 300);
    const after = path.after === undefined ? before : path.after(before);
    const text = (rows: Rows | undefined): string => (rows === undefined ? 'gone' : [...inHex(rows)].sort().join());
    known = { before: inHex(before), undone: [before, ...(path.between?.(before) ?? [])].map(text), done: text(after) };
    allowedOf.set(path, known);
  }
  return known;
}

async function judge(open: OpenEnvironment, sim: SimEnv, path: Path, isDone: boolean): Promise<void> {
  const engine = await open(sim, '/data', path.options ?? base);
  assert.deepEqual((await engine.verify()).problems, []);
  const { before, undone, done } = allowedFor(path);
  const allowed = isDone ? [done] : [...undone, done];
  const found = await rowsIn(engine, 2 as DictionaryId).then((rows) => [...rows].sort().join(), (error: unknown) => {
    if (error instanceof EngineError && error.code === 'unknown-dictionary') return 'gone';
    throw error;
  });
  assert.ok(allowed.includes(found), `${isDone ? 'done, and' : 'not done, but'} what is there is neither before nor after: ${String(found.length)} of ${allowed.map(({ length }) => length).join()}`);
  await engine.close();
  await path.look?.({ open, sim, before, isDone });
}
