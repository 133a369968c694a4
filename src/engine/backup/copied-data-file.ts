// The data file of a backup: the blocks of one checkpoint, one behind the other, with a block table of their new places.

import type { Env, File } from '../../env/index.ts';
import { unitBytes, unitsFor } from '../block/block-number.ts';
import { blockKinds, BlockTableWriter } from '../block/block-table.ts';
import type { BlockPlace } from '../block/block-table.ts';
import type { HeldCheckpoint } from '../block/held-checkpoint.ts';
import { encodeSuperblock, firstFileUnits, superblockUnits } from '../block/superblock.ts';
import type { Superblock, TwicePlace } from '../block/superblock.ts';

/** Units between the copies of what is kept twice, at least. */
const copyDistance = 16;
const pieceBytes = 1024 * 1024;

/** Told how far the copy is. */
export type CopyProgress = (bytesDone: number, bytesTotal: number) => void;

/** Copies the checkpoint into an open, empty file; its content is durable when this resolves. Gives its bytes. */
export async function copyDataFile(env: Env, held: HeldCheckpoint, file: File, progress: CopyProgress): Promise<number> {
  const bytes = await new DataFileCopy(env, held, file, progress).run();
  await file.sync();
  return bytes;
}

class DataFileCopy {
  readonly #env: Env;
  readonly #held: HeldCheckpoint;
  readonly #file: File;
  readonly #progress: CopyProgress;
  #end: number = firstFileUnits;
  #done: number = 0;

  constructor(env: Env, held: HeldCheckpoint, file: File, progress: CopyProgress) {
    this.#env = env;
    this.#held = held;
    this.#file = file;
    this.#progress = progress;
  }

  async run(): Promise<number> {
    const { blocks } = this.#held;
    const firsts = new Uint32Array(blocks);
    for (let index = 0; index < blocks; index++) firsts[index] = await this.#copy(this.#held.place(index));
    // Second copies lie behind all first ones, so far from them, but for those of the last few.
    const seconds = new Uint32Array(blocks);
    for (let index = 0; index < blocks; index++) {
      const place = this.#held.place(index);
      if (place.kind === blockKinds.meta) seconds[index] = await this.#copy(place, firsts[index]);
    }
    const table = await this.#writeTable(firsts, seconds);
    await this.#writeSuperblocks(table);
    return this.#end * unitBytes;
  }

  /** Takes units at the end of the file, far enough from another copy. */
  #take(length: number, other: number | undefined): number {
    const units = unitsFor(length);
    const first = other === undefined ? this.#end : Math.max(this.#end, other + units + copyDistance);
    this.#end = first + units;
    return first;
  }

  async #copy(place: BlockPlace, other?: number): Promise<number> {
    const first = this.#take(place.length, other);
    for (let at = 0; at < place.length; at += pieceBytes) {
      const piece = await this.#held.read(place.first * unitBytes + at, Math.min(pieceBytes, place.length - at));
      await this.#file.write(piece, first * unitBytes + at);
      this.#done += piece.length;
      this.#progress(this.#done, this.#held.bytes);
      await this.#env.tasks.pause();
    }
    return first;
  }

  async #writeTable(firsts: Uint32Array, seconds: Uint32Array): Promise<TwicePlace> {
    const writer = new BlockTableWriter(firsts.length);
    for (const [index, first] of firsts.entries()) {
      const place = this.#held.place(index);
      writer.row({ ...place, first, second: place.kind === blockKinds.meta ? (seconds[index] as number) : -1 });
    }
    const { bytes, checksum } = writer.finish(this.#held.superblock.generation);
    const first = this.#take(bytes.length, undefined);
    const second = this.#take(bytes.length, first);
    for (const unit of [first, second]) await this.#file.write(bytes, unit * unitBytes);
    return { first, second, length: bytes.length, checksum };
  }

  /** Both slots, whole: the older one names the same state. The file's end is a whole unit. */
  async #writeSuperblocks(table: TwicePlace): Promise<void> {
    await this.#file.truncate(this.#end * unitBytes);
    await this.#file.sync();
    const { generation, root, nextNumber } = this.#held.superblock;
    const fileId = this.#env.random.bytes(16);
    for (const [slot, units] of superblockUnits.entries()) {
      const superblock: Superblock = { fileId, table, root, nextNumber, generation: generation + slot };
      const bytes = encodeSuperblock(superblock);
      for (const unit of units) await this.#file.write(bytes, unit * unitBytes);
    }
  }
}
