// Whether clients may write. `fsync` with `lock` makes writers wait until as many `fsyncUnlock` have come; `setUserWriteBlockMode` refuses
// them. Reading goes on in both.

import { CommandError } from '../../base/errors.ts';
import type { OperationContext } from '../../session/index.ts';

/** Why writes are blocked, as the command names it. */
export type BlockReason = 'Unspecified' | 'ClusterToClusterMigrationInProgress' | 'DiskUseThresholdExceeded';

const WAIT_MS = 60_000;

/** The gate before all writes of clients. */
export class WriteGate {
  readonly #waiting: Set<() => void> = new Set();
  #locks = 0;
  #blocked: BlockReason | undefined;

  /** How many times it was locked and not unlocked. */
  get locks(): number {
    return this.#locks;
  }

  get blocked(): BlockReason | undefined {
    return this.#blocked;
  }

  lock(): number {
    this.#locks += 1;
    return this.#locks;
  }

  /** Gives the number of locks that are left; 20 where there is none. */
  unlock(): number {
    if (this.#locks === 0) throw new CommandError(20, 'IllegalOperation', 'fsyncUnlock called when not locked');
    this.#locks -= 1;
    if (this.#locks === 0) for (const wake of this.#waiting) wake();
    return this.#locks;
  }

  /** Refuses writes to databases of users from now on, or lets them through again. */
  block(reason: BlockReason | undefined): void {
    this.#blocked = reason;
  }

  /** Lets a write through: at once, when it is unlocked, or never where writes are blocked (371). */
  async pass(operation: OperationContext, mayBypass: boolean): Promise<void> {
    const { database } = operation;
    const isOwn = database === 'admin' || database === 'config' || database === 'local';
    if (this.#blocked !== undefined && !isOwn && !mayBypass) throw new CommandError(371, 'UserWritesBlocked', 'User writes blocked');
    while (this.#locks > 0) {
      operation.waitingForLock = true;
      await operation.sleep(WAIT_MS, (wake) => {
        this.#waiting.add(wake);
        return () => this.#waiting.delete(wake);
      });
      operation.waitingForLock = false;
      operation.checkInterrupt();
    }
  }
}
