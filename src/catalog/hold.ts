// Holding the writers of one collection back for a moment, so that something is done between two of their commits.

import { deferred } from './deferred.ts';
import type { CollectionState } from './transaction.ts';

/** Does `work` while no transaction that writes the collection commits: statements wait, others are refused; what is committing ends first. */
export async function whileHeld<T>(state: CollectionState, work: () => Promise<T>): Promise<T> {
  while (state.held !== undefined) await state.held;
  const { promise, end } = deferred();
  state.held = promise;
  try {
    await Promise.allSettled(state.committing.all());
    return await work();
  } finally {
    state.held = undefined;
    end();
  }
}
