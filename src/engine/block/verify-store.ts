// Looks at everything the block store keeps twice or gives out once: copies of superblocks, block table and meta blocks, and places that
// overlap or lie outside the file. Only reads. A damaged copy whose twin is whole is a problem too: nothing is lost yet.

import { EngineError } from '../../base/errors.ts';
import type { BlockFile } from './block-file.ts';
import { blockTableNumber, unitBytes } from './block-number.ts';
import { blockKinds, piecesOf } from './block-table.ts';
import type { BlockPlace } from './block-table.ts';
import { isUnreadable, readCopy, readSuperblock } from './data-file.ts';
import { superblockUnits } from './superblock.ts';
import type { TwicePlace } from './superblock.ts';

/** One thing that is wrong in the data file. */
export interface StoreProblem {
  readonly message: string;
  readonly file: string;
  readonly offset: number;
}

/** Copies of superblocks that are damaged. One that is being written meanwhile is looked at again before it is named. */
export async function* verifySuperblocks(file: BlockFile): AsyncGenerator<StoreProblem> {
  for (const unit of superblockUnits.flat()) {
    const isWhole = (await readSuperblock(file, unit)) !== undefined || (await readSuperblock(file, unit)) !== undefined;
    if (!isWhole) yield problem(file, unit, 'a copy of a superblock is damaged');
  }
}

/** Places that overlap or lie outside the file; of one moment, so without waiting. */
export function* verifyPlaces(file: BlockFile, table: TwicePlace | undefined, places: readonly BlockPlace[]): Generator<StoreProblem> {
  const pieces = superblockUnits.flat().map((start) => ({ start, units: 1 }));
  if (table !== undefined) pieces.push(...piecesOf({ ...table, number: blockTableNumber, kind: blockKinds.meta }));
  for (const place of places) pieces.push(...piecesOf(place));
  pieces.sort((a, b) => a.start - b.start);
  let at = 0;
  for (const { start, units } of pieces) {
    if (start < at) yield problem(file, start, 'two blocks in one place');
    if ((start + units) * unitBytes > file.bytes) yield problem(file, start, 'a block beyond the end of the file');
    at = Math.max(at, start + units);
  }
}

/** Copies of a meta image that are damaged; the caller keeps its space from being used again. */
export async function* verifyCopies(file: BlockFile, place: TwicePlace, number: number): AsyncGenerator<StoreProblem> {
  for (const unit of [place.first, place.second]) {
    try {
      await readCopy(file, place, unit, number);
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      const why = error instanceof EngineError ? error.message : '';
      yield problem(file, unit, `a copy of ${number === blockTableNumber ? 'the block table' : `meta block ${String(number)}`}: ${why}`);
    }
  }
}

/** All of them. */
export async function copiesVerified(file: BlockFile, place: BlockPlace): Promise<StoreProblem[]> {
  const found: StoreProblem[] = [];
  for await (const each of verifyCopies(file, place, place.number)) found.push(each);
  return found;
}

function problem(file: BlockFile, unit: number, message: string): StoreProblem {
  return { message, file: file.path, offset: unit * unitBytes };
}
