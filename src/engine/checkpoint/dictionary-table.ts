// The dictionary table: one row for each tree, as of the state below its fronts. A meta block of its own, written by every checkpoint.
// Layout in docs/file-format.md.

import { ByteReader } from '../../base/byte-reader.ts';
import { ByteWriter } from '../../base/byte-writer.ts';
import { EngineError } from '../../base/errors.ts';
import { segmentKinds } from '../blob/blob-image.ts';
import type { BlobTable, SegmentRecord } from '../blob/blob-store.ts';
import type { BlockNumber } from '../block/block-number.ts';
import type { Extent } from '../tree/node.ts';
import { readExtent, writeExtent } from '../tree/node.ts';
import type { Spill } from '../tree/spilled.ts';
import type { TreeRecord } from '../tree/tree.ts';
import type { DictionaryId } from '../types.ts';
import { readAllDictionaryOptions, readDictionaryOptions, writeAllDictionaryOptions } from '../wal/record.ts';

const version = 3;
/** The version before large values. */
const versionBefore = 2;
const segmentFlags = { sealed: 1, stamped: 2 } as const;

/** What the table holds: its trees, and what commits have spilled that is not below the fronts. */
export interface DictionaryTable {
  readonly records: readonly TreeRecord[];
  readonly spills: readonly Spill[];
  readonly blobs: BlobTable;
}

/** The table's bytes. */
export function encodeDictionaryTable({ records, spills, blobs }: DictionaryTable): Uint8Array {
  const writer = new ByteWriter(64 + records.length * 96);
  writer.u8(version);
  writer.varint(records.length);
  for (const record of records) {
    writer.varint(record.id);
    writeAllDictionaryOptions(writer, record.options);
    writer.varint(record.createdSeq);
    writer.varint(record.droppedSeq === Infinity ? 0 : record.droppedSeq);
    writer.varint(record.root);
    writer.varint(record.flushedSeq);
    writer.f64(record.rows);
    writer.f64(record.bytes);
    writer.varint(record.storedBytes);
    writer.varint(record.rawBytes);
    writer.varint(record.leaves);
    writer.varint(record.height);
    writer.varint(record.blobBytes);
  }
  writer.varint(spills.length);
  for (const spill of spills) {
    writer.varint(spill.number);
    writer.varint(spill.dictionary);
    writer.varint(spill.extents.length);
    for (const extent of spill.extents) writeExtent(writer, extent);
  }
  writeBlobs(writer, blobs);
  return writer.bytes().slice();
}

/** Reads what encodeDictionaryTable wrote. */
export function decodeDictionaryTable(bytes: Uint8Array): DictionaryTable {
  const reader = new ByteReader(bytes);
  const found = reader.u8();
  if (found !== version && found !== versionBefore) throw new EngineError('format', `a dictionary table of unknown version ${found}`);
  const records: TreeRecord[] = [];
  for (let left = reader.varint(); left > 0; left--) records.push(readRow(reader, found));
  const spills: Spill[] = [];
  for (let left = reader.varint(); left > 0; left--) spills.push(readSpill(reader));
  const blobs = found === version ? readBlobs(reader) : { nextSegment: 1, segments: [] };
  reader.expectEnd();
  return { records, spills, blobs };
}

function writeBlobs(writer: ByteWriter, { nextSegment, segments }: BlobTable): void {
  writer.varint(nextSegment);
  writer.varint(segments.length);
  for (const { number, kind, isSealed, end, live } of segments) {
    writer.varint(number);
    writer.u8((isSealed ? segmentFlags.sealed : 0) | (kind === segmentKinds.stamped ? segmentFlags.stamped : 0));
    writer.varint(end);
    writer.varint(live);
  }
}

function readBlobs(reader: ByteReader): BlobTable {
  const nextSegment = reader.varint();
  const segments: SegmentRecord[] = [];
  for (let left = reader.varint(); left > 0; left--) {
    const number = reader.varint();
    const flags = reader.u8();
    if (flags > 3) throw new EngineError('format', `a blob segment with unknown flags ${flags}`);
    const kind = (flags & segmentFlags.stamped) === 0 ? segmentKinds.keyed : segmentKinds.stamped;
    segments.push({ number, kind, isSealed: (flags & segmentFlags.sealed) !== 0, end: reader.varint(), live: reader.varint() });
  }
  return { nextSegment, segments };
}

function readSpill(reader: ByteReader): Spill {
  const number = reader.varint();
  const dictionary = reader.varint() as DictionaryId;
  const extents: Extent[] = [];
  for (let left = reader.varint(); left > 0; left--) extents.push(readExtent(reader));
  return { number, dictionary, extents };
}

function readRow(reader: ByteReader, found: number): TreeRecord {
  const id = reader.varint() as DictionaryId;
  const options = found === version ? readAllDictionaryOptions(reader) : readDictionaryOptions(reader);
  const createdSeq = reader.varint();
  const dropped = reader.varint();
  return {
    id, options, createdSeq, droppedSeq: dropped === 0 ? Infinity : dropped, root: reader.varint() as BlockNumber, flushedSeq: reader.varint(),
    rows: reader.f64(), bytes: reader.f64(), storedBytes: reader.varint(), rawBytes: reader.varint(), leaves: reader.varint(), height: reader.varint(),
    blobBytes: found === version ? reader.varint() : 0,
  };
}
