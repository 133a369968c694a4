// What clients of lists saw: transactions that append numbers to lists and read lists. Every number is appended once in a whole run, so a
// list tells who wrote it and in which order.

/** One step of a transaction. A read's `values` include what the transaction itself appended before. */
export type Step =
  | { readonly kind: 'append'; readonly list: number; readonly value: number }
  | { readonly kind: 'read'; readonly list: number; readonly values: readonly number[] };

/**
 * `committed`: acknowledged. `aborted`: certainly not done. `unknown`: the commit was asked for and never answered. Times are of one clock of
 * the observer; an unknown transaction ends at Infinity.
 */
export interface Observed {
  readonly session: number;
  readonly begun: number;
  readonly ended: number;
  readonly outcome: 'committed' | 'aborted' | 'unknown';
  readonly steps: readonly Step[];
}
