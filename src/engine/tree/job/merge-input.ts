// Inputs of a merge: a frozen front, or an extent within a range of keys, given to the kernel run by run. Of an extent several basements are
// asked for at a time, since an answer may come from another thread.

import { EngineError } from '../../../base/errors.ts';
import type { Codecs } from '../../../env/index.ts';
import { decodeBasementInto } from '../../run/extent.ts';
import type { Fences } from '../../run/fences.ts';
import { withSeq } from '../../run/run.ts';
import type { AlternatingMemory, Run } from '../../run/run.ts';
import { RunBuilder } from '../../run/run-builder.ts';
import type { Front } from '../front.ts';
import { emptySlice } from '../../run/message.ts';
import { basementsOf, batchOf } from './merge-request.ts';
import type { ExtentSource, MergeStep } from './merge-request.ts';

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

/** All of a frozen front, in slices. */
export class FrontInput implements MergeInput {
  readonly #front: Front;
  readonly #order: Uint32Array;
  readonly #builder: RunBuilder = new RunBuilder(sliceEntries, 64 * 1024);
  readonly #memory: AlternatingMemory;
  #at: number = 0;

  /** The kernel looks back at the message before: at most two runs of an input are looked at. */
  constructor(front: Front, memory: AlternatingMemory) {
    this.#memory = memory;
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
    const run = builder.finish(this.#memory.take);
    return { run, start: 0, end: run.count };
  }
}

/** The part of an extent between two keys. */
export class ExtentInput implements MergeInput {
  readonly #fences: Fences;
  readonly #source: number;
  readonly #codecs: Codecs;
  readonly #memory: AlternatingMemory;
  readonly #from: Uint8Array | undefined;
  readonly #to: Uint8Array | undefined;
  readonly #seq: number | undefined;
  #basement: number;
  /** Behind the last basement that may hold keys of the range. */
  readonly #last: number;
  /** What was asked for last, and where in it the next basement begins. */
  #stored: Uint8Array = new Uint8Array(0);
  #at: number = 0;

  /** Inputs of one chain share their memory. */
  constructor(source: ExtentSource, index: number, codecs: Codecs, memory: AlternatingMemory) {
    this.#memory = memory;
    this.#fences = source.extent.fences;
    this.#source = index;
    this.#codecs = codecs;
    this.#from = source.from;
    this.#to = source.to;
    this.#seq = source.seq;
    ({ from: this.#basement, to: this.#last } = basementsOf(source));
  }

  *next(): MergeStep<MergeWindow | undefined> {
    while (this.#basement < this.#last) {
      const read = yield* this.#run(this.#basement++);
      const run = this.#seq === undefined ? read : withSeq(read, this.#seq);
      const start = this.#from === undefined ? 0 : run.lowerBound(this.#from, 0, run.count);
      const end = this.#to === undefined ? run.count : run.lowerBound(this.#to, 0, run.count);
      if (start < end) return { run, start, end };
      this.#memory.giveBack();
    }
    return undefined;
  }

  *#run(basement: number): MergeStep<Run> {
    if (this.#at === this.#stored.length) yield* this.#ask(basement);
    const end = this.#at + this.#fences.storedLength(basement);
    const stored = this.#stored.subarray(this.#at, end);
    this.#at = end;
    try {
      return decodeBasementInto(stored, { fences: this.#fences, index: basement }, this.#codecs, this.#memory.take);
    } catch (error) {
      if (error instanceof EngineError) yield { kind: 'damaged', source: this.#source, basement, error };
      throw error;
    }
  }

  *#ask(from: number): MergeStep<void> {
    const answer = yield batchOf(this.#fences, this.#source, from, this.#last);
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

/** An input without the operations of a transaction that were taken back. */
export class KeptInput implements MergeInput {
  readonly #input: MergeInput;
  readonly #takenBack: readonly { readonly after: number; readonly upTo: number }[];

  constructor(input: MergeInput, takenBack: readonly { readonly after: number; readonly upTo: number }[]) {
    this.#input = input;
    this.#takenBack = takenBack;
  }

  *next(): MergeStep<MergeWindow | undefined> {
    for (;;) {
      const window = yield* this.#input.next();
      if (window === undefined) return undefined;
      const builder = new RunBuilder();
      for (let i = window.start; i < window.end; i++) {
        const seq = window.run.seq(i);
        if (!this.#takenBack.some(({ after, upTo }) => seq > after && seq <= upTo)) builder.append(window.run, i, seq);
      }
      if (builder.count === 0) continue;
      const run = builder.finish();
      return { run, start: 0, end: run.count };
    }
  }
}
