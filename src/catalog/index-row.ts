// How an index entry lies in its dictionary. Key: the encoded fields, then the record key; of a unique index the fields alone, so that
// its lock and its recent removals are exact (law 5). Value: length of the record key (one to five bytes, seven bits each), the record
// key where the key has none, then the type bits, or for a clustering index the whole document, which makes them needless.

import type { IndexEntry, RecordKey } from './types.ts';

/** A row as the engine keeps it. */
export interface IndexRow {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

export const noBits: Uint8Array = new Uint8Array(0);

/** The values of plain entries: only the length of their record key. */
const plainValues: readonly Uint8Array[] = Array.from({ length: 128 }, (_, length) => Uint8Array.of(length));

function lengthSize(length: number): number {
  let size = 1;
  for (let rest = length >>> 7; rest > 0; rest >>>= 7) size++;
  return size;
}

function writeLength(target: Uint8Array, length: number): number {
  let at = 0;
  let rest = length;
  while (rest > 0x7f) {
    target[at++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  target[at++] = rest;
  return at;
}

/** The value of an entry. `content`: the type bits, or the document's bytes. */
export function rowValue(unique: boolean, recordKey: RecordKey, content: Uint8Array): Uint8Array {
  if (!unique && content.length === 0 && recordKey.length < plainValues.length) return plainValues[recordKey.length] as Uint8Array;
  const size = lengthSize(recordKey.length);
  const value = new Uint8Array(size + content.length + (unique ? recordKey.length : 0));
  let at = writeLength(value, recordKey.length);
  if (unique) {
    value.set(recordKey, at);
    at += recordKey.length;
  }
  value.set(content, at);
  return value;
}

/** A row, taken apart without copying. */
export function readIndexRow(kind: { readonly unique: boolean; readonly clustering: boolean }, key: Uint8Array, value: Uint8Array): IndexEntry {
  let length = 0;
  let at = 0;
  let byte: number;
  do {
    byte = value[at] as number;
    length |= (byte & 0x7f) << (7 * at);
    at++;
  } while (byte > 0x7f);
  const cut = key.length - length;
  const from = kind.unique ? at + length : at;
  const content = from === value.length ? noBits : value.subarray(from);
  return {
    fields: kind.unique ? key : key.subarray(0, cut),
    recordKey: kind.unique ? value.subarray(at, at + length) : key.subarray(cut),
    typeBits: kind.clustering ? noBits : content,
    document: kind.clustering ? content : undefined,
  };
}
