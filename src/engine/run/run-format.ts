// A run as bytes: columns one after the other, so that equal things lie together for the codec, and one common prefix for all keys. Layout in
// docs/file-format.md, "Runs". Whatever bytes it is given, decoding ends, reads nothing outside them, allocates no more than a small multiple
// of their length, and says `corruption`, or `format` for a kind of message or column that this program does not know.

import { assert } from '../../base/assert.ts';
import { copyBetween, viewOf } from '../../base/bytes.ts';
import { EngineError } from '../../base/errors.ts';
import { writeVarint } from '../../base/varint.ts';
import { isMessageKind } from './message.ts';
import { freshMemory, RunMemory, runOf } from './run.ts';
import type { MemorySource, Run, RunColumns } from './run.ts';
import { sharedPrefix } from './sorted-keys.ts';

/** Bits of the first byte: which columns there are, and which lengths are stored once because all are equal. */
const columnFlags = { seqs: 1, kinds: 2, equalKeyLengths: 4, equalValueLengths: 8 } as const;
const knownFlags = 15;

/** Bytes that `encodeRun` never exceeds for these columns. */
export function encodedRunLengthMax(columns: RunColumns): number {
  const { count } = columns;
  const slabs = (columns.keyOffsets[count] as number) + (columns.valueOffsets[count] as number);
  return 48 + count * (5 + 5 + 8 + 1) + slabs;
}

/** Writes the columns to target[at...), where there is room for `encodedRunLengthMax`; returns the offset behind them. */
export function encodeRun(columns: RunColumns, target: Uint8Array, at: number): number {
  const { count, keys, keyOffsets, valueOffsets } = columns;
  const prefix = count === 0 ? 0 : sharedPrefix(keys, 0, keyOffsets[1] as number, keys, keyOffsets[count - 1] as number, keyOffsets[count] as number);
  const withKinds = hasNonZero(columns.kinds, count);
  const equalKeys = equalLengths(keyOffsets, count);
  const equalValues = equalLengths(valueOffsets, count);
  target[at] =
    (columns.seqs === undefined ? 0 : columnFlags.seqs) |
    (withKinds ? columnFlags.kinds : 0) |
    (equalKeys ? columnFlags.equalKeyLengths : 0) |
    (equalValues ? columnFlags.equalValueLengths : 0);
  let to = writeVarint(target, at + 1, count);
  if (count === 0) return to;
  to = writeVarint(target, to, prefix);
  target.set(keys.subarray(0, prefix), to);
  to = writeLengths(keyOffsets, equalKeys ? 1 : count, prefix, target, to + prefix);
  to = writeLengths(valueOffsets, equalValues ? 1 : count, 0, target, to);
  if (columns.seqs !== undefined) to = writeSeqs(columns.seqs, count, target, to);
  if (withKinds) {
    target.set(columns.kinds.subarray(0, count), to);
    to += count;
  }
  to = writeSuffixes(columns, prefix, target, to);
  const valueBytes = valueOffsets[count] as number;
  target.set(columns.values.subarray(0, valueBytes), to);
  return to + valueBytes;
}

function hasNonZero(bytes: Uint8Array, count: number): boolean {
  for (let i = 0; i < count; i++) if (bytes[i] !== 0) return true;
  return false;
}

function equalLengths(offsets: Uint32Array, count: number): boolean {
  if (count === 0) return false;
  const length = (offsets[1] as number) - (offsets[0] as number);
  for (let i = 1; i < count; i++) if ((offsets[i + 1] as number) - (offsets[i] as number) !== length) return false;
  return true;
}

function writeLengths(offsets: Uint32Array, count: number, less: number, target: Uint8Array, at: number): number {
  let to = at;
  for (let i = 0; i < count; i++) {
    let length = (offsets[i + 1] as number) - (offsets[i] as number) - less;
    while (length >= 0x80) {
      target[to++] = (length & 0x7f) | 0x80;
      length >>>= 7;
    }
    target[to++] = length;
  }
  return to;
}

function writeSeqs(seqs: Float64Array, count: number, target: Uint8Array, at: number): number {
  let least = seqs[0] as number;
  for (let i = 1; i < count; i++) if ((seqs[i] as number) < least) least = seqs[i] as number;
  let to = writeVarint(target, at, least);
  for (let i = 0; i < count; i++) {
    const above = (seqs[i] as number) - least;
    if (above < 0x80) target[to++] = above;
    else if (above < 0x4000) {
      target[to++] = (above & 0x7f) | 0x80;
      target[to++] = above >>> 7;
    } else to = writeVarint(target, to, above);
  }
  return to;
}

function writeSuffixes(columns: RunColumns, prefix: number, target: Uint8Array, at: number): number {
  const { count, keys, keyOffsets } = columns;
  if (prefix === 0) {
    const length = keyOffsets[count] as number;
    target.set(keys.subarray(0, length), at);
    return at + length;
  }
  const from = viewOf(keys);
  const into = viewOf(target);
  let to = at;
  for (let i = 0; i < count; i++) {
    const start = (keyOffsets[i] as number) + prefix;
    const length = (keyOffsets[i + 1] as number) - start;
    copyBetween(from, start, into, to, length);
    to += length;
  }
  return to;
}

/** The run that payload[start, end) holds, in memory of its own, or that of `source`. The order of its keys is not checked: see `Run.firstUnsorted`. */
export function decodeRun(payload: Uint8Array, start = 0, end: number = payload.length, source: MemorySource = freshMemory): Run {
  assert(start >= 0 && start <= end && end <= payload.length, 'a payload lies within its bytes');
  return new RunDecoder(payload, start, end).decode(source);
}

/** A position that moves through the payload; every read is checked against its end. */
class RunDecoder {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  #at: number;

  constructor(bytes: Uint8Array, start: number, end: number) {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
  }

  decode(source: MemorySource): Run {
    if (this.#at >= this.#end) this.#fail('an empty run has a byte and a count');
    const flags = this.#bytes[this.#at++] as number;
    if (flags > knownFlags) throw new EngineError('format', `a run with unknown columns (${String(flags)})`, { place: { offset: this.#at - 1 } });
    const count = this.#varint();
    if (count === 0) return this.#finish(new RunMemory({ count: 0, keyBytes: 0, valueBytes: 0, withSeqs: false }, source));
    // Two messages differ in key or in seq, so each has a byte of its own in one of these columns. It bounds what is allocated below.
    if (count > this.#end - this.#at) this.#fail('more messages than bytes');
    const prefixLength = this.#varint();
    const prefixAt = this.#skip(prefixLength);
    const keyLengths = this.#lengths((flags & columnFlags.equalKeyLengths) !== 0, count);
    const valueLengths = this.#lengths((flags & columnFlags.equalValueLengths) !== 0, count);
    // A prefix is stored once and stands in memory before every key: bounded here, or a few bytes could ask for gigabytes.
    const keyBytes = prefixLength * count + keyLengths.total;
    if (keyBytes > keyBytesMax) this.#fail('keys beyond their limit');
    const memory = new RunMemory({ count, keyBytes, valueBytes: valueLengths.total, withSeqs: (flags & columnFlags.seqs) !== 0 }, source);
    this.#readOffsets(keyLengths, prefixLength, memory.keyOffsets);
    this.#readOffsets(valueLengths, 0, memory.valueOffsets);
    if (memory.seqs !== undefined) this.#readSeqs(memory.seqs);
    if ((flags & columnFlags.kinds) !== 0) this.#readKinds(memory.kinds);
    else {
      // Memory may have been another run's.
      memory.kinds.fill(0);
      memory.isAllPuts = true;
    }
    this.#readKeys(memory, prefixAt, prefixLength, this.#skip(keyLengths.total));
    const valuesAt = this.#skip(valueLengths.total);
    memory.values.set(this.#bytes.subarray(valuesAt, valuesAt + valueLengths.total));
    return this.#finish(memory);
  }

  #finish(memory: RunMemory): Run {
    if (this.#at !== this.#end) this.#fail('bytes behind the last value');
    return runOf(memory);
  }

  #readOffsets(lengths: Lengths, more: number, offsets: Uint32Array): void {
    const count = offsets.length - 1;
    const { equal } = lengths;
    if (equal >= 0) {
      const step = equal + more;
      for (let i = 0, sum = 0; i <= count; i++, sum += step) offsets[i] = sum;
      return;
    }
    const bytes = this.#bytes;
    let from = lengths.at;
    let sum = 0;
    offsets[0] = 0;
    for (let i = 1; i <= count; i++) {
      let byte = bytes[from++] as number;
      let length = byte & 0x7f;
      for (let shift = 7; byte >= 0x80; shift += 7) {
        byte = bytes[from++] as number;
        length |= (byte & 0x7f) << shift;
      }
      sum += length + more;
      offsets[i] = sum;
    }
  }

  /** Passes over a column of lengths, checking it: what `readOffsets` then reads needs no checks. */
  #lengths(equal: boolean, count: number): Lengths {
    const at = this.#at;
    if (equal) {
      const length = this.#varint();
      const total = length * count;
      if (total > this.#end - this.#at) this.#fail('lengths beyond the bytes');
      return { at, equal: length, total };
    }
    let total = 0;
    for (let i = 0; i < count; i++) total += this.#length();
    if (total > this.#end - this.#at) this.#fail('lengths beyond the bytes');
    return { at, equal: -1, total };
  }

  #readSeqs(seqs: Float64Array): void {
    const least = this.#varint();
    for (let i = 0; i < seqs.length; i++) {
      const seq = least + this.#varint();
      if (seq > Number.MAX_SAFE_INTEGER) this.#fail('a seq beyond 2^53');
      seqs[i] = seq;
    }
  }

  #readKinds(kinds: Uint8Array): void {
    const from = this.#skip(kinds.length);
    for (let i = 0; i < kinds.length; i++) {
      const kind = this.#bytes[from + i] as number;
      if (!isMessageKind(kind)) throw new EngineError('format', `a message of unknown kind ${String(kind)}`, { place: { offset: from + i } });
      kinds[i] = kind;
    }
  }

  #readKeys(memory: RunMemory, prefixAt: number, prefixLength: number, suffixesAt: number): void {
    const { count, keys, keyOffsets } = memory;
    const bytes = this.#bytes;
    if (prefixLength === 0) {
      keys.set(bytes.subarray(suffixesAt, suffixesAt + keys.length));
      return;
    }
    const source = viewOf(bytes);
    let from = suffixesAt;
    for (let i = 0; i < count; i++) {
      const at = keyOffsets[i] as number;
      const length = (keyOffsets[i + 1] as number) - at - prefixLength;
      copyBetween(source, prefixAt, memory.keysView, at, prefixLength);
      copyBetween(source, from, memory.keysView, at + prefixLength, length);
      from += length;
    }
  }

  /** A length: a varint of at most four bytes (a message is far below 256 MiB). */
  #length(): number {
    const bytes = this.#bytes;
    let length = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      if (this.#at >= this.#end) this.#fail('the bytes end within a length');
      const byte = bytes[this.#at++] as number;
      length |= (byte & 0x7f) << shift;
      if (byte < 0x80) return length;
    }
    return this.#fail('a length beyond 2^28');
  }

  #varint(): number {
    let value = 0;
    let scale = 1;
    for (let length = 1; length <= 8; length++) {
      if (this.#at >= this.#end) this.#fail('the bytes end within a number');
      const byte = this.#bytes[this.#at++] as number;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value <= Number.MAX_SAFE_INTEGER ? value : this.#fail('a number beyond 2^53');
      scale *= 0x80;
    }
    return this.#fail('a number beyond 2^53');
  }

  #skip(length: number): number {
    const at = this.#at;
    if (length > this.#end - at) this.#fail('a column beyond the bytes');
    this.#at = at + length;
    return at;
  }

  #fail(what: string): never {
    throw new EngineError('corruption', `damaged run: ${what}`, { place: { offset: this.#at } });
  }
}

/** Keys of one run as they stand in memory. */
const keyBytesMax = 2 ** 30;

/** A column of lengths: where it begins, the length of all when they are equal (else -1), and their sum. */
interface Lengths {
  readonly at: number;
  readonly equal: number;
  readonly total: number;
}
