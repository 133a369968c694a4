// Stored versions of blocks (images) in columns of typed arrays: with data many times the cache there are more of them than objects would leave
// room for. An image has a slot for its whole life, so who walks the slots meets each once, whatever others do meanwhile. The newest image of a
// block is found by its number through a table of slots. Epochs are small counts; `never` stands for one that has not come.

import { assert } from '../../base/assert.ts';
import { unitsFor } from './block-number.ts';
import type { BlockNumber } from './block-number.ts';
import { blockKinds } from './block-table.ts';
import type { BlockPlace } from './block-table.ts';

/** An epoch that has not come. */
export const never = 0xffffffff;

const slotsMin = 64;
/** In the column of second copies: unit 0 is a superblock's. */
const noSecond = 0;
/** In the column of numbers: the slot is free. */
const noNumber = 0;

/** Images by slot. */
export class ImageTable {
  #numbers: Float64Array = new Float64Array(0);
  #firsts: Uint32Array = new Uint32Array(0);
  #seconds: Uint32Array = new Uint32Array(0);
  #lengths: Uint32Array = new Uint32Array(0);
  #checksums: Uint32Array = new Uint32Array(0);
  #froms: Uint32Array = new Uint32Array(0);
  #tos: Uint32Array = new Uint32Array(0);
  /** Slots that have been used, free ones included. */
  #slots = 0;
  /** The free slot that is used next, plus 1; the one after it stands in its column of firsts. */
  #free = 0;
  /** Slots of newest images, plus 1, by number. */
  #index: Uint32Array = new Uint32Array(slotsMin);
  #blocks = 0;

  /** How many blocks there are: images that are the newest of their number. */
  get blocks(): number {
    return this.#blocks;
  }

  /** Slots are below this; some are free. */
  get slots(): number {
    return this.#slots;
  }

  /** Memory held. */
  get byteSize(): number {
    return this.#numbers.byteLength + this.#firsts.byteLength * 6 + this.#index.byteLength;
  }

  /** Takes an image in, to be in checkpoints from an epoch on; its slot. */
  add(place: BlockPlace, from: number): number {
    let slot = this.#free - 1;
    if (slot >= 0) this.#free = this.#firsts[slot] as number;
    else {
      slot = this.#slots++;
      if (slot === this.#numbers.length) this.#grow();
    }
    this.#numbers[slot] = place.number;
    this.#firsts[slot] = place.first;
    this.#seconds[slot] = place.kind === blockKinds.data ? noSecond : place.second;
    this.#lengths[slot] = place.length;
    this.#checksums[slot] = place.checksum;
    this.#froms[slot] = from;
    this.#tos[slot] = never;
    assert(this.#firsts[slot] === place.first && this.#lengths[slot] === place.length, 'places are numbers of 32 bits');
    return slot;
  }

  /** Forgets an image, which is not the newest of its number. */
  remove(slot: number): void {
    this.#numbers[slot] = noNumber;
    this.#firsts[slot] = this.#free;
    this.#free = slot + 1;
  }

  #grow(): void {
    const length = Math.max(slotsMin, Math.floor(this.#numbers.length * 1.5));
    const grown = (column: Uint32Array): Uint32Array => {
      const longer = new Uint32Array(length);
      longer.set(column);
      return longer;
    };
    const numbers = new Float64Array(length);
    numbers.set(this.#numbers);
    this.#numbers = numbers;
    this.#firsts = grown(this.#firsts);
    this.#seconds = grown(this.#seconds);
    this.#lengths = grown(this.#lengths);
    this.#checksums = grown(this.#checksums);
    this.#froms = grown(this.#froms);
    this.#tos = grown(this.#tos);
  }

  /** The block of an image; 0 of a free slot. */
  number(slot: number): BlockNumber {
    return this.#numbers[slot] as BlockNumber;
  }

  first(slot: number): number {
    return this.#firsts[slot] as number;
  }

  length(slot: number): number {
    return this.#lengths[slot] as number;
  }

  isMeta(slot: number): boolean {
    return this.#seconds[slot] !== noSecond;
  }

  /** Units that all copies take. */
  units(slot: number): number {
    return unitsFor(this.length(slot)) * (this.isMeta(slot) ? 2 : 1);
  }

  /** Where the highest copy begins. */
  highestUnit(slot: number): number {
    return Math.max(this.#firsts[slot] as number, this.#seconds[slot] as number);
  }

  /** Where an image lies; a new object. */
  place(slot: number): BlockPlace {
    const [number, first, length] = [this.number(slot), this.first(slot), this.length(slot)];
    if (!this.isMeta(slot)) return { number, kind: blockKinds.data, first, second: -1, length, checksum: 0 };
    return { number, kind: blockKinds.meta, first, second: this.#seconds[slot] as number, length, checksum: this.#checksums[slot] as number };
  }

  /** First epoch whose checkpoint has the image; `never` while it waits for its edit. */
  from(slot: number): number {
    return this.#froms[slot] as number;
  }

  setFrom(slot: number, epoch: number): void {
    this.#froms[slot] = epoch;
  }

  /** First epoch whose checkpoint has it no more; `never` while it is the newest. */
  to(slot: number): number {
    return this.#tos[slot] as number;
  }

  setTo(slot: number, epoch: number): void {
    this.#tos[slot] = epoch;
  }

  /** Whether the checkpoint of an epoch has an image; none has what a free slot had. */
  isIn(slot: number, epoch: number): boolean {
    return this.#numbers[slot] !== noNumber && (this.#froms[slot] as number) <= epoch && epoch < (this.#tos[slot] as number);
  }

  /** The slot of the newest image of a block, or -1. */
  newest(number: number): number {
    return (this.#index[this.#indexOf(number)] as number) - 1;
  }

  /** Makes an image the newest of its number, which has none. */
  enter(slot: number): void {
    if ((this.#blocks + 1) * 2 > this.#index.length) this.#rehash(this.#index.length * 2);
    const at = this.#indexOf(this.number(slot));
    assert(this.#index[at] === 0, 'a block has one newest image');
    this.#index[at] = slot + 1;
    this.#blocks += 1;
  }

  /** An image is not the newest of its number any more. Closes the gap, so that probing still finds what lies behind it. */
  leave(slot: number): void {
    const index = this.#index;
    const mask = index.length - 1;
    const gap = this.#indexOf(this.number(slot));
    assert(index[gap] === slot + 1, 'only the newest image leaves');
    index[gap] = 0;
    this.#blocks -= 1;
    for (let next = (gap + 1) & mask; index[next] !== 0; next = (next + 1) & mask) {
      const moved = index[next] as number;
      index[next] = 0;
      index[this.#indexOf(this.number(moved - 1))] = moved;
    }
  }

  #rehash(length: number): void {
    const before = this.#index;
    this.#index = new Uint32Array(length);
    for (const entry of before) if (entry !== 0) this.#index[this.#indexOf(this.number(entry - 1))] = entry;
  }

  /** Where a number stands in the index, or would go. */
  #indexOf(number: number): number {
    const index = this.#index;
    const mask = index.length - 1;
    let at = hashOf(number) & mask;
    for (;;) {
      const entry = index[at] as number;
      if (entry === 0 || this.#numbers[entry - 1] === number) return at;
      at = (at + 1) & mask;
    }
  }
}

/** Numbers are given in turn: those of one time must not lie in a row. */
function hashOf(number: number): number {
  const mixed = Math.imul((number % 0x100000000) ^ Math.floor(number / 0x100000000), 0x9e3779b1);
  return mixed ^ (mixed >>> 15);
}
