// What a transaction waits for, as others are told it while it waits.

import type { DictionaryId, KeyRange } from '../types.ts';

/** A lock that is waited for: of a key, or of a range. */
export interface WaitingFor {
  readonly dictionary: DictionaryId;
  readonly key: Uint8Array | undefined;
  readonly range: KeyRange;
  readonly requesting: number;
  /** Who has it now. */
  readonly blocking: () => number | undefined;
  readonly sinceMs: number;
}
