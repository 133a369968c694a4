// The bulk loader: rows in any order are sorted in pieces of bounded size, which lie as compressed runs in free space of the data file; then all
// pieces are merged once into packed leaves, and one edit puts these beneath what was written to the dictionary meanwhile. Nothing of it goes
// through the log. It is durable with a checkpoint before `finish` resolves; a crash before that leaves free space only.

import { assert, must } from '../base/assert.ts';
import { BinaryHeap } from '../base/binary-heap.ts';
import { compareBytes } from '../base/bytes.ts';
import { EngineError } from '../base/errors.ts';
import { BlobWrites } from './blob-writes.ts';
import type { BlockNumber } from './block/block-number.ts';
import type { MergeRunner } from './merge-runner.ts';
import type { EngineState } from './state.ts';
import type { Edit } from './tree/edit.ts';
import { messageKinds } from './run/message.ts';
import { adoptJob } from './tree/job/adopt-job.ts';
import type { JobContext } from './tree/job/job-context.ts';
import type { MergeSource, MergeWork } from './tree/job/merge-request.ts';
import type { JobStep } from './tree/job/request.ts';
import type { Extent } from './tree/node.ts';
import { Front } from './tree/front.ts';
import type { Tree } from './tree/tree.ts';
import type { Load, LoadedTotals, Soon } from './types.ts';

const MiB = 1024 * 1024;
/** A piece takes this share of the budget, and those of all companions the other, within limits; two of each are in memory while one is written. */
const pieceShare = 24;
const piecesShare = 8;
const pieceBytesMin = 64 * 1024;
const pieceBytesMax = 16 * MiB;
const backupWaitMs = 100;
/** So many pieces are merged at a time. */
const fanIn = 48;
/** Rows of a load are told apart from what everybody sees (0) until the last pass. */
const loadSeq = 1;

/** What a load needs of its environment. */
export interface LoadMeans {
  readonly state: EngineState;
  /** Its own: the background's goes on beside it. */
  readonly merges: MergeRunner;
  readonly runJob: (tree: Tree, make: (context: JobContext) => JobStep<Edit>) => Promise<boolean>;
  readonly checkpoint: () => Promise<void>;
  readonly ended: () => void;
}

/** A sorted piece: extents whose keys follow one another. */
type Piece = readonly Extent[];

/** One load of one dictionary. */
export class BulkLoad implements Load {
  readonly #means: LoadMeans;
  readonly #tree: Tree;
  readonly #pieceBytes: number;
  readonly #written: Set<BlockNumber> = new Set();
  #front: Front = new Front();
  #charged: number = 0;
  #pieces: Piece[] = [];
  #writing: Promise<void> | undefined;
  #failure: EngineError | undefined;
  readonly #blobs: BlobWrites;
  #rows: number = 0;
  #bytes: number = 0;
  #open: boolean = true;
  #isFinishing: boolean = false;
  readonly #over: { readonly promise: Promise<void>; readonly resolve: () => void };

  constructor(means: LoadMeans, tree: Tree, companions: number) {
    this.#means = means;
    this.#tree = tree;
    this.#blobs = new BlobWrites(means.state);
    this.#pieceBytes = Math.min(pieceBytesMax, Math.max(pieceBytesMin, Math.floor(means.state.options.cacheBytes / Math.max(pieceShare, piecesShare * companions))));
    tree.isHollow = true;
    let resolve: () => void = () => undefined;
    const promise = new Promise<void>((end) => {
      resolve = end;
    });
    this.#over = { promise, resolve };
  }

  add(key: Uint8Array, value: Uint8Array): Soon<void> {
    this.#check();
    this.#rows += 1;
    this.#bytes += key.length + value.length;
    return BlobWrites.isLarge(this.#means.state, this.#tree, value) ? this.#addLarge(key, value) : this.#append(key, messageKinds.put, value);
  }

  /** A large value goes where it stays; the pieces have what refers to it. */
  async #addLarge(key: Uint8Array, value: Uint8Array): Promise<void> {
    const reference = await this.#blobs.write(this.#tree, key, value);
    this.#check();
    await this.#append(key, messageKinds.reference, reference);
  }

  #append(key: Uint8Array, kind: number, value: Uint8Array): Soon<void> {
    this.#front.append(key, loadSeq, kind, value);
    return this.#front.messageBytes >= this.#pieceBytes ? this.#turn() : undefined;
  }

  #check(): void {
    if (!this.#open) throw new EngineError('closed', 'the load has ended');
    this.#means.state.checkUsable();
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Sets the full piece aside to be written, and goes on when the one before it is. */
  async #turn(): Promise<void> {
    const full = this.#front;
    this.#front = new Front(full);
    this.#charge(full.byteSize + this.#front.byteSize);
    await this.#writing;
    this.#check();
    this.#writing = this.#write(full).catch((cause: unknown) => {
      this.#failure = cause instanceof EngineError ? cause : this.#means.state.poison(cause);
    });
  }

  #charge(bytes: number): void {
    this.#means.state.budget.change('jobs', bytes - this.#charged);
    this.#charged = bytes;
    this.#means.state.cache.shrink();
  }

  async #write(front: Front): Promise<void> {
    if (front.count === 0) return;
    this.#pieces.push(await this.#merge([{ kind: 'front', front }], { bytes: this.#pieceBytes, isLast: false }));
  }

  /** Merges sources into extents of about so many bytes; those of pieces are lz4. */
  async #merge(sources: readonly MergeSource[], { bytes, isLast }: { bytes: number; isLast: boolean }): Promise<Piece> {
    const { state, merges } = this.#means;
    const { compression, readPageBytes } = this.#tree.options;
    const work: MergeWork = { sources, ranges: [], cut: { kind: 'load', bytes, isLast }, snapshots: Float64Array.of(0), codec: isLast ? compression : 'lz4', readPageBytes };
    const written: BlockNumber[] = [];
    try {
      const extents = await state.fileGate.pass(() => merges.run(this.#tree, work, written));
      return extents.filter((extent) => extent !== undefined);
    } finally {
      for (const number of written) this.#written.add(number);
    }
  }

  async finish(): Promise<LoadedTotals> {
    this.#check();
    this.#isFinishing = true;
    try {
      await this.#writing;
      this.#check();
      await this.#write(this.#front);
      this.#front = new Front();
      this.#charge(fanIn * 2 * this.#tree.options.readPageBytes + this.#tree.options.pageBytes);
      await this.#mergePieces();
      const leaves = await this.#lastPass();
      this.#check();
      await this.#blobs.sync();
      await this.#adopt(leaves);
      await this.#means.checkpoint();
      return { rows: this.#rows, bytes: this.#bytes };
    } finally {
      this.#isFinishing = false;
      this.#open = false;
      await this.#end();
    }
  }

  /** Merges pieces until few enough are left for one last pass, and no more than that takes. */
  async #mergePieces(): Promise<void> {
    this.#pieces = chained(this.#pieces);
    while (this.#pieces.length > fanIn) {
      this.#check();
      const some = this.#pieces.splice(0, Math.min(fanIn, this.#pieces.length - fanIn + 1));
      this.#pieces.push(await this.#merge(some.flatMap(chainOf), { bytes: this.#pieceBytes, isLast: false }));
      for (const { block } of some.flat()) this.#abandon(block);
    }
  }

  /** Leaves of all rows, nearly full: nobody is going to insert between most of them. */
  async #lastPass(): Promise<Piece> {
    const pieces = this.#pieces;
    this.#pieces = [];
    const leaves = await this.#merge(pieces.flatMap(chainOf), { bytes: this.#tree.options.pageBytes, isLast: true });
    for (const { block } of pieces.flat()) this.#abandon(block);
    return leaves;
  }

  async #adopt(leaves: Piece): Promise<void> {
    const { state } = this.#means;
    // A backup copies the log behind its checkpoint: a commit in it must not rely on leaves that the checkpoint has not.
    while (state.isBackingUp) await state.env.clock.sleep(backupWaitMs);
    state.adopting += 1;
    const done = await this.#means.runJob(this.#tree, (context) => adoptJob(this.#tree, context, leaves)).finally(() => {
      state.adopting -= 1;
    });
    if (!done) throw new EngineError('no-space', 'there is no space for the index of what was loaded');
    for (const { block } of leaves) this.#written.delete(block);
    this.#tree.isHollow = false;
    this.#means.state.onWork();
  }

  #abandon(block: BlockNumber): void {
    assert(this.#written.delete(block), 'a block of this load');
    this.#means.state.store.abandon(block);
  }

  abort(): void {
    void this.close();
  }

  /** As abort; resolves when everything is given back. */
  async close(): Promise<void> {
    if (this.#open) {
      this.#open = false;
      // A `finish` under way sees it between two merges, and gives everything back itself.
      if (!this.#isFinishing) void this.#end();
    }
    await this.#over.promise;
  }

  /** Gives back what it had, when nothing is being written any more. */
  async #end(): Promise<void> {
    await this.#writing;
    this.#tree.isHollow = false;
    for (const block of this.#written) this.#means.state.store.abandon(block);
    this.#written.clear();
    this.#blobs.release();
    this.#front = new Front();
    this.#charge(0);
    this.#means.merges.close();
    this.#means.ended();
    this.#over.resolve();
  }
}

/** As few pieces as can be: one whose keys are all behind those of another goes on with it. Rows that come in order are one piece, and are not merged. */
function chained(pieces: readonly Piece[]): Piece[] {
  const inOrder = [...pieces].sort((a, b) => compareBytes(firstOf(a), firstOf(b)));
  const chains = new BinaryHeap<Extent[]>((a, b) => compareBytes(lastOf(a), lastOf(b)));
  const all: Extent[][] = [];
  for (const piece of inOrder) {
    const lowest = chains.peek();
    const before = lowest !== undefined && compareBytes(lastOf(lowest), firstOf(piece)) < 0 ? chains.pop() : undefined;
    const chain = before ?? [];
    if (before === undefined) all.push(chain);
    chain.push(...piece);
    chains.push(chain);
  }
  return all;
}

const lastOf = (piece: Piece): Uint8Array => must(piece.at(-1), 'an extent of a piece').fences.lastKey;
const firstOf = (piece: Piece): Uint8Array => must(piece[0], 'an extent of a piece').fences.firstKey(0);

/** A piece as sources of one input. */
function chainOf(piece: Piece): MergeSource[] {
  return piece.map((extent, i) => (i === 0 ? { kind: 'extent', extent } : { kind: 'extent', extent, follows: true }));
}
