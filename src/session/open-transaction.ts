// A multi-statement transaction as its session sees it: something that can be committed or aborted. What it holds (an engine transaction)
// is the business of whoever serves commands; sessions only keep its life: whatever connection it comes by, sixty seconds at most.

/** How a transaction stands. */
export type TransactionState = 'in-progress' | 'committed' | 'aborted';

/** A transaction begun by a client's `startTransaction`. */
export interface OpenTransaction {
  readonly txnNumber: bigint;
  readonly startedMs: number;
  /** Whether it may go on beyond the lifetime of transactions: a bulk load is under way. */
  readonly isLoading?: boolean;
  /** Forgets what it wrote and frees what it holds; harmless when it has ended. */
  abort(): void;
}
