// The one budget of memory. Owners say what they hold, kind by kind; what the cache of parts may keep is what is left. Those who would
// add to it wait for room, in order, and never for ever: what they wait for (flushes, commits of others) goes on without them.

import { assert } from '../../base/assert.ts';

/** Who holds memory: everything but the cache of parts, which takes what is left. */
export type BudgetKind = 'fronts' | 'writeSets' | 'nodes' | 'jobs' | 'locks' | 'tables';

/** Bytes by kind against one limit. */
export class Budget {
  readonly bytesMax: number;
  readonly #held: Record<BudgetKind, number> = { fronts: 0, writeSets: 0, nodes: 0, jobs: 0, locks: 0, tables: 0 };
  #waiters: { readonly ready: () => boolean; readonly go: () => void }[] = [];

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  held(kind: BudgetKind): number {
    return this.#held[kind];
  }

  /** What all kinds hold together. */
  get heldTotal(): number {
    const held = this.#held;
    return held.fronts + held.writeSets + held.nodes + held.jobs + held.locks + held.tables;
  }

  /** What the cache of parts may keep: the rest, but never less than an eighth, so that some reader always gets on. */
  get cacheBytesMax(): number {
    return Math.max(this.bytesMax - this.heldTotal, Math.floor(this.bytesMax / 8));
  }

  /** States a change of what `kind` holds. */
  change(kind: BudgetKind, bytes: number): void {
    this.#held[kind] += bytes;
    assert(this.#held[kind] >= 0, 'no kind gives back more than it took');
    if (bytes < 0) this.wake();
  }

  /** Resolves when `ready` holds; asked again whenever memory was given back. */
  wait(ready: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#waiters.push({ ready, go: resolve });
    });
  }

  /** Lets those go on whose condition holds now. */
  wake(): void {
    if (this.#waiters.length === 0) return;
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const waiter of waiters) {
      if (waiter.ready()) waiter.go();
      else this.#waiters.push(waiter);
    }
  }
}
