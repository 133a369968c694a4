// What an ordered read decides on a key: the newest message that counts, or the updates on the way down to what they build on (law 11), hidden or not by
// range deletes (law 12). It remembers the key that was decided on last, given or not: a scan made anew goes on behind that.

import { messageKinds } from '../run/message.ts';
import type { Run } from '../run/run.ts';
import { saidBy, updatedBy } from './found.ts';
import type { Found } from './found.ts';
import type { Rows } from './rows.ts';
import { singleRow } from './rows.ts';
import type { ScanCover } from './scan-cover.ts';
import type { Head } from './scan-heads.ts';
import { compareEntries } from './scan-heads.ts';
import type { ScanView } from './scan-view.ts';
import { isMiss, search } from './search.ts';
import { searchChain } from './search-chain.ts';
import type { ChainPlace } from './search-chain.ts';
import { isTakenBack } from './spilled.ts';
import type { Miss } from './tree.ts';

/** Decides on keys, one after the other. */
export class ScanDecision {
  readonly #view: ScanView;
  /** Range deletes of the segment; absent when there are none. */
  cover: ScanCover | undefined;
  #lastRun: Run | undefined;
  #lastIndex: number = 0;
  /** Updates of the key being decided, newest first: what the transaction has said itself, and what is committed. */
  #ownUpdate: Uint8Array | undefined;
  readonly #updates: Uint8Array[] = [];

  constructor(view: ScanView) {
    this.#view = view;
  }

  /** The last key that was decided on. */
  get lastKey(): Uint8Array | undefined {
    return this.#lastRun?.key(this.#lastIndex);
  }

  /** Notes that message `index` of `run` was decided on. */
  note(run: Run, index: number): void {
    this.#lastRun = run;
    this.#lastIndex = index;
  }

  /** Whether the key is the one that was decided on last. */
  isLast(run: Run, index: number): boolean {
    const last = this.#lastRun;
    return last !== undefined && compareEntries(run, index, last, this.#lastIndex) === 0;
  }

  /** Begins a key. */
  begin(): void {
    this.#ownUpdate = undefined;
    this.#updates.length = 0;
  }

  /** Whether the message at `at` is among those that decide: of its own ones a transaction's newest says all that they say. */
  counts({ run, source, isOwn }: Head, at: number): boolean {
    const seq = (run as Run).seq(at);
    if (seq > source.seqMax || (isOwn && this.#ownUpdate !== undefined)) return false;
    return source.takenBack === undefined || !isTakenBack(source.takenBack, seq);
  }

  /** Takes the message at `index` as what the snapshot sees of its key; whether nothing older matters. */
  give(head: Head, index: number, rows: Rows): boolean {
    const run = head.run as Run;
    const kind = run.kinds[index];
    const isHidden = this.cover !== undefined && (head.source.fixedSeq ?? run.seq(index)) < this.cover.hiddenBelow(run.key(index), head.isOwn);
    if (kind === messageKinds.update && !isHidden) {
      if (head.isOwn) this.#ownUpdate = run.value(index);
      else this.#updates.push(run.value(index));
      return false;
    }
    this.note(run, index);
    const isThere = kind !== messageKinds.remove && !isHidden;
    if (this.#hasUpdates) this.#giveUpdated(run.key(index), isThere ? saidBy(run, index) : undefined, rows);
    else if (isThere) rows.add(run, index);
    return true;
  }

  /** No message is left of the key: updates that nothing older was found for build on nothing. */
  end(run: Run, index: number, rows: Rows): void {
    if (!this.#hasUpdates) return;
    this.note(run, index);
    this.#giveUpdated(run.key(index), undefined, rows);
  }

  get #hasUpdates(): boolean {
    return this.#ownUpdate !== undefined || this.#updates.length > 0;
  }

  /** Gives what the updates make of what they build on; of a value that lies elsewhere whoever fetches it does. */
  #giveUpdated(key: Uint8Array, base: Found, rows: Rows): void {
    const newestFirst = this.#ownUpdate === undefined ? [...this.#updates] : [this.#ownUpdate, ...this.#updates];
    const made = updatedBy(this.#view.tree.updates, base, newestFirst);
    if (made === 'removed') return;
    if (made instanceof Uint8Array) rows.add(singleRow(key, made), 0);
    else rows.addUpdated(singleRow(key, made), made.updates ?? []);
  }

  /** Decides a key by a point read, because its group of versions goes on in a basement that the scan does not stand in. */
  ask(run: Run, index: number, rows: Rows): Miss | undefined {
    const { tree, cache, seq } = this.#view;
    const key = run.key(index);
    const own = this.#ownUpdate === undefined ? this.#askOwn(key) : undefined;
    if (own !== undefined && 'block' in own) return own;
    if (own !== undefined) {
      const isHidden = own.run.seq(own.index) < (this.cover?.hiddenBelow(key, true) ?? 0);
      const kind = own.run.kinds[own.index];
      if (isHidden || kind !== messageKinds.update) {
        this.note(run, index);
        if (!isHidden && kind !== messageKinds.remove) rows.add(own.run, own.index);
        return undefined;
      }
      this.#ownUpdate = own.run.value(own.index);
    }
    const found = this.cover?.hiddenBelow(key, false) === Infinity ? undefined : search(tree, cache, key, seq);
    if (isMiss(found)) return found;
    this.note(run, index);
    // The search has gathered what is committed.
    this.#updates.length = 0;
    this.#giveUpdated(key, found, rows);
    return undefined;
  }

  /** The newest message of a key that the transaction has spilled itself. */
  #askOwn(key: Uint8Array): ChainPlace | Miss | undefined {
    const { cache, own } = this.#view;
    for (const chain of own?.spilled ?? []) {
      const found = searchChain(cache, chain, key, { seqMax: own?.seqMax ?? 0, takenBack: own?.takenBack ?? [] });
      if (found !== undefined) return found;
    }
    return undefined;
  }
}
