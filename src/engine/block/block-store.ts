// The block store: numbered blocks in the data file, copy on write, and the checkpoint that makes a set of them the one recovery starts from
// (laws 16 to 18, 22 and 25). Each stored version of a block is an image with a life in checkpoints: the first that has it and the first
// that has it no more. Space comes back when neither the tree, nor the durable checkpoint, nor the one being written, nor a read has it.
// Checkpoints are counted in memory by epochs: what happens now is first in the checkpoint that is captured next.

import { assert, must } from '../../base/assert.ts';
import { EngineError } from '../../base/errors.ts';
import type { Env } from '../../env/index.ts';
import { BlockFile, isNoSpace } from './block-file.ts';
import type { Reserve } from './block-file.ts';
import type { BlockStatistics } from './block-statistics.ts';
import { blockTableNumber, unitBytes, unitsFor } from './block-number.ts';
import type { BlockNumber, CheckpointRoot } from './block-number.ts';
import { blockKinds, BlockTableWriter, piecesOf, unitsOf } from './block-table.ts';
import type { BlockPlace } from './block-table.ts';
import { chooseSuperblock, createDataFile, directoryOf, readTable, readTwice, usedPieces, writeSuperblock } from './data-file.ts';
import { holdImages } from './held-checkpoint.ts';
import type { HeldCheckpoint } from './held-checkpoint.ts';
import { encodeMeta } from './meta-image.ts';
import type { MetaImage } from './meta-image.ts';
import { copyDown, highestUnit } from './move-down.ts';
import { firstFileUnits } from './superblock.ts';
import type { Slot, Superblock, TwicePlace } from './superblock.ts';
import { verifyCopies, verifyPlaces, verifySuperblocks } from './verify-store.ts';
import type { StoreProblem } from './verify-store.ts';

/** One stored version of a block. */
interface Image {
  readonly place: BlockPlace;
  /** First epoch whose checkpoint has it; Infinity while it waits for its edit. */
  from: number;
  /** First epoch whose checkpoint has it no more; Infinity while it is the newest. */
  to: number;
  readers: number;
  /** The last epoch in whose block table it was listed. */
  listed: number;
}

/** What was dropped: the version that was newest then, if there was one, and the first checkpoint without the block. */
interface Dropped {
  newest: Image | undefined;
  readonly to: number;
}

/** Rows of the block table that are encoded, and images in limbo that are looked at, between two turns of the event loop. */
const tableSlice = 4096;
const limboSlice = 1024;

/** Least and most units kept free for a checkpoint, and for jobs. */
const reserveUnitsMin = 32;
const reserveUnitsMax = 16384;
const jobUnitsMin = 16;
const jobUnitsMax = 16384;

/** All blocks of one data file. */
export class BlockStore {
  readonly #env: Env;
  readonly #file: BlockFile;
  readonly #images = new Map<number, Image>();
  /** Images that are not the newest any more and whose space is still needed. */
  readonly #limbo = new Set<Image>();
  /** Numbers whose next version is being written. */
  readonly #writing = new Set<number>();
  /** Numbers dropped since the capture, or while they were being written. */
  readonly #dropped = new Map<number, Dropped>();
  #superblock: Superblock;
  #slot: Slot;
  #durable = 0;
  #captured: number | undefined;
  #epoch = 1;
  #nextNumber: number;
  /** Units of the images of the tree, of those that are meta, and of those in limbo. */
  #usedUnits = 0;
  #metaUnits = 0;
  #limboUnits = 0;
  /** Units kept for jobs that make room on a full disk. */
  #jobUnits = jobUnitsMin;

  private constructor(env: Env, file: BlockFile, from: { superblock: Superblock; slot: Slot }) {
    this.#env = env;
    this.#file = file;
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
    this.#enter({ place, from: Infinity, to: Infinity, readers: 0, listed: 0 });
    return number;
  }

  /** The edit that brings this data block into the tree is being applied: called in the same synchronous step. */
  adopt(number: BlockNumber): void {
    const image = this.#image(number);
    assert(image.from === Infinity, 'a block is adopted once');
    image.from = this.#epoch;
  }

  /** The job that wrote this block was undone: its space is free at once. */
  abandon(number: BlockNumber): void {
    const image = this.#image(number);
    assert(image.from === Infinity, 'a block of the tree is dropped, not abandoned');
    this.#leave(image);
    this.#retire(image, 0);
  }

  /** The edit that takes this block (or node, written or not) out of the tree is being applied. Its space comes back by law 16. */
  drop(number: BlockNumber): void {
    const image = this.#images.get(number);
    assert(image === undefined || image.from !== Infinity, 'a block that was never adopted is abandoned');
    if (this.#captured !== undefined || this.#writing.has(number)) this.#dropped.set(number, { newest: image, to: this.#epoch });
    if (image === undefined) return;
    this.#leave(image);
    this.#retire(image, this.#epoch);
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
    const image = this.#image(number, from + target.length);
    image.readers++;
    try {
      await this.#file.readInto(image.place.first * unitBytes + from, target);
    } finally {
      image.readers--;
      this.#settle(image);
    }
  }

  /** As `readData`, at once, if that is quick; undefined: it is not. The bytes are good until the next call. */
  readDataNow(number: BlockNumber, from: number, length: number): Uint8Array | undefined {
    const { place } = this.#image(number, from + length);
    return this.#file.readNow(place.first * unitBytes + from, length);
  }

  /** The payload of a meta block, checked; from its second copy when the first is damaged. Both damaged is `corruption`. */
  async readMeta(number: BlockNumber): Promise<Uint8Array> {
    const image = this.#image(number);
    assert(image.place.kind === blockKinds.meta, 'only meta blocks are read whole');
    image.readers++;
    try {
      return await readTwice(this.#file, image.place, number);
    } finally {
      image.readers--;
      this.#settle(image);
    }
  }

  /** The durable checkpoint, kept as it is until it is released. Its blocks may be dropped and written anew meanwhile. */
  hold(): HeldCheckpoint {
    const images = [...this.#images.values(), ...this.#limbo].filter((image) => this.#isIn(image, this.#durable));
    return holdImages(images, { superblock: this.#superblock, file: this.#file, settle: (image) => this.#settle(image) });
  }

  /** File, offset and length of a block, for the place in an error. */
  placeOf(number: BlockNumber): { file: string; offset: number; length: number } | undefined {
    const place = this.#images.get(number)?.place;
    return place === undefined ? undefined : { file: this.#file.path, offset: place.first * unitBytes, length: place.length };
  }

  /** Captures the state between two edits: what is adopted and dropped from here on is not in the checkpoint. One at a time. */
  beginCheckpoint(): void {
    assert(this.#captured === undefined, 'one checkpoint at a time');
    this.#captured = this.#epoch;
    this.#epoch++;
  }

  /** Writes a version of a meta block in two fresh places: the captured one during a checkpoint. One write of a number at a time. */
  async writeMeta(number: BlockNumber, payload: Uint8Array): Promise<void> {
    assert(number > blockTableNumber && number < this.#nextNumber, 'a number is reserved before it is written');
    assert(!this.#writing.has(number), 'one write of a number at a time');
    const epoch = this.#captured ?? this.#epoch;
    this.#writing.add(number);
    try {
      const placed = await this.#putTwice(encodeMeta(number, this.#superblock.generation + 1, payload));
      const place: BlockPlace = { number, kind: blockKinds.meta, ...placed };
      this.#enterVersion({ place, from: epoch, to: Infinity, readers: 0, listed: 0 });
    } finally {
      this.#writing.delete(number);
      if (this.#captured === undefined) this.#dropped.delete(number);
    }
  }

  /**
   * Makes the captured state the one that recovery starts from: block table, sync, superblock, sync. Resolves when it is durable; then the
   * space of what only older checkpoints had is free; the file keeps it with `isTight`. `no-space` before the superblock: the caller cancels. Any other error poisons.
   */
  async publish(root: CheckpointRoot, isTight: boolean = false): Promise<void> {
    const captured = must(this.#captured, 'a checkpoint was begun');
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
    this.#durable = captured;
    this.#endCapture();
    if (before.table !== undefined) this.#releaseTwice(before.table);
    await this.#freeLimbo();
    await this.#file.keepReserve(this.#reserve());
    if (!isTight) await this.#file.cutTail();
  }

  /** Gives a checkpoint up that found no space. Meta blocks that it wrote stay the newest versions of their numbers. */
  cancelCheckpoint(): void {
    assert(this.#captured !== undefined, 'a checkpoint was begun');
    this.#endCapture();
    for (const image of this.#limbo) this.#settle(image);
  }

  /**
   * Idle work: moves the block that lies last in the file into a gap, so that the file can be cut after the next checkpoints. False when
   * gaps are few, or none takes it. A block that cannot be read stays where it is, and its error is thrown.
   */
  async moveDown(): Promise<boolean> {
    const image = this.#file.isLoose ? this.#last() : undefined;
    if (image === undefined) return false;
    const { number, kind } = image.place;
    image.readers++;
    let place: BlockPlace | undefined;
    try {
      place = await copyDown(this.#file, image.place, this.#superblock.generation + 1);
    } finally {
      image.readers--;
      this.#settle(image);
    }
    if (place === undefined) return false;
    // A meta block that the checkpoint being written may write once more is left to it: only one version is in a checkpoint.
    const isTaken = kind === blockKinds.meta && (this.#captured !== undefined || this.#writing.has(number));
    if (isTaken || this.#images.get(number) !== image) for (const { start, units } of piecesOf(place)) this.#file.release(start, units);
    else {
      this.#leave(image);
      this.#enter({ place, from: this.#epoch, to: Infinity, readers: 0, listed: 0 });
      this.#retire(image, this.#epoch);
    }
    return true;
  }

  /** Whether much of the file is gaps. */
  get isLoose(): boolean {
    return this.#file.isLoose;
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
    return this.#images.size;
  }

  get statistics(): BlockStatistics {
    return {
      fileBytes: this.#file.bytes,
      usedBytes: this.#usedUnits * unitBytes,
      freeableBytes: this.#file.freeBytes + this.#limboUnits * unitBytes,
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
    const images = [...this.#images.values(), ...this.#limbo];
    const { table } = this.#superblock;
    yield* verifyPlaces(this.#file, table, images.map((image) => image.place));
    yield* verifySuperblocks(this.#file);
    if (table !== undefined) for await (const found of verifyCopies(this.#file, table, blockTableNumber)) if (this.#superblock.table === table) yield found;
    for (const image of images) {
      const { place } = image;
      const isKept = this.#images.get(place.number) === image || this.#limbo.has(image);
      if (place.kind === blockKinds.data || !isKept) continue;
      image.readers++;
      try {
        yield* verifyCopies(this.#file, place, place.number);
      } finally {
        image.readers--;
        this.#settle(image);
      }
    }
  }

  #image(number: BlockNumber, readTo = 0): Image {
    const image = must(this.#images.get(number), 'a block number names a block');
    assert(readTo <= image.place.length, 'a read lies within its block');
    return image;
  }

  /** The image of the tree that lies last in the file. */
  #last(): Image | undefined {
    let last: Image | undefined;
    for (const image of this.#images.values()) {
      if (image.from !== Infinity && (last === undefined || highestUnit(image.place) > highestUnit(last.place))) last = image;
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
    for (const place of places) this.#enter({ place, from: 0, to: Infinity, readers: 0, listed: 0 });
  }

  /** Puts a version that was written in place of the one before; of a block that was dropped meanwhile only older checkpoints have it. */
  #enterVersion(image: Image): void {
    const { number } = image.place;
    const dropped = this.#dropped.get(number);
    const before = dropped === undefined ? this.#images.get(number) : dropped.newest;
    if (dropped === undefined) {
      if (before !== undefined) this.#leave(before);
      this.#enter(image);
    } else dropped.newest = image;
    if (before !== undefined) this.#retire(before, image.from);
    if (dropped !== undefined) this.#retire(image, dropped.to);
  }

  #enter(image: Image): void {
    this.#images.set(image.place.number, image);
    this.#count(image, 1);
  }

  #leave(image: Image): void {
    this.#images.delete(image.place.number);
    this.#count(image, -1);
  }

  #count(image: Image, sign: number): void {
    const units = sign * unitsOf(image.place);
    this.#usedUnits += units;
    if (image.place.kind === blockKinds.meta) this.#metaUnits += units;
  }

  /** Ends an image's life in the tree; `to` is the first checkpoint without it. */
  #retire(image: Image, to: number): void {
    image.to = to;
    if (!this.#limbo.has(image)) this.#limboUnits += unitsOf(image.place);
    this.#limbo.add(image);
    this.#settle(image);
  }

  /** Frees the space of an image that nothing needs any more. */
  #settle(image: Image): void {
    if (image.to === Infinity || image.readers > 0 || !this.#limbo.has(image)) return;
    if (this.#isIn(image, this.#durable) || (this.#captured !== undefined && this.#isIn(image, this.#captured))) return;
    this.#limbo.delete(image);
    this.#limboUnits -= unitsOf(image.place);
    for (const { start, units } of piecesOf(image.place)) this.#file.release(start, units);
  }

  #isIn(image: Image, epoch: number): boolean {
    return image.from <= epoch && epoch < image.to;
  }

  #endCapture(): void {
    this.#captured = undefined;
    for (const number of this.#dropped.keys()) if (!this.#writing.has(number)) this.#dropped.delete(number);
  }

  /** Frees what nothing needs since the last publish, a slice at a time. */
  async #freeLimbo(): Promise<void> {
    let looked = 0;
    for (const image of this.#limbo) {
      this.#settle(image);
      looked++;
      if (looked % limboSlice === 0) await this.#env.tasks.pause();
    }
  }

  /**
   * Writes the table of the captured state. Which images that has does not change any more; where they are listed does, while others run
   * between two slices: an image that is dropped moves to limbo, which is walked last.
   */
  async #writeTable(captured: number): Promise<TwicePlace> {
    const table = new BlockTableWriter(this.#images.size);
    let rows = 0;
    for (const images of [this.#images.values(), this.#limbo]) {
      for (const image of images) {
        if (image.listed === captured || !this.#isIn(image, captured)) continue;
        image.listed = captured;
        table.row(image.place);
        rows++;
        if (rows % tableSlice !== 0) continue;
        table.endSlice();
        await this.#env.tasks.pause();
      }
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
    const units = 2 * unitsFor(this.#superblock.table?.length ?? 0) + this.#metaUnits;
    return { checkpoint: Math.min(Math.max(units, reserveUnitsMin), reserveUnitsMax), jobs: this.#jobUnits };
  }
}
