// Room for the write sets of open transactions in the budget. All of them together may hold half of the cache; one that finds others holding much
// waits for them a little.

import { EngineError } from '../base/errors.ts';
import { transactionBytesMax } from './options.ts';
import type { EngineState } from './state.ts';

const waitMs = 20;

/** Waits so that a burst passes, but never for good: the others may wait for this transaction. Throws `too-large` where there is no room then. */
export async function waitForRoom(state: EngineState): Promise<void> {
  const timer = new AbortController();
  const shared = Math.max(state.options.cacheBytes / 2, 2 * transactionBytesMax(state.options.cacheBytes));
  const room = state.budget.wait(() => state.budget.held('writeSets') <= shared / 2 || timer.signal.aborted);
  const limit = state.env.clock.sleep(waitMs, timer.signal);
  await Promise.race([room, limit]);
  timer.abort();
  state.budget.wake();
  if (state.budget.held('writeSets') > shared) throw new EngineError('too-large', `open transactions together are beyond the limit of ${shared} bytes`);
}
