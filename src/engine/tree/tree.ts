// One dictionary's tree in memory: its fronts, its root, the nodes that no checkpoint has written yet, and its counters. Only `apply`
// (edit.ts) changes the tree below the fronts, in one synchronous step; `version` tells a reader that came back from a wait whether it did.

import { assert } from '../../base/assert.ts';
import type { BlockNumber } from '../block/block-number.ts';
import type { PartCache } from '../cache/part-cache.ts';
import { nodeKey } from '../cache/part-cache.ts';
import { Filter } from '../run/filter.ts';
import { Run } from '../run/run.ts';
import type { DictionaryId, DictionaryOptions, UpdateFunctions } from '../types.ts';
import { Front } from './front.ts';
import { sharedOptions } from './shared-options.ts';
import type { SpilledFront } from './spilled.ts';
import type { Extent, InternalNode, TreeNode } from './node.ts';
import { ReadPressure } from './read-pressure.ts';
import type { DueBuffer } from './read-pressure.ts';

/** What the cache of parts holds for trees. */
export type Part = Run | Filter | TreeNode;

/** What a synchronous walk needs and does not find in memory: fetch it, keep it pinned, walk again. */
export interface Miss {
  readonly kind: 'miss';
  readonly block: BlockNumber;
  /** Which part of the extent, and how many of its basements behind it (before it, if negative) will be wanted next; absent for a node. */
  readonly part?: { readonly kind: 'basement' | 'filter'; readonly index: number; readonly extent: Extent; readonly ahead?: number };
}

/** Rows and bytes as stated with commits. */
export interface TotalsDelta {
  readonly seq: number;
  readonly rows: number;
  readonly bytes: number;
}

/** What the dictionary table keeps of a tree. */
export interface TreeRecord {
  readonly id: DictionaryId;
  readonly options: DictionaryOptions;
  readonly createdSeq: number;
  /** Infinity while it lives. */
  readonly droppedSeq: number;
  readonly root: BlockNumber;
  readonly flushedSeq: number;
  readonly rows: number;
  readonly bytes: number;
  readonly storedBytes: number;
  readonly rawBytes: number;
  /** Bytes of blobs that it refers to. */
  readonly blobBytes: number;
  readonly leaves: number;
  readonly height: number;
}

/** A front with more entries than this is followed by one of its size, where there is room. */
const frontOfSize = 1000;

/** What trees hold that have nothing of a kind: most of 50,000. Nothing is ever put into them: see `setDirty` and `noteInternal`. */
const noNodes: Map<BlockNumber, TreeNode> = new Map();
const noWeights: Map<BlockNumber, number> = new Map();
const noNumbers: Set<BlockNumber> = new Set();
const noFronts: readonly Front[] = [];

/** The tree of one dictionary. */
export class Tree {
  readonly id: DictionaryId;
  /** What the next nodes are written with. */
  options: DictionaryOptions;
  readonly createdSeq: number;
  droppedSeq: number;
  /** Its drop is in the log: who writes to it from now on comes too late. */
  isGoing: boolean;
  root: BlockNumber;
  height: number;
  /** Everything with a seq up to this one is below the fronts. */
  flushedSeq: number;
  storedBytes: number;
  rawBytes: number;
  blobBytes: number;
  leaves: number;
  /** Changes with every edit. */
  version: number = 0;
  /** What no key below the fronts is greater than, as of that version (upper-bound.ts); undefined: nobody asked. */
  upperBound: { readonly version: number; readonly key: Uint8Array } | undefined;
  active: Front = new Front();
  /** Newest first. */
  frozen: readonly (Front | SpilledFront)[] = noFronts;
  /** Nodes that the last begun checkpoint does not hold. */
  dirty: Map<BlockNumber, TreeNode> = noNodes;
  /** Nodes that a checkpoint under way is writing. */
  writing: Map<BlockNumber, TreeNode> = noNodes;
  /** Internal nodes whose heaviest buffer wants to go down, with its weight in bytes. */
  heavy: Map<BlockNumber, number> = noWeights;
  /** Internal nodes below which idle time may find something to tidy. */
  loose: Set<BlockNumber> = noNumbers;
  /** Nodes above leaves have shrunk, or nothing is known of them yet: all internal nodes may be loose. */
  isUnswept: boolean;
  /** Internal nodes with range deletes that hide what an open snapshot sees, with the seq of the oldest. */
  unsettled: Map<BlockNumber, number> = noWeights;
  /** Nodes that damage keeps what waits for them from going down to, and blocks that were met damaged (job/hindrance.ts). */
  hindered: Set<BlockNumber> = noNumbers;
  damaged: Set<BlockNumber> = noNumbers;
  /** What reads pay for runs that wait. */
  #pressure: ReadPressure | undefined;
  /** It is being loaded: what is written to it waits at the top. */
  isHollow: boolean = false;
  /** The newest commit that changed it. */
  lastSeq: number;
  readonly #cache: PartCache<Part>;
  /** Functions of updates. */
  readonly updates: UpdateFunctions;
  #base: { rows: number; bytes: number };
  #deltas: TotalsDelta[] = [];
  /** Totals of what is below the fronts. */
  #flushed: { rows: number; bytes: number };

  constructor(record: TreeRecord, cache: PartCache<Part>, updates: UpdateFunctions) {
    this.updates = updates;
    this.id = record.id;
    this.options = sharedOptions(record.options);
    this.createdSeq = record.createdSeq;
    this.droppedSeq = record.droppedSeq;
    this.isGoing = record.droppedSeq !== Infinity;
    this.root = record.root;
    this.flushedSeq = record.flushedSeq;
    this.lastSeq = Math.max(record.flushedSeq, record.createdSeq);
    this.storedBytes = record.storedBytes;
    this.rawBytes = record.rawBytes;
    this.blobBytes = record.blobBytes;
    this.leaves = record.leaves;
    this.height = record.height;
    this.isUnswept = record.height > 0;
    this.#base = { rows: record.rows, bytes: record.bytes };
    this.#flushed = { rows: record.rows, bytes: record.bytes };
    this.#cache = cache;
  }

  /** The row of the dictionary table as of the state below the fronts. */
  record(): TreeRecord {
    const { id, options, createdSeq, droppedSeq, root, flushedSeq, storedBytes, rawBytes, blobBytes, leaves, height } = this;
    return { id, options, createdSeq, droppedSeq, root, flushedSeq, ...this.#flushed, storedBytes, rawBytes, blobBytes, leaves, height };
  }

  /** Takes a node that no checkpoint has yet. */
  setDirty(node: TreeNode): void {
    if (this.dirty === noNodes) this.dirty = new Map();
    this.dirty.set(node.number, node);
  }

  /** What is dirty is being written from here on. */
  beginWriting(): void {
    this.writing = this.dirty;
    this.dirty = noNodes;
  }

  /** A node that was being written is: false where an edit has made it needless meanwhile. */
  endWriting(number: BlockNumber): boolean {
    if (!this.writing.delete(number)) return false;
    if (this.writing.size === 0) this.writing = noNodes;
    return true;
  }

  /** A child that cannot be pushed to, and the blocks that are in the way. */
  hinder(child: BlockNumber, blocks: readonly BlockNumber[]): void {
    if (this.hindered === noNumbers) [this.hindered, this.damaged] = [new Set(), new Set()];
    this.hindered.add(child);
    for (const block of blocks) this.damaged.add(block);
  }

  /** Has memory of its own for what is noted of internal nodes. */
  noteInternal(): void {
    if (this.heavy !== noWeights) return;
    this.heavy = new Map();
    this.unsettled = new Map();
    this.loose = new Set();
  }

  /** A read passes a child's buffer. */
  notePassed(node: InternalNode, child: number, price: number): void {
    if ((node.buffers[child] as readonly Extent[]).length > 1) (this.#pressure ??= new ReadPressure()).note(node, child, price);
  }

  /** A buffer that reads would rather have in one run. */
  get dueBuffer(): DueBuffer | undefined {
    return this.#pressure?.due;
  }

  /** The due buffer was seen to. */
  settleDue(): void {
    this.#pressure?.settle();
  }

  /** A node, if it is in memory. */
  node(number: BlockNumber): TreeNode | undefined {
    const node = this.dirty.get(number) ?? this.writing.get(number);
    if (node !== undefined) return node;
    const part = this.#cache.get(nodeKey(number));
    return part instanceof Run || part instanceof Filter ? undefined : part;
  }

  /** Fronts in the order of reading: newest first. */
  fronts(): readonly (Front | SpilledFront)[] {
    return this.frozen.length === 0 ? [this.active] : [this.active, ...this.frozen];
  }

  /** Memory held by the fronts, and what of it messages take. */
  get frontSizes(): { readonly held: number; readonly used: number } {
    let [held, used] = [this.active.byteSize, this.active.usedBytes];
    for (const front of this.frozen) {
      held += front.byteSize;
      used += front.usedBytes;
    }
    return { held, used };
  }

  /** The oldest seq that is only in a front, or undefined. */
  get oldestUnflushed(): number | undefined {
    const oldest = this.frozen.at(-1) ?? this.active;
    return oldest.isVoid ? undefined : Math.max(oldest.seqMin, this.flushedSeq + 1);
  }

  /** Sets the active front aside to be flushed. Only between commits: a front holds whole commits. With `hasRoom` the next one has its memory at once. */
  freeze(hasRoom: boolean = false): void {
    const full = this.active;
    this.frozen = [full, ...this.frozen];
    this.active = new Front(hasRoom && full.count > frontOfSize ? full : undefined);
  }

  /** What a commit spilled is its newest front, already frozen; what is older in memory is set aside first. */
  addSpilled(front: SpilledFront): void {
    if (!this.active.isVoid) this.freeze();
    this.frozen = [front, ...this.frozen];
  }

  /** Adds a commit's deltas, to the front that has its messages. */
  addTotals(delta: TotalsDelta, front: Front | SpilledFront = this.active): void {
    this.#deltas.push(delta);
    front.touch(delta.seq);
    front.rows += delta.rows;
    front.bytes += delta.bytes;
  }

  /** Totals as a snapshot sees them. */
  totalsAt(seq: number): { rows: number; bytes: number } {
    let { rows, bytes } = this.#base;
    for (const delta of this.#deltas) {
      if (delta.seq > seq) break;
      rows += delta.rows;
      bytes += delta.bytes;
    }
    return { rows, bytes };
  }

  /** Folds deltas that every open snapshot sees. */
  foldTotals(oldestSnapshot: number): void {
    let folded = 0;
    for (const delta of this.#deltas) {
      if (delta.seq > oldestSnapshot) break;
      this.#base = { rows: this.#base.rows + delta.rows, bytes: this.#base.bytes + delta.bytes };
      folded += 1;
    }
    if (folded > 0) this.#deltas = this.#deltas.slice(folded);
  }

  get pendingDeltas(): number {
    return this.#deltas.length;
  }

  /** The oldest frozen front is below now. Part of an edit. */
  flushed(front: Front | SpilledFront): void {
    assert(this.frozen.at(-1) === front, 'fronts are flushed oldest first');
    this.frozen = this.frozen.slice(0, -1);
    assert(front.seqMax > this.flushedSeq, 'a front holds what is not below it yet');
    this.flushedSeq = front.seqMax;
    this.#flushed = { rows: this.#flushed.rows + front.rows, bytes: this.#flushed.bytes + front.bytes };
  }
}
