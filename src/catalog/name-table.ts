// The cache of what names stand for, true for the newest committed state, and the way from a transaction's snapshot to the right object.
// A name whose definition is being committed is read from dictionary 1 at the snapshot, because between the engine's commit and
// ours nobody can say which of the two states a new snapshot sees; one that changed after a snapshot likewise.

import { must } from '../base/assert.ts';
import type { DictionaryId, Seq, Soon } from '../engine/index.ts';
import { deferred } from './deferred.ts';
import { decodeEntry, nameKey } from './entry.ts';
import type { NameEntry } from './entry.ts';
import type { Namespace } from './namespace.ts';
import { changedMeanwhile } from './refusal.ts';
import type { StoredCollection } from './stored-collection.ts';
import type { StoredTransaction } from './transaction.ts';
import type { TransactionObserver } from './transaction.ts';
import type { StoredView } from './stored-view.ts';

/** What a name stands for. */
export type Named = StoredCollection | StoredView;

/** A name that a transaction changed. */
interface NameChange {
  /** The engine's mark after the change. */
  readonly order: number;
  readonly text: string;
  readonly before: Named | undefined;
  readonly after: Named | undefined;
}

interface NameState {
  current: Named | undefined;
  /** The commit that last changed it. */
  seq: Seq;
  /** While a change is being committed: how many, and when the last of them has ended. */
  pending: { count: number; readonly ended: Promise<void>; readonly end: () => void } | undefined;
}

/** Makes an object for an entry as one transaction's snapshot has it. */
export type Loader = (txn: StoredTransaction, ns: Namespace, entry: NameEntry) => Promise<Named>;

/** All names of the environment. */
export class NameTable implements TransactionObserver {
  readonly #states: Map<string, NameState> = new Map();
  readonly #own: WeakMap<StoredTransaction, NameChange[]> = new WeakMap();
  readonly #load: Loader;
  readonly #dictionary: DictionaryId;

  constructor(dictionary: DictionaryId, load: Loader) {
    this.#dictionary = dictionary;
    this.#load = load;
  }

  /** At open: what is there. */
  install(text: string, current: Named, seq: Seq): void {
    this.#states.set(text, { current, seq, pending: undefined });
  }

  /** The newest committed object. */
  newest(text: string): Named | undefined {
    return this.#states.get(text)?.current;
  }

  /** All newest committed objects. */
  all(): readonly Named[] {
    return [...this.#states.values()].flatMap(({ current }) => (current === undefined ? [] : [current]));
  }

  lookup(txn: StoredTransaction, ns: Namespace): Soon<Named | undefined> {
    const own = txn.hasNameChanges ? this.#own.get(txn)?.findLast((change) => change.text === ns.text) : undefined;
    if (own !== undefined) return own.after;
    const state = this.#states.get(ns.text);
    if (state === undefined) return undefined;
    if (state.pending !== undefined) return this.#whilePending(txn, ns, state.pending.ended);
    if (state.seq <= txn.snapshot) return state.current;
    return this.#atSnapshot(txn, ns);
  }

  async #whilePending(txn: StoredTransaction, ns: Namespace, ended: Promise<void>): Promise<Named | undefined> {
    if (txn.mode === 'read') return this.#atSnapshot(txn, ns);
    await ended;
    return this.lookup(txn, ns);
  }

  async #atSnapshot(txn: StoredTransaction, ns: Namespace): Promise<Named | undefined> {
    if (txn.mode !== 'read') throw changedMeanwhile(ns.text);
    const bytes = await txn.engine.get(this.#dictionary, nameKey(ns));
    return bytes === undefined ? undefined : this.#load(txn, ns, decodeEntry(ns, bytes));
  }

  /** Notes what a transaction does to a name; to be called after the row was written. */
  change(txn: StoredTransaction, text: string, before: Named | undefined, after: Named | undefined): void {
    const own = this.#own.get(txn) ?? [];
    own.push({ order: txn.mark(), text, before, after });
    this.#own.set(txn, own);
    txn.hasNameChanges = true;
  }

  #changes(txn: StoredTransaction): readonly NameChange[] {
    return this.#own.get(txn) ?? [];
  }

  rolledBack(txn: StoredTransaction, mark: number): void {
    const left = this.#changes(txn).filter(({ order }) => order <= mark);
    this.#own.set(txn, left);
    txn.hasNameChanges = left.length > 0;
  }

  committing(txn: StoredTransaction): void {
    for (const { text, before, after } of this.#changes(txn)) {
      const state = this.#states.get(text) ?? { current: undefined, seq: 0 as Seq, pending: undefined };
      this.#states.set(text, state);
      if (state.pending === undefined) {
        const { promise, end } = deferred();
        state.pending = { count: 0, ended: promise, end };
      }
      state.pending.count += 1;
      if (before?.kind === 'collection' && before.owner === undefined) before.state.version += 1;
      if (after?.kind === 'collection') after.version = after.state.version;
    }
  }

  committed(txn: StoredTransaction, seq: Seq): void {
    for (const { text, after } of this.#changes(txn)) {
      const state = must(this.#states.get(text), 'a name that was committing');
      if (after?.kind === 'collection') {
        after.owner = undefined;
        after.version = after.state.version;
      }
      state.current = after;
      state.seq = seq;
      this.#settle(state);
    }
  }

  failed(txn: StoredTransaction): void {
    for (const { text } of this.#changes(txn)) this.#settle(must(this.#states.get(text), 'a name that was committing'));
  }

  #settle(state: NameState): void {
    if (state.pending === undefined) return;
    state.pending.count -= 1;
    if (state.pending.count > 0) return;
    // Where the commit was refused what was there goes on: writers of its version may again.
    if (state.current?.kind === 'collection') state.current.version = state.current.state.version;
    const { end } = state.pending;
    state.pending = undefined;
    end();
  }
}
