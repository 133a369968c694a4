// Superblocks: where everything begins. Two slots, written in turn, each twice and far apart; the newest whole one is what recovery starts
// from. The used part fits one disk sector, so it is never half written on disks that keep sectors whole; its checksum tells anyway.
// Byte layout in docs/file-format.md, "Superblock".

import { ByteReader } from '../../base/byte-reader.ts';
import { ByteWriter } from '../../base/byte-writer.ts';
import { crc32c } from '../../base/crc32c.ts';
import { EngineError } from '../../base/errors.ts';
import { unitBytes } from './block-number.ts';
import type { BlockNumber, CheckpointRoot } from './block-number.ts';

/** Format of the data file that this program writes; a larger one is refused. */
const dataFormatVersion = 2;

/** The two slots that are written in turn. */
export type Slot = 0 | 1;

/** Units of the two copies of each slot. */
export const superblockUnits: readonly [readonly [number, number], readonly [number, number]] = [
  [0, 64],
  [1, 65],
];

/** Everything before this unit is written when the file is made. */
export const firstFileUnits = 66;

/** Bytes of a superblock that mean something, checksum included. */
const usedBytes = 156;
const magic = 'FRONDDAT';

/** Where an image lies twice. */
export interface TwicePlace {
  readonly first: number;
  readonly second: number;
  /** Bytes, header included. */
  readonly length: number;
  readonly checksum: number;
}

/** The content of a superblock. */
export interface Superblock {
  /** Counts publishes; the larger of two is the newer. */
  readonly generation: number;
  /** Random, made with the file. */
  readonly fileId: Uint8Array;
  /** Absent before the first checkpoint. */
  readonly table: TwicePlace | undefined;
  readonly root: CheckpointRoot | undefined;
  readonly nextNumber: number;
}

const noTable: TwicePlace = { first: 0, second: 0, length: 0, checksum: 0 };
const noRoot = { dictionaryTable: 0, nextSeq: 0, nextDictionary: 0, logFrom: { segment: 0, seq: 0 } };

/** One unit of bytes. */
export function encodeSuperblock(superblock: Superblock): Uint8Array {
  const writer = new ByteWriter(unitBytes);
  for (const char of magic) writer.u8(char.charCodeAt(0));
  writer.u32(dataFormatVersion);
  writer.u32(unitBytes);
  writer.append(superblock.fileId);
  writer.u64(superblock.generation);
  writer.u64(superblock.nextNumber);
  const table = superblock.table ?? noTable;
  writer.u64(table.first);
  writer.u64(table.second);
  writer.u64(table.length);
  writer.u32(table.checksum);
  const root = superblock.root ?? noRoot;
  writer.u32(superblock.root === undefined ? 0 : 1);
  writer.u64(root.dictionaryTable);
  writer.u64(root.nextSeq);
  writer.u64(root.nextDictionary);
  writer.u64(root.logFrom.segment);
  writer.u64(root.logFrom.seq);
  // Room for fields that later versions add without changing what is before them.
  while (writer.length < usedBytes - 4) writer.u32(0);
  writer.u32(crc32c(writer.bytes()));
  writer.pad(unitBytes);
  return writer.copy();
}

/** The superblock in these bytes; undefined when they are damaged. A whole one of an unknown format version is EngineError `format`. */
export function decodeSuperblock(bytes: Uint8Array): Superblock | undefined {
  if (bytes.length < usedBytes) return undefined;
  const reader = new ByteReader(bytes, { end: usedBytes });
  for (const char of magic) if (reader.u8() !== char.charCodeAt(0)) return undefined;
  if (new ByteReader(bytes, { start: usedBytes - 4, end: usedBytes }).u32() !== crc32c(bytes, 0, usedBytes - 4)) return undefined;
  const version = reader.u32();
  if (version !== dataFormatVersion) throw new EngineError('format', `data file of format ${String(version)}; this program knows ${String(dataFormatVersion)}`);
  if (reader.u32() !== unitBytes) throw new EngineError('format', 'data file with units of another size');
  const fileId = reader.copy(16);
  const generation = reader.u64();
  const nextNumber = reader.u64();
  const table = { first: reader.u64(), second: reader.u64(), length: reader.u64(), checksum: reader.u32() };
  const hasRoot = reader.u32() === 1;
  const root = {
    dictionaryTable: reader.u64() as BlockNumber,
    nextSeq: reader.u64(),
    nextDictionary: reader.u64(),
    logFrom: { segment: reader.u64(), seq: reader.u64() },
  };
  return { generation, fileId, nextNumber, table: table.length === 0 ? undefined : table, root: hasRoot ? root : undefined };
}
