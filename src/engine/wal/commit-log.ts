// The log that a commit waits for, as the transactions see it: append a record, learn its seq at once and when it is safe. Alone it is the
// environment's own redo log; in a replica set another log may stand here.

import type { Seq, Soon } from '../types.ts';

/** A record that has its place in the log. */
export interface Appended {
  readonly seq: Seq;
  /** Resolves when a crash cannot take the record any more (under delayed durability: when it is written); in order of seqs. */
  readonly safe: Promise<void>;
}

export interface CommitLog {
  /**
   * Undefined when a record of this size is sure of its space if it is appended in the same step; else a promise after which to ask again.
   * `no-space` when it cannot be had; nothing is logged then. `urgent`: the record gives space back, and may use what is kept for such.
   */
  room(bytes: number, urgent?: boolean): Soon<void>;
  /** Gives the next seq and puts the record into the log. The body belongs to the log from now on. */
  append(body: Uint8Array): Appended;
  /** Makes everything appended so far durable. */
  sync(): Promise<void>;
  /** No record with a seq up to this one is needed any more. */
  trim(seq: number): Promise<void>;
}
