// What a frozen directory of the bare engine holds: a dictionary for each compression, rows that are flushed, rows that wait in buffers, rows in the log
// alone, removed ones, one large value, a range that is gone. Never changed: a directory that was frozen with it must open for ever.

import type { CompressionName, DictionaryId, EngineOptions, Environment, Transaction } from '../../src/engine/index.ts';

export const frozenOptions: Partial<EngineOptions> = {
  cacheBytes: 4 * 1024 * 1024, frontBytes: 16 * 1024, bufferBytes: 32 * 1024, logSegmentBytes: 131_072, checkpointPeriodMs: 1e9,
  dictionary: { compression: 'zstd', pageBytes: 16 * 1024, readPageBytes: 2048, fanout: 4 },
};

/** Made in this order, so with these numbers. */
const kept: readonly (readonly [CompressionName, DictionaryId])[] = (['none', 'lz4', 'zlib', 'zstd'] as const).map((name, index) => [name, (index + 2) as DictionaryId]);
const keys = 900;
const encoder = new TextEncoder();

const keyOf = (i: number): Uint8Array => encoder.encode(`key ${String(i).padStart(6, '0')}`);

/** Round 2 writes the third part again; of round 3, which the log alone has, every tenth. */
function valueOf(name: CompressionName, i: number): string {
  const round = i % 10 === 0 ? 3 : i % 3 === 0 ? 2 : 1;
  const size = i === 450 ? 40_000 : 10 + ((i * 7919) % 90);
  return `${name} ${String(round)} ${String(i)} ${'abcdefghij'.repeat(Math.ceil(size / 10)).slice(0, size)}`;
}

/** Keys from 600 to 699 go by a range, every seventh one by itself. */
const isGone = (i: number): boolean => (i >= 600 && i < 700) || i % 7 === 0;

/** The rows of each dictionary, in order of keys. */
export function expectedRows(): ReadonlyMap<DictionaryId, readonly (readonly [string, string])[]> {
  const all = Array.from({ length: keys }, (_, i) => i).filter((i) => !isGone(i));
  return new Map(kept.map(([name, id]) => [id, all.map((i) => [`key ${String(i).padStart(6, '0')}`, valueOf(name, i)])]));
}

async function commit(engine: Environment, work: (txn: Transaction) => Promise<void>): Promise<void> {
  const txn = engine.begin('statement');
  await work(txn);
  await txn.commit();
}

async function putAll(engine: Environment, round: number): Promise<void> {
  for (const [name, id] of kept) {
    for (let start = 0; start < keys; start += 100) {
      await commit(engine, async (txn) => {
        for (let i = start; i < start + 100; i++) {
          const wanted = valueOf(name, i);
          if (round === 1) await txn.put(id, keyOf(i), encoder.encode(wanted.replace(/ [123] /, ' 1 ')));
          else if ((round === 2 && i % 3 === 0) || i % 10 === 0) await txn.put(id, keyOf(i), encoder.encode(round === 3 ? wanted : wanted.replace(/ [123] /, ' 2 ')));
          if (round === 1) txn.count(id, 1, wanted.length);
        }
      });
    }
  }
}

/** Fills a new environment and leaves it open, with rows in the log alone. */
export async function fillEngine(engine: Environment): Promise<void> {
  await commit(engine, (txn) => {
    for (const [compression] of kept) txn.createDictionary({ compression });
    return Promise.resolve();
  });
  await putAll(engine, 1);
  await putAll(engine, 2);
  for (const [, id] of kept) {
    await commit(engine, async (txn) => {
      await txn.deleteRange(id, { from: keyOf(600), to: keyOf(700) }, 100, 0);
    });
  }
  await engine.checkpoint();
  await putAll(engine, 3);
  for (const [, id] of kept) {
    await commit(engine, async (txn) => {
      for (let i = 0; i < keys; i += 1) if (isGone(i)) await txn.remove(id, keyOf(i));
    });
  }
}
