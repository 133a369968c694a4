// The durable checkpoint as somebody holds it who copies it while others go on: its superblock, the places of all its blocks, and their bytes
// as they lie in the file. None of its space is used again before `release` (law 16), so the slots of its images stay theirs.

import { EngineError } from '../../base/errors.ts';
import type { BlockFile } from './block-file.ts';
import { blockKinds } from './block-table.ts';
import type { BlockPlace } from './block-table.ts';
import { readTwice } from './data-file.ts';
import type { ImageTable } from './image-table.ts';
import type { Superblock } from './superblock.ts';

/** A checkpoint that stays readable until it is released. */
export interface HeldCheckpoint {
  readonly superblock: Superblock;
  /** How many blocks it has. */
  readonly blocks: number;
  /** Bytes of all copies of them. */
  readonly bytes: number;
  /** One of its blocks, in the order of the file. */
  place(index: number): BlockPlace;
  /** Bytes of the data file, unchecked. */
  read(offset: number, length: number): Promise<Uint8Array>;
  /** The data file. */
  readonly path: string;
  /** Where a block lies; `corruption` when the checkpoint has none of this number and kind. */
  placeOf(number: number, kind: BlockPlace['kind']): BlockPlace;
  /** The payload of a meta block, checked. */
  readMeta(number: number): Promise<Uint8Array>;
  /** Gives the space back; twice is allowed. */
  release(): void;
}

/** What is held, and what ends that. */
interface Holding {
  readonly superblock: Superblock;
  readonly file: BlockFile;
  readonly release: () => void;
}

/** The images of a checkpoint, of which none goes before the holding is released. */
export function holdCheckpoint(images: ImageTable, epoch: number, { superblock, file, release }: Holding): HeldCheckpoint {
  const slots: number[] = [];
  let bytes = 0;
  for (let slot = 0; slot < images.slots; slot++) {
    if (!images.isIn(slot, epoch)) continue;
    slots.push(slot);
    bytes += images.length(slot) * (images.isMeta(slot) ? 2 : 1);
  }
  const order = inFileOrder(images, slots);
  let isHeld = true;
  const { path } = file;
  let slotOf: ReadonlyMap<number, number> | undefined;
  const placeOf = (number: number, kind: BlockPlace['kind']): BlockPlace => {
    slotOf ??= new Map(slots.map((slot) => [images.place(slot).number, slot]));
    const slot = slotOf.get(number);
    const place = slot === undefined ? undefined : images.place(slot);
    if (place?.kind === kind) return place;
    throw new EngineError('corruption', `${path}: block ${number} is not in the block table`, { place: { file: path } });
  };
  return {
    superblock, blocks: order.length, bytes, path, placeOf,
    place: (index) => images.place(order[index] as number),
    read: (offset, length) => file.read(offset, length),
    readMeta: (number) => readTwice(file, placeOf(number, blockKinds.meta), number),
    release: () => {
      if (isHeld) release();
      isHeld = false;
    },
  };
}

/** Sorts by the native sort of one number each: the place, and below it the slot. */
function inFileOrder(images: ImageTable, slots: readonly number[]): Uint32Array {
  const numbers = new BigUint64Array(slots.length);
  const halves = new Uint32Array(numbers.buffer);
  for (const [index, slot] of slots.entries()) {
    halves[index * 2] = slot;
    halves[index * 2 + 1] = images.first(slot);
  }
  numbers.sort();
  return Uint32Array.from(slots, (_, index) => halves[index * 2] as number);
}
