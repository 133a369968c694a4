// Copies a block to a lower place in the file: idle work that lets the file shrink ("space comes back", engine.md section 4). The copy is in
// no checkpoint until the store takes it in place of the old one; the old place is held by law 16 like that of any replaced block.

import { EngineError } from '../../base/errors.ts';
import { isNoSpace } from './block-file.ts';
import type { BlockFile } from './block-file.ts';
import { unitBytes, unitsFor } from './block-number.ts';
import { blockKinds } from './block-table.ts';
import type { BlockPlace } from './block-table.ts';
import { readTwice } from './data-file.ts';
import { encodeMeta } from './meta-image.ts';

/** Where the highest copy of a block begins. */
function highestUnit(place: BlockPlace): number {
  return Math.max(place.first, place.second);
}

/** Writes the block again, wholly below its highest copy; undefined when there is no such place. `generation` is that of the next checkpoint. */
export async function copyDown(file: BlockFile, place: BlockPlace, generation: number): Promise<BlockPlace | undefined> {
  const limit = highestUnit(place);
  try {
    return place.kind === blockKinds.data ? await copyData(file, place, limit) : await copyMeta(file, place, { limit, generation });
  } catch (error) {
    if (isNoSpace(error)) return undefined;
    throw error;
  }
}

async function copyData(file: BlockFile, place: BlockPlace, limit: number): Promise<BlockPlace | undefined> {
  const image = await file.read(place.first * unitBytes, place.length).catch((error: unknown) => {
    // Only a write that fails ends everything.
    throw error instanceof EngineError && error.code === 'io' ? new EngineError('corruption', error.message, { cause: error, place: error.place }) : error;
  });
  const first = await file.putBelow(image, 'data', { other: undefined, limit });
  return first < 0 ? undefined : { ...place, first };
}

async function copyMeta(file: BlockFile, place: BlockPlace, to: { limit: number; generation: number }): Promise<BlockPlace | undefined> {
  const { bytes: image, checksum } = encodeMeta(place.number, to.generation, await readTwice(file, place, place.number));
  const first = await file.putBelow(image, 'data', { other: undefined, limit: to.limit });
  if (first < 0) return undefined;
  let second = -1;
  try {
    second = await file.putBelow(image, 'data', { other: first, limit: to.limit });
  } finally {
    if (second < 0) file.release(first, unitsFor(image.length));
  }
  return second < 0 ? undefined : { ...place, first, second, length: image.length, checksum };
}
