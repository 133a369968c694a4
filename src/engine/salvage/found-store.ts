// The data file as it is found, read and never written: the newest superblock whose block table and dictionary table can be read, whatever
// else is damaged. Where opening refuses to step back to an older checkpoint (law 22), salvage does, and says so.

import { EngineError } from '../../base/errors.ts';
import type { Env, File } from '../../env/index.ts';
import { BlockFile } from '../block/block-file.ts';
import { unitBytes, unitsFor } from '../block/block-number.ts';
import type { BlockNumber } from '../block/block-number.ts';
import { blockKinds } from '../block/block-table.ts';
import type { BlockPlace } from '../block/block-table.ts';
import { readSuperblock, readTable, readTwice } from '../block/data-file.ts';
import { superblockUnits } from '../block/superblock.ts';
import type { Superblock } from '../block/superblock.ts';
import { decodeDictionaryTable } from '../checkpoint/dictionary-table.ts';
import type { BlobTable } from '../blob/blob-store.ts';
import type { Spill } from '../tree/spilled.ts';
import type { TreeRecord } from '../tree/tree.ts';
import { damageOf, isDamage } from './damage.ts';
import type { DamageSink } from './damage.ts';

/** One copy of a superblock: its place, and what it says if it can be read. */
export interface SuperblockCopy {
  readonly offset: number;
  readonly superblock: Superblock | undefined;
}

/** A checkpoint that can be read. */
interface FoundCheckpoint {
  readonly superblock: Superblock;
  readonly places: ReadonlyMap<number, BlockPlace>;
  readonly trees: readonly TreeRecord[];
  /** What commits had spilled that was not below the fronts. */
  readonly spills: readonly Spill[];
  readonly blobs: BlobTable;
}

/** A data file open for reading. */
export class FoundStore {
  readonly superblock: Superblock;
  readonly places: ReadonlyMap<number, BlockPlace>;
  /** The dictionaries of the checkpoint. */
  readonly trees: readonly TreeRecord[];
  /** What commits had spilled that was not below the fronts. */
  readonly spills: readonly Spill[];
  /** What the checkpoint knows of large values. */
  readonly blobs: BlobTable;
  readonly copies: readonly SuperblockCopy[];
  readonly #handle: File;
  readonly #file: BlockFile;

  private constructor(handle: File, file: BlockFile, found: FoundCheckpoint & { readonly copies: readonly SuperblockCopy[] }) {
    this.#handle = handle;
    this.#file = file;
    this.superblock = found.superblock;
    this.places = found.places;
    this.trees = found.trees;
    this.spills = found.spills;
    this.blobs = found.blobs;
    this.copies = found.copies;
  }

  /** `corruption` when no checkpoint can be read at all. */
  static async open(env: Env, path: string, report: DamageSink): Promise<FoundStore> {
    const handle = await env.files.open(path, 'read');
    try {
      const file = new BlockFile(handle, unitsFor(await handle.size()));
      const copies = await readCopies(file, report);
      const found = await newestReadable(file, copies, report);
      if (found === undefined) throw new EngineError('corruption', `${path}: no checkpoint can be read`, { place: { file: path, offset: 0 } });
      return new FoundStore(handle, file, { ...found, copies });
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  get path(): string {
    return this.#file.path;
  }

  get fileBytes(): number {
    return this.#file.bytes;
  }

  /** The payload of a meta block, from whichever copy is whole; `corruption` when neither is. */
  async readMeta(number: BlockNumber): Promise<Uint8Array> {
    const place = this.#place(number, blockKinds.meta);
    return await readTwice(this.#file, place, number);
  }

  /** Bytes of a data block, unchecked. */
  async readData(number: BlockNumber, from: number, length: number): Promise<Uint8Array> {
    const place = this.#place(number, blockKinds.data);
    if (from + length > place.length) throw new EngineError('corruption', `block ${String(number)} is shorter than its fences say`, { place: { file: this.path, offset: place.first * unitBytes } });
    return await this.#file.read(place.first * unitBytes + from, length);
  }

  /** Where a block begins in the file. */
  offsetOf(number: BlockNumber): number | undefined {
    const place = this.places.get(number);
    return place === undefined ? undefined : place.first * unitBytes;
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  #place(number: BlockNumber, kind: BlockPlace['kind']): BlockPlace {
    const place = this.places.get(number);
    if (place?.kind === kind) return place;
    throw new EngineError('corruption', `block ${String(number)} is not in the block table`, { place: { file: this.path } });
  }
}

async function readCopies(file: BlockFile, report: DamageSink): Promise<SuperblockCopy[]> {
  const copies: SuperblockCopy[] = [];
  for (const unit of superblockUnits.flat()) {
    const superblock = await readSuperblock(file, unit);
    const offset = unit * unitBytes;
    if (superblock === undefined) report({ message: 'a copy of a superblock is damaged', file: file.path, offset });
    copies.push({ offset, superblock });
  }
  return copies;
}

/** The newest checkpoint that can be read; those that cannot are reported. */
async function newestReadable(file: BlockFile, copies: readonly SuperblockCopy[], report: DamageSink): Promise<FoundCheckpoint | undefined> {
  const byGeneration = new Map<number, Superblock>();
  for (const { superblock } of copies) if (superblock !== undefined) byGeneration.set(superblock.generation, superblock);
  for (const superblock of [...byGeneration.values()].sort((a, b) => b.generation - a.generation)) {
    try {
      return await readCheckpoint(file, superblock);
    } catch (error) {
      if (!isDamage(error)) throw error;
      report(damageOf(error, { message: `checkpoint ${String(superblock.generation)} cannot be read` }));
    }
  }
  return undefined;
}

function foundTable(bytes: Uint8Array): Pick<FoundCheckpoint, 'trees' | 'spills' | 'blobs'> {
  const { records, spills, blobs } = decodeDictionaryTable(bytes);
  return { trees: records, spills, blobs };
}

async function readCheckpoint(file: BlockFile, superblock: Superblock): Promise<FoundCheckpoint> {
  const places = new Map((await readTable(file, superblock)).map((place) => [place.number, place]));
  const { root } = superblock;
  if (root === undefined) return { superblock, places, trees: [], spills: [], blobs: { nextSegment: 1, segments: [] } };
  const place = places.get(root.dictionaryTable);
  if (place === undefined) throw new EngineError('corruption', 'the dictionary table is not in the block table', { place: { file: file.path } });
  return { superblock, places, ...foundTable(await readTwice(file, place, root.dictionaryTable)) };
}
