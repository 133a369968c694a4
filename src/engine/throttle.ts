// Slowing writers down smoothly while flushing is behind: first a delay that grows with what waits in the fronts, and only at the limit a
// wait until there is room. Writers pay where they commit, so a transaction is never stopped in its middle by others' writes.

import { EngineError } from '../base/errors.ts';
import type { Soon } from './types.ts';
import type { EngineState } from './state.ts';

/** Shares of the budget that fronts may hold: writers are slowed from the first on and stopped at the second. */
const slowFrom = 0.35;
const stopAt = 0.55;
const delayMsMax = 25;

/** Resolves when a commit of `bytes` may go on. */
export function throttle(state: EngineState): Soon<void> {
  const share = state.budget.held('fronts') / state.options.cacheBytes;
  return share < slowFrom ? undefined : slowDown(state, share);
}

async function slowDown(state: EngineState, share: number): Promise<void> {
  state.onWork();
  const pressure = Math.min(1, (share - slowFrom) / (stopAt - slowFrom));
  await state.env.clock.sleep(Math.ceil(pressure * delayMsMax));
  if (share < stopAt) return;
  const room = (): boolean => state.failure !== undefined || state.closed || state.isFull || state.budget.held('fronts') < stopAt * state.options.cacheBytes;
  if (!room()) await state.budget.wait(room);
  state.checkUsable();
  if (state.isFull && state.budget.held('fronts') >= stopAt * state.options.cacheBytes) throw diskFull();
}

/** What a commit gets that the disk has no room for; nothing of it was logged. */
export function diskFull(): EngineError {
  return new EngineError('no-space', 'the disk is full; what only deletes gets through');
}
