// Operations of one large commit on their way out of memory: rows in a dictionary of their own, made by the same transaction, so that they are there
// with it or not at all. The row in the oplog says where they are (operation-row.ts); the dictionary goes with the segment of that time.

import { EngineError } from '../../base/errors.ts';
import { DateTime, Document } from '../../bson/index.ts';
import type { DictionaryId, Soon, Transaction } from '../../engine/index.ts';
import { segmentKey } from '../entry.ts';
import { afterSoon, eachSoon } from '../soon.ts';
import type { NotedOperations, RowProgress } from './noted-operations.ts';
import type { CommitHead } from './operation-row.ts';

/** What was put out at once. */
interface Written {
  /** The transaction's last operation before it. */
  readonly after: number;
  readonly from: RowProgress;
  /** Kept until a mark comes behind it: to be had again if the transaction goes back to the mark before. */
  noted: NotedOperations | undefined;
}

/** The key of a row: the tick that it begins at. */
export function sideKey(tick: number): Uint8Array {
  return Uint8Array.of(tick >>> 24, tick >>> 16, tick >>> 8, tick);
}

/** The rows of one transaction. */
export class SideRows {
  readonly dictionary: DictionaryId;
  readonly madeMs: number;
  readonly #engine: Transaction;
  readonly #after: number;
  readonly #written: Written[] = [];
  progress: RowProgress = { ticks: 0, operations: 0 };

  constructor(engine: Transaction, madeMs: number) {
    this.#engine = engine;
    this.#after = engine.mark();
    this.madeMs = madeMs;
    this.dictionary = engine.createDictionary({ compression: 'lz4' });
  }

  /** The row of the catalog that names them. */
  register(catalogDictionary: DictionaryId): Soon<void> {
    return this.#engine.putCovered(catalogDictionary, segmentKey(this.dictionary), Document.of({ made: new DateTime(this.madeMs), side: true }).toBytes());
  }

  /** Puts operations out; `more`: others will follow. */
  write(noted: NotedOperations, head: CommitHead, place: { readonly wallMs: number; readonly more: boolean }): Soon<void> {
    const { rows, to } = noted.asideRows(head, this.progress, place);
    this.#written.push({ after: this.#engine.mark(), from: this.progress, noted });
    this.progress = to;
    return eachSoon(rows.length, (index) => {
      const row = rows[index];
      if (row === undefined) return undefined;
      const { value } = row;
      return afterSoon(this.#engine.put(this.dictionary, sideKey(row.tick), value), () => {
        this.#engine.count(this.dictionary, 0, value.length);
      });
    });
  }

  /** A mark comes behind what was put out. */
  marked(): void {
    for (const written of this.#written) written.noted = undefined;
  }

  /** The transaction goes back to a mark: what was put out after it and is to be put out anew. Undefined: the dictionary is no more either. */
  rolledBack(mark: number): { readonly again: readonly NotedOperations[]; readonly isGone: boolean } {
    const again: NotedOperations[] = [];
    for (let last = this.#written.at(-1); last !== undefined && last.after >= mark; last = this.#written.at(-1)) {
      if (last.noted === undefined) throw new EngineError('too-large', 'the mark is too old: what the log has of it is out of memory');
      last.noted.rollbackTo(mark);
      again.unshift(last.noted);
      this.progress = last.from;
      this.#written.pop();
    }
    return { again, isGone: this.#after >= mark };
  }
}
