// The mutable buffer at the top of a dictionary, where commits land, and the shape of a transaction's write set. An append-only arena of
// messages with a hash index for point reads, and sorted pieces for ordered reads: an ordered read sorts only what came since the last one,
// and pieces merge by doubling, so mixing inserts and scans has no cliff (law 27). Nothing that was appended moves or changes; `truncate`
// takes back from the end and is for write sets only. docs/architecture.md follows a write through it.

import { assert } from '../../base/assert.ts';
import { compareRange, copyBetween, viewOf } from '../../base/bytes.ts';
import { keyHash } from '../../base/hash.ts';
import { BlobCounter, decodeReference, noBlobs } from '../run/blob-reference.ts';
import type { BlobTally } from '../run/blob-reference.ts';
import { emptySlice, messageKinds } from '../run/message.ts';
import type { MessageSlice } from '../run/message.ts';
import { rangeBytes } from '../run/range-delete.ts';
import type { RangeDelete } from '../run/range-delete.ts';
import type { BytesPart } from '../types.ts';
import { hash, keyLength, keyStart, kind, older, seqHigh, seqLow, valueLength, width } from './front-image.ts';
import type { FrontImage } from './front-image.ts';
import { FrontOrder } from './front-order.ts';

const [twoTo32, kindMask, chainShift] = [4294967296, 0xff, 8];

/** How long an array gets that is full; a large one grows by less, for what is not used counts against the budget too. */
function grownLength({ length, byteLength }: Uint8Array | Uint32Array): number {
  return Math.floor(length * (byteLength < 1_000_000 ? 2 : 1.4));
}

/** Copies source to `at`: a short one by a loop, which a call would cost more than. */
function copyInto(target: Uint8Array, at: number, source: Uint8Array): void {
  if (source.length > 24) target.set(source, at);
  else for (let i = 0; i < source.length; i++) target[at + i] = source[i] as number;
}

/** The next size of a hash table, a power of two: at least twice what it was, and what is needed. */
function tableSize(size: number, needed: number): number {
  let next = Math.max(size * 2, 16);
  while (next < needed) next *= 2;
  return next;
}

/** What an empty front holds: there may be 50,000. */
const [noBytes, noView, noRows]: [Uint8Array, DataView, Uint32Array] = [new Uint8Array(0), viewOf(new Uint8Array(0)), new Uint32Array(0)];
const noRanges: RangeDelete[] = [];

/** A buffer of messages. Entries are numbered in the order they came. */
export class Front {
  #arena: Uint8Array;
  #view: DataView;
  #used: number = 0;
  #rows: Uint32Array;
  #count: number = 0;
  #table: Uint32Array;
  #keys: number = 0;
  #onlyPuts: boolean = true;
  #order: FrontOrder = FrontOrder.none;
  /** The newest seq of any entry; 0 when empty. */
  seqMax: number = 0;
  /** The oldest seq of any entry; 0 when empty. */
  seqMin: number = 0;
  /** Deltas of totals that came with the entries. */
  rows: number = 0;
  bytes: number = 0;
  /** Bytes of blobs that its entries refer to, those that were taken back included. */
  blobBytes: number = 0;
  /** Range deletes; the array never changes. */
  ranges: readonly RangeDelete[] = noRanges;

  /** `like`: a front that held as much as this one shall; memory is had at once, not by doubling. */
  constructor(like?: Front) {
    this.#arena = like === undefined ? noBytes : new Uint8Array(like.#used);
    this.#view = like === undefined ? noView : viewOf(this.#arena);
    this.#rows = like === undefined ? noRows : new Uint32Array(like.#count * width + width);
    this.#table = like === undefined ? noRows : new Uint32Array(like.#table.length);
  }

  /** What the entries are made of: views that never change, though entries may come behind them. */
  image(): FrontImage {
    return { arena: this.#arena.subarray(0, this.#used), rows: this.#rows.subarray(0, this.#count * width) };
  }

  /** A front of another's image, which belongs to it from now on: for reading in order, not by key. */
  static ofImage(image: FrontImage): Front {
    const front = new Front();
    front.#arena = image.arena;
    front.#view = viewOf(image.arena);
    front.#rows = image.rows;
    front.#used = image.arena.length;
    front.#count = image.rows.length / width;
    return front;
  }

  /** Forgets all entries and keeps the memory. Views that were given are no longer what they were. */
  reset(): void {
    this.#used = 0;
    this.#count = 0;
    this.#keys = 0;
    this.#onlyPuts = true;
    this.#table.fill(0);
    this.#order = FrontOrder.none;
    this.seqMax = 0;
    this.seqMin = 0;
    this.rows = 0;
    this.bytes = 0;
    this.blobBytes = 0;
    this.ranges = [];
  }

  get count(): number {
    return this.#count;
  }

  /** Whether nothing is lost if the front is: no message, and deltas that cancel out. */
  get isVoid(): boolean {
    return this.#count === 0 && this.rows === 0 && this.bytes === 0 && this.ranges.length === 0;
  }

  /** Bytes of keys and values, as they count against `frontBytes`. */
  get messageBytes(): number {
    return this.#used + this.#count * 16 + this.#rangeBytes;
  }

  /** Memory held, for the budget. */
  get byteSize(): number {
    return this.#arena.length + this.#rows.byteLength + this.#table.byteLength + this.#order.byteSize + this.#rangeBytes;
  }

  /** What of it the entries take. */
  get usedBytes(): number {
    return this.#used + this.#count * (width * 4 + 12) + this.#order.byteSize + this.#rangeBytes;
  }

  get #rangeBytes(): number {
    let bytes = 0;
    for (const range of this.ranges) bytes += rangeBytes(range);
    return bytes;
  }

  /** Adds a range delete, newer than all before it; its keys are the front's from now on. */
  appendRange(range: RangeDelete): void {
    if (this.isVoid) this.seqMin = range.seq;
    this.ranges = [range, ...this.ranges];
    this.seqMax = Math.max(this.seqMax, range.seq);
  }

  /** Appends a message; bytes are copied. Entries of one key come with rising seqs. Gives the bytes by which the memory held has grown. */
  append(key: Uint8Array, seq: number, messageKind: number, value: Uint8Array): number {
    const grown = this.#makeRoom(key.length + value.length);
    copyInto(this.#arena, this.#used, key);
    copyInto(this.#arena, this.#used + key.length, value);
    this.#enter(key.length, value.length, seq, messageKind);
    return grown;
  }

  /** The same for a key that is a part of an array. */
  appendPart({ bytes, start, end }: BytesPart, seq: number, messageKind: number, value: Uint8Array): number {
    const length = end - start;
    const grown = this.#makeRoom(length + value.length);
    const [arena, at] = [this.#arena, this.#used];
    for (let i = 0; i < length; i++) arena[at + i] = bytes[start + i] as number;
    copyInto(arena, at + length, value);
    this.#enter(length, value.length, seq, messageKind);
    return grown;
  }

  /** The same for a message that lies in somebody's array. */
  appendSlice(message: MessageSlice): void {
    const keyBytes = message.keyEnd - message.keyStart;
    const valueBytes = message.valueEnd - message.valueStart;
    this.#makeRoom(keyBytes + valueBytes);
    copyBetween(message.view, message.keyStart, this.#view, this.#used, keyBytes);
    copyBetween(message.view, message.valueStart, this.#view, this.#used + keyBytes, valueBytes);
    this.#enter(keyBytes, valueBytes, message.seq, message.kind);
  }

  /** Whether all that it holds are puts, each of another key: then its arena, from one entry on to another, and the lengths of these say everything. */
  get isPlain(): boolean {
    return this.#onlyPuts && this.#keys === this.#count && this.ranges.length === 0;
  }

  /**
   * Appends all of a plain front, as one commit: what `appendSlice` would do for each entry, with one copy for all bytes and hashes that are known. A
   * front that wants this often holds a tree's messages; `seq` stands for the seqs of the other.
   */
  appendAll(from: Front, seq: number): void {
    assert(from.isPlain && seq >= this.seqMax, 'plain messages come in the order of their seqs');
    const count = from.#count;
    if (count === 0) return;
    if (this.isVoid) this.seqMin = seq;
    this.#makeRoom(from.#used, count);
    this.#arena.set(from.#used === from.#arena.length ? from.#arena : from.#arena.subarray(0, from.#used), this.#used);
    const [rows, source, moved] = [this.#rows, from.#rows, this.#used];
    const [low, high] = [seq >>> 0, Math.floor(seq / twoTo32)];
    const first = this.#count;
    for (let row = first * width, other = 0, end = count * width; other < end; row += width, other += width) {
      rows[row + keyStart] = (source[other + keyStart] as number) + moved;
      rows[row + keyLength] = source[other + keyLength] as number;
      rows[row + valueLength] = source[other + valueLength] as number;
      rows[row + seqLow] = low;
      rows[row + seqHigh] = high;
      rows[row + kind] = messageKinds.put;
      rows[row + hash] = source[other + hash] as number;
    }
    this.#used = moved + from.#used;
    this.#count = first + count;
    for (let entry = first; entry < first + count; entry++) this.#link(entry);
    this.seqMax = seq;
  }

  /** Makes an entry of the bytes that were copied behind the used ones. */
  #enter(keyBytes: number, valueBytes: number, seq: number, messageKind: number): void {
    if (this.isVoid) this.seqMin = seq;
    const entry = this.#count++;
    const row = entry * width;
    const start = this.#used;
    this.#used = start + keyBytes + valueBytes;
    const rows = this.#rows;
    rows[row + keyStart] = start;
    rows[row + keyLength] = keyBytes;
    rows[row + valueLength] = valueBytes;
    rows[row + seqLow] = seq;
    rows[row + seqHigh] = Math.floor(seq / twoTo32);
    rows[row + kind] = messageKind;
    rows[row + hash] = keyHash(this.#arena, start, start + keyBytes);
    if (messageKind !== messageKinds.put) this.#onlyPuts = false;
    if (messageKind === messageKinds.reference) this.blobBytes += decodeReference(this.#arena, start + keyBytes, this.#used).bytes;
    this.#link(entry);
    assert(seq >= this.seqMax, 'messages come in the order of their seqs');
    this.seqMax = seq;
  }

  /** Has room for one more entry of so many bytes, or for some; gives the bytes of memory that were added. */
  #makeRoom(length: number, entries: number = 1): number {
    const needed = this.#used + length;
    const hasRoom = needed <= this.#arena.length && (this.#count + entries) * width <= this.#rows.length && (this.#keys + entries) * 2 <= this.#table.length;
    return hasRoom ? 0 : this.#grow(needed, entries);
  }

  #grow(needed: number, entries: number): number {
    const before = this.#arena.length + this.#rows.byteLength + this.#table.byteLength;
    if (needed > this.#arena.length) {
      const arena = new Uint8Array(Math.max(grownLength(this.#arena), needed, 512));
      arena.set(this.#arena.subarray(0, this.#used));
      this.#arena = arena;
      this.#view = viewOf(arena);
    }
    if ((this.#count + entries) * width > this.#rows.length) {
      const rows = new Uint32Array(Math.max(grownLength(this.#rows), 8 * width, (this.#count + entries) * width));
      rows.set(this.#rows);
      this.#rows = rows;
    }
    if ((this.#keys + entries) * 2 > this.#table.length) this.#rehash(tableSize(this.#table.length, (this.#keys + entries) * 2));
    return this.#arena.length + this.#rows.byteLength + this.#table.byteLength - before;
  }

  #rehash(size: number): void {
    const table = new Uint32Array(size);
    const mask = size - 1;
    for (const newest of this.#table) {
      if (newest === 0) continue;
      let slot = (this.#rows[(newest - 1) * width + hash] as number) & mask;
      while (table[slot] !== 0) slot = (slot + 1) & mask;
      table[slot] = newest;
    }
    this.#table = table;
  }

  /** Makes `entry` the newest of its key. */
  #link(entry: number): void {
    const rows = this.#rows;
    const row = entry * width;
    const start = rows[row + keyStart] as number;
    const slot = this.#slotOf(this.#arena, start, start + (rows[row + keyLength] as number), rows[row + hash] as number);
    const before = this.#table[slot] as number;
    rows[row + older] = before;
    if (rows[row + kind] === messageKinds.update) rows[row + kind] = messageKinds.update | ((1 + (before === 0 ? 0 : this.chainLength(before - 1))) << chainShift);
    if (before === 0) this.#keys += 1;
    this.#table[slot] = entry + 1;
  }

  /** The table's slot of a key: where its newest entry is, or where it would go. */
  #slotOf(bytes: Uint8Array, start: number, end: number, hashed: number): number {
    const rows = this.#rows;
    const table = this.#table;
    const mask = table.length - 1;
    let slot = hashed & mask;
    for (;;) {
      const newest = table[slot] as number;
      if (newest === 0) return slot;
      const row = (newest - 1) * width;
      if (rows[row + hash] === hashed && this.#sameKey(row, bytes, start, end)) return slot;
      slot = (slot + 1) & mask;
    }
  }

  #sameKey(row: number, bytes: Uint8Array, start: number, end: number): boolean {
    const from = this.#rows[row + keyStart] as number;
    return compareRange(this.#arena, from, from + (this.#rows[row + keyLength] as number), bytes, start, end) === 0;
  }

  /** Makes the front cover `seq` although the commit put no message into it. */
  touch(seq: number): void {
    if (this.isVoid) this.seqMin = seq;
    if (seq > this.seqMax) this.seqMax = seq;
  }

  /** The newest entry of `key` whose seq is at most `seq`, or -1; `hashed` is its `keyHash`, where the caller has it. */
  find(key: Uint8Array, seq: number, hashed: number = keyHash(key, 0, key.length)): number {
    if (this.#count === 0) return -1;
    const slot = this.#slotOf(key, 0, key.length, hashed);
    let entry = (this.#table[slot] as number) - 1;
    while (entry >= 0 && this.seq(entry) > seq) entry = (this.#rows[entry * width + older] as number) - 1;
    return entry;
  }

  /** The entry of the same key before this one, or -1. */
  olderOf(entry: number): number {
    return (this.#rows[entry * width + older] as number) - 1;
  }

  /** How many updates of one key end with this entry, one behind the other; 0 for another kind. */
  chainLength(entry: number): number {
    return (this.#rows[entry * width + kind] as number) >>> chainShift;
  }

  seq(entry: number): number {
    const row = entry * width;
    return (this.#rows[row + seqHigh] as number) * twoTo32 + (this.#rows[row + seqLow] as number);
  }

  kind(entry: number): number {
    return (this.#rows[entry * width + kind] as number) & kindMask;
  }

  /** A view; never changes. */
  key(entry: number): Uint8Array {
    const start = this.#rows[entry * width + keyStart] as number;
    return this.#arena.subarray(start, start + (this.#rows[entry * width + keyLength] as number));
  }

  /** A view; never changes. */
  value(entry: number): Uint8Array {
    const row = entry * width;
    const start = (this.#rows[row + keyStart] as number) + (this.#rows[row + keyLength] as number);
    return this.#arena.subarray(start, start + (this.#rows[row + valueLength] as number));
  }

  /** Where the bytes of an entry begin, and how many are its key's and its value's: those of the next one follow. */
  start(entry: number): number { return this.#rows[entry * width + keyStart] as number; }
  keyBytes(entry: number): number { return this.#rows[entry * width + keyLength] as number; }
  valueBytes(entry: number): number { return this.#rows[entry * width + valueLength] as number; }

  /** A view of the memory that they are in, until the next is appended. */
  get view(): DataView { return this.#view; }

  /** Fills `slice` with an entry. */
  slice(entry: number, slice: MessageSlice): void {
    const row = entry * width;
    const start = this.#rows[row + keyStart] as number;
    slice.bytes = this.#arena;
    slice.view = this.#view;
    slice.keyStart = start;
    slice.keyEnd = start + (this.#rows[row + keyLength] as number);
    slice.valueStart = slice.keyEnd;
    slice.valueEnd = slice.keyEnd + (this.#rows[row + valueLength] as number);
    slice.seq = this.seq(entry);
    slice.kind = (this.#rows[row + kind] as number) & kindMask;
    slice.hash = this.#rows[row + hash] as number;
  }

  /** Whether any entry is an update, which says less than all of its key. */
  get hasUpdates(): boolean {
    for (let entry = 0; entry < this.#count; entry++) if (this.kind(entry) === messageKinds.update) return true;
    return false;
  }

  /** Whether all keys are in [from, to); absent: no bound. */
  isWithin(from: Uint8Array | undefined, to: Uint8Array | undefined): boolean {
    const rows = this.#rows;
    for (let entry = 0; entry < this.#count; entry++) {
      const start = rows[entry * width + keyStart] as number;
      const end = start + (rows[entry * width + keyLength] as number);
      if (from !== undefined && compareRange(this.#arena, start, end, from, 0, from.length) < 0) return false;
      if (to !== undefined && compareRange(this.#arena, start, end, to, 0, to.length) >= 0) return false;
    }
    return true;
  }

  /** Whether two entries have one key. */
  haveOneKey(a: number, b: number): boolean {
    const row = b * width;
    if (this.#rows[a * width + hash] !== this.#rows[row + hash]) return false;
    const start = this.#rows[row + keyStart] as number;
    return this.#sameKey(a * width, this.#arena, start, start + (this.#rows[row + keyLength] as number));
  }

  /** Bytes of blobs that its entries refer to, by segment. */
  blobs(): BlobTally {
    if (this.blobBytes === 0) return noBlobs;
    const counter = new BlobCounter();
    const slice = emptySlice();
    for (let entry = 0; entry < this.#count; entry++) {
      if (this.kind(entry) !== messageKinds.reference) continue;
      this.slice(entry, slice);
      counter.add(slice.bytes, slice.valueStart, slice.valueEnd);
    }
    return counter.take();
  }

  /** Whether no later entry has the same key. */
  isNewest(entry: number): boolean {
    if (this.#keys === this.#count) return true;
    const row = entry * width;
    const start = this.#rows[row + keyStart] as number;
    const end = start + (this.#rows[row + keyLength] as number);
    return this.#table[this.#slotOf(this.#arena, start, end, this.#rows[row + hash] as number)] === entry + 1;
  }

  /** Takes the entries from number `count` on back. */
  truncate(count: number): void {
    const rows = this.#rows;
    for (let entry = this.#count - 1; entry >= count; entry--) {
      const row = entry * width;
      const start = rows[row + keyStart] as number;
      const slot = this.#slotOf(this.#arena, start, start + (rows[row + keyLength] as number), rows[row + hash] as number);
      const before = rows[row + older] as number;
      if (before !== 0) this.#table[slot] = before;
      else this.#unlink(slot);
      this.#used = start;
    }
    this.#count = Math.min(this.#count, count);
    this.#order = FrontOrder.none;
    this.seqMax = this.#count === 0 ? 0 : this.seq(this.#count - 1);
    if (this.#count === 0) this.seqMin = 0;
    for (const { seq } of this.ranges) this.seqMax = Math.max(this.seqMax, seq);
  }

  /** Empties a slot and closes the gap, so that probing still finds what lies behind it. */
  #unlink(slot: number): void {
    const table = this.#table;
    const mask = table.length - 1;
    table[slot] = 0;
    this.#keys -= 1;
    for (let next = (slot + 1) & mask; table[next] !== 0; next = (next + 1) & mask) {
      const moved = table[next] as number;
      table[next] = 0;
      let to = (this.#rows[(moved - 1) * width + hash] as number) & mask;
      while (table[to] !== 0) to = (to + 1) & mask;
      table[to] = moved;
    }
  }

  /** The entries in order: pieces, each sorted by (key ascending, seq descending), which never change; entries that come later are in pieces of later calls. */
  sortedPieces(): readonly Uint32Array[] {
    return this.#ownOrder().upTo(this);
  }

  /** All entries in one sorted piece. */
  sortedWhole(): Uint32Array {
    return this.#ownOrder().whole(this);
  }

  #ownOrder(): FrontOrder {
    if (this.#order === FrontOrder.none && this.#count > 0) this.#order = new FrontOrder();
    return this.#order;
  }

  /** First index in a sorted piece whose key is at or after `key`. */
  lowerBound(piece: Uint32Array, key: Uint8Array): number {
    let low = 0;
    let high = piece.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const entry = piece[middle] as number;
      const start = this.#rows[entry * width + keyStart] as number;
      const end = start + (this.#rows[entry * width + keyLength] as number);
      if (compareRange(this.#arena, start, end, key, 0, key.length) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
