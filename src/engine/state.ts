// What the parts of an open environment share. It holds; others act: commit.ts applies commits, job-runner.ts and background.ts move
// messages down, checkpoint/ publishes states, transaction.ts reads and writes.

import { EngineError } from '../base/errors.ts';
import type { Env } from '../env/index.ts';
import { unitBytes } from './block/block-number.ts';
import { BlobStore } from './blob/blob-store.ts';
import type { BlockStore } from './block/block-store.ts';
import { Budget } from './cache/budget.ts';
import { PartCache } from './cache/part-cache.ts';
import { Gate } from './gate.ts';
import type { TreeNode } from './tree/node.ts';
import { nodeBytes } from './tree/node.ts';
import { Throttle } from './throttle.ts';
import type { FlushLimits } from './tree/edit.ts';
import { weigh } from './tree/edit.ts';
import type { Part, TreeRecord } from './tree/tree.ts';
import { Tree } from './tree/tree.ts';
import type { Spill, SpilledFront } from './tree/spilled.ts';
import { FrontPool } from './txn/front-pool.ts';
import { LockTable } from './txn/lock-table.ts';
import type { WaitingFor } from './txn/waiting-for.ts';
import { WriteSet } from './txn/write-set.ts';
import { RangeLocks } from './txn/range-locks.ts';
import { RecentKeys, recentKeyBytes } from './txn/recent-keys.ts';
import { Snapshots } from './txn/snapshots.ts';
import type { DictionaryId, DictionaryOptions, EngineOptions, Seq, UpdateFunctions } from './types.ts';
import { RecordWriter } from './wal/record.ts';
import type { RedoLog } from './wal/redo-log.ts';

/** Memory of a tree that has nothing in memory but its record, roughly. */
const treeBytes = 1000;
/** The same of a segment of large values. */
const segmentBytes = 400;
/** Between two checkpoints what has come is charged in steps of so much. */
const tablesStep = 256 * 1024;

/** Share of the budget that messages in active fronts may take together, and that fronts may hold; up to that the next of a tree has its memory at once. */
const frontsPart = 0.2;
const frontsHeldPart = 0.4;

/** A disk that was full is not given any space back for so long. */
const tightMs = 600_000;

/** Counters of an environment since it was opened. */
export interface EngineCounters {
  commits: number;
  aborts: number;
  conflicts: number;
  checkpoints: number;
  lastCheckpointMs: number;
  jobs: number;
  /** Merges that ran in the tree worker, and how often that died. */
  sentJobs: number;
  workerDeaths: number;
  openTransactions: number;
  /** Commits that moved large values: nobody's. */
  moves: number;
}

/** The state of an open environment. */
export class EngineState {
  readonly env: Env;
  readonly path: string;
  readonly options: EngineOptions;
  readonly #limits: Omit<FlushLimits, 'settledSeq'>;
  /** Functions of updates. */
  readonly updates: UpdateFunctions;
  readonly budget: Budget;
  readonly cache: PartCache<Part>;
  readonly locks: LockTable = new LockTable();
  readonly ranges: RangeLocks = new RangeLocks();
  /** What is waited for. */
  readonly requests: Set<WaitingFor> = new Set();
  readonly recent: RecentKeys;
  readonly snapshots: Snapshots = new Snapshots();
  readonly trees: Map<DictionaryId, Tree> = new Map();
  readonly counters: EngineCounters = { commits: 0, aborts: 0, conflicts: 0, checkpoints: 0, lastCheckpointMs: 0, jobs: 0, sentJobs: 0, workerDeaths: 0, openTransactions: 0, moves: 0 };
  readonly store: BlockStore;
  readonly blobs: BlobStore;
  readonly frontPool: FrontPool;
  /** The write set of all who only read. */
  readonly nothingWritten: WriteSet;
  readonly throttle: Throttle = new Throttle(this);
  /** Commits make their records in it, one at a time; its memory is used again, for growing by doubling would leave much to the collector. */
  readonly recordWriter: RecordWriter = new RecordWriter();
  /** Whoever writes blocks passes it; `verify` closes it to see the files still. */
  readonly fileGate: Gate = new Gate();
  /** Trees with frozen fronts, in the order in which they were frozen. */
  readonly frozen: Set<Tree> = new Set();
  /** Trees with range deletes that hide what an open snapshot still sees. */
  readonly unsettled: Set<Tree> = new Set();
  /** Trees with buffers that want to go down; those that idle time may tidy; those with something in their fronts. There may be 50,000 others. */
  readonly heavy: Set<Tree> = new Set();
  readonly loose: Set<Tree> = new Set();
  readonly fronted: Set<Tree> = new Set();
  /** What transactions have spilled that commit or have committed, by number, until it is below the fronts: checkpoints keep it. */
  readonly spills: Map<number, Spill> = new Map();
  /** Trees of which replay found a commit whose spilled part no checkpoint has: dropped ones, or damage. */
  readonly lostSpills: Set<Tree> = new Set();
  /** Dropped trees that some snapshot may still read. */
  readonly dropped: Set<Tree> = new Set();
  /** Trees with a buffer that reads would rather have in one run. */
  readonly pressed: Set<Tree> = new Set();
  visible: Seq = 0 as Seq;
  nextDictionary: number = 2;
  /** The disk is full, as far as is known: only what gives space back is let through until the reserves are whole again (law 25). */
  isFull: boolean = false;
  /** When space was last wanted in vain. */
  fullSeenMs: number = -Infinity;
  /** A commit is in the fronts by half: they must not be frozen now (law 14). */
  applying: boolean = false;
  /** Large values are being moved in a transaction: it resolves at its end. */
  moving: Promise<void> | undefined;
  /** A backup is being made: the log keeps what its checkpoint needs. */
  isBackingUp: boolean = false;
  /** Loads whose leaves are being put into their trees: a backup begins before or after, for it knows only what its checkpoint has. */
  adopting: number = 0;
  failure: EngineError | undefined;
  closed: boolean = false;
  readonly fatal: Promise<Error>;
  /** Called when there may be work for the background. */
  onWork: () => void = () => undefined;
  #log: RedoLog | undefined;
  #freezeLater: number = 0;
  /** What of each tree's fronts is charged: memory held, and of that what messages take. */
  readonly #charged: Map<Tree, { held: number; used: number }> = new Map();
  #frontBytesUsed: number = 0;
  #resolveFatal: (error: Error) => void = () => undefined;

  constructor(env: Env, path: string, options: EngineOptions, store: BlockStore) {
    this.env = env;
    this.path = path;
    this.options = options;
    this.updates = options.updates?.functions ?? new Map();
    this.store = store;
    this.blobs = new BlobStore(env, `${path}/blob`, { segmentBytes: options.blobSegmentBytes, visible: () => this.visible });
    this.#limits = { bufferBytes: options.bufferBytes, runsMax: 8 };
    this.budget = new Budget(options.cacheBytes);
    this.frontPool = new FrontPool(options.cacheBytes / 32);
    this.nothingWritten = new WriteSet(this.frontPool);
    this.cache = new PartCache<Part>(() => this.budget.cacheBytesMax);
    this.recent = new RecentKeys(Math.max(1024, Math.floor(options.cacheBytes / 16 / recentKeyBytes)));
    this.fatal = new Promise((resolve) => {
      this.#resolveFatal = resolve;
    });
  }

  /** When buffers go down: on a full disk at once, for what waits in them takes space that what is below could give back. */
  get limits(): FlushLimits {
    const settledSeq = this.snapshots.oldest(this.visible);
    return this.isFull ? { ...this.#limits, bufferBytes: 1, settledSeq } : { ...this.#limits, settledSeq };
  }

  get log(): RedoLog {
    if (this.#log === undefined) throw new EngineError('closed', 'the log is not open');
    return this.#log;
  }

  /** The log is open: every record that it gave is applied. */
  setLog(log: RedoLog): void {
    this.#log = log;
    this.reveal(log.lastSeq);
  }

  /** Everything up to `seq` is whole in the fronts. Replay gives records again that a checkpoint had: what was visible stays so. */
  reveal(seq: number): void {
    if (seq > this.visible) this.visible = seq as Seq;
  }

  /** The log is open; it is not while recovery replays. */
  get hasLog(): boolean {
    return this.#log !== undefined;
  }

  /** Throws when nothing can be promised any more. */
  checkUsable(): void {
    if (this.failure !== undefined) throw this.failure;
    if (this.closed) throw new EngineError('closed', 'the environment is closed');
  }

  /** Nothing more is acknowledged: what is on disk is not known (law 25). The first cause is kept. */
  poison(cause: unknown): EngineError {
    if (this.failure === undefined) {
      this.failure =
        cause instanceof EngineError && cause.code === 'poisoned'
          ? cause
          : new EngineError('poisoned', 'a write or sync failed; open the environment again', { cause });
      this.#resolveFatal(this.failure);
      this.budget.wake();
    }
    return this.failure;
  }

  /** Space was wanted and could not be had. */
  reportFull(): void {
    this.fullSeenMs = this.env.clock.monotonicMs();
    if (!this.isFull) {
      this.isFull = true;
      this.#weighAll();
    }
    this.onWork();
    this.budget.wake();
  }

  /** Whether the disk is full or was a short while ago: what is free in the file is not given away then. */
  get isTight(): boolean {
    return this.isFull || this.env.clock.monotonicMs() - this.fullSeenMs < tightMs;
  }

  /** Weighs the nodes in memory that no checkpoint has yet by what holds on a full disk. */
  #weighAll(): void {
    for (const tree of this.trees.values()) {
      for (const node of [...tree.writing.values(), ...tree.dirty.values()]) if (node.kind === 'internal') weigh(tree, node, this.limits);
      this.attend(tree);
    }
  }

  /** The tree of a dictionary as a snapshot sees it; `unknown-dictionary` when it has none. */
  treeAt(id: DictionaryId, snapshot: number): Tree {
    const tree = this.trees.get(id);
    if (tree === undefined || tree.droppedSeq <= snapshot) {
      throw new EngineError('unknown-dictionary', `there is no dictionary ${id}`, { place: { dictionary: id } });
    }
    return tree;
  }

  /** A tree without messages, known from now on. */
  createTree(id: DictionaryId, options: DictionaryOptions, seq: number): Tree {
    const root = this.store.reserveNumber();
    const tree = new Tree(emptyRecord({ id, options, createdSeq: seq, root }), this.cache, this.updates);
    this.setDirty(tree, { kind: 'leaf', number: root, extent: undefined });
    this.trees.set(id, tree);
    this.nextDictionary = Math.max(this.nextDictionary, id + 1);
    this.noteTables();
    return tree;
  }

  setDirty(tree: Tree, node: TreeNode): void {
    const before = tree.dirty.get(node.number);
    tree.setDirty(node);
    this.budget.change('nodes', nodeBytes(node) - (before === undefined ? 0 : nodeBytes(before)));
  }

  /** Notes what background work a tree wants after it changed. */
  attend(tree: Tree): void {
    setIn(this.heavy, tree, tree.heavy.size > 0);
    setIn(this.loose, tree, tree.isUnswept || tree.loose.size > 0);
  }

  /** After a read: one of the tree's buffers may be due to be merged. */
  noteRead(tree: Tree): void {
    if (tree.dueBuffer === undefined || this.pressed.has(tree)) return;
    this.pressed.add(tree);
    this.onWork();
  }

  /** Charges what the tree's fronts hold now. */
  chargeFronts(tree: Tree): void {
    setIn(this.fronted, tree, tree.oldestUnflushed !== undefined);
    const { held, used } = tree.frontSizes;
    const charged = this.#charged.get(tree) ?? { held: 0, used: 0 };
    const change = held - charged.held;
    this.#frontBytesUsed += used - charged.used;
    [charged.held, charged.used] = [held, used];
    if (held + used > 0) this.#charged.set(tree, charged);
    else this.#charged.delete(tree);
    if (change === 0) return;
    this.budget.change('fronts', change);
    if (change > 0) this.cache.shrink();
  }

  /** Memory that messages in fronts take: less than what is held for them, and without its steps. */
  get frontBytesUsed(): number {
    return this.#frontBytesUsed;
  }

  /** Bytes of the log that only checkpoints make fewer; none while recovery replays. */
  get logBytesInUse(): number {
    return this.#log?.bytesInUse ?? 0;
  }

  /** Charges what the block table and the trees take in memory when that has changed by enough to be worth it. */
  noteTables(): void {
    if (Math.abs(this.#tableBytes - this.budget.held('tables')) >= tablesStep) this.chargeTables();
  }

  get #tableBytes(): number {
    return this.store.byteSize + this.trees.size * treeBytes + this.blobs.segmentCount * segmentBytes;
  }

  /** Charges what the block table and the trees take in memory, whatever is read of them. */
  chargeTables(): void {
    const bytes = this.#tableBytes;
    this.budget.change('tables', bytes - this.budget.held('tables'));
    this.cache.shrink();
  }

  /** A dropped tree is gone: its memory is given back. */
  forgetTree(tree: Tree): void {
    this.trees.delete(tree.id);
    this.frozen.delete(tree);
    this.unsettled.delete(tree);
    this.heavy.delete(tree);
    this.loose.delete(tree);
    this.fronted.delete(tree);
    this.dropped.delete(tree);
    for (const front of tree.fronts()) this.blobs.count(front.blobs(), 'inFronts', -1);
    const { held, used } = this.#charged.get(tree) ?? { held: 0, used: 0 };
    this.#frontBytesUsed -= used;
    this.budget.change('fronts', -held);
    this.#charged.delete(tree);
    let nodes = 0;
    for (const node of tree.dirty.values()) nodes += nodeBytes(node);
    tree.dirty.clear();
    tree.writing.clear();
    this.budget.change('nodes', -nodes);
  }

  /** Whether active fronts hold so much together that the largest shall go before it is full. */
  get frontsFull(): boolean {
    const { cacheBytes } = this.options;
    return this.frozen.size === 0 && (this.#frontBytesUsed > cacheBytes * frontsPart || this.budget.held('fronts') > cacheBytes * frontsHeldPart);
  }

  /** Freezes the fronts that hold most: the largest, or so many small ones that flushing them makes room. Whether there was one. */
  freezeLargest(): boolean {
    const held = [...this.fronted].filter(({ active }) => active.count > 0).sort((a, b) => b.active.usedBytes - a.active.usedBytes);
    let bytes = 0;
    for (const tree of held) {
      if (bytes > this.options.cacheBytes / 32) break;
      bytes += tree.active.byteSize;
      this.freeze(tree);
    }
    return held.length > 0;
  }

  /**
   * Freezes the fronts that hold messages up to `seq`: they keep the log from being made shorter (law 17). While a commit is applied in slices
   * that waits for its end, since what is flushed of a dictionary is whole commits.
   */
  freezePinning(seq: number): void {
    if (this.applying) {
      this.#freezeLater = Math.max(this.#freezeLater, seq);
      return;
    }
    this.#freezeLater = 0;
    for (const tree of this.fronted) {
      const oldest = tree.oldestUnflushed;
      if (tree.frozen.length === 0 && oldest !== undefined && oldest <= seq) this.freeze(tree);
    }
  }

  /** A commit is whole in the fronts. */
  endApply(): void {
    this.applying = false;
    if (this.#freezeLater > 0) this.freezePinning(this.#freezeLater);
  }

  /** Bytes that jobs may need at once: what the fronts hold, a block for each child of a node, and two leaves of the largest. */
  get jobBytesWanted(): number {
    let [leaf, blocks] = [0, 1];
    for (const { options, rawBytes, height } of this.trees.values()) {
      leaf = Math.max(leaf, Math.min(options.pageBytes, rawBytes));
      if (height > 0) blocks = Math.max(blocks, options.fanout);
    }
    return Math.min(this.budget.held('fronts'), this.options.frontBytes) + leaf * 2 + blocks * unitBytes * 2;
  }

  /** What a commit spilled becomes a frozen front of its dictionary. */
  install(tree: Tree, front: SpilledFront): void {
    tree.addSpilled(front);
    this.frozen.add(tree);
    this.chargeFronts(tree);
    this.onWork();
  }

  /** Sets a tree's active front aside for flushing. */
  freeze(tree: Tree): void {
    tree.freeze(this.budget.held('fronts') + tree.active.byteSize < this.options.cacheBytes * frontsHeldPart);
    this.frozen.add(tree);
    this.chargeFronts(tree);
    this.onWork();
  }
}

function setIn<T>(set: Set<T>, member: T, isIn: boolean): void {
  if (isIn) set.add(member);
  else set.delete(member);
}

/** The record of a tree without messages. */
export function emptyRecord(given: Pick<TreeRecord, 'id' | 'options' | 'createdSeq' | 'root'>): TreeRecord {
  return {
    ...given, droppedSeq: Number.POSITIVE_INFINITY, flushedSeq: 0, rows: 0, bytes: 0, storedBytes: 0, rawBytes: 0, blobBytes: 0, leaves: 1, height: 0,
  };
}
