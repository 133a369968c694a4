// What transactions, cursors and background work of one environment share.

import type { Roster } from '../base/roster.ts';
import type { Commits } from './commits.ts';
import type { Gate } from './gate.ts';
import type { MergeRunner } from './merge-runner.ts';
import type { Parts } from './parts.ts';
import type { Reads } from './reads.ts';
import type { EngineState } from './state.ts';
import type { Transaction } from './types.ts';

/** The parts of an open environment. */
export interface EngineParts {
  readonly state: EngineState;
  readonly parts: Parts;
  readonly reads: Reads;
  readonly commits: Commits;
  /** Write sets that spill do it one after the other. */
  readonly spillGate: Gate;
  readonly spillRunner: MergeRunner;
  /** Makes a checkpoint. */
  readonly checkpoint: () => Promise<void>;
  /** Transactions that have not ended. */
  readonly open: Roster<Transaction>;
}
