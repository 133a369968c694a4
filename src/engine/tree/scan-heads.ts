// The sources of one segment of an ordered read, each with the place in its window where the merge stands, kept in the order of those places: of
// equal keys the newest source comes first. Moving the first one costs as many comparisons as it passes others, so a long stretch from one source
// costs next to nothing.

import { compareRange } from '../../base/bytes.ts';
import type { Run } from '../run/run.ts';
import type { ScanSource, Window } from './scan-source.ts';
import type { Miss } from './tree.ts';

/** A source with the window it stands in. */
export class Head {
  readonly source: ScanSource;
  /** Place among the sources, newest first. */
  readonly age: number;
  /** Of the transaction's own writes. */
  readonly isOwn: boolean;
  run: Run | undefined;
  at: number = 0;
  /** Bytes of the key at `at` as a number, behind what all keys of the segment share: most comparisons end with it. */
  prefix: number = 0;
  end: number = 0;
  /** The position is the first group of a window, which may have begun in the window before. */
  fresh: boolean = false;
  cutBefore: boolean = false;
  cutAfter: boolean = false;
  /** Where the head goes when the key it stands at is decided. */
  next: number = 0;

  constructor(source: ScanSource, age: number, isOwn: boolean) {
    this.source = source;
    this.age = age;
    this.isOwn = isOwn;
  }

  enter(window: Window, forward: boolean, skip: number): void {
    const { run } = window;
    this.run = run;
    this.at = forward ? window.start : window.end - 1;
    this.end = forward ? window.end : window.start - 1;
    this.prefix = run.head(this.at, skip);
    this.cutBefore = window.cutBefore;
    this.cutAfter = window.cutAfter;
    this.fresh = forward ? window.cutBefore : window.cutAfter;
  }
}

/** Order of two keys by reference. */
export function compareEntries(a: Run, i: number, b: Run, j: number): number {
  return compareRange(
    a.keys, a.keyOffsets[i] as number, a.keyOffsets[i + 1] as number,
    b.keys, b.keyOffsets[j] as number, b.keyOffsets[j + 1] as number,
  );
}

/** Heads in order. */
export class Heads {
  readonly #forward: boolean;
  readonly #sign: number;
  /** Bytes that all keys of the segment begin with. */
  readonly skip: number;
  /** Those that stand somewhere, in order. */
  readonly #standing: Head[] = [];
  /** Those whose next window must be had before anything is decided. */
  #starved: Head[];

  /** `sources`: newest first, the first `owned` of them the transaction's. */
  constructor(sources: readonly ScanSource[], owned: number, forward: boolean, skip: number) {
    this.#forward = forward;
    this.#sign = forward ? 1 : -1;
    this.skip = skip;
    this.#starved = sources.map((source, age) => new Head(source, age, age < owned));
  }

  /** Gives every source that has one a window to stand in. After a Miss it is called again. */
  load(): Miss | undefined {
    for (let head = this.#starved.at(-1); head !== undefined; head = this.#starved.at(-1)) {
      const window = head.source.next();
      if (window !== 'end') {
        if ('kind' in window) return window;
        head.enter(window, this.#forward, this.skip);
        this.#standing.unshift(head);
        this.#sink(0);
      }
      this.#starved.pop();
    }
    return undefined;
  }

  get isStarved(): boolean {
    return this.#starved.length > 0;
  }

  /** Whether one of them stands in the run. */
  stand(run: Run): boolean {
    return this.#standing.some((head) => head.run === run);
  }

  /** The head with the next key, of equal keys the newest; undefined: there is none. */
  get first(): Head | undefined {
    return this.#standing[0];
  }

  /** The head that comes after the first. */
  get second(): Head | undefined {
    return this.#standing[1];
  }

  at(place: number): Head {
    return this.#standing[place] as Head;
  }

  /** How many heads stand at the first one's key. */
  groupSize(): number {
    const heads = this.#standing;
    const first = heads[0] as Head;
    let size = 1;
    for (; size < heads.length; size++) {
      const head = heads[size] as Head;
      if (head.prefix !== first.prefix || compareEntries(head.run as Run, head.at, first.run as Run, first.at) !== 0) break;
    }
    return size;
  }

  /** Moves the first `count` heads to their `next` places, or behind their windows. */
  move(count: number): void {
    for (let place = count - 1; place >= 0; place--) {
      const head = this.#standing[place] as Head;
      head.at = head.next;
      head.fresh = false;
      if (head.at !== head.end) {
        head.prefix = (head.run as Run).head(head.at, this.skip);
        this.#sink(place);
      } else {
        head.run = undefined;
        this.#standing.splice(place, 1);
        this.#starved.push(head);
      }
    }
  }

  /** Brings the head at `place`, behind which all are in order, to where it belongs. */
  #sink(place: number): void {
    const heads = this.#standing;
    const head = heads[place] as Head;
    let to = place;
    for (; to + 1 < heads.length; to++) {
      const after = heads[to + 1] as Head;
      if (!this.#isBefore(after, head)) break;
      heads[to] = after;
    }
    heads[to] = head;
  }

  #isBefore(a: Head, b: Head): boolean {
    if (a.prefix !== b.prefix) return this.#forward ? a.prefix < b.prefix : a.prefix > b.prefix;
    const order = this.#sign * compareEntries(a.run as Run, a.at, b.run as Run, b.at);
    return order !== 0 ? order < 0 : a.age < b.age;
  }
}
