// The block store: numbered blocks in the data file, copy on write, and the checkpoint that makes a set of them the one recovery starts from
// (laws 16 to 18, 22 and 25). Each stored version of a block is an image with a life in checkpoints (image-lives.ts), kept in columns
// (image-table.ts).

import { assert, must } from '../../base/assert.ts';
import { EngineError } from '../../base/errors.ts';
import type { Env } from '../../env/index.ts';
import { BlockFile, isNoSpace } from './block-file.ts';
import type { Reserve } from './block-file.ts';
import type { BlockStatistics } from './block-statistics.ts';
import { blockTableNumber, unitBytes, unitsFor } from './block-number.ts';
import type { BlockNumber, CheckpointRoot } from './block-number.ts';
import { blockKinds, BlockTableWriter, piecesOf } from './block-table.ts';
import type { BlockPlace } from './block-table.ts';
import { chooseSuperblock, createDataFile, directoryOf, readTable, readTwice, usedPieces, writeSuperblock } from './data-file.ts';
import { holdCheckpoint } from './held-checkpoint.ts';
import type { HeldCheckpoint } from './held-checkpoint.ts';
import { ImageLives } from './image-lives.ts';
import { never } from './image-table.ts';
import type { ImageTable } from './image-table.ts';
import { encodeMeta } from './meta-image.ts';
import type { MetaImage } from './meta-image.ts';
import { copyDown } from './move-down.ts';
import { firstFileUnits } from './superblock.ts';
import type { Slot, Superblock, TwicePlace } from './superblock.ts';
import { copiesVerified, verifyCopies, verifyPlaces, verifySuperblocks } from './verify-store.ts';
import type { StoreProblem } from './verify-store.ts';

/** What was dropped: the slot of the image that was newest then, or -1, and the first checkpoint without the block. */
interface Dropped {
  newest: number;
  readonly to: number;
}

/** Slots that are looked at for the block table between two turns of the event loop. */
const tableSlice = 4096;

/** Least and most units kept free for a checkpoint, and for jobs. */
const reserveUnitsMin = 32;
const reserveUnitsMax = 16384;
const jobUnitsMin = 16;
const jobUnitsMax = 16384;

/** All blocks of one data file. */
export class BlockStore {
  readonly #env: Env;
  readonly #file: BlockFile;
  readonly #lives: ImageLives;
  readonly #images: ImageTable;
  /** Numbers whose next version is being written. */
  readonly #writing = new Set<number>();
  /** Meta blocks of which one copy was found damaged. */
  readonly #halved = new Set<BlockNumber>();
  /** Numbers dropped since the capture, or while they were being written. */
  readonly #dropped = new Map<number, Dropped>();
  #superblock: Superblock;
  #slot: Slot;
  #nextNumber: number;
  /** Units kept for jobs that make room on a full disk. */
  #jobUnits = jobUnitsMin;

  private constructor(env: Env, file: BlockFile, from: { superblock: Superblock; slot: Slot }) {
    this.#env = env;
    this.#file = file;
    this.#lives = new ImageLives(file);
    this.#images = this.#lives.images;
    this.#superblock = from.superblock;
    this.#slot = from.slot;
    this.#nextNumber = from.superblock.nextNumber;
  }

  /** Makes the file, which must not be there, and opens it. A crash before the end leaves no file of this name. */
  static async create(env: Env, path: string): Promise<BlockStore> {
    await createDataFile(env, path);
    const { store } = await BlockStore.open(env, path);
    return store;
  }

  /**
   * Opens the file with its newest whole checkpoint; `root` is absent when there is none yet. Space that the block table does not name is
   * free. The chosen superblock is written again and synced before anything else is (law 22).
   */
  static async open(env: Env, path: string): Promise<{ store: BlockStore; root: CheckpointRoot | undefined }> {
    if (!(await env.files.exists(path))) throw new EngineError('io', 'there is no data file', { place: { file: path } });
    const handle = await env.files.open(path, 'write');
    try {
      const sizeUnits = unitsFor(await handle.size());
      const probe = new BlockFile(handle, sizeUnits);
      const chosen = await chooseSuperblock(probe);
      const places = await readTable(probe, chosen.superblock);
      const used = usedPieces(places, chosen.superblock.table);
      const last = used.at(-1);
      const file = new BlockFile(handle, Math.max(sizeUnits, firstFileUnits, last === undefined ? 0 : last.start + last.units));
      const store = new BlockStore(env, file, chosen);
      store.#load(places, used);
      await writeSuperblock(file, chosen.superblock, chosen.slot);
      // The name too may be in the page cache only, if the process that made the file ended before its directory was synced.
      await env.files.syncDirectory(directoryOf(path));
      await file.keepReserve(store.#reserve());
      return { store, root: chosen.superblock.root };
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Closes the file; the caller has waited for all reads and writes. */
  async close(): Promise<void> {
    await this.#file.close();
  }

  /** A fresh number, for a node that will be written by a checkpoint. */
  reserveNumber(): BlockNumber {
    return this.#nextNumber++ as BlockNumber;
  }

  /**
   * Writes a data block, one copy, not synced. It is in no tree and no checkpoint until `adopt`; a crash before leaves free space only.
   * A full disk is `no-space` and changes nothing; with `rescue` the reserve for jobs is used up before that.
   */
  async writeData(image: Uint8Array, rescue: boolean = false): Promise<BlockNumber> {
    assert(image.length > 0, 'a block has bytes');
    const first = await this.#file.put(image, rescue ? 'rescue' : 'data');
    const number = this.reserveNumber();
    const place: BlockPlace = { number, kind: blockKinds.data, first, second: -1, length: image.length, checksum: 0 };
    this.#lives.enter(place, never);
    return number;
  }

  /** The edit that brings this data block into the tree is being applied: called in the same synchronous step. */
  adopt(number: BlockNumber): void {
    const slot = this.#slotOf(number);
    assert(this.#images.from(slot) === never, 'a block is adopted once');
    this.#images.setFrom(slot, this.#lives.epoch);
  }

  /** The job that wrote this block was undone: its space is free at once. */
  abandon(number: BlockNumber): void {
    const slot = this.#slotOf(number);
    assert(this.#images.from(slot) === never, 'a block of the tree is dropped, not abandoned');
    this.#lives.retire(slot, 0);
  }

  /** The edit that takes this block (or node, written or not) out of the tree is being applied. Its space comes back by law 16. */
  drop(number: BlockNumber): void {
    const slot = this.#images.newest(number);
    assert(slot < 0 || this.#images.from(slot) !== never, 'a block that was never adopted is abandoned');
    const { captured, epoch } = this.#lives;
    if (captured !== undefined || this.#writing.has(number)) this.#dropped.set(number, { newest: slot, to: epoch });
    if (slot >= 0) this.#lives.retire(slot, epoch);
  }

  /**
   * Bytes [from, from + length) of a data block, unchecked: the fences have the checksums. The block may be dropped meanwhile; its space is
   * not used again before the read is over.
   */
  async readData(number: BlockNumber, from: number, length: number): Promise<Uint8Array> {
    const target = new Uint8Array(length);
    await this.readInto(number, from, target);
    return target;
  }

  /** As `readData`, into memory of the caller. */
  async readInto(number: BlockNumber, from: number, target: Uint8Array): Promise<void> {
    const slot = this.#slotOf(number, from + target.length);
    await this.#lives.reading(slot, () => this.#file.readInto(this.#images.first(slot) * unitBytes + from, target));
  }

  /** As `readData`, at once, if that is quick; undefined: it is not. The bytes are good until the next call. */
  readDataNow(number: BlockNumber, from: number, length: number): Uint8Array | undefined {
    const slot = this.#slotOf(number, from + length);
    return this.#file.readNow(this.#images.first(slot) * unitBytes + from, length);
  }

  /** The payload of a meta block, checked; from its second copy when the first is damaged. Both damaged is `corruption`. */
  async readMeta(number: BlockNumber): Promise<Uint8Array> {
    const slot = this.#slotOf(number);
    assert(this.#images.isMeta(slot), 'only meta blocks are read whole');
    return await this.#lives.reading(slot, () => readTwice(this.#file, this.#images.place(slot), number, () => this.#halved.add(number)));
  }

  /** The durable checkpoint, kept as it is until it is released. Its blocks may be dropped and written anew meanwhile. */
  hold(): HeldCheckpoint {
    const { durable } = this.#lives;
    return holdCheckpoint(this.#images, durable, { superblock: this.#superblock, file: this.#file, release: this.#lives.hold(durable) });
  }

  /** Whether a number names a block that was written and is in the tree. */
  has(number: BlockNumber): boolean {
    return this.#images.newest(number) >= 0;
  }

  /** File, offset and length of a block, for the place in an error. */
  placeOf(number: BlockNumber): { file: string; offset: number; length: number } | undefined {
    const slot = this.#images.newest(number);
    return slot < 0 ? undefined : { file: this.#file.path, offset: this.#images.first(slot) * unitBytes, length: this.#images.length(slot) };
  }

  /** Captures the state between two edits: what is adopted and dropped from here on is not in the checkpoint. One at a time. */
  beginCheckpoint(): void {
    assert(this.#lives.captured === undefined, 'one checkpoint at a time');
    this.#lives.captured = this.#lives.epoch;
    this.#lives.epoch++;
  }

  /** Writes a version of a meta block in two fresh places: the captured one during a checkpoint. One write of a number at a time. */
  async writeMeta(number: BlockNumber, payload: Uint8Array): Promise<void> {
    assert(number > blockTableNumber && number < this.#nextNumber, 'a number is reserved before it is written');
    assert(!this.#writing.has(number), 'one write of a number at a time');
    const epoch = this.#lives.captured ?? this.#lives.epoch;
    this.#writing.add(number);
    try {
      const placed = await this.#putTwice(encodeMeta(number, this.#superblock.generation + 1, payload));
      this.#enterVersion({ number, kind: blockKinds.meta, ...placed }, epoch);
    } finally {
      this.#writing.delete(number);
      if (this.#lives.captured === undefined) this.#dropped.delete(number);
    }
  }

  /**
   * Makes the captured state the one that recovery starts from: block table, sync, superblock, sync. Resolves when it is durable; then the
   * space of what only older checkpoints had is free; the file keeps it with `isTight`. `no-space` before the superblock: the caller cancels. Any other error poisons.
   */
  async publish(root: CheckpointRoot, isTight: boolean = false): Promise<void> {
    const captured = must(this.#lives.captured, 'a checkpoint was begun');
    const table = await this.#writeTable(captured);
    await this.#file.sync();
    const before = this.#superblock;
    const { fileId, generation } = before;
    const superblock: Superblock = { fileId, generation: generation + 1, nextNumber: this.#nextNumber, table, root };
    const slot = this.#slot === 0 ? 1 : 0;
    try {
      await writeSuperblock(this.#file, superblock, slot);
    } catch (error) {
      // The slot may hold either; nothing may follow that relies on one of them.
      this.#file.fail(error);
      throw isNoSpace(error) ? new EngineError('io', 'the superblock could not be written', { cause: error }) : error;
    }
    this.#superblock = superblock;
    this.#slot = slot;
    this.#lives.durable = captured;
    this.#endCapture();
    if (before.table !== undefined) this.#releaseTwice(before.table);
    await this.#lives.sweep(this.#env.tasks);
    await this.#file.keepReserve(this.#reserve());
    if (!isTight) await this.#file.cutTail();
  }

  /** Gives a checkpoint up that found no space. Meta blocks that it wrote stay the newest versions of their numbers. */
  cancelCheckpoint(): void {
    assert(this.#lives.captured !== undefined, 'a checkpoint was begun');
    this.#endCapture();
    this.#lives.settleAll();
  }

  /**
   * Idle work: moves the block that lies last in the file into a gap, so that the file can be cut after the next checkpoints. False when
   * gaps are few, or none takes it. A block that cannot be read stays where it is, and its error is thrown.
   */
  async moveDown(): Promise<boolean> {
    const slot = this.#file.isLooseAtRest ? this.#last() : -1;
    if (slot < 0) return false;
    const place = await this.#lives.reading(slot, () => copyDown(this.#file, this.#images.place(slot), this.#superblock.generation + 1));
    if (place !== undefined) this.#takeCopy(slot, place);
    return place !== undefined;
  }

  /** Takes a copy of an image in its place, if it is still the newest. */
  #takeCopy(slot: number, place: BlockPlace): void {
    // A meta block that the checkpoint being written may write once more is left to it: only one version is in a checkpoint.
    const isTaken = place.kind === blockKinds.meta && (this.#lives.captured !== undefined || this.#writing.has(place.number));
    if (isTaken || this.#images.newest(place.number) !== slot) for (const { start, units } of piecesOf(place)) this.#file.release(start, units);
    else {
      this.#lives.retire(slot, this.#lives.epoch);
      this.#lives.enter(place, this.#lives.epoch);
    }
  }

  /** Whether of a meta block one copy was found damaged, and nothing was done about it yet. */
  get isHalved(): boolean {
    return this.#halved.size > 0;
  }

  /** Idle work: writes such a block again, so that it is there twice once more (law 18). Without space it stays as it is. */
  async makeWhole(): Promise<void> {
    const [number] = this.#halved;
    const slot = number === undefined ? -1 : this.#images.newest(number);
    if (number === undefined) return;
    this.#halved.delete(number);
    if (slot < 0 || !this.#images.isMeta(slot)) return;
    try {
      const payload = await this.#lives.reading(slot, () => readTwice(this.#file, this.#images.place(slot), number));
      const placed = await this.#putTwice(encodeMeta(number, this.#superblock.generation + 1, payload));
      this.#takeCopy(slot, { number, kind: blockKinds.meta, ...placed });
    } catch (error) {
      if (!isNoSpace(error) && !(error instanceof EngineError && error.code === 'corruption')) throw error;
    }
  }

  /** Whether more of the file is gaps than idle work leaves. */
  get isLoose(): boolean {
    return this.#file.isLooseAtRest;
  }

  /** Says how many bytes jobs may need at once on a full disk; they are had from the next checkpoint on. */
  wantForJobs(bytes: number): void {
    this.#jobUnits = Math.min(Math.max(jobUnitsMin, unitsFor(bytes)), jobUnitsMax);
  }

  /** Tries to have the reserves; whether they are whole. */
  async keepReserve(): Promise<boolean> {
    await this.#file.keepReserve();
    return this.#file.hasReserve;
  }

  /** How many blocks there are. */
  get blocks(): number {
    return this.#images.blocks;
  }

  /** Memory that the table of blocks takes, and that of free space. */
  get byteSize(): number {
    return this.#lives.byteSize + this.#file.spaceBytes;
  }

  get statistics(): BlockStatistics {
    return {
      fileBytes: this.#file.bytes,
      usedBytes: this.#lives.usedUnits * unitBytes,
      freeableBytes: this.#file.freeBytes + this.#lives.limboUnits * unitBytes,
      written: this.#file.bytesWritten,
      read: this.#file.bytesRead,
      blocks: this.blocks,
    };
  }

  /**
   * Everything that is wrong with superblocks, block table, places and meta blocks, as it is on disk now; others may go on meanwhile. Data
   * blocks are their owners' to check.
   */
  async *verify(): AsyncGenerator<StoreProblem> {
    const images = this.#images;
    const slots = Array.from({ length: images.slots }, (_, slot) => slot).filter((slot) => images.number(slot) !== 0);
    const places = slots.map((slot) => images.place(slot));
    const { table } = this.#superblock;
    yield* verifyPlaces(this.#file, table, places);
    yield* verifySuperblocks(this.#file);
    if (table !== undefined) for await (const found of verifyCopies(this.#file, table, blockTableNumber)) if (this.#superblock.table === table) yield found;
    for (const [index, place] of places.entries()) {
      const slot = slots[index] as number;
      // A slot may be another image's by now.
      const isKept = images.number(slot) === place.number && images.first(slot) === place.first && this.#lives.isKept(slot);
      if (place.kind === blockKinds.data || !isKept) continue;
      const problems = await this.#lives.reading(slot, () => copiesVerified(this.#file, place));
      if (problems.length === 1) this.#halved.add(place.number as BlockNumber);
      yield* problems;
    }
  }

  #slotOf(number: BlockNumber, readTo = 0): number {
    const slot = this.#images.newest(number);
    assert(slot >= 0, 'a block number names a block');
    assert(readTo <= this.#images.length(slot), 'a read lies within its block');
    return slot;
  }

  /** The image of the tree that lies last in the file, or -1. */
  #last(): number {
    const images = this.#images;
    let last = -1;
    for (let slot = 0; slot < images.slots; slot++) {
      if (images.number(slot) === 0 || images.from(slot) === never || images.to(slot) !== never) continue;
      if (last < 0 || images.highestUnit(slot) > images.highestUnit(last)) last = slot;
    }
    return last;
  }

  #load(places: readonly BlockPlace[], used: readonly { readonly start: number; readonly units: number }[]): void {
    let at = 0;
    for (const { start, units } of used) {
      if (start < at) throw new EngineError('corruption', 'two blocks in one place', { place: { file: this.#file.path, offset: start * unitBytes } });
      if (start > at) this.#file.release(at, start - at);
      at = start + units;
    }
    const end = this.#file.bytes / unitBytes;
    if (end > at) this.#file.release(at, end - at);
    for (const place of places) this.#lives.enter(place, 0);
  }

  /** Puts a version that was written in place of the one before; of a block that was dropped meanwhile only older checkpoints have it. */
  #enterVersion(place: BlockPlace, from: number): void {
    const { number } = place;
    const dropped = this.#dropped.get(number);
    if (dropped !== undefined) {
      if (dropped.newest >= 0) this.#lives.shorten(dropped.newest, number, from);
      dropped.newest = this.#lives.enterRetired(place, from, dropped.to);
      return;
    }
    const before = this.#images.newest(number);
    if (before >= 0) this.#lives.retire(before, from);
    this.#lives.enter(place, from);
  }

  #endCapture(): void {
    this.#lives.captured = undefined;
    for (const number of this.#dropped.keys()) if (!this.#writing.has(number)) this.#dropped.delete(number);
  }

  /**
   * Writes the table of the captured state. Which images that has does not change any more, nor do their slots, while others run between two
   * slices.
   */
  async #writeTable(captured: number): Promise<TwicePlace> {
    const images = this.#images;
    const table = new BlockTableWriter(images.blocks);
    for (let slot = 0; slot < images.slots; slot++) {
      if (images.isIn(slot, captured)) table.row(images.place(slot));
      if ((slot + 1) % tableSlice !== 0) continue;
      table.endSlice();
      await this.#env.tasks.pause();
    }
    return this.#putTwice(table.finish(this.#superblock.generation + 1));
  }

  async #putTwice({ bytes, checksum }: MetaImage): Promise<TwicePlace> {
    const first = await this.#file.put(bytes, 'meta');
    try {
      const second = await this.#file.put(bytes, 'meta', first);
      return { first, second, length: bytes.length, checksum };
    } catch (error) {
      this.#file.release(first, unitsFor(bytes.length));
      throw error;
    }
  }

  #releaseTwice({ first, second, length }: TwicePlace): void {
    for (const start of [first, second]) this.#file.release(start, unitsFor(length));
  }

  /** Units that a checkpoint can need at worst: every meta block anew, and the table. */
  #reserve(): Reserve {
    const units = 2 * unitsFor(this.#superblock.table?.length ?? 0) + this.#lives.metaUnits;
    return { checkpoint: Math.min(Math.max(units, reserveUnitsMin), reserveUnitsMax), jobs: this.#jobUnits };
  }
}
