// Inputs of a merge: a frozen front, or an extent within a range of keys, given to the kernel run by run. Of an extent several basements are
// asked for at a time, since an answer may come from another thread.

import { compareBytes } from '../../../base/bytes.ts';
import { EngineError } from '../../../base/errors.ts';
import type { Codecs } from '../../../env/index.ts';
import { decodeBasement } from '../../run/extent.ts';
import type { Fences } from '../../run/fences.ts';
import type { Run } from '../../run/run.ts';
import { RunBuilder } from '../../run/run-builder.ts';
import type { Front } from '../front.ts';
import { emptySlice } from '../front.ts';
import type { MergeSource, MergeStep } from './merge-work.ts';

/** A run and the part of it that belongs to the merge. */
export interface MergeWindow {
  readonly run: Run;
  readonly start: number;
  readonly end: number;
}

export interface MergeInput {
  /** The next window in order of keys; undefined after the last. */
  next(): MergeStep<MergeWindow | undefined>;
}

const sliceEntries = 1024;

/** Stored bytes that are asked for at once; at least one basement. */
const batchBytes = 256 * 1024;

/** All of a frozen front, in slices. */
export class FrontInput implements MergeInput {
  readonly #front: Front;
  readonly #order: Uint32Array;
  readonly #builder: RunBuilder = new RunBuilder(sliceEntries, 64 * 1024);
  #at: number = 0;

  constructor(front: Front) {
    this.#front = front;
    this.#order = front.sortedWhole();
  }

  *next(): MergeStep<MergeWindow | undefined> {
    const front = this.#front;
    if (this.#at >= this.#order.length) return undefined;
    const builder = this.#builder;
    const slice = emptySlice();
    const end = Math.min(this.#order.length, this.#at + sliceEntries);
    for (; this.#at < end; this.#at++) {
      const entry = this.#order[this.#at] as number;
      front.slice(entry, slice);
      builder.appendSlice(slice);
    }
    const run = builder.finish();
    return { run, start: 0, end: run.count };
  }
}

/** The part of an extent between two keys. */
export class ExtentInput implements MergeInput {
  readonly #fences: Fences;
  readonly #source: number;
  readonly #codecs: Codecs;
  readonly #from: Uint8Array | undefined;
  readonly #to: Uint8Array | undefined;
  #basement: number;
  /** Behind the last basement that may hold keys of the range. */
  readonly #last: number;
  /** What was asked for last, and where in it the next basement begins. */
  #stored: Uint8Array = new Uint8Array(0);
  #at: number = 0;

  constructor(source: Extract<MergeSource, { kind: 'extent' }>, index: number, codecs: Codecs) {
    this.#fences = source.extent.fences;
    this.#source = index;
    this.#codecs = codecs;
    this.#from = source.from;
    this.#to = source.to;
    this.#basement = source.from === undefined ? 0 : this.#fences.firstFor(source.from);
    this.#last = this.#end();
  }

  /** The first basement that begins at or behind the end of the range. */
  #end(): number {
    const { length } = this.#fences;
    if (this.#to === undefined) return length;
    let end = this.#basement;
    while (end < length && compareBytes(this.#fences.firstKey(end), this.#to) < 0) end++;
    return end;
  }

  *next(): MergeStep<MergeWindow | undefined> {
    while (this.#basement < this.#last) {
      const run = yield* this.#run(this.#basement++);
      const start = this.#from === undefined ? 0 : run.lowerBound(this.#from, 0, run.count);
      const end = this.#to === undefined ? run.count : run.lowerBound(this.#to, 0, run.count);
      if (start < end) return { run, start, end };
    }
    return undefined;
  }

  *#run(basement: number): MergeStep<Run> {
    if (this.#at === this.#stored.length) yield* this.#ask(basement);
    const end = this.#at + this.#fences.storedLength(basement);
    const stored = this.#stored.subarray(this.#at, end);
    this.#at = end;
    try {
      return decodeBasement(stored, this.#fences, basement, this.#codecs);
    } catch (error) {
      if (error instanceof EngineError) yield { kind: 'damaged', source: this.#source, basement, error };
      throw error;
    }
  }

  *#ask(from: number): MergeStep<void> {
    let to = from;
    let bytes = 0;
    do bytes += this.#fences.storedLength(to++);
    while (to < this.#last && bytes + this.#fences.storedLength(to) <= batchBytes);
    const answer = yield { kind: 'stored', source: this.#source, from, to };
    this.#stored = answer ?? new Uint8Array(0);
    this.#at = 0;
  }
}

/** Inputs whose keys follow one another, as one. */
export class ChainInput implements MergeInput {
  readonly #inputs: readonly MergeInput[];
  #at: number = 0;

  constructor(inputs: readonly MergeInput[]) {
    this.#inputs = inputs;
  }

  *next(): MergeStep<MergeWindow | undefined> {
    for (let input = this.#inputs[this.#at]; input !== undefined; input = this.#inputs[++this.#at]) {
      const window = yield* input.next();
      if (window !== undefined) return window;
    }
    return undefined;
  }
}
