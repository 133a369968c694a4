// The dictionary table: one row for each tree, as of the state below its fronts. A meta block of its own, written by every checkpoint.
// Layout in docs/file-format.md.

import { ByteReader } from '../../base/byte-reader.ts';
import { ByteWriter } from '../../base/byte-writer.ts';
import { EngineError } from '../../base/errors.ts';
import type { BlockNumber } from '../block/block-number.ts';
import type { TreeRecord } from '../tree/tree.ts';
import type { DictionaryId } from '../types.ts';
import { readDictionaryOptions, writeDictionaryOptions } from '../wal/record.ts';

const version = 1;

/** The table's bytes. */
export function encodeDictionaryTable(records: readonly TreeRecord[]): Uint8Array {
  const writer = new ByteWriter(64 + records.length * 96);
  writer.u8(version);
  writer.varint(records.length);
  for (const record of records) {
    writer.varint(record.id);
    writeDictionaryOptions(writer, record.options);
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
  }
  return writer.bytes().slice();
}

/** Reads what encodeDictionaryTable wrote. */
export function decodeDictionaryTable(bytes: Uint8Array): TreeRecord[] {
  const reader = new ByteReader(bytes);
  const found = reader.u8();
  if (found !== version) throw new EngineError('format', `a dictionary table of unknown version ${found}`);
  const records: TreeRecord[] = [];
  for (let left = reader.varint(); left > 0; left--) records.push(readRow(reader));
  reader.expectEnd();
  return records;
}

function readRow(reader: ByteReader): TreeRecord {
  const id = reader.varint() as DictionaryId;
  const options = readDictionaryOptions(reader);
  const createdSeq = reader.varint();
  const dropped = reader.varint();
  return {
    id, options, createdSeq, droppedSeq: dropped === 0 ? Infinity : dropped, root: reader.varint() as BlockNumber, flushedSeq: reader.varint(),
    rows: reader.f64(), bytes: reader.f64(), storedBytes: reader.varint(), rawBytes: reader.varint(), leaves: reader.varint(), height: reader.varint(),
  };
}
