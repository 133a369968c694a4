// Packs collation tables into text: bytes of variable length, LZ4, base64. The reader is src/collation/unpack.ts; the layout stands there.

import { encodeBase64 } from '../../src/base/base64.ts';
import { compressLz4, lz4LengthMax } from '../../src/base/lz4.ts';
import type { CollationTable } from './read-table.ts';

class Sink {
  readonly bytes: number[] = [];

  count(value: number): void {
    let rest = value;
    for (; rest > 0x7f; rest = Math.floor(rest / 128)) this.bytes.push((rest % 128) | 0x80);
    this.bytes.push(rest);
  }

  signed(value: number): void {
    this.count(value < 0 ? -2 * value - 1 : 2 * value);
  }

  word(value: number): void {
    this.bytes.push(value >>> 24, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff);
  }

  words(values: readonly number[]): void {
    this.count(values.length);
    for (const value of values) this.word(value);
  }
}

function packed(bytes: readonly number[]): string {
  const target = new Uint8Array(4 + lz4LengthMax(bytes.length));
  new DataView(target.buffer).setUint32(0, bytes.length);
  const length = compressLz4(Uint8Array.from(bytes), target.subarray(4));
  return encodeBase64(target.subarray(0, 4 + length));
}

/** One table. */
export function packTable(table: CollationTable): string {
  const sink = new Sink();
  sink.word(table.options);
  sink.words(table.elements);
  sink.words(table.words);
  sink.words(table.jamo);
  sink.words(table.leadRanges);
  sink.words(table.variableTops);
  for (const bytes of [table.leadBytes, table.compressible]) {
    sink.count(bytes.length);
    sink.bytes.push(...bytes);
  }
  sink.count(table.contexts.length);
  for (const { otherwise, strings } of table.contexts) {
    sink.word(otherwise);
    sink.count(strings.length);
    for (const [text, word] of strings) {
      const points = Array.from(text, (character) => character.codePointAt(0) ?? 0);
      sink.count(points.length);
      for (const point of points) sink.count(point);
      sink.word(word);
    }
  }
  packMappings(sink, table.mappings);
  return packed(sink.bytes);
}

/** In order of words, which is nearly that of the language: then code points and words both go in small steps. */
function packMappings(sink: Sink, mappings: CollationTable['mappings']): void {
  const sorted = mappings.toSorted((a, b) => a[1] - b[1] || a[0] - b[0]);
  sink.count(sorted.length);
  let last = -1;
  for (const [codePoint] of sorted) {
    sink.signed(codePoint - last - 1);
    last = codePoint;
  }
  let word = 0;
  for (const [, next] of sorted) {
    sink.count(next - word);
    word = next;
  }
}

/** Canonical decompositions (whole), and the classes of combining marks by rank. */
export function packNormalForm(decompositions: ReadonlyMap<number, readonly number[]>, marks: readonly (readonly [number, number])[]): string {
  const sink = new Sink();
  sink.count(decompositions.size);
  let last = 0;
  for (const [codePoint, points] of decompositions) {
    sink.count(codePoint - last);
    last = codePoint;
    sink.count(points.length);
    for (const point of points) sink.count(point);
  }
  sink.count(marks.length);
  last = 0;
  for (const [codePoint, rank] of marks) {
    sink.signed(codePoint - last);
    last = codePoint;
    sink.count(rank);
  }
  return packed(sink.bytes);
}
