// Gives back the space of large values that nothing refers to. A segment with much garbage has its live blobs written once more elsewhere; then it
// is empty as soon as merges have dropped the old references, and goes (blob/blob-store.ts). Moving is a commit like any other, under the key's
// lock, and only where the newest reference is still the one to the blob that was met (law 23): so nobody's value is ever set back.

import { EngineError } from '../base/errors.ts';
import { blobBytes, segmentKinds } from './blob/blob-image.ts';
import type { BlobSegment, MetBlob } from './blob/blob-segment.ts';
import { headsOf } from './blob/blob-segment.ts';
import type { BlobPlace } from './blob/read-blob.ts';
import { BlobWrites } from './blob-writes.ts';
import type { EngineParts } from './engine-parts.ts';
import { encodeReference } from './run/blob-reference.ts';
import { isReference } from './tree/found.ts';
import type { Found } from './tree/found.ts';
import type { Tree } from './tree/tree.ts';
import type { EngineTransaction } from './transaction.ts';
import type { DictionaryId } from './types.ts';

/** In idle time a segment is worth moving when this part of it is garbage, */
const idlePart = 1 / 4;
/** and while others write when that much of all is, and more than some segments. */
const busyPart = 1 / 3;
const busySegments = 2;
/** So many small segments are put together. */
const smallMin = 4;
/** Blobs of one commit. */
const movesMax = 64;
const moveBytesMax = 2 * 1024 * 1024;

/** A blob that is written elsewhere, and its key. */
interface Move {
  readonly tree: Tree;
  readonly key: Uint8Array;
  readonly place: BlobPlace;
}

/** Collects the garbage of an environment's large values. */
export class BlobCollector {
  readonly #engine: EngineParts;
  readonly #begin: () => EngineTransaction;
  readonly #stop: AbortController = new AbortController();
  #working: Promise<void> | undefined;
  /** Segments of which some blobs could not be moved: others had their keys. */
  readonly #again: Set<BlobSegment> = new Set();
  /** The oldest snapshot when messages were last sent down to what is drained. */
  #drainedAt: number = -1;

  /** `begin`: a transaction that sees what is there now. */
  constructor(engine: EngineParts, begin: () => EngineTransaction) {
    this.#engine = engine;
    this.#begin = begin;
  }

  /** Looks for segments that are worth it, if that is not going on; `isQuiet`: nobody else has anything to do. */
  wake(isQuiet: boolean): void {
    const { state } = this.#engine;
    if (this.#working !== undefined || this.#stop.signal.aborted || state.failure !== undefined || state.isFull || state.isBackingUp) return;
    for (const segment of this.#again) segment.isDrained = false;
    this.#again.clear();
    if (isQuiet) {
      this.#sealLoose();
      this.#drain();
    }
    const segment = this.#choose(isQuiet);
    if (segment === undefined) return;
    this.#working = this.#work(segment, isQuiet)
      .catch((error: unknown) => {
        if (!(error instanceof EngineError && gone.has(error.code))) state.poison(error);
      })
      .finally(() => {
        this.#working = undefined;
      });
  }

  async #work(first: BlobSegment, isQuiet: boolean): Promise<void> {
    for (let segment: BlobSegment | undefined = first; segment !== undefined && !this.#isOver; segment = this.#choose(isQuiet)) await this.#collect(segment, isQuiet);
  }

  get #isOver(): boolean {
    const { state } = this.#engine;
    return this.#stop.signal.aborted || state.failure !== undefined || state.isFull || state.isBackingUp;
  }

  /** A segment that takes blobs and is mostly garbage takes no more: in idle time it can go. */
  #sealLoose(): void {
    const { blobs } = this.#engine.state;
    for (const segment of blobs.segments) {
      if (!segment.isSealed && segment.pinned === 0 && segment.garbageBytes >= segment.end * idlePart) blobs.seal(segment.kind);
    }
  }

  /** The segment with most to gain. */
  #choose(isQuiet: boolean): BlobSegment | undefined {
    const { blobs } = this.#engine.state;
    const movable = [...blobs.segments].filter((segment) => segment.isSealed && segment.kind === segmentKinds.keyed && segment.pinned === 0 && !segment.isEmpty && !segment.isDrained);
    const [loosest] = movable.toSorted((a, b) => b.garbageBytes / b.end - a.garbageBytes / a.end);
    if (loosest === undefined) return undefined;
    const part = loosest.garbageBytes / loosest.end;
    if (isQuiet) {
      const small = movable.filter((segment) => blobs.isSmall(segment));
      return part >= idlePart ? loosest : small.length >= smallMin ? small[0] : undefined;
    }
    const { garbage, live } = blobs.sizes;
    return part >= busyPart && garbage > Math.max(busySegments * blobs.segmentBytes, live * busyPart) ? loosest : undefined;
  }

  /** Moves what is live in a segment. */
  async #collect(segment: BlobSegment, isQuiet: boolean): Promise<void> {
    const { state } = this.#engine;
    const { clock, tasks } = state.env;
    segment.isDrained = true;
    let some: MetBlob[] = [];
    let bytes = 0;
    for await (const met of readableHeads(this.#engine, segment)) {
      if (this.#isOver) {
        this.#again.add(segment);
        return;
      }
      // Rows that a commit gave their keys go in the order they came.
      if (met.head.dictionary === 0) continue;
      some.push(met);
      bytes += met.head.stored;
      if (some.length < movesMax && bytes < moveBytesMax) continue;
      const begun = clock.monotonicMs();
      await this.#move(segment, some);
      [some, bytes] = [[], 0];
      // Others have half of the time, or all that they want.
      if (isQuiet) await tasks.pause();
      else await clock.sleep(clock.monotonicMs() - begun, this.#stop.signal);
    }
    await this.#move(segment, some);
  }

  /** What refers to drained segments yet is older than what was moved: it goes when the newer messages come down to it, and no snapshot sees it. */
  #drain(): void {
    const { state } = this.#engine;
    const oldest = state.snapshots.oldest(state.visible);
    if (!state.blobs.hasDrained || oldest === this.#drainedAt) return;
    this.#drainedAt = oldest;
    for (const tree of state.trees.values()) {
      if (tree.isGoing || tree.isHollow || (tree.blobBytes === 0 && tree.active.blobBytes === 0)) continue;
      if (!state.applying && tree.active.blobBytes > 0) state.freeze(tree);
      tree.isUnswept = tree.height > 0;
      state.attend(tree);
    }
    state.onWork();
  }

  /** Moves those of some blobs that are referred to, in one commit. Who meets its locks waits for it. */
  async #move(segment: BlobSegment, some: readonly MetBlob[]): Promise<void> {
    const { state } = this.#engine;
    const moving = this.#moveNow(segment, some);
    state.moving = moving.then(nothing, nothing);
    await moving.finally(() => {
      state.moving = undefined;
    });
  }

  async #moveNow(segment: BlobSegment, some: readonly MetBlob[]): Promise<void> {
    const { state } = this.#engine;
    const transaction = this.#begin();
    const writes = new BlobWrites(state);
    try {
      const moves: Move[] = [];
      for (const met of some) {
        const move = await this.#copy(segment, met, transaction);
        if (move === undefined) continue;
        writes.adopt(move.place);
        moves.push(move);
      }
      if (moves.length === 0) return;
      await writes.sync();
      await this.#commit(moves);
    } finally {
      writes.release();
      if (transaction.isOpen && state.failure === undefined) await transaction.commit();
      else transaction.abort();
    }
  }

  /** Writes a blob elsewhere if it is still referred to; undefined: it is not, or somebody has its key. */
  async #copy(segment: BlobSegment, { head, checksum }: MetBlob, transaction: EngineTransaction): Promise<Move | undefined> {
    const { state, reads } = this.#engine;
    const tree = state.trees.get(head.dictionary as DictionaryId);
    if (tree === undefined || tree.isGoing) return undefined;
    try {
      const found = await searched(reads, tree, head.key, transaction.snapshot);
      if (!isReference(found) || found.segment !== segment.number || found.offset !== head.offset) return undefined;
      // A merge makes a plain value of it and of its updates, which the new reference would hide.
      if (found.updates !== undefined) return undefined;
      if (tree.isHollow) throw new EngineError('locked', 'the dictionary is being loaded');
      // From here on nobody changes it, and nobody has since the snapshot.
      await transaction.lock(tree.id, head.key);
      const place = { segment: segment.number, offset: head.offset, bytes: blobBytes(head.key.length, head.stored), length: head.length, checksum };
      return { tree, key: head.key, place: await state.blobs.copy(place, { dictionary: tree.id, key: head.key }) };
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      // What cannot be read stays where it is; `verify` names it.
      if (error.code === 'corruption') return undefined;
      if (!passing.has(error.code)) throw error;
      this.#again.add(segment);
      return undefined;
    }
  }

  /** Logs the new places, and resolves when they are there. */
  async #commit(moves: readonly Move[]): Promise<void> {
    const { state, commits } = this.#engine;
    for (;;) {
      const body = recordOfMoves(this.#engine, moves);
      if (body.length === 0) return;
      const room = state.log.room(body.length);
      if (room === undefined) {
        state.counters.moves += 1;
        await commits.commit(body);
        return;
      }
      await room;
      state.checkUsable();
    }
  }

  /** Ends the work: what is being moved comes to its end first. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#working;
  }
}

/** Codes with which a blob is left for later, and with which a collection ends. */
const passing: ReadonlySet<string> = new Set(['write-conflict', 'deadlock', 'locked', 'unknown-dictionary']);
const gone: ReadonlySet<string> = new Set(['no-space', 'closed', 'poisoned']);

/** The heads of a segment, as far as it can be read: what cannot stays where it is. */
async function* readableHeads({ state }: EngineParts, segment: BlobSegment): AsyncGenerator<MetBlob> {
  const heads = headsOf(state.env, segment);
  for (;;) {
    const next = await heads.next().catch((error: unknown) => {
      if (error instanceof EngineError && error.code === 'io') return undefined;
      throw error;
    });
    if (next === undefined || next.done === true) return;
    yield next.value;
  }
}

/** What is there of a key. What the disk does not give is damaged: a read that fails ends nothing, as a write does. */
async function searched(reads: EngineParts['reads'], tree: Tree, key: Uint8Array, snapshot: number): Promise<Found> {
  try {
    return await reads.search(tree, key, snapshot);
  } catch (error) {
    throw error instanceof EngineError && error.code === 'io' ? new EngineError('corruption', error.message, { cause: error, place: error.place }) : error;
  }
}

function nothing(): void {
  // Whoever waits for a move need not hear what came of it.
}

function recordOfMoves({ state }: EngineParts, moves: readonly Move[]): Uint8Array {
  const writer = state.recordWriter;
  writer.begin();
  // A dictionary that was dropped meanwhile takes nothing more.
  for (const { tree, key, place } of moves) if (state.trees.get(tree.id) === tree && !tree.isGoing) writer.move(tree.id, key, encodeReference(place));
  return writer.body();
}
