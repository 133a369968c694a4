// The lives of stored images in checkpoints: the first that has one and the first that has it no more (law 16). Space comes back when neither the
// tree, nor the durable checkpoint, nor the one being written, nor one that somebody holds, nor a read has it. Checkpoints are counted in memory by
// epochs: what happens now is first in the checkpoint that is captured next.

import type { Tasks } from '../../env/index.ts';
import type { BlockFile } from './block-file.ts';
import { piecesOf } from './block-table.ts';
import type { BlockPlace } from './block-table.ts';
import { ImageTable } from './image-table.ts';

/** Images in limbo that are looked at between two turns of the event loop. */
const limboSlice = 1024;
/** Memory of one image in limbo beside its slot, roughly. */
const limboBytes = 40;

/** Images, and who needs them. */
export class ImageLives {
  readonly images: ImageTable = new ImageTable();
  readonly #file: BlockFile;
  /** Images that are not the newest any more and whose space is still needed. */
  readonly #limbo = new Set<number>();
  /** Reads under way, by slot. */
  readonly #readers = new Map<number, number>();
  /** Epochs of checkpoints that somebody holds. */
  readonly #held: number[] = [];
  /** Epoch of what happens now, of the durable checkpoint, and of the one being written. */
  epoch = 1;
  durable = 0;
  captured: number | undefined;
  /** Units of the images of the tree, of those that are meta, and of those in limbo. */
  #usedUnits = 0;
  #metaUnits = 0;
  #limboUnits = 0;

  constructor(file: BlockFile) {
    this.#file = file;
  }

  get usedUnits(): number {
    return this.#usedUnits;
  }

  get metaUnits(): number {
    return this.#metaUnits;
  }

  get limboUnits(): number {
    return this.#limboUnits;
  }

  /** Memory held. */
  get byteSize(): number {
    return this.images.byteSize + (this.#limbo.size + this.#readers.size) * limboBytes;
  }

  /** Begins an image's life as the newest of its number. */
  enter(place: BlockPlace, from: number): number {
    const slot = this.images.add(place, from);
    this.images.enter(slot);
    this.#count(slot, 1);
    return slot;
  }

  /** Ends an image's life in the tree; `to` is the first checkpoint without it. */
  retire(slot: number, to: number): void {
    this.images.leave(slot);
    this.#count(slot, -1);
    this.#toLimbo(slot, to);
  }

  /** Takes an image in that only older checkpoints have: its number was dropped while it was written. */
  enterRetired(place: BlockPlace, from: number, to: number): number {
    const slot = this.images.add(place, from);
    this.#toLimbo(slot, to);
    return slot;
  }

  /** An image of that number in limbo, if it is still there, is needed no more from an earlier checkpoint on. */
  shorten(slot: number, number: number, to: number): void {
    if (!this.#limbo.has(slot) || this.images.number(slot) !== number) return;
    this.images.setTo(slot, to);
    this.settle(slot);
  }

  #toLimbo(slot: number, to: number): void {
    this.images.setTo(slot, to);
    this.#limbo.add(slot);
    this.#limboUnits += this.images.units(slot);
    this.settle(slot);
  }

  #count(slot: number, sign: number): void {
    const units = sign * this.images.units(slot);
    this.#usedUnits += units;
    if (this.images.isMeta(slot)) this.#metaUnits += units;
  }

  /** Whether an image is still there: the newest of its number, or in limbo. */
  isKept(slot: number): boolean {
    return this.images.newest(this.images.number(slot)) === slot || this.#limbo.has(slot);
  }

  /** Reads an image: its space is not used again before the read is over. */
  async reading<T>(slot: number, read: () => Promise<T>): Promise<T> {
    this.#readers.set(slot, (this.#readers.get(slot) ?? 0) + 1);
    try {
      return await read();
    } finally {
      const left = (this.#readers.get(slot) ?? 1) - 1;
      if (left > 0) this.#readers.set(slot, left);
      else this.#readers.delete(slot);
      this.settle(slot);
    }
  }

  /** Keeps what a checkpoint has until it is released. */
  hold(epoch: number): () => void {
    this.#held.push(epoch);
    return () => {
      this.#held.splice(this.#held.indexOf(epoch), 1);
      for (const slot of this.#limbo) this.settle(slot);
    };
  }

  /** Frees the space of an image that nothing needs any more. */
  settle(slot: number): void {
    if (!this.#limbo.has(slot) || this.#readers.has(slot) || this.#isNeeded(slot)) return;
    const place = this.images.place(slot);
    this.#limbo.delete(slot);
    this.#limboUnits -= this.images.units(slot);
    this.images.remove(slot);
    for (const { start, units } of piecesOf(place)) this.#file.release(start, units);
  }

  #isNeeded(slot: number): boolean {
    const { images } = this;
    if (images.isIn(slot, this.durable) || (this.captured !== undefined && images.isIn(slot, this.captured))) return true;
    return this.#held.some((epoch) => images.isIn(slot, epoch));
  }

  /** Looks at everything in limbo, at once. */
  settleAll(): void {
    for (const slot of this.#limbo) this.settle(slot);
  }

  /** The same, a slice at a time. */
  async sweep(tasks: Tasks): Promise<void> {
    let looked = 0;
    for (const slot of this.#limbo) {
      this.settle(slot);
      looked++;
      if (looked % limboSlice === 0) await tasks.pause();
    }
  }
}
