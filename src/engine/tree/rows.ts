// Rows as a scan gives them: by reference to immutable runs, so that nothing is copied.

import { assert } from '../../base/assert.ts';
import { decodeReference, encodeReference } from '../run/blob-reference.ts';
import type { BlobReference } from '../run/blob-reference.ts';
import { messageKinds } from '../run/message.ts';
import { RunBuilder } from '../run/run-builder.ts';
import type { Run } from '../run/run.ts';

/** Rows by reference, in stretches: neighbours of one run take no more memory than one row. */
export class Rows {
  /** From one row of a stretch to the next in its run. */
  readonly #step: number;
  readonly #runs: Run[] = [];
  readonly #firsts: number[] = [];
  /** Rows up to the end of each stretch. */
  readonly #ends: number[] = [];
  length: number = 0;
  bytes: number = 0;
  /** How many of them refer to their values. */
  references: number = 0;
  /** What is to be made of the values that some of these refer to. */
  updates: Map<number, readonly Uint8Array[]> | undefined;
  /** The stretch that was looked at last. */
  #at: number = 0;

  constructor(forward: boolean) {
    this.#step = forward ? 1 : -1;
  }

  /** The row's run; `indexOf` of the same row says where in it. */
  runOf(row: number): Run {
    assert(row >= 0 && row < this.length, 'a row of the batch');
    if (row >= (this.#ends[this.#at] as number)) while (row >= (this.#ends[this.#at] as number)) this.#at += 1;
    else while (this.#at > 0 && row < (this.#ends[this.#at - 1] as number)) this.#at -= 1;
    return this.#runs[this.#at] as Run;
  }

  /** Where in its run the row is for which `runOf` was called last. */
  indexOf(row: number): number {
    const before = this.#at === 0 ? 0 : (this.#ends[this.#at - 1] as number);
    return (this.#firsts[this.#at] as number) + this.#step * (row - before);
  }

  add(run: Run, index: number): void {
    this.#append(run, index, 1);
    this.bytes += run.size(index);
    if (run.kinds[index] === messageKinds.reference) this.#addReference(run, index);
  }

  /** Adds up to `count` rows of a run of puts from `first` on, as many as `limit` has room for; returns how many. */
  addStretch(run: Run, first: number, count: number, limit: { readonly rows: number; readonly bytes: number }): number {
    let room = Math.min(count, limit.rows - this.length);
    if (room <= 0) return 0;
    const step = this.#step;
    let bytes = run.sizeBetween(Math.min(first, first + step * (room - 1)), Math.max(first, first + step * (room - 1)) + 1);
    if (this.bytes + bytes > limit.bytes) {
      const most = room;
      bytes = 0;
      for (room = 0; room < most && this.bytes + bytes < limit.bytes; room++) bytes += run.size(first + step * room);
      if (room === 0) return 0;
    }
    this.#append(run, first, room);
    this.bytes += bytes;
    return room;
  }

  #append(run: Run, first: number, count: number): void {
    const last = this.#runs.length - 1;
    this.length += count;
    if (last >= 0 && this.#runs[last] === run && this.#follows(last, first)) this.#ends[last] = this.length;
    else {
      this.#runs.push(run);
      this.#firsts.push(first);
      this.#ends.push(this.length);
    }
  }

  /** Whether message `index` of its run is the next behind a stretch. */
  #follows(stretch: number, index: number): boolean {
    const begin = stretch === 0 ? 0 : (this.#ends[stretch - 1] as number);
    return (this.#firsts[stretch] as number) + this.#step * ((this.#ends[stretch] as number) - begin) === index;
  }

  /** Adds a row that refers to its value, and what is still to be made of that, newest first. */
  addUpdated(run: Run, updates: readonly Uint8Array[]): void {
    this.updates ??= new Map();
    this.updates.set(this.length, updates);
    this.add(run, 0);
  }

  /** The value counts, not what refers to it. */
  #addReference(run: Run, index: number): void {
    this.references += 1;
    this.bytes += decodeReference(run.value(index)).length;
  }
}

/** A run of one put, or of a reference. */
export function singleRow(key: Uint8Array, found: Uint8Array | BlobReference): Run {
  const value = found instanceof Uint8Array ? found : encodeReference(found);
  const builder = new RunBuilder();
  builder.appendMessage({ key, seq: 0, kind: found instanceof Uint8Array ? messageKinds.put : messageKinds.reference, value });
  return builder.finish();
}
