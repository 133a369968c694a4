// What a frozen directory with large values holds: values around the threshold that shrink and that do not, in leaves, in buffers' fronts and in the log
// alone, moved ones, some of which others have taken the place, a dictionary that keeps all in its tree. Never changed: it must open for ever.

import type { DictionaryId, EngineOptions, Environment, Transaction } from '../../src/engine/index.ts';

export const largeOptions: Partial<EngineOptions> = {
  cacheBytes: 4 * 1024 * 1024, frontBytes: 4 * 1024, bufferBytes: 8 * 1024, logSegmentBytes: 131_072, checkpointPeriodMs: 1e9, blobSegmentBytes: 9000,
  dictionary: { compression: 'zlib', pageBytes: 4096, readPageBytes: 1024, fanout: 4, largeValueBytes: 300 },
};

const large = 2 as DictionaryId;
const small = 3 as DictionaryId;
const keys = 60;
const encoder = new TextEncoder();

/** Letters that hardly shrink, or one again and again. */
function valueOf(round: number, i: number): string {
  const length = 280 + ((i * 37) % 200);
  if (i % 3 === 0) return `${String(round)} ${String(i)} `.padEnd(length, 'x');
  let state = i * 7919 + round;
  return `${String(round)} ${String(i)} ${Array.from({ length }, () => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return String.fromCharCode(33 + ((state >>> 16) % 90));
  }).join('')}`;
}

const keyOf = (i: number): string => `key ${String(i).padStart(4, '0')}`;
const roundOf = (i: number): number => (i % 10 === 1 ? 3 : i % 2 === 0 ? 2 : 1);
const isGone = (i: number): boolean => i % 11 === 5;

/** The rows of each dictionary, in order of keys. */
export function expectedLargeRows(): ReadonlyMap<DictionaryId, readonly (readonly [string, string])[]> {
  const rows = Array.from({ length: keys }, (_, i) => i).filter((i) => !isGone(i)).map((i) => [keyOf(i), valueOf(roundOf(i), i)] as const);
  return new Map([[large, rows], [small, rows]]);
}

async function commit(engine: Environment, work: (txn: Transaction) => Promise<void>): Promise<void> {
  const txn = engine.begin('statement');
  await work(txn);
  await txn.commit();
}

async function putRound(engine: Environment, round: number): Promise<void> {
  for (let i = 0; i < keys; i++) {
    if (round === 3 ? i % 10 !== 1 : round === 2 && i % 2 !== 0) continue;
    await commit(engine, async (txn) => {
      for (const id of [large, small]) await txn.put(id, encoder.encode(keyOf(i)), encoder.encode(valueOf(round, i)));
    });
  }
}

/** Fills a new environment and leaves it open, with rows in the log alone. `idle`: lets some seconds go by. */
export async function fillLarge(engine: Environment, idle: () => Promise<void>): Promise<void> {
  await commit(engine, (txn) => {
    txn.createDictionary();
    txn.createDictionary({ largeValueBytes: 0 });
    return Promise.resolve();
  });
  await putRound(engine, 1);
  await putRound(engine, 2);
  await idle();
  await engine.checkpoint();
  await putRound(engine, 3);
  await commit(engine, async (txn) => {
    for (let i = 0; i < keys; i++) if (isGone(i)) for (const id of [large, small]) await txn.remove(id, encoder.encode(keyOf(i)));
  });
}
