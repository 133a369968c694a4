// Long synchronous work that can be broken off and taken up again. Evaluating, testing and comparing are synchronous by rule, and some of it has no
// bound: a loop in a loop over arrays of a document. Such a loop is written with `looped`, and says with `spend` how much it does. Whoever can let
// the event loop turn calls the work with `runPiece`: when the time is over, the work is left by a throw of `brokenOff`, what its loops had come to is
// kept in a Progress, and the same work called again goes on there (as a tree operation that misses a block: found again, not kept open).
// The work must be the same each time: what it reads does not change, and it changes nothing outside of the states of its loops before its end.

/** Thrown through work that is to be called again; nobody else may catch it. */
export class BrokenOff extends Error {
  override readonly name = 'BrokenOff';
}

const brokenOff = new BrokenOff('this work goes on in another slice');

/** The loops that were met in the body of another, or outside of all, in the order in which they were met. */
class Frame {
  met = 0;
  /** Units of loops whose results were not kept. */
  unkept = 0;
  loops: Map<number, Loop<object>> | undefined;

  /** Nothing is known of the next round of the body. */
  clear(): void {
    this.met = 0;
    this.unkept = 0;
    this.loops = undefined;
  }

  /** Before the same round is done again. */
  rewind(): void {
    this.met = 0;
    this.unkept = 0;
  }
}

/** What a loop had come to. */
interface Loop<S extends object> {
  state: S | undefined;
  /** The round that is to come; -1: it has not begun. */
  round: number;
  isDone: boolean;
  readonly body: Frame;
}

/** What is kept of one piece of work between calls. */
export class Progress {
  readonly #frame = new Frame();
  /** Whether its work was broken off before. */
  isBroken = false;

  get frame(): Frame {
    return this.#frame;
  }

  /** Whether anything is kept. */
  get isUsed(): boolean {
    return this.isBroken || this.#frame.loops !== undefined || this.#frame.unkept > 0;
  }

  /** To be called before other work. */
  clear(): void {
    this.isBroken = false;
    this.#frame.clear();
  }
}

/** About as many units take a tenth of a millisecond: so often the clock is read. */
const UNITS_BETWEEN_LOOKS = 512;
/** Results of loops that took no more than this together are not kept: they are made again. */
const UNKEPT_UNITS_MAX = 1024;

let current: Frame | undefined;
let running: Progress | undefined;
let slice: Slice = { sliceIsOver: false };
let spent = 0;
let nextLook = UNITS_BETWEEN_LOOKS;
/** Known loops still to be met on the way to the place where the work was broken off: until then it is not broken off again, so each call gets further. */
let toFind = 0;
/** The first look of a call ends nothing: so each gets somewhere. */
let isFirstLook = false;

/** Tells whether it is time to break off. */
export interface Slice {
  readonly sliceIsOver: boolean;
}

/**
 * Runs work that is broken off when the slice is over. Throws `BrokenOff` where it is to be called again with the same `progress`. Work in such work
 * is part of it.
 */
export function runPiece<T>(work: () => T, progress: Progress, during: Slice): T {
  if (current !== undefined) return work();
  const { frame } = progress;
  current = frame;
  slice = during;
  toFind = frame.loops?.size ?? 0;
  isFirstLook = progress.isBroken;
  running = progress;
  frame.rewind();
  try {
    return work();
  } finally {
    current = undefined;
    toFind = 0;
  }
}

/** Says that so much was done; a unit is about what one step of a loop takes, some 200 ns. May break the work off. */
export function spend(units: number): void {
  spent += units;
  if (spent >= nextLook) look();
}

function look(): void {
  nextLook = spent + UNITS_BETWEEN_LOOKS;
  if (current === undefined || toFind > 0) return;
  if (isFirstLook) isFirstLook = false;
  else if (slice.sliceIsOver) {
    if (running !== undefined) running.isBroken = true;
    throw brokenOff;
  }
}

/**
 * A loop that can be broken off: `begin` gives its state (undefined: there is nothing to do), `step` does a round and says whether it was the last.
 * A round that is broken off is done again: it changes the state only behind what can break it off (other loops, `spend`).
 */
export function looped<S extends object>(begin: () => S | undefined, step: (state: S, round: number) => boolean): S | undefined {
  const around = current;
  if (around === undefined) return unbroken(begin, step);
  const number = around.met++;
  const known = around.loops?.get(number);
  if (known !== undefined) toFind -= 1;
  const loop: Loop<S> = isSame<S>(known) ? known : { state: undefined, round: -1, isDone: false, body: new Frame() };
  if (loop.isDone) return loop.state;
  if (known !== undefined) toFind = loop.body.loops?.size ?? 0;
  const before = spent;
  current = loop.body;
  loop.body.rewind();
  try {
    goOn(loop, begin, step);
  } catch (error) {
    if (error === brokenOff) keep(around, number, loop);
    throw error;
  } finally {
    current = around;
  }
  loop.isDone = true;
  loop.body.clear();
  around.unkept += spent - before;
  if (known !== undefined || around.unkept > UNKEPT_UNITS_MAX) keep(around, number, loop);
  return loop.state;
}

/** What `make` gives, which would be another each time (chance): made once, however often the work around it is called again. */
export function madeOnce<T>(make: () => T): T {
  const around = current;
  if (around === undefined) return make();
  const number = around.met++;
  const known = around.loops?.get(number);
  if (known !== undefined) toFind -= 1;
  const made = isSame<{ readonly value: T }>(known) ? known : { state: { value: make() }, round: 0, isDone: true, body: new Frame() };
  if (known === undefined) keep(around, number, made);
  return (made.state as { readonly value: T }).value;
}

/** The loop that was met at the same place of the same work is the same loop. */
function isSame<S extends object>(known: Loop<object> | undefined): known is Loop<S> {
  return known !== undefined;
}

function goOn<S extends object>(loop: Loop<S>, begin: () => S | undefined, step: (state: S, round: number) => boolean): void {
  if (loop.round < 0) {
    loop.state = begin();
    loop.round = 0;
    loop.body.clear();
  }
  const { state } = loop;
  if (state === undefined) return;
  while (!step(state, loop.round)) {
    loop.round += 1;
    loop.body.clear();
    spend(1);
  }
}

function keep(frame: Frame, number: number, loop: Loop<object>): void {
  frame.loops ??= new Map();
  frame.loops.set(number, loop);
}

function unbroken<S extends object>(begin: () => S | undefined, step: (state: S, round: number) => boolean): S | undefined {
  const state = begin();
  if (state === undefined) return undefined;
  for (let round = 0; !step(state, round); round++);
  return state;
}
