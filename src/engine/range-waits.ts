// Waiting for range locks, with limits: for a range itself, and for a key until no range of others covers it (law 12).

import { EngineError } from '../base/errors.ts';
import type { EngineState } from './state.ts';
import type { LockOwner } from './txn/lock-table.ts';
import type { PendingRange } from './txn/range-locks.ts';
import type { DictionaryId, KeyRange } from './types.ts';

/** How long a range lock is waited for: meanwhile nobody else begins to write. */
const rangeWaitMs = 1000;

/** Resolves when the range is had; `locked` after a second. `waits` is told what is waited for, and when that is over. */
export async function waitForRange(
  { ranges, env, options }: EngineState,
  { id, range, owner }: { readonly id: DictionaryId; readonly range: KeyRange; readonly owner: LockOwner },
  waits: (pending: PendingRange | undefined) => void,
): Promise<void> {
  const pending = ranges.wait(id, range, owner);
  waits(pending);
  const timer = new AbortController();
  const waitMs = Math.min(options.lockWaitMs, rangeWaitMs);
  const limit = env.clock.sleep(waitMs, timer.signal).then(() => {
    if (!timer.signal.aborted) pending.cancel(new EngineError('locked', `a range was not granted in ${waitMs} ms`));
  });
  try {
    await pending.granted;
  } finally {
    waits(undefined);
    timer.abort();
    await limit;
  }
}

/** Resolves when no range of others covers the key, or the owner has ended; `locked` after the usual time. */
export async function whileRangesHold(
  { ranges, env, options }: EngineState,
  { id, key, owner }: { readonly id: DictionaryId; readonly key: Uint8Array; readonly owner: LockOwner },
  isOpen: () => boolean,
): Promise<void> {
  const timer = new AbortController();
  const begun = env.clock.monotonicMs();
  const limit = env.clock.sleep(options.lockWaitMs, timer.signal);
  try {
    while (isOpen() && ranges.stand(id, key, owner) !== 'free') {
      await Promise.race([ranges.changed(), limit]);
      const isLate = env.clock.monotonicMs() - begun >= options.lockWaitMs;
      if (isLate) throw new EngineError('locked', `a range was not given free in ${options.lockWaitMs} ms`);
    }
  } finally {
    timer.abort();
    await limit;
  }
}
