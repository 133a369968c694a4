// Idle work that gives space back: fronts that would free much are flushed, loose nodes tidied (tree/job/tidy-job.ts), blocks moved down in the
// file so that its tail can be cut by the next checkpoint. Before that, what is there twice and has one whole copy left is written again. One
// bounded piece a step; it ends by itself when there is nothing left to gain.

import { EngineError } from '../base/errors.ts';
import type { BlockNumber } from './block/block-number.ts';
import type { Checkpoints } from './checkpoints.ts';
import type { EngineParts } from './engine-parts.ts';
import type { JobRunner } from './job-runner.ts';
import type { Edit } from './tree/edit.ts';
import { isHindrance } from './tree/job/hindrance.ts';
import { tidyJob } from './tree/job/tidy-job.ts';
import type { Tree } from './tree/tree.ts';

/** A front with fewer messages is not worth a flush, unless there are large values that they may free, nor one with this many times fewer than its tree has rows. */
const frontMessagesMin = 64;
const fewerBy = 8;
/** Blocks moved between two checkpoints. */
const movesMax = 256;
/** Checkpoints after the last move: the tables that each writes anew find their place low in the file only when the one before has freed it. */
const checkpointsMax = 3;

/** What a piece of tidying came to. Without space there is nothing to tidy with. */
export type TidyResult = 'done' | 'idle';

/** Tidies an environment. */
export class Tidy {
  readonly #parts: EngineParts;
  readonly #runner: JobRunner;
  readonly #checkpoints: Checkpoints;
  #moves: number = 0;
  #checkpointsLeft: number = 0;
  /** Space was given back that only a checkpoint frees. */
  #freed: boolean = false;
  /** Empty segments of large values for which a checkpoint was made. */
  #emptyTried: { readonly count: number; readonly since: number } = { count: 0, since: 0 };
  /** Nothing was left to do when this was the newest commit. */
  #tidyAt: number = -1;

  constructor(parts: EngineParts, runner: JobRunner, checkpoints: Checkpoints) {
    this.#parts = parts;
    this.#runner = runner;
    this.#checkpoints = checkpoints;
  }

  /** Does one piece. */
  async step(): Promise<TidyResult> {
    const { state } = this.#parts;
    if ((this.#tidyAt === state.visible && !state.store.isHalved) || state.isFull) return 'idle';
    const result = await this.#step(state.isTight);
    if (result === 'idle') this.#tidyAt = state.visible;
    return result;
  }

  /** Space was given back elsewhere: a checkpoint frees it, and the file may be made shorter. */
  noteFreed(): void {
    this.#freed = true;
    this.#tidyAt = -1;
  }

  async #step(isTight: boolean): Promise<TidyResult> {
    const { state } = this.#parts;
    const full = this.#fullestFront();
    if (full !== undefined) {
      state.freeze(full);
      return 'done';
    }
    if (state.store.isHalved) {
      await state.fileGate.pass(() => state.store.makeWhole());
      this.#freed = true;
      return 'done';
    }
    for (const tree of state.loose) {
      if (tree.isGoing || tree.isHollow) continue;
      if (tree.isUnswept) return await this.#sweep(tree);
      const [number] = tree.loose;
      if (number !== undefined) return await this.#tidy(tree, number);
    }
    if (this.#emptyBlobs()) return 'done';
    if (!isTight && this.#moves < movesMax && (await this.#moveDown())) return 'done';
    return await this.#lastCheckpoints();
  }

  /** Checkpoints behind what was tidied: they free its space. */
  async #lastCheckpoints(): Promise<TidyResult> {
    const { state } = this.#parts;
    // What was flushed by others asks for less to be kept too.
    if (this.#moves > 0 || this.#freed || this.#checkpoints.isBehind) this.#checkpointsLeft = checkpointsMax;
    else if (this.#checkpointsLeft === 0 || !state.store.isLoose) return 'idle';
    this.#checkpointsLeft -= 1;
    this.#moves = 0;
    this.#freed = false;
    return await this.#checkpoint();
  }

  /** Segments of large values that nothing refers to go with a checkpoint, when the log names them no more. Whether a front must be flushed for it. */
  #emptyBlobs(): boolean {
    const { state } = this.#parts;
    const { count, since } = state.blobs.empty;
    if (count === 0 || (this.#emptyTried.count === count && this.#emptyTried.since === since)) return false;
    if (!state.applying && this.#pinnedBy(since)) {
      state.freezePinning(since);
      return true;
    }
    this.#emptyTried = { count, since };
    this.#freed = true;
    return false;
  }

  /** Whether a front that is not frozen keeps the log from beginning behind a record. */
  #pinnedBy(seq: number): boolean {
    for (const { frozen, oldestUnflushed } of this.#parts.state.fronted) if (frozen.length === 0 && (oldestUnflushed ?? Infinity) <= seq) return true;
    return false;
  }

  /** A tree whose front would, flushed, free much of what is below. */
  #fullestFront(): Tree | undefined {
    const { state } = this.#parts;
    if (state.applying) return undefined;
    for (const tree of state.fronted) {
      const { active, frozen } = tree;
      if (frozen.length > 0) continue;
      const count = active.count + active.ranges.length;
      const isMuch = count * fewerBy >= tree.totalsAt(state.visible).rows;
      if (tree.blobBytes + active.blobBytes === 0 ? count >= frontMessagesMin && isMuch : count > 0 && (isMuch || active.blobBytes * fewerBy >= tree.blobBytes)) return tree;
    }
    return undefined;
  }

  /** Names the internal nodes of a tree of which nothing is known since it was opened, or which have lost children. */
  async #sweep(tree: Tree): Promise<TidyResult> {
    const { parts } = this.#parts;
    const { version } = tree;
    const found: BlockNumber[] = [tree.root];
    for (let at = 0; at < found.length; at++) {
      // Below one that is damaged nothing is known.
      const node = await parts.node(tree, found[at] as BlockNumber).catch(undefinedIfDamaged);
      // The next call begins anew.
      if (hasChanged(tree, version)) return 'done';
      if (node?.kind === 'internal' && node.height > 1) found.push(...node.children);
    }
    tree.isUnswept = false;
    tree.noteInternal();
    if (tree.height > 0) for (const number of found) tree.loose.add(number);
    this.#parts.state.attend(tree);
    return 'done';
  }

  async #tidy(tree: Tree, number: BlockNumber): Promise<TidyResult> {
    const { state } = this.#parts;
    const { leaves, height } = tree;
    const edits: Edit[] = [];
    const ran = await this.#runner.run(tree, function* (context) {
      const edit = yield* tidyJob(tree, context, number);
      if (edit !== undefined) edits.push(edit);
      return edit;
    });
    if (!ran) return 'idle';
    if (edits.length === 0) tree.loose.delete(number);
    else this.#freed = true;
    // The node above may have children to join now.
    if (tree.leaves < leaves && height > 1) tree.isUnswept = true;
    state.attend(tree);
    return 'done';
  }

  /** Moves the last block of the file down; one that cannot be read stays where it is. */
  async #moveDown(): Promise<boolean> {
    const { state } = this.#parts;
    try {
      if (!(await state.fileGate.pass(() => state.store.moveDown()))) return false;
    } catch (error) {
      if (error instanceof EngineError && error.code === 'corruption') return false;
      throw error;
    }
    this.#moves += 1;
    return true;
  }

  async #checkpoint(): Promise<TidyResult> {
    try {
      await this.#checkpoints.run();
      return 'done';
    } catch (error) {
      if (error instanceof EngineError && error.code === 'no-space') return 'idle';
      throw error;
    }
  }
}

function undefinedIfDamaged(error: unknown): undefined {
  if (!isHindrance(error)) throw error;
}

function hasChanged(tree: Tree, version: number): boolean {
  return tree.version !== version || tree.isGoing;
}
