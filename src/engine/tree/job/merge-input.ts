// Inputs of a merge job: a frozen front, or an extent within a range of keys, given to the kernel run by run.

import { compareBytes } from '../../../base/bytes.ts';
import type { Run } from '../../run/run.ts';
import { RunBuilder } from '../../run/run-builder.ts';
import type { Front } from '../front.ts';
import { emptySlice } from '../front.ts';
import type { Extent } from '../node.ts';
import type { JobStep } from './request.ts';
import { readRun } from './request.ts';

/** A run and the part of it that belongs to the job. */
export interface MergeWindow {
  readonly run: Run;
  readonly start: number;
  readonly end: number;
}

export interface MergeInput {
  /** The next window in order of keys; undefined after the last. */
  next(): JobStep<MergeWindow | undefined>;
}

const sliceEntries = 1024;

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

  *next(): JobStep<MergeWindow | undefined> {
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
  readonly #extent: Extent;
  readonly #from: Uint8Array | undefined;
  readonly #to: Uint8Array | undefined;
  #basement: number;

  constructor(extent: Extent, from?: Uint8Array, to?: Uint8Array) {
    this.#extent = extent;
    this.#from = from;
    this.#to = to;
    this.#basement = from === undefined ? 0 : extent.fences.firstFor(from);
  }

  *next(): JobStep<MergeWindow | undefined> {
    const { fences } = this.#extent;
    while (this.#basement < fences.length) {
      const index = this.#basement++;
      if (this.#to !== undefined && compareBytes(fences.firstKey(index), this.#to) >= 0) return undefined;
      const run = yield* readRun(this.#extent, index);
      const start = this.#from === undefined ? 0 : run.lowerBound(this.#from, 0, run.count);
      const end = this.#to === undefined ? run.count : run.lowerBound(this.#to, 0, run.count);
      if (start < end) return { run, start, end };
    }
    return undefined;
  }
}
