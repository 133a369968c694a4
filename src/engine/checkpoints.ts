// Checkpoints: the state between two edits, made what recovery starts from (law 17). Capturing takes references and is instant; writing goes
// on beside everything else; only when it is durable are old blocks free and log segments recycled. Fronts are not flushed for it: the log
// covers them, unless they pin more of it than `logBytes`.

import { EngineError } from '../base/errors.ts';
import type { BlockNumber, CheckpointRoot } from './block/block-number.ts';
import type { BlobSegment } from './blob/blob-segment.ts';
import type { BlobTable } from './blob/blob-store.ts';
import { nodeKey } from './cache/part-cache.ts';
import { encodeDictionaryTable } from './checkpoint/dictionary-table.ts';
import type { EngineState } from './state.ts';
import type { TreeNode } from './tree/node.ts';
import { encodeNode, nodeBytes } from './tree/node.ts';
import type { Spill } from './tree/spilled.ts';
import type { Tree, TreeRecord } from './tree/tree.ts';

interface Capture {
  readonly nodes: readonly { readonly tree: Tree; readonly node: TreeNode }[];
  readonly records: readonly TreeRecord[];
  readonly spills: readonly Spill[];
  readonly blobs: BlobTable;
  /** Segments that nothing names from this checkpoint on. */
  readonly empty: readonly BlobSegment[];
  readonly table: BlockNumber;
  readonly root: CheckpointRoot;
}

/** The checkpoints of an environment, one at a time. */
export class Checkpoints {
  readonly #state: EngineState;
  #table: BlockNumber | undefined;
  #running: Promise<void> | undefined;
  /** Jobs that were done when the newest was captured. */
  #jobs: number = 0;

  /** `table`: the dictionary table of the checkpoint that was opened. */
  constructor(state: EngineState, table: BlockNumber | undefined) {
    this.#state = state;
    this.#table = table;
  }

  /** Whether one should be made before its time: much to write, or a log that only a checkpoint makes shorter. */
  get wanted(): boolean {
    const { budget, options, log, isBackingUp } = this.#state;
    if (this.#running !== undefined) return false;
    if (budget.held('nodes') > options.cacheBytes / 8) return true;
    return !isBackingUp && log.bytesInUse > options.logBytes && this.#neededSeq() > (log.oldestFullSeq ?? Infinity);
  }

  /** Whether trees have changed since the newest was captured. */
  get isBehind(): boolean {
    return this.#state.counters.jobs !== this.#jobs;
  }

  /** Makes a checkpoint; when one is being made, waits for it and makes another, so that what was committed before the call is in it. */
  async run(): Promise<void> {
    while (this.#running !== undefined) await this.#running.catch((cause: unknown) => cause);
    this.#state.checkUsable();
    this.#running = this.#state.fileGate.pass(() => this.#make()).finally(() => {
      this.#running = undefined;
    });
    await this.#running;
  }

  async #make(): Promise<void> {
    const { clock } = this.#state.env;
    const begun = clock.monotonicMs();
    const capture = this.#capture();
    try {
      await this.#write(capture);
    } catch (error) {
      if (!(error instanceof EngineError && error.code === 'no-space')) throw this.#state.poison(error);
      this.#undo(capture);
      this.#state.reportFull();
      throw error;
    }
    this.#finish(capture);
    this.#state.counters.checkpoints += 1;
    this.#state.counters.lastCheckpointMs = clock.monotonicMs() - begun;
    if (this.#state.isBackingUp) return;
    try {
      await this.#state.log.trim(capture.root.logFrom.seq - 1);
      await this.#state.blobs.remove(capture.empty);
    } catch (error) {
      throw this.#state.poison(error);
    }
  }

  /** The oldest seq that is not below the fronts. */
  #neededSeq(): number {
    let needed = this.#state.visible + 1;
    for (const tree of this.#state.fronted) needed = Math.min(needed, tree.oldestUnflushed ?? Infinity);
    return needed;
  }

  /** Takes references to everything that the checkpoint holds; synchronous. */
  #capture(): Capture {
    const state = this.#state;
    this.#jobs = state.counters.jobs;
    state.store.wantForJobs(state.jobBytesWanted);
    const table = state.store.reserveNumber();
    if (this.#table !== undefined) state.store.drop(this.#table);
    this.#table = table;
    state.store.beginCheckpoint();
    const nodes: { tree: Tree; node: TreeNode }[] = [];
    const records: TreeRecord[] = [];
    for (const tree of state.trees.values()) {
      for (const node of tree.dirty.values()) nodes.push({ tree, node });
      tree.beginWriting();
      records.push(tree.record());
    }
    const seq = this.#neededSeq();
    const logFrom = { segment: state.log.segmentOf(seq), seq };
    const blobs = state.blobs.table();
    return { nodes, records, spills: [...state.spills.values()], blobs, empty: state.blobs.removable(seq), table, root: { dictionaryTable: table, nextSeq: state.visible + 1, nextDictionary: state.nextDictionary, logFrom } };
  }

  async #write(capture: Capture): Promise<void> {
    const { store, log } = this.#state;
    for (const { node } of capture.nodes) await store.writeMeta(node.number, encodeNode(node));
    await store.writeMeta(capture.table, encodeDictionaryTable(capture));
    // Under delayed durability the tree may hold what the log has not synced yet (law 2).
    await log.sync();
    await store.publish(capture.root, this.#state.isTight);
  }

  /** Nodes that were written need not be kept any more; they stay while the cache has room. */
  #finish(capture: Capture): void {
    const { budget, cache } = this.#state;
    let bytes = 0;
    for (const { tree, node } of capture.nodes) {
      bytes += nodeBytes(node);
      if (!tree.endWriting(node.number) || tree.dirty.has(node.number)) continue;
      // Whatever the cache has under this number is older.
      cache.forget(nodeKey(node.number));
      cache.put(nodeKey(node.number), node, nodeBytes(node), { as: 'guide', pinned: false });
    }
    budget.change('nodes', -bytes);
    this.#state.chargeTables();
    cache.shrink();
  }

  /** What was captured and is still the newest version waits for the next checkpoint. */
  #undo(capture: Capture): void {
    const { budget, store } = this.#state;
    store.cancelCheckpoint();
    let bytes = 0;
    for (const { tree, node } of capture.nodes) {
      if (tree.endWriting(node.number) && !tree.dirty.has(node.number)) tree.setDirty(node);
      else bytes += nodeBytes(node);
    }
    budget.change('nodes', -bytes);
  }
}
