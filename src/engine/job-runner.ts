// Runs one job at a time: answers what it asks for, applies its edit in one step, and gives old blocks back. A job that finds no space is
// undone whole and made again later; any other failed write poisons (law 25).

import { EngineError } from '../base/errors.ts';
import type { BlockNumber } from './block/block-number.ts';
import { basementKey, filterKey, nodeKey } from './cache/part-cache.ts';
import { MergeRunner } from './merge-runner.ts';
import type { Parts } from './parts.ts';
import type { EngineState } from './state.ts';
import type { Edit } from './tree/edit.ts';
import { applyEdit } from './tree/edit.ts';
import { isHindrance } from './tree/job/hindrance.ts';
import type { JobContext } from './tree/job/job-context.ts';
import type { JobAnswer, JobRequest, JobStep } from './tree/job/request.ts';
import type { Extent, TreeNode } from './tree/node.ts';
import { nodeBytes } from './tree/node.ts';
import { SpilledFront } from './tree/spilled.ts';
import type { Spill } from './tree/spilled.ts';
import type { Tree } from './tree/tree.ts';

/** Extents dropped at once whose basements are taken out of the cache. */
const forgetMax = 64;

/** Runs jobs of trees. */
export class JobRunner {
  readonly #state: EngineState;
  readonly #parts: Parts;
  readonly #merges: MergeRunner;

  constructor(state: EngineState, parts: Parts) {
    this.#state = state;
    this.#parts = parts;
    this.#merges = new MergeRunner(state, parts);
  }

  /** What a job is given: the open snapshots as they are now (law 3). */
  context(tree: Tree): JobContext {
    const state = this.#state;
    return {
      options: tree.options,
      limits: state.limits,
      snapshots: state.snapshots.list(state.visible),
      drains: state.blobs.hasDrained,
      newNumber: () => state.store.reserveNumber(),
    };
  }

  /** Runs a job to its end and applies its edit, if it has one; false when it was undone for want of space. */
  async run(tree: Tree, make: (context: JobContext) => JobStep<Edit | undefined>): Promise<boolean> {
    return await this.#state.fileGate.pass(() => this.#run(tree, make));
  }

  async #run(tree: Tree, make: (context: JobContext) => JobStep<Edit | undefined>): Promise<boolean> {
    const written: BlockNumber[] = [];
    const jobBytes = Math.min(tree.options.pageBytes * 2, this.#state.options.cacheBytes / 8);
    this.#state.budget.change('jobs', jobBytes);
    try {
      const { edit, isHindered } = await this.#drive(tree, make(this.context(tree)), written);
      // What was written for a merge that damage ended is in no edit.
      if (isHindered) this.#abandonAllBut(edit?.added ?? [], written);
      if (edit === undefined) return true;
      this.apply(tree, edit);
      this.#state.counters.jobs += 1;
      return true;
    } catch (error) {
      for (const number of written) this.#state.store.abandon(number);
      if (error instanceof EngineError && error.code === 'no-space') return false;
      throw error;
    } finally {
      this.#state.budget.change('jobs', -jobBytes);
    }
  }

  /** Damage is told to the job, which may know what to do. */
  async #drive(tree: Tree, job: JobStep<Edit | undefined>, written: BlockNumber[]): Promise<{ readonly edit: Edit | undefined; readonly isHindered: boolean }> {
    let isHindered = false;
    let step = job.next();
    while (step.done !== true) {
      let answer: JobAnswer;
      try {
        answer = await this.#answer(tree, step.value, written);
      } catch (error) {
        if (!isHindrance(error)) throw error;
        isHindered = true;
        step = job.throw(error);
        continue;
      }
      step = job.next(answer);
    }
    return { edit: step.value, isHindered };
  }

  async #answer(tree: Tree, request: JobRequest, written: BlockNumber[]): Promise<JobAnswer> {
    if (request.kind === 'merge') return await this.#merges.run(tree, request.work, written);
    if (request.kind === 'node') return await this.#node(tree, request.number);
    if (request.kind === 'damaged') return { indexes: await this.#damagedOf(tree, request.extent) };
    const block = await this.#state.store.writeData(request.image, this.#state.isFull);
    written.push(block);
    return { block, fences: request.fences };
  }

  /** Reads each basement of an extent by itself. */
  async #damagedOf(tree: Tree, extent: Extent): Promise<number[]> {
    const indexes: number[] = [];
    for (let index = 0; index < extent.fences.length; index++) {
      try {
        await this.#parts.run(tree, extent, index);
      } catch (error) {
        if (!isHindrance(error) && !(error instanceof EngineError && error.code === 'io')) throw error;
        indexes.push(index);
      }
    }
    return indexes;
  }

  /** A node; one that the disk does not give is damaged. */
  async #node(tree: Tree, number: BlockNumber): Promise<TreeNode> {
    try {
      return await this.#parts.node(tree, number);
    } catch (error) {
      throw error instanceof EngineError && error.code === 'io' ? new EngineError('corruption', error.message, { cause: error, place: { ...error.place, block: number } }) : error;
    }
  }

  #abandonAllBut(added: readonly Extent[], written: BlockNumber[]): void {
    const kept = new Set(added.map(({ block }) => block));
    for (const number of written.splice(0)) {
      if (kept.has(number)) written.push(number);
      else this.#state.store.abandon(number);
    }
  }

  /** Lets the worker go; no job is running. */
  close(): void {
    this.#merges.close();
  }

  /** Applies an edit: the tree changes, and what it no longer names is given back, in one synchronous step (law 14). */
  apply(tree: Tree, edit: Edit): void {
    const state = this.#state;
    let change = 0;
    for (const node of edit.nodes) change += nodeBytes(node) - sizeOf(tree.dirty.get(node.number));
    for (const number of edit.removed) change -= sizeOf(tree.dirty.get(number));
    applyEdit(tree, edit, state.limits);
    if (tree.unsettled.size > 0) state.unsettled.add(tree);
    state.attend(tree);
    state.budget.change('nodes', change);
    for (const node of edit.nodes) state.cache.forget(nodeKey(node.number));
    for (const extent of edit.added) {
      state.store.adopt(extent.block);
      state.blobs.count(extent.fences.blobs, 'inTrees', 1);
    }
    // What is left in the cache of many that go at once is evicted in its time; numbers are never used again.
    const forget = edit.dropped.length <= forgetMax;
    for (const extent of edit.dropped) this.dropTreeExtent(extent, forget);
    for (const number of edit.removed) this.dropNode(number);
    if (edit.flushed instanceof SpilledFront) this.#dropSpill(edit.flushed.spill);
    if (edit.flushed !== undefined) {
      state.blobs.count(edit.flushed.blobs(), 'inFronts', -1);
      // Others that wait are flushed before its next one.
      state.frozen.delete(tree);
      if (tree.frozen.length > 0) state.frozen.add(tree);
      state.throttle.flushed(edit.flushed.messageBytes, state.frozen.size > 0);
      state.chargeFronts(tree);
    }
    state.noteTables();
  }

  /** What a commit spilled is below the fronts now, or its dictionary is gone. */
  #dropSpill({ number, extents }: Spill): void {
    this.#state.spills.delete(number);
    for (const extent of extents) this.dropExtent(extent);
  }

  /** Gives back what is spilled of a tree that goes. */
  dropSpills(tree: Tree): void {
    for (const front of tree.frozen) if (front instanceof SpilledFront) this.#dropSpill(front.spill);
  }

  /** Gives back an extent that a tree named, and lowers what it names of the blobs. */
  dropTreeExtent(extent: Extent, forget: boolean = true): void {
    this.#state.blobs.count(extent.fences.blobs, 'inTrees', -1);
    this.dropExtent(extent, forget);
  }

  dropExtent(extent: Extent, forget: boolean = true): void {
    for (let i = 0; forget && i < extent.fences.length; i++) this.#state.cache.forget(basementKey(extent.block, i));
    for (let i = 0; forget && i < extent.fences.filters; i++) this.#state.cache.forget(filterKey(extent.block, i));
    this.#state.store.drop(extent.block);
  }

  dropNode(number: BlockNumber): void {
    this.#state.cache.forget(nodeKey(number));
    this.#state.store.drop(number);
  }
}

function sizeOf(node: Parameters<typeof nodeBytes>[0] | undefined): number {
  return node === undefined ? 0 : nodeBytes(node);
}
