// The steps of making, opening and publishing a data file whose order matters: superblock copies one after the other with a sync between
// (law 18), a new file complete before it has its name (law 24), the choice among the four copies at open.

import { EngineError } from '../../base/errors.ts';
import type { Env } from '../../env/index.ts';
import type { BlockFile } from './block-file.ts';
import { blockTableNumber, unitBytes, unitsFor } from './block-number.ts';
import { decodeBlockTable, piecesOf } from './block-table.ts';
import type { BlockPlace } from './block-table.ts';
import { decodeMeta } from './meta-image.ts';
import { decodeSuperblock, encodeSuperblock, firstFileUnits, superblockUnits } from './superblock.ts';
import type { Slot, Superblock, TwicePlace } from './superblock.ts';

/** Writes a new data file without a checkpoint, durable when this resolves; a crash before leaves none of this name. */
export async function createDataFile(env: Env, path: string): Promise<void> {
  if (await env.files.exists(path)) throw new EngineError('io', 'there is a data file already', { place: { file: path } });
  const content = new Uint8Array(firstFileUnits * unitBytes);
  const fileId = env.random.bytes(16);
  superblockUnits.forEach((copies, slot) => {
    const bytes = encodeSuperblock({ generation: slot, fileId, table: undefined, root: undefined, nextNumber: 1 });
    for (const unit of copies) content.set(bytes, unit * unitBytes);
  });
  await env.files.writeWhole(path, content);
}

/** Writes both copies of a slot, durable when this resolves. Never are both in doubt at once. */
export async function writeSuperblock(file: BlockFile, superblock: Superblock, slot: Slot): Promise<void> {
  const bytes = encodeSuperblock(superblock);
  for (const unit of superblockUnits[slot]) {
    await file.writeAt(bytes, unit);
    await file.sync();
  }
}

/**
 * The newest superblock and its slot. A crash damages one copy of one slot at most; a slot without a whole copy may have held the newest
 * state, so it is `corruption`, not a reason to go back to the other.
 */
export async function chooseSuperblock(file: BlockFile): Promise<{ superblock: Superblock; slot: Slot }> {
  const [copiesOfA, copiesOfB] = superblockUnits;
  const a = await newestCopy(file, copiesOfA);
  const b = await newestCopy(file, copiesOfB);
  return a.generation > b.generation ? { superblock: a, slot: 0 } : { superblock: b, slot: 1 };
}

/** The newer of a slot's whole copies: they differ when a crash came between the two. */
async function newestCopy(file: BlockFile, copies: readonly [number, number]): Promise<Superblock> {
  const first = await readSuperblock(file, copies[0]);
  const second = await readSuperblock(file, copies[1]);
  if (first !== undefined && (second === undefined || first.generation >= second.generation)) return first;
  if (second !== undefined) return second;
  throw new EngineError('corruption', 'both copies of a superblock are damaged', { place: { file: file.path, offset: copies[0] * unitBytes } });
}

/** The superblock at a unit, or undefined when it is damaged or cannot be read. */
export async function readSuperblock(file: BlockFile, unit: number): Promise<Superblock | undefined> {
  try {
    return decodeSuperblock(await file.read(unit * unitBytes, unitBytes));
  } catch (error) {
    if (isUnreadable(error)) return undefined;
    throw error;
  }
}

/** The rows of the block table that a superblock names; none before the first checkpoint. */
export async function readTable(file: BlockFile, superblock: Superblock): Promise<BlockPlace[]> {
  const { table, nextNumber } = superblock;
  if (table === undefined) return [];
  return decodeBlockTable(await readTwice(file, table, blockTableNumber), nextNumber);
}

/** The payload of a meta image from its first whole copy; `corruption` when there is none. `half` is told when it is the second. */
export async function readTwice(file: BlockFile, place: TwicePlace, number: number, half: () => void = () => undefined): Promise<Uint8Array> {
  let cause: unknown;
  for (const unit of [place.first, place.second]) {
    try {
      const payload = await readCopy(file, place, unit, number);
      if (unit === place.second) half();
      return payload;
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      cause = error;
    }
  }
  const what = number === blockTableNumber ? 'the block table' : `meta block ${String(number)}`;
  throw new EngineError('corruption', `both copies of ${what} are damaged`, { cause, place: { file: file.path, offset: place.first * unitBytes } });
}

/** The payload of one copy of a meta image; damage is `corruption`. */
export async function readCopy(file: BlockFile, place: TwicePlace, unit: number, number: number): Promise<Uint8Array> {
  const offset = unit * unitBytes;
  const payload = decodeMeta(await file.read(offset, place.length), number, place.checksum);
  if (payload === undefined) throw new EngineError('corruption', 'damaged meta block', { place: { file: file.path, offset } });
  return payload;
}

/** Whether a read failed for what lies on the disk there, so that another copy may help. */
export function isUnreadable(error: unknown): boolean {
  return error instanceof EngineError && (error.code === 'corruption' || error.code === 'io');
}

/** Every piece that is in use, ascending: superblocks, block table, blocks. */
export function usedPieces(places: readonly BlockPlace[], table: TwicePlace | undefined): { start: number; units: number }[] {
  const pieces = superblockUnits.flat().map((start) => ({ start, units: 1 }));
  if (table !== undefined) for (const start of [table.first, table.second]) pieces.push({ start, units: unitsFor(table.length) });
  for (const place of places) pieces.push(...piecesOf(place));
  return pieces.sort((a, b) => a.start - b.start);
}

/** The directory that holds a file. */
export function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/';
}
