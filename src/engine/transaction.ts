// One transaction over the state of an environment; the contract is in types.ts. Its changes stay in its own write set until commit, so
// abort forgets, and there is nothing to undo in the trees.

import { compareBytes, concatBytes } from '../base/bytes.ts';
import { EngineError } from '../base/errors.ts';
import { BlobWrites, plainRows } from './blob-writes.ts';
import type { StampedValues } from './blob-writes.ts';
import { recordOf, stampAll } from './commit-record.ts';
import type { CommitRecord } from './commit-record.ts';
import { EngineCursor } from './cursor.ts';
import { catalogDictionary, dictionaryOptions, messageBytesMax, transactionBytesMax } from './options.ts';
import type { EngineParts } from './engine-parts.ts';
import { HeldLocks } from './held-locks.ts';
import type { LockingTransaction } from './held-locks.ts';
import { RecordRoom } from './record-room.ts';
import { messageKinds } from './run/message.ts';
import { decodeReference } from './run/blob-reference.ts';
import { applyOperations, chainMax, countOperations, operationBytesMax, operationOf } from './run/update.ts';
import { SeenTrees } from './seen-trees.ts';
import { coveringSeq } from './run/range-delete.ts';
import type { OwnWrites } from './tree/scan-view.ts';
import type { Spill } from './tree/spilled.ts';
import type { Tree } from './tree/tree.ts';
import { SpilledWrites } from './spilled-writes.ts';
import type { OwnMessage } from './spilled-writes.ts';
import { WriteSet } from './txn/write-set.ts';
import { waitForRoom } from './write-room.ts';
import type { BytesPart, Cursor, DictionaryId, DictionaryOptions, Direction, KeyRange, LiveTransaction, Seq, Soon, StampedRows, Totals, Transaction, TransactionMode, ValuePart } from './types.ts';

const removeBatch = { rows: 1000, bytes: 256 * 1024 };

const nothing = new Uint8Array(0);
const ownRemove: OwnMessage = { kind: messageKinds.remove, value: nothing };

/** An update of one key, as messages hold it. */
interface KeyUpdate {
  readonly id: DictionaryId;
  readonly key: Uint8Array;
  readonly operation: Uint8Array;
}

/** A transaction of an open environment. */
export class EngineTransaction implements Transaction, LockingTransaction {
  readonly id: number;
  readonly mode: TransactionMode;
  readonly snapshot: Seq;
  readonly #parts: EngineParts;
  readonly #writes: WriteSet;
  readonly #trees: SeenTrees;
  /** Made when the first is taken: readers have none. */
  #locks: HeldLocks | undefined;
  /** What was written and is in memory no more. */
  #spilled: SpilledWrites | undefined;
  /** Large values that it has written. */
  #blobs: BlobWrites | undefined;
  /** What of it the record of the commit names. */
  #announced: readonly Spill[] = [];
  readonly #place: number;
  #writeSetBytes: number = 0;
  #open: boolean = true;

  constructor(parts: EngineParts, id: number, mode: TransactionMode, snapshot: Seq) {
    this.#parts = parts;
    this.id = id;
    this.mode = mode;
    this.snapshot = snapshot;
    const { state } = parts;
    this.#writes = mode === 'read' ? state.nothingWritten : new WriteSet(state.frontPool);
    this.#trees = new SeenTrees(state, snapshot);
    this.#place = parts.open.add(this);
    state.snapshots.open(snapshot);
    if (mode === 'snapshot') state.recent.open(snapshot);
    state.counters.openTransactions += 1;
  }

  get isOpen(): boolean { return this.#open; }

  describe(most: number): LiveTransaction { return { id: this.id, mode: this.mode, snapshot: this.snapshot, locks: this.#locks?.count ?? 0, written: this.#writes.firstKeys(most) }; }

  /** Whether it is open, and of that environment. */
  isOpenIn(parts: EngineParts): boolean {
    return this.#open && this.#parts === parts;
  }

  #heldLocks(): HeldLocks {
    return (this.#locks ??= new HeldLocks(this.#parts.state, this));
  }

  #checkOpen(): void {
    if (!this.#open) throw new EngineError('closed', 'the transaction has ended');
    this.#parts.state.checkUsable();
  }

  #checkWritable(): void {
    this.#checkOpen();
    if (this.mode === 'read') throw new EngineError('closed', 'a read transaction writes nothing');
  }

  checkWritable(id: DictionaryId): void {
    this.#checkWritable();
    this.#trees.toWrite(id);
  }

  createDictionary(options?: Partial<DictionaryOptions>): DictionaryId {
    this.#checkWritable();
    const complete = dictionaryOptions(this.#parts.state.options.dictionary, options);
    const id = this.#trees.create(complete);
    this.#writes.change(id, 'create', complete);
    return id;
  }

  changeDictionary(id: DictionaryId, options: Partial<DictionaryOptions>): void {
    this.#checkWritable();
    this.#writes.change(id, 'change', dictionaryOptions(this.#trees.toWrite(id).options, options));
  }

  dropDictionary(id: DictionaryId): void {
    this.#checkWritable();
    if (id === catalogDictionary) throw new EngineError('format', 'the dictionary that is there from the first open is not dropped');
    this.#trees.toWrite(id);
    this.#writes.change(id, 'drop', undefined);
  }

  get(id: DictionaryId, key: Uint8Array): Soon<Uint8Array | undefined> {
    return this.#get(id, key, this.snapshot);
  }

  getPart(id: DictionaryId, key: Uint8Array, part: ValuePart): Soon<Uint8Array | undefined> {
    if (this.mode !== 'read') {
      const { from, to } = part;
      const value = this.#get(id, key, this.snapshot);
      return value instanceof Promise ? value.then((bytes) => bytes?.subarray(from, to)) : value?.subarray(from, to);
    }
    this.#checkOpen();
    const found = this.#parts.reads.search(this.#trees.seen(id), key, this.snapshot);
    return found instanceof Promise ? found.then((later) => this.#parts.reads.partOf(id, key, later, part)) : this.#parts.reads.partOf(id, key, found, part);
  }

  getLatest(id: DictionaryId, key: Uint8Array): Soon<Uint8Array | undefined> {
    return this.#get(id, key, this.#parts.state.visible);
  }

  #get(id: DictionaryId, key: Uint8Array, seq: Seq): Soon<Uint8Array | undefined> {
    this.#checkOpen();
    const own = this.#own(id, key);
    return own instanceof Promise ? own.then((later) => this.#getOver(later, id, key, seq)) : this.#getOver(own, id, key, seq);
  }

  /** What own writes make of what is committed. */
  #getOver(own: OwnMessage | undefined, id: DictionaryId, key: Uint8Array, seq: Seq): Soon<Uint8Array | undefined> {
    if (own?.kind !== messageKinds.update) return own === undefined ? this.#getCommitted(id, key, seq) : this.#valueOfOwn(id, key, own);
    return after(this.#getCommitted(id, key, seq), (value) => applyOperations(this.#parts.state.updates, value, own.value));
  }

  /** The value that own writes have given the key. */
  #valueOfOwn(id: DictionaryId, key: Uint8Array, { kind, value }: OwnMessage): Soon<Uint8Array | undefined> {
    if (kind === messageKinds.reference) return this.#parts.reads.large(id, key, decodeReference(value));
    return kind === messageKinds.put ? value : undefined;
  }

  /** What this transaction has said last of a key, or undefined. */
  #own(id: DictionaryId, key: Uint8Array): Soon<OwnMessage | undefined> {
    const own = this.#writes.fronts.get(id);
    if (own === undefined) return undefined;
    const entry = own.find(key, Infinity);
    const hidden = own.ranges.length === 0 ? 0 : coveringSeq(own.ranges, key, Infinity);
    // What a write set holds moves as it grows.
    if (entry >= 0) return own.seq(entry) > hidden ? { kind: own.kind(entry), value: own.value(entry).slice() } : ownRemove;
    if (this.#spilled !== undefined && this.#spilled.runsOf(id).length > 0) return this.#ownSpilled(id, key, hidden);
    return hidden > 0 ? ownRemove : undefined;
  }

  async #ownSpilled(id: DictionaryId, key: Uint8Array, hidden: number): Promise<OwnMessage | undefined> {
    const found = await this.#spilled?.find(this.#trees.toWrite(id), key);
    if (found === undefined) return hidden > 0 ? ownRemove : undefined;
    return found.operation > hidden ? found : ownRemove;
  }

  #getCommitted(id: DictionaryId, key: Uint8Array, seq: Seq): Soon<Uint8Array | undefined> {
    const tree = this.#trees.at(id, seq);
    const found = this.#parts.reads.search(tree, key, seq);
    return found instanceof Promise ? found.then((later) => this.#parts.reads.valueOf(id, key, later)) : this.#parts.reads.valueOf(id, key, found);
  }

  lock(id: DictionaryId, key: Uint8Array): Soon<void> {
    this.checkWritable(id);
    return this.#heldLocks().lock(id, key);
  }

  lockRange(id: DictionaryId, range: KeyRange): Soon<void> {
    this.checkWritable(id);
    const moved = this.#heldLocks().moveIn(id);
    return moved === undefined ? this.#heldLocks().lockRange(id, range) : moved.then(() => this.lockRange(id, range));
  }

  deleteRange(id: DictionaryId, range: KeyRange, rows: number, bytes: number): Soon<void> {
    this.#checkWritable();
    const tree = this.#trees.toWrite(id);
    if (isEmptyRange(range)) return undefined;
    const moved = this.#heldLocks().moveIn(id);
    if (moved !== undefined) return moved.then(() => this.deleteRange(id, range, rows, bytes));
    if (this.#trees.isOwn(id) || this.#heldLocks().tryRange(id, range)) {
      if (this.mode === 'statement' || tree.lastSeq <= this.snapshot) { this.#writeRange(id, range, { rows, bytes }); return; }
    } else if (this.mode === 'statement') return this.#heldLocks().waitForRange(id, range).then(() => this.#writeRange(id, range, { rows, bytes }));
    return this.#removeEach(id, range, { rows, bytes });
  }

  #writeRange(id: DictionaryId, range: KeyRange, gone: Totals): void {
    this.#charge(this.#writes.writeRange(id, range));
    this.#writes.count(id, -gone.rows, -gone.bytes);
  }

  /** What this transaction cannot see must not be hidden: single removes, each with its lock, of what it sees (law 12). */
  async #removeEach(id: DictionaryId, range: KeyRange, gone: Totals): Promise<void> {
    const cursor = this.cursor(id, range, 1, true);
    try {
      for (let batch = await cursor.nextBatch(removeBatch); batch.length > 0; batch = await cursor.nextBatch(removeBatch)) {
        const keys = Array.from({ length: batch.length }, (_, i) => batch.key(i).slice());
        for (const key of keys) await this.remove(id, key);
      }
    } finally {
      cursor.close();
    }
    this.#writes.count(id, -gone.rows, -gone.bytes);
  }

  put(id: DictionaryId, key: Uint8Array, value: Uint8Array): Soon<void> {
    if (!(key instanceof Uint8Array && value instanceof Uint8Array)) throw notBytes();
    const locked = this.lock(id, key);
    if (locked !== undefined) return this.#putAfter(locked, id, { key, value });
    return this.#put(id, key, value);
  }

  remove(id: DictionaryId, key: Uint8Array): Soon<void> {
    if (!(key instanceof Uint8Array)) throw notBytes();
    const locked = this.lock(id, key);
    if (locked !== undefined) return this.#removeAfter(locked, id, key);
    return this.#write(id, key, messageKinds.remove, nothing);
  }

  async #putAfter(locked: Promise<void>, id: DictionaryId, { key, value }: { key: Uint8Array; value: Uint8Array }): Promise<void> {
    await locked;
    await this.#put(id, key, value);
  }

  async #removeAfter(locked: Promise<void>, id: DictionaryId, key: Uint8Array): Promise<void> {
    await locked;
    await this.#write(id, key, messageKinds.remove, nothing);
  }

  /** Writes a value whose key is locked: a large one beside the tree, where a move would take that lock too. */
  #put(id: DictionaryId, key: Uint8Array, value: Uint8Array): Soon<void> {
    const tree = this.#trees.toWrite(id);
    return BlobWrites.isLarge(this.#parts.state, tree, value) ? this.#putLarge(tree, key, value) : this.#write(id, key, messageKinds.put, value);
  }

  async #putLarge(tree: Tree, key: Uint8Array, value: Uint8Array): Promise<void> {
    checkMessageSize(key.length + value.length);
    this.#blobs ??= new BlobWrites(this.#parts.state);
    const reference = await this.#blobs.write(tree, key, value);
    this.checkWritable(tree.id);
    await this.#write(tree.id, key, messageKinds.reference, reference);
  }

  update(id: DictionaryId, key: Uint8Array, functionNumber: number, argument: Uint8Array): Soon<void> {
    const operation = operationOf(this.#parts.state.updates, functionNumber, argument);
    const update = { id, key: key.slice(), operation };
    return after(this.lock(id, key), () => after(this.#own(id, update.key), (own) => this.#updateOver(own, update)));
  }

  /** An update in the write set holds all that its transaction has said since the committed value, so that the last message of a key says everything. */
  #updateOver(own: OwnMessage | undefined, update: KeyUpdate): Soon<void> {
    const { id, key, operation } = update;
    const { updates } = this.#parts.state;
    if (own !== undefined && own.kind !== messageKinds.update) return after(this.#valueOfOwn(id, key, own), (value) => this.#putUpdated(update, value));
    const operations = own === undefined ? operation : concatBytes([own.value, operation]);
    const count = own === undefined ? 1 : countOperations(updates, operations);
    const isLong = operations.length > operationBytesMax || count + this.#chainBelow(id, key) > chainMax;
    if (isLong) return after(this.getLatest(id, key), (value) => this.#putUpdated(update, value));
    return this.#write(id, key, messageKinds.update, operations);
  }

  /** How many updates of a key wait at the top of its tree, which a reader has to gather. */
  #chainBelow(id: DictionaryId, key: Uint8Array): number {
    const { active } = this.#trees.toWrite(id);
    const entry = active.find(key, Infinity);
    return entry < 0 ? 0 : active.chainLength(entry);
  }

  #putUpdated({ id, key, operation }: KeyUpdate, value: Uint8Array | undefined): Soon<void> {
    const result = applyOperations(this.#parts.state.updates, value, operation);
    return result === undefined ? this.#write(id, key, messageKinds.remove, nothing) : this.#put(id, key, result);
  }

  putCovered(id: DictionaryId, key: Uint8Array, value: Uint8Array): Soon<void> {
    this.checkWritable(id);
    this.#heldLocks().cover(id, key);
    return this.#write(id, key, messageKinds.put, value);
  }

  putCoveredPart(id: DictionaryId, key: BytesPart, value: Uint8Array): Soon<void> {
    this.checkWritable(id);
    const { bytes, start, end } = key;
    this.#heldLocks().cover(id, this.#parts.state.ranges.isEmpty ? nothing : bytes.subarray(start, end));
    checkMessageSize(end - start + value.length);
    this.#charge(this.#writes.putPart(id, key, value));
    return this.#afterWrite();
  }

  removeCovered(id: DictionaryId, key: Uint8Array): Soon<void> {
    this.checkWritable(id);
    this.#heldLocks().cover(id, key);
    return this.#write(id, key, messageKinds.remove, nothing);
  }

  #write(id: DictionaryId, key: Uint8Array, kind: number, value: Uint8Array): Soon<void> {
    checkMessageSize(key.length + value.length);
    this.#charge(this.#writes.write(id, key, kind, value));
    return this.#afterWrite();
  }

  /** What the writer waits for: what it wrote goes out of memory, or others have too much there. */
  #afterWrite(): Soon<void> {
    const { budget, options } = this.#parts.state;
    const [share, held] = [options.spillBytes, budget.held('writeSets')];
    const own = this.#writeSetBytes - (this.#spilled?.byteSize ?? 0);
    if (own > share || (held > options.cacheBytes / 2 && own > share / 4)) return this.#spill();
    return held > Math.max(options.cacheBytes / 4, transactionBytesMax(options.cacheBytes)) ? waitForRoom(this.#parts.state) : undefined;
  }

  /** Moves what was written out of memory (law 7), and locks of single keys with it where whole dictionaries are to be had. */
  async #spill(): Promise<void> {
    const spilled = (this.#spilled ??= new SpilledWrites(this.#parts));
    try {
      await spilled.spill(this.#writes, (id) => this.#trees.toWrite(id));
    } finally {
      if (!this.#open) spilled.release();
    }
    this.#checkOpen();
    this.#writes.foldCounts();
    this.#charge(this.#writes.byteSize + spilled.byteSize - this.#writeSetBytes);
    this.#locks?.escalate();
  }

  #charge(bytes: number): void {
    if (bytes === 0) return;
    this.#writeSetBytes += bytes;
    this.#parts.state.budget.change('writeSets', bytes);
  }

  count(id: DictionaryId, rows: number, bytes: number): void {
    this.#checkWritable();
    if (!Number.isFinite(rows) || !Number.isFinite(bytes)) throw new EngineError('format', 'what is counted is a number');
    this.#writes.count(id, rows, bytes);
  }

  totals(id: DictionaryId): Totals {
    this.#checkOpen();
    const { rows, bytes } = this.#trees.seen(id).totalsAt(this.snapshot);
    const own = this.#writes.totals().get(id) ?? { rows: 0, bytes: 0 };
    return { rows: rows + own.rows, bytes: bytes + own.bytes };
  }

  cursor(id: DictionaryId, range: KeyRange, direction: Direction, keysOnly: boolean = false): Cursor {
    this.#checkOpen();
    const seqMax = this.#writes.operation;
    const own = this.#writes.fronts.has(id) ? (): OwnWrites | undefined => this.#ownWrites(id, seqMax) : (): undefined => undefined;
    return new EngineCursor(this.#parts, { transaction: this, tree: this.#trees.seen(id), seq: this.snapshot, range, forward: direction === 1, own, keysOnly });
  }

  #ownWrites(id: DictionaryId, seqMax: number): OwnWrites | undefined {
    const front = this.#writes.fronts.get(id);
    return front === undefined ? undefined : { front, seqMax, spilled: this.#spilled?.runsOf(id) ?? [], takenBack: this.#spilled?.takenBack ?? [] };
  }

  mark(): number {
    return this.#writes.operation;
  }

  rollbackTo(mark: number): void {
    this.#checkOpen();
    const last = this.#writes.operation;
    this.#writes.rollbackTo(mark);
    this.#spilled?.takeBack(mark, last);
    this.#trees.keepOnly((id) => this.#writes.changes.some((change) => change.kind === 'create' && change.id === id));
  }

  async commit(rows?: StampedRows): Promise<Seq> {
    this.#checkOpen();
    try {
      return this.#writes.isEmpty && this.#spilled === undefined && rows === undefined ? this.snapshot : await this.#commit(rows);
    } finally {
      this.#end();
    }
  }

  async #commit(given: StampedRows | undefined): Promise<Seq> {
    const { state, commits } = this.#parts;
    const slowed = state.throttle.admit(this.#writes.messageBytes);
    if (slowed !== undefined) await slowed;
    if (this.#spilled !== undefined) this.#announced = await this.#spilled.announce(this.#writes, (id) => this.#trees.toWrite(id));
    const safe = this.#safeBlobs(given);
    const rows = safe instanceof Promise ? await safe : safe;
    this.#checkOpen();
    this.#writes.seal();
    let { body, places, inMemory } = this.#record(rows);
    const space = new RecordRoom(state, this.#writes);
    for (let wait = space.wanted(body.length); wait !== undefined; wait = space.wanted(body.length)) {
      await wait;
      if (rows !== undefined) ({ body, places, inMemory } = this.#record(rows));
    }
    // No wait between here and the log: dictionaries that were dropped meanwhile are a conflict.
    for (const { dictionary } of this.#announced) this.#trees.toWrite(dictionary);
    for (const [id, front] of this.#writes.fronts) if (front.count + front.ranges.length > 0) this.#trees.toWrite(id);
    for (const { id, kind } of this.#writes.changes) if (kind === 'drop') this.#trees.toWrite(id).isGoing = true;
    if (rows !== undefined) stampAll(body, places, rows.rows.stamp());
    const committed = commits.commit(body, inMemory);
    this.#spilled?.logged();
    const seq = await committed;
    this.#writes.unseal();
    return seq;
  }

  /** Large values are on the disk before a record names them (law 23): those of the transaction, and of the rows that come with it. */
  #safeBlobs(rows: StampedRows | undefined): Soon<StampedValues | undefined> {
    if (rows !== undefined && BlobWrites.hasLarge(this.#parts.state, rows)) this.#blobs ??= new BlobWrites(this.#parts.state);
    return this.#blobs === undefined ? plainRows(rows) : this.#blobs.finish(rows);
  }

  #record(rows: StampedValues | undefined): CommitRecord {
    return recordOf(this.#parts.state, { writes: this.#writes, announced: this.#announced, rows });
  }

  abort(): void {
    if (!this.#open) return;
    this.#parts.state.counters.aborts += 1;
    this.#end();
  }

  #end(): void {
    if (!this.#open) return;
    this.#open = false;
    const { state } = this.#parts;
    state.snapshots.close(this.snapshot);
    if (this.mode === 'snapshot') state.recent.close(this.snapshot);
    this.#locks?.release();
    this.#charge(-this.#writeSetBytes);
    this.#writes.release();
    this.#spilled?.release();
    this.#blobs?.release();
    state.counters.openTransactions -= 1;
    this.#parts.open.remove(this.#place);
    if (state.unsettled.size > 0 || state.dropped.size > 0) state.onWork();
  }
}

function checkMessageSize(bytes: number): void {
  if (bytes > messageBytesMax) throw new EngineError('too-large', `a key and value of ${bytes} bytes is beyond the limit of ${messageBytesMax}`);
}

function isEmptyRange({ from, to }: KeyRange): boolean {
  return from !== undefined && to !== undefined && compareBytes(from, to) >= 0;
}

/** Something to be done with what may have to be waited for. */
function after<T, R>(soon: Soon<T>, go: (value: T) => Soon<R>): Soon<R> {
  return soon instanceof Promise ? soon.then(go) : go(soon);
}

function notBytes(): EngineError {
  return new EngineError('format', 'keys and values are bytes, as a Uint8Array');
}
