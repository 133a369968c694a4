// The operations of one transaction that its commit will log, encoded as they are noted: one behind the other in memory of their own, as a row has
// them (operation-row.ts). So a thousand documents are not a thousand objects that live until the commit, and the row of a small commit is made where
// its operations lie.

import { ByteWriter } from '../../base/byte-writer.ts';
import { grownLength, viewOf, copyBetween } from '../../base/bytes.ts';
import { varintBytesMax, writeVarint } from '../../base/varint.ts';
import { Document } from '../../bson/index.ts';
import { asideRowBytes, kinds, operationFlags, ownerRow, rowFlags, rowFormat } from './operation-row.ts';
import type { CommitHead, EncodedCommit } from './operation-row.ts';
import type { NewOperation, OperationSpace } from './operation.ts';

/** Bytes of documents beyond which a commit goes on in another row; a message of the engine may have 17 MiB. */
const rowBytesMax = 4 * 1024 * 1024;
/** And operations, where each has an entry of its own: a reader that goes on in the middle of a row reads it from its beginning. */
const rowOperationsMax = 500;
/** Images that make an operation larger than this are left out: a row must hold it, and a message of the engine may have 17 MiB. */
const imageBytesMax = 16.5 * 1024 * 1024;
/** What an operation adds to the entry of a transaction beside its documents, at most. */
const entryBytes = 128;
/** What an operation takes in memory beside its bytes. */
const columnBytes = 16;
/** Kept free before the operations, for the head of the first row. */
const headRoom = 256;
/** Kind, flags, collection, statement. */
const operationHeadBytes = 2 + 2 * varintBytesMax;
const quickGrowthMax = 64 * 1024;
/** For an operation of more bytes no more room is made than it needs. */
const exactBytesMin = 1024 * 1024;
const sourceBytesMax = 1024 * 1024;
/** Memory of so many bytes is used again: a new array of that size costs more than what is copied into it, and the collector looks at everything for it. */
const spareBytes = { least: 128 * 1024, most: 5 * 1024 * 1024 };
const sparesMax = 2;
const spares: Uint8Array[] = [];

const noMemory = new Uint8Array(0);
/** Heads are made in it, one after the other: each commit has one. */
const heads: ByteWriter = new ByteWriter(headRoom);

/** Collections as rows name them: the same one in every commit that changes it. */
const spaceRows: WeakMap<OperationSpace, Uint8Array> = new WeakMap();

function spaceRow(space: OperationSpace): Uint8Array {
  let row = spaceRows.get(space);
  if (row === undefined) {
    row = Document.of({ ns: space.ns, ui: space.uuid }).toBytes();
    spaceRows.set(space, row);
  }
  return row;
}

/** How far the rows of a commit have come. */
export interface RowProgress {
  /** Times that they take. */
  readonly ticks: number;
  /** Operations in them. */
  readonly operations: number;
}

/** Where rows stand in their commit. */
export interface RowPlace {
  readonly wallMs: number;
  /** Others will follow. */
  readonly more: boolean;
}

/** A row, and the tick that it begins at. */
export interface EncodedRow {
  readonly tick: number;
  readonly value: Uint8Array;
}

/** `o`, `o2`, and the images before and after. */
type OperationDocuments = readonly [Document, Document | undefined, Document | undefined, Document | undefined];

/** What a row has of an operation. The image after is that before with the difference, or the whole document of a replacement: it stands here where there is room. */
function documentsOf({ kind, o, o2, before, after }: NewOperation): OperationDocuments {
  if (before === undefined && after === undefined) return [o, o2, undefined, undefined];
  const bytes = o.byteLength + (before?.byteLength ?? 0);
  if (bytes > imageBytesMax) return [o, o2, undefined, undefined];
  const isTold = kind === 'replace' || bytes + (after?.byteLength ?? 0) > imageBytesMax;
  return [o, o2, before, isTold ? undefined : after];
}

function flagsOf([, o2, before, after]: OperationDocuments, statement: number): number {
  return (
    (o2 === undefined ? 0 : operationFlags.o2) |
    (before === undefined ? 0 : operationFlags.before) |
    (after === undefined ? 0 : operationFlags.after) |
    (statement < 0 ? 0 : operationFlags.statement)
  );
}

/** Operations in the order in which they were noted. */
export class NotedOperations {
  #bytes: Uint8Array = new Uint8Array(2 * headRoom);
  #view: DataView = viewOf(this.#bytes);
  #length: number = headRoom;
  readonly #starts: number[] = [];
  readonly #orders: number[] = [];
  /** The collections of the transaction, by number: shared with those that were put aside. */
  readonly #spaces: OperationSpace[];
  /** What was copied from last: documents of one statement often lie in one array. */
  #source: Uint8Array | undefined;
  #sourceView: DataView = this.#view;

  constructor(spaces: OperationSpace[] = []) {
    this.#spaces = spaces;
  }

  get count(): number {
    return this.#starts.length;
  }

  /** Memory held by what is noted. */
  get byteSize(): number {
    return this.#length - (this.#starts[0] ?? this.#length) + this.#starts.length * columnBytes;
  }

  /** Adds an operation. `order`: its place in the transaction's writes. */
  add(operation: NewOperation, order: number): void {
    const documents = documentsOf(operation);
    const { statement = -1, space, kind } = operation;
    let bytes = operationHeadBytes;
    for (const document of documents) bytes += document?.byteLength ?? 0;
    this.#reserve(bytes);
    this.#starts.push(this.#length);
    this.#orders.push(order);
    const target = this.#bytes;
    let at = this.#length;
    target[at++] = kinds.indexOf(kind);
    target[at++] = flagsOf(documents, statement);
    at = writeVarint(target, at, this.#numberOf(space));
    this.#length = statement < 0 ? at : writeVarint(target, at, statement);
    for (const document of documents) if (document !== undefined) this.#document(document);
  }

  #numberOf(space: OperationSpace): number {
    const number = this.#spaces.lastIndexOf(space);
    return number < 0 ? this.#spaces.push(space) - 1 : number;
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#bytes.length) return;
    const spare = needed < spareBytes.least ? -1 : spares.findIndex(({ length }) => length >= needed);
    const grown = spares.splice(spare < 0 ? spares.length : spare, 1)[0] ?? new Uint8Array(this.#length === headRoom || count > exactBytesMin ? needed : Math.max(grownLength(this.#bytes.length, needed), Math.min(this.#bytes.length * 4, quickGrowthMax)));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
    this.#view = viewOf(grown);
  }

  /** Appends a document; there is room for it. */
  #document(document: Document): void {
    const { bytes, start, end } = document.raw;
    copyBetween(this.#viewOf(bytes), start, this.#view, this.#length, end - start);
    this.#length += end - start;
  }

  /** A view of an array; of a large one none is kept, for that would keep the array. */
  #viewOf(source: Uint8Array): DataView {
    if (source === this.#source) return this.#sourceView;
    const view = viewOf(source);
    if (source.length <= sourceBytesMax) [this.#source, this.#sourceView] = [source, view];
    return view;
  }

  #end(index: number): number {
    return this.#starts[index + 1] ?? this.#length;
  }

  /** Ends them: nobody uses them, or rows of them, any more. */
  release(): void {
    const memory = this.#bytes;
    this.#truncate(0);
    this.#bytes = noMemory;
    this.#view = viewOf(noMemory);
    this.#length = 0;
    if (memory.length < spareBytes.least || memory.length > spareBytes.most) return;
    spares.push(memory);
    // The larger ones serve for more.
    spares.sort((a, b) => a.length - b.length);
    if (spares.length > sparesMax) spares.shift();
  }

  /** Takes back what was noted after `order`. */
  rollbackTo(order: number): void {
    let { length } = this.#orders;
    while (length > 0 && (this.#orders[length - 1] as number) > order) length -= 1;
    this.#truncate(length);
  }

  #truncate(count: number): void {
    if (count >= this.count) return;
    this.#length = this.#starts[count] as number;
    this.#starts.length = count;
    this.#orders.length = count;
  }

  /** Appends operations of others, from number `from` to before `to`. */
  #append(others: NotedOperations, from: number, to: number): void {
    const start = others.#starts[from] ?? others.#length;
    const length = (others.#starts[to] ?? others.#length) - start;
    this.#reserve(length);
    copyBetween(others.#view, start, this.#view, this.#length, length);
    for (let i = from; i < to; i++) {
      this.#starts.push((others.#starts[i] as number) - start + this.#length);
      this.#orders.push(others.#orders[i] as number);
    }
    this.#length += length;
  }

  /** The last of them by itself, and those before it: a large operation stays where it lies. */
  split(): { readonly earlier: NotedOperations; readonly last: NotedOperations } {
    const at = this.count - 1;
    const start = this.#starts[at] as number;
    const other = new NotedOperations(this.#spaces);
    if (this.#length - start <= start - headRoom) {
      other.#append(this, at, at + 1);
      this.#truncate(at);
      return { earlier: this, last: other };
    }
    other.#append(this, 0, at);
    this.#starts.splice(0, at);
    this.#orders.splice(0, at);
    return { earlier: other, last: this };
  }

  /** All of these one behind the other; they are of one transaction. */
  static joined(parts: readonly NotedOperations[]): NotedOperations {
    const [first] = parts;
    const whole = first === undefined ? new NotedOperations() : new NotedOperations(first.#spaces);
    for (const part of parts) whole.#append(part, 0, part.count);
    return whole;
  }

  /** Rows for them, the first where `from` says. Nothing is noted behind them while the rows are in use. */
  rows(commit: CommitHead, from: RowProgress, { wallMs, more, rowBytes = rowBytesMax }: RowPlace & { readonly rowBytes?: number }): { readonly rows: readonly EncodedRow[]; readonly to: RowProgress } {
    const rows: EncodedRow[] = [];
    let { ticks, operations: first } = from;
    const operationsMax = commit.transaction ? Infinity : rowOperationsMax;
    for (let at = 0; at < this.count; ) {
      const end = this.#cut(at, rowBytes, operationsMax);
      const head = this.#head(commit, { wallMs, tick: ticks, first, count: end - at, more: more || end < this.count });
      rows.push({ tick: ticks, value: this.#row(head, at, end) });
      first += end - at;
      ticks += commit.transaction ? 1 : end - at;
      at = end;
    }
    return { rows, to: { ticks, operations: first } };
  }

  /** The same, small enough for rows beside the log. */
  asideRows(commit: CommitHead, from: RowProgress, place: RowPlace): { readonly rows: readonly EncodedRow[]; readonly to: RowProgress } {
    return this.rows(commit, from, { ...place, rowBytes: asideRowBytes });
  }

  /** All rows of a commit with at least one operation. */
  commitRows(commit: CommitHead, wallMs: number): EncodedCommit {
    const { rows, to } = this.rows(commit, { ticks: 0, operations: 0 }, { wallMs, more: false });
    return { values: rows.map(({ value }) => value), ticks: to.ticks, entries: to.ticks };
  }

  /** Where the row ends that begins with operation `from`. */
  #cut(from: number, bytesMax: number, operationsMax: number): number {
    let bytes = 0;
    for (let at = from; at < this.count; at++) {
      bytes += this.#end(at) - (this.#starts[at] as number) + entryBytes;
      if (at > from && (bytes > bytesMax || at - from >= operationsMax)) return at;
    }
    return this.count;
  }

  /** The head of a row: good until the next one is made. */
  #head(commit: CommitHead, row: { readonly wallMs: number; readonly tick: number; readonly first: number; readonly count: number; readonly more: boolean }): Uint8Array {
    const writer = heads;
    writer.reset();
    writer.u8(rowFormat);
    writer.u8((commit.transaction ? rowFlags.transaction : 0) | (commit.owner === undefined ? 0 : rowFlags.owner) | (row.more ? rowFlags.more : 0));
    for (const number of [row.tick, row.first, row.count, row.wallMs]) writer.varint(number);
    if (commit.owner !== undefined) writer.append(ownerRow(commit.owner));
    writer.varint(this.#spaces.length);
    for (const space of this.#spaces) writer.append(spaceRow(space));
    return writer.bytes();
  }

  /** A row in one piece: the first where it lies, if there is room for its head. */
  #row(head: Uint8Array, from: number, to: number): Uint8Array {
    const start = this.#starts[from] as number;
    const end = this.#end(to - 1);
    if (from === 0 && head.length <= start) {
      this.#bytes.set(head, start - head.length);
      return this.#bytes.subarray(start - head.length, end);
    }
    const row = new Uint8Array(head.length + end - start);
    row.set(head);
    row.set(this.#bytes.subarray(start, end), head.length);
    return row;
  }
}
