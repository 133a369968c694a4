// The data file as pieces of space: where the next image goes, how the file grows and shrinks. In-place writes go to free extents side by
// side; growth and cutting go one after the other, so that a cut never takes what an append has just written. Invariants: every unit below
// the end was written once, so the disk has it; a failed write gives its space back; after a failure that is not a full disk nothing more
// is written (`poisoned`). Two reserves of free units are kept for a full disk: one for the next checkpoint, and before it one for jobs that
// make room (law 25).

import { assert } from '../../base/assert.ts';
import { EngineError } from '../../base/errors.ts';
import type { File } from '../../env/index.ts';
import { unitBytes, unitsFor } from './block-number.ts';
import { Space } from './space.ts';

/** Units between the two copies of a meta image, at least. */
const copyDistance = 16;

/** Gaps have this part of a loose file, and so many units: while it is written to, and when nobody writes. */
const gapPart = 1 / 4;
const gapPartAtRest = 1 / 12;
const gapUnitsMin = 64;

/** What is written to a loose file goes into as much of its beginning as all would take, and this. */
const lowUnits = 64;

/** Memory of a free extent in the two maps and the heap of its length, roughly. */
const freeExtentBytes = 120;

/** Longest read that may be done at once. */
const quickBytesMax = 128 * 1024;

/** Units of zeros in one write. */
const zeroUnitsMax = 256;

/** A free tail is cut when it has a sixteenth of the file, at least and at most so many units. */
const cutUnitsMin = 64;
const cutUnitsMax = 16384;

/** Who asks for space: `data` leaves the reserves alone, `rescue` uses what is for jobs when the file cannot grow, `meta` uses all. */
export type SpaceUser = 'data' | 'rescue' | 'meta';

/** So many bytes written and not synced are synced beside what goes on: a checkpoint shall not find the work of minutes. */
const unsyncedMax = 32 * 1024 * 1024;

/** Free units to keep: for the next checkpoint, and for jobs that make room. */
export interface Reserve {
  readonly checkpoint: number;
  readonly jobs: number;
}

/** One open data file and its space. */
export class BlockFile {
  readonly #file: File;
  readonly #space: Space;
  #reserve: Reserve = { checkpoint: 0, jobs: 0 };
  /** The growing and cutting that is going on; the next waits for it. */
  #tail: Promise<void> = Promise.resolve();
  #failure: unknown;
  #written = 0;
  /** Bytes written since the last sync began, and whether one goes on that nobody waits for. */
  #unsynced = 0;
  #syncing: Promise<void> | undefined;
  #read = 0;
  /** Where reads at once put their bytes. */
  #quick = new Uint8Array(16 * 1024);

  /** All units below `end` are given out at first; `release` those that are free. */
  constructor(file: File, end: number) {
    this.#file = file;
    this.#space = new Space(end);
  }

  get path(): string {
    return this.#file.path;
  }

  /** Bytes of the file. */
  get bytes(): number {
    return this.#space.end * unitBytes;
  }

  get freeBytes(): number {
    return this.#space.freeUnits * unitBytes;
  }

  /** Memory that the map of free space takes, roughly. */
  get spaceBytes(): number {
    return this.#space.extents * freeExtentBytes;
  }

  get bytesWritten(): number {
    return this.#written;
  }

  get bytesRead(): number {
    return this.#read;
  }

  /** Bytes [offset, offset + length); fewer than that in the file is `corruption`. */
  async read(offset: number, length: number): Promise<Uint8Array> {
    const target = new Uint8Array(length);
    await this.readInto(offset, target);
    return target;
  }

  /** As `read`, into memory of the caller. */
  async readInto(offset: number, target: Uint8Array): Promise<void> {
    const got = await this.#file.read(target, offset);
    this.#read += got;
    if (got < target.length) {
      const place = { file: this.path, offset };
      throw new EngineError('corruption', `the file ends ${String(target.length - got)} bytes before the block`, { place });
    }
  }

  /** As `read`, if that can be done at once; undefined where it cannot, or finds less. The bytes are good until the next call. */
  readNow(offset: number, length: number): Uint8Array | undefined {
    if (length > this.#quick.length) {
      if (length > quickBytesMax) return undefined;
      this.#quick = new Uint8Array(quickBytesMax);
    }
    const target = this.#quick.subarray(0, length);
    if (this.#file.readNow(target, offset) !== length) return undefined;
    this.#read += length;
    return target;
  }

  get #reserveUnits(): number {
    return this.#reserve.checkpoint + this.#reserve.jobs;
  }

  /** Whether the reserves are whole. */
  get hasReserve(): boolean {
    return this.#space.freeUnits >= this.#reserveUnits;
  }

  /** Free units that are neither the reserve nor the tail, which can be cut as it is. */
  get gapUnits(): number {
    return Math.max(0, this.#space.freeUnits - this.#reserveUnits - this.#space.tailUnits);
  }

  get #usedUnits(): number {
    return this.#space.end - this.#space.freeUnits;
  }

  /** Whether so much of the file is gaps that what is written should lie in them. */
  get isLoose(): boolean {
    return this.gapUnits >= Math.max(gapUnitsMin, this.#space.end * gapPart);
  }

  /** Whether so much is that idle work should move what lies behind them. */
  get isLooseAtRest(): boolean {
    return this.gapUnits >= Math.max(gapUnitsMin, this.#space.end * gapPartAtRest);
  }

  /** Writes an image into free space, low in a file with many gaps, at least the copy distance from `other` if that is given, and returns its unit. */
  async put(image: Uint8Array, user: SpaceUser, other?: number): Promise<number> {
    const plain = user === 'rescue' ? 'data' : user;
    const low = this.isLoose ? await this.putBelow(image, plain, { other, limit: this.#usedUnits + this.#reserveUnits + lowUnits }) : -1;
    const at = low >= 0 ? low : await this.putBelow(image, plain, { other });
    if (at >= 0) return at;
    try {
      return await this.#append(image, unitsFor(image.length), other);
    } catch (error) {
      const rescued = user === 'rescue' && isNoSpace(error) ? await this.putBelow(image, user, { other }) : -1;
      if (rescued < 0) throw error;
      return rescued;
    }
  }

  /** As `put`, only where it ends at unit `limit` or before; -1 when there is no such place. */
  async putBelow(image: Uint8Array, user: SpaceUser, where: { readonly other: number | undefined; readonly limit?: number }): Promise<number> {
    this.#check();
    const units = unitsFor(image.length);
    const at = this.#take(units, user, where);
    if (at < 0) return -1;
    try {
      await this.writeAt(image, at);
    } catch (error) {
      this.#space.free(at, units);
      throw error;
    }
    return at;
  }

  /** Overwrites what is at a unit: superblocks, and space that the caller was given. */
  async writeAt(image: Uint8Array, unit: number): Promise<void> {
    this.#check();
    await this.#guard(this.#file.write(image, unit * unitBytes));
    this.#written += image.length;
    this.#unsynced += image.length;
    if (this.#unsynced >= unsyncedMax) this.#syncBeside();
  }

  /** What it finds failed is told to whoever writes next. */
  #syncBeside(): void {
    if (this.#syncing !== undefined || this.#failure !== undefined) return;
    this.#unsynced = 0;
    this.#syncing = this.#file
      .sync()
      .catch((error: unknown) => {
        this.fail(error);
      })
      .finally(() => {
        this.#syncing = undefined;
      });
  }

  /** Makes durable what was written. Any failure, a full disk too, poisons: what the disk has is not known. */
  async sync(): Promise<void> {
    await this.#syncing;
    this.#check();
    this.#unsynced = 0;
    try {
      await this.#file.sync();
    } catch (error) {
      this.fail(error);
      throw error;
    }
  }

  /** Gives units back. */
  release(start: number, units: number): void {
    this.#space.free(start, units);
  }

  /** Sets the reserves and tries to have them; a full disk is not an error: then `data` gets no space within the file until there is more. */
  async keepReserve(reserve: Reserve = this.#reserve): Promise<void> {
    this.#reserve = reserve;
    await this.#atTail(async () => {
      while (!this.hasReserve) {
        const step = Math.min(this.#reserveUnits - this.#space.freeUnits, zeroUnitsMax);
        if (!(await this.#appendZeros(step))) return;
      }
    });
  }

  /** Cuts the free tail off when it is large; the reserve stays. */
  async cutTail(): Promise<void> {
    await this.#atTail(async () => {
      const tail = this.#space.tailUnits;
      const kept = Math.max(0, this.#reserveUnits - (this.#space.freeUnits - tail));
      const cut = tail - kept;
      if (cut < Math.min(Math.max(this.#space.end / 16, cutUnitsMin), cutUnitsMax)) return;
      // Out of the space first: an append that comes meanwhile waits, and nobody is given what is about to go.
      this.#space.cut(cut);
      await this.#guard(this.#file.truncate(this.#space.end * unitBytes));
    });
  }

  async close(): Promise<void> {
    await this.#tail;
    await this.#syncing;
    await this.#file.close();
  }

  /** From here on nothing is written: what the disk holds is not known any more. */
  fail(cause: unknown): void {
    this.#failure ??= cause;
  }

  #take(units: number, user: SpaceUser, where: { readonly other: number | undefined; readonly limit?: number }): number {
    const kept = user === 'meta' ? 0 : user === 'rescue' ? this.#reserve.checkpoint : this.#reserveUnits;
    if (this.#space.freeUnits - units < kept) return -1;
    const { other, limit } = where;
    return other === undefined ? this.#space.take(units, limit) : this.#space.takeApart(units, other, copyDistance, limit);
  }

  /** Writes the image behind the end. A gap that the copy distance asks for is written with zeros and becomes free space. */
  async #append(image: Uint8Array, units: number, other: number | undefined): Promise<number> {
    return this.#atTail(async () => {
      const gap = other === undefined ? 0 : Math.max(0, other + units + copyDistance - this.#space.end);
      if (gap > 0 && !(await this.#appendZeros(gap))) throw noSpace(this.path);
      const end = this.#space.end;
      await this.#growing(image, end);
      const at = this.#space.grow(units);
      assert(at === end, 'only one grows the file at a time');
      return at;
    });
  }

  async #appendZeros(units: number): Promise<boolean> {
    for (let left = units; left > 0; left -= zeroUnitsMax) {
      const step = Math.min(left, zeroUnitsMax);
      try {
        await this.#growing(new Uint8Array(step * unitBytes), this.#space.end);
      } catch (error) {
        if (isNoSpace(error)) return false;
        throw error;
      }
      this.#space.free(this.#space.grow(step), step);
    }
    return true;
  }

  /** A write that makes the file longer; what a full disk has taken of it is given back. */
  async #growing(bytes: Uint8Array, unit: number): Promise<void> {
    try {
      await this.writeAt(bytes, unit);
    } catch (error) {
      if (isNoSpace(error)) await this.#guard(this.#file.truncate(unit * unitBytes));
      throw error;
    }
  }

  async #atTail<T>(work: () => Promise<T>): Promise<T> {
    const before = this.#tail;
    let done = (): void => undefined;
    this.#tail = new Promise((resolve) => (done = resolve));
    await before;
    try {
      return await work();
    } finally {
      done();
    }
  }

  async #guard(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      if (!isNoSpace(error)) this.fail(error);
      throw error;
    }
  }

  #check(): void {
    if (this.#failure === undefined) return;
    throw new EngineError('poisoned', 'an earlier write or sync of the data file failed', { cause: this.#failure, place: { file: this.path } });
  }
}

/** Whether an error says that the disk is full: what was asked for did not happen, and may be asked for again. */
export function isNoSpace(error: unknown): boolean {
  return error instanceof EngineError && error.code === 'no-space';
}

function noSpace(file: string): EngineError {
  return new EngineError('no-space', 'the data file cannot grow', { place: { file } });
}
