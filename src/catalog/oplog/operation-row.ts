// How the operations of one commit are kept: rows of the oplog's dictionary, whose keys begin with the commit's time. A commit with many
// documents is one row, with the documents in it as they are; each operation outside of a transaction has a time of its own, counted on
// from the row's. Layout in docs/file-format.md.

import { ByteReader } from '../../base/byte-reader.ts';
import { ByteWriter } from '../../base/byte-writer.ts';
import { Binary, BsonArray, DateTime, Document, Timestamp } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import type { NewOperation, Operation, OperationKind, OperationOwner, OperationSpace } from './operation.ts';

const rowFormat = 1;

const kinds: readonly OperationKind[] = ['insert', 'update', 'replace', 'remove', 'command', 'note'];

/** A row that stands for rows of another dictionary. */
const elsewhereFormat = 2;

const rowFlags = { transaction: 1, owner: 2, more: 4 } as const;
const operationFlags = { o2: 1, before: 2, after: 4, statement: 8, nextStatement: 16 } as const;

/** Bytes of documents beyond which a commit goes on in another row; a message of the engine may have 17 MiB. */
const rowBytesMax = 4 * 1024 * 1024;
/** And operations, where each has an entry of its own: a reader that goes on in the middle of a row reads it from its beginning. */
const rowOperationsMax = 500;
/** The same for rows that lie aside: they are many, and whoever goes on in the middle reads one from its beginning. */
export const asideRowBytes: number = 256 * 1024;
/** Images of more bytes than this are left out: no event could carry them. */
const imageBytesMax = 15 * 1024 * 1024;

/** What a commit's rows have in common. */
export interface CommitHead {
  /** They are one transaction of several statements. */
  readonly transaction: boolean;
  readonly owner: OperationOwner | undefined;
}

/** All operations of a commit. */
export interface CommitOperations extends CommitHead {
  readonly operations: readonly NewOperation[];
}

/** The rows of a commit. */
export interface EncodedCommit {
  /** The value of each row. */
  readonly values: readonly Uint8Array[];
  /** How many times the commit takes. */
  readonly ticks: number;
  /** Entries that a reader sees. */
  readonly entries: number;
}

function imagesOf({ before, after, o }: NewOperation): { before: Document | undefined; after: Document | undefined } {
  const bytes = o.byteLength + (before?.byteLength ?? 0) + (after?.byteLength ?? 0);
  return bytes > imageBytesMax ? { before: undefined, after: undefined } : { before, after };
}

/** Writes the operations of one row. */
class OperationWriter {
  readonly #writer: ByteWriter;
  #statement = -2;

  constructor(writer: ByteWriter) {
    this.#writer = writer;
  }

  write(operation: NewOperation, space: number): void {
    const writer = this.#writer;
    const { before, after } = imagesOf(operation);
    const { o, o2, statement = -2 } = operation;
    const isNext = statement >= 0 && statement === this.#statement + 1;
    this.#statement = statement;
    writer.u8(kinds.indexOf(operation.kind));
    writer.u8(
      (o2 === undefined ? 0 : operationFlags.o2) |
        (before === undefined ? 0 : operationFlags.before) |
        (after === undefined ? 0 : operationFlags.after) |
        (isNext ? operationFlags.nextStatement : statement < 0 ? 0 : operationFlags.statement),
    );
    writer.varint(space);
    if (!isNext && statement >= 0) writer.varint(statement);
    this.#document(o);
    if (o2 !== undefined) this.#document(o2);
    if (before !== undefined) this.#document(before);
    if (after !== undefined) this.#document(after);
  }

  #document(document: Document): void {
    const { bytes, start, end } = document.raw;
    this.#writer.append(bytes, start, end);
  }
}

/** Bytes of an operation's documents. */
export const sizeOf = ({ o, before, after }: NewOperation): number => o.byteLength + (before?.byteLength ?? 0) + (after?.byteLength ?? 0);

/** What an operation adds to the entry of a transaction beside its documents, at most. */
const entryBytes = 128;

const weightOf = (operation: NewOperation): number => sizeOf(operation) + entryBytes;

/** Cuts the operations where a row is full. */
function cut(operations: readonly NewOperation[], rowBytes: number, rowOperations: number): NewOperation[][] {
  const rows: NewOperation[][] = [];
  let row: NewOperation[] = [];
  let bytes = 0;
  for (const operation of operations) {
    if (row.length > 0 && (bytes + weightOf(operation) > rowBytes || row.length >= rowOperations)) {
      rows.push(row);
      [row, bytes] = [[], 0];
    }
    row.push(operation);
    bytes += weightOf(operation);
  }
  rows.push(row);
  return rows;
}

/** Where a row stands in its commit. */
interface RowPlace {
  readonly wallMs: number;
  readonly tick: number;
  readonly first: number;
  /** Another row of the commit follows. */
  readonly more: boolean;
}

/** What a row begins with, at most, beside its owner and its collections, and an operation beside its documents. */
const [headBytes, operationBytes] = [32, 16];

function encodeRow(operations: readonly NewOperation[], commit: CommitHead, { wallMs, tick, first, more }: RowPlace): Uint8Array {
  const spaces: OperationSpace[] = [];
  let bytes = headBytes;
  for (const operation of operations) {
    if (!spaces.includes(operation.space)) spaces.push(operation.space);
    bytes += operationBytes + (operation.o2?.byteLength ?? 0) + sizeOf(operation);
  }
  const spaceRows = spaces.map(({ ns, uuid }) => Document.of({ ns, ui: uuid }).toBytes());
  const owner = commit.owner === undefined ? undefined : ownerRow(commit.owner);
  const writer = new ByteWriter(spaceRows.reduce((sum, row) => sum + row.length, bytes + (owner?.length ?? 0)));
  writer.u8(rowFormat);
  writer.u8((commit.transaction ? rowFlags.transaction : 0) | (owner === undefined ? 0 : rowFlags.owner) | (more ? rowFlags.more : 0));
  for (const number of [tick, first, operations.length, wallMs]) writer.varint(number);
  if (owner !== undefined) writer.append(owner);
  writer.varint(spaces.length);
  for (const row of spaceRows) writer.append(row);
  const operationWriter = new OperationWriter(writer);
  for (const operation of operations) operationWriter.write(operation, spaces.lastIndexOf(operation.space));
  return writer.bytes();
}

const ownerRow = ({ lsid, txnNumber }: OperationOwner): Uint8Array => Document.of({ lsid, txnNumber }).toBytes();

/** How far the rows of a commit have come. */
export interface RowProgress {
  /** Times that they take. */
  readonly ticks: number;
  /** Operations in them. */
  readonly operations: number;
}

/** Rows for more operations of a commit, each with the tick that it begins at. `more`: others will follow. */
export function encodeRows(operations: readonly NewOperation[], commit: CommitHead, from: RowProgress, { wallMs, more, rowBytes = rowBytesMax }: Pick<RowPlace, 'wallMs' | 'more'> & { readonly rowBytes?: number }): { readonly rows: readonly { readonly tick: number; readonly value: Uint8Array }[]; readonly to: RowProgress } {
  const rows: { tick: number; value: Uint8Array }[] = [];
  let { ticks, operations: first } = from;
  const parts = cut(operations, rowBytes, commit.transaction ? Infinity : rowOperationsMax);
  parts.forEach((part, at) => {
    rows.push({ tick: ticks, value: encodeRow(part, commit, { wallMs, tick: ticks, first, more: more || at + 1 < parts.length }) });
    first += part.length;
    ticks += commit.transaction ? 1 : part.length;
  });
  return { rows, to: { ticks, operations: first } };
}

/** The rows of a commit with at least one operation. */
export function encodeCommit(commit: CommitOperations, wallMs: number): EncodedCommit {
  const { rows, to } = encodeRows(commit.operations, commit, { ticks: 0, operations: 0 }, { wallMs, more: false });
  return { values: rows.map(({ value }) => value), ticks: to.ticks, entries: to.ticks };
}

/** Rows of a commit that lie in a dictionary of their own, and whose they are. */
export interface Elsewhere {
  readonly dictionary: number;
  readonly ticks: number;
  readonly owner: OperationOwner | undefined;
}

/** The row that stands for them. */
export function encodeElsewhere({ dictionary, ticks, owner }: Elsewhere): Uint8Array {
  const head = new ByteWriter(64);
  head.u8(elsewhereFormat);
  head.u8(owner === undefined ? 0 : rowFlags.owner);
  head.varint(dictionary);
  head.varint(ticks);
  if (owner !== undefined) head.append(ownerRow(owner));
  return head.bytes();
}

/** What such a row says; undefined for a row with operations. */
export function elsewhereOf(value: Uint8Array): Elsewhere | undefined {
  if (value[0] !== elsewhereFormat) return undefined;
  const reader = new ByteReader(value.subarray(1));
  const flags = reader.u8();
  const [dictionary, ticks] = [reader.varint(), reader.varint()];
  return { dictionary, ticks, owner: (flags & rowFlags.owner) === 0 ? undefined : readOwner(reader) };
}

/** The newest time that a row stands for; its operations are not looked at. */
export function lastTimeOf(key: Uint8Array, value: Uint8Array): Timestamp {
  const elsewhere = elsewhereOf(value);
  if (elsewhere !== undefined) return timeAt(key, elsewhere.ticks - 1);
  const reader = new ByteReader(value);
  const { transaction, tick, count } = readHead(reader);
  return timeAt(key, tick + (transaction ? 0 : count - 1));
}

/** What a row with operations begins with. */
function readHead(reader: ByteReader): { readonly flags: number; readonly transaction: boolean; readonly tick: number; readonly first: number; readonly count: number } {
  if (reader.u8() !== rowFormat) reader.fail('an oplog row of an unknown format');
  const flags = reader.u8();
  return { flags, transaction: (flags & rowFlags.transaction) !== 0, tick: reader.varint(), first: reader.varint(), count: reader.varint() };
}

function readDocument(reader: ByteReader): Document {
  const at = reader.position;
  const length = reader.u32();
  reader.seek(at);
  return Document.fromBytes(reader.copy(length));
}

function readOwner(reader: ByteReader): OperationOwner | undefined {
  const owner = readDocument(reader);
  const [lsid, txnNumber] = [owner.get('lsid'), owner.get('txnNumber')];
  return lsid instanceof Document && typeof txnNumber === 'bigint' ? { lsid, txnNumber } : undefined;
}

function readSpace(reader: ByteReader): OperationSpace {
  const space = readDocument(reader);
  const [ns, ui] = [space.get('ns'), space.get('ui')];
  return { ns: typeof ns === 'string' ? ns : '', uuid: ui instanceof Binary ? ui : undefined };
}

/** The time that the key of a row begins with, as a number of 64 bits in two halves, moved on by some ticks. */
function timeAt(key: Uint8Array, ticks: number): Timestamp {
  const view = new DataView(key.buffer, key.byteOffset, key.length);
  return new Timestamp(view.getUint32(0), view.getUint32(4) + ticks);
}

/** The operations of a row. Documents are copied out of it. */
export function decodeRow(key: Uint8Array, value: Uint8Array): Operation[] {
  const reader = new ByteReader(value);
  const { flags, transaction, tick, first, count } = readHead(reader);
  const wall = new DateTime(reader.varint());
  const owner = (flags & rowFlags.owner) === 0 ? undefined : readOwner(reader);
  const spaces = Array.from({ length: reader.varint() }, () => readSpace(reader));
  const statements = { last: -2 };
  const more = (flags & rowFlags.more) !== 0;
  // Of a transaction in several rows each says where the one before is.
  const chain = transaction && (more || tick > 0) ? { more, previous: tick === 0 ? undefined : timeAt(key, tick - 1), count: first + count } : undefined;
  return Array.from({ length: count }, (_, index) => ({
    ...readOperation(reader, spaces, statements),
    time: timeAt(key, tick + (transaction ? 0 : index)),
    wall,
    owner,
    index: transaction ? first + index : undefined,
    chain,
  }));
}

function readStatement(reader: ByteReader, flags: number, last: number): number | undefined {
  if ((flags & operationFlags.nextStatement) !== 0) return last + 1;
  return (flags & operationFlags.statement) === 0 ? undefined : reader.varint();
}

function readOperation(reader: ByteReader, spaces: readonly OperationSpace[], statements: { last: number }): NewOperation {
  const kind = kinds[reader.u8()] ?? reader.fail('an operation of an unknown kind');
  const flags = reader.u8();
  const space = spaces[reader.varint()] ?? reader.fail('an operation without a collection');
  const statement = readStatement(reader, flags, statements.last);
  statements.last = statement ?? -2;
  const o = readDocument(reader);
  const next = (flag: number): Document | undefined => ((flags & flag) === 0 ? undefined : readDocument(reader));
  return { kind, space, statement, o, o2: next(operationFlags.o2), before: next(operationFlags.before), after: next(operationFlags.after) };
}

const letters: Readonly<Record<OperationKind, string>> = { insert: 'i', update: 'u', replace: 'u', remove: 'd', command: 'c', note: 'n' };

/** `op`, `ns`, `ui`, `o`, `o2` as MongoDB's oplog has them. */
function bodyOf({ kind, space, o, o2 }: Operation): [string, Value][] {
  const fields: [string, Value][] = [['op', letters[kind]], ['ns', space.ns]];
  if (space.uuid !== undefined) fields.push(['ui', space.uuid]);
  fields.push(['o', kind === 'update' ? Document.of({ $v: 2, diff: o }) : o]);
  const key = kind === 'remove' ? o : o2;
  if (key !== undefined) fields.push(['o2', key]);
  return fields;
}

/** The entry of `local.oplog.rs` for an operation, or, of a transaction, for all that one row has of it. */
export function entryOf(operations: readonly Operation[]): Document {
  const head = operations[0] as Operation;
  const fields: [string, Value][] = [];
  if (head.owner !== undefined) fields.push(['lsid', head.owner.lsid], ['txnNumber', head.owner.txnNumber]);
  if (head.index === undefined) fields.push(...bodyOf(head));
  else {
    const list = BsonArray.of(operations.map((operation) => Document.fromEntries(bodyOf(operation))));
    const { chain } = head;
    fields.push(['op', 'c'], ['ns', 'admin.$cmd'], ['o', Document.of({ applyOps: list, ...(chain === undefined ? {} : chain.more ? { partialTxn: true } : { count: BigInt(chain.count) }) })]);
    if (chain !== undefined) fields.push(['prevOpTime', Document.of(chain.previous === undefined ? { ts: new Timestamp(0, 0), t: -1n } : { ts: chain.previous, t: 1n })]);
  }
  if (head.statement !== undefined) fields.push(['stmtId', head.statement]);
  fields.push(['ts', head.time], ['t', 1n], ['v', 2n], ['wall', head.wall]);
  return Document.fromEntries(fields);
}
