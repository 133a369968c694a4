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

const rowFlags = { transaction: 1, owner: 2 } as const;
const operationFlags = { o2: 1, before: 2, after: 4, statement: 8, nextStatement: 16 } as const;

/** Bytes of documents beyond which a commit goes on in another row; a message of the engine may have 17 MiB. */
const rowBytesMax = 4 * 1024 * 1024;
/** Images of more bytes than this are left out: no event could carry them. */
const imageBytesMax = 15 * 1024 * 1024;

/** All operations of a commit. */
export interface CommitOperations {
  readonly operations: readonly NewOperation[];
  /** They are one transaction of several statements. */
  readonly transaction: boolean;
  readonly owner: OperationOwner | undefined;
}

/** The rows of a commit. */
export interface EncodedCommit {
  /** The value of each row in pieces; documents are not copied. */
  readonly values: readonly (readonly Uint8Array[])[];
  /** How many times the commit takes. */
  readonly ticks: number;
  /** Entries that a reader sees. */
  readonly entries: number;
}

function imagesOf({ before, after, o }: NewOperation): { before: Document | undefined; after: Document | undefined } {
  const bytes = o.byteLength + (before?.byteLength ?? 0) + (after?.byteLength ?? 0);
  return bytes > imageBytesMax ? { before: undefined, after: undefined } : { before, after };
}

/** What comes before an operation's documents. Operations of one command have equal heads, so that of the last one is used again. */
class HeadWriter {
  #flags = -1;
  #kind = -1;
  #space = -1;
  #statement = -2;
  #head: Uint8Array = new Uint8Array(0);

  head(operation: NewOperation, images: ReturnType<typeof imagesOf>, space: number): Uint8Array {
    const { statement = -2 } = operation;
    const kind = kinds.indexOf(operation.kind);
    const isNext = statement >= 0 && statement === this.#statement + 1;
    const flags =
      (operation.o2 === undefined ? 0 : operationFlags.o2) |
      (images.before === undefined ? 0 : operationFlags.before) |
      (images.after === undefined ? 0 : operationFlags.after) |
      (isNext ? operationFlags.nextStatement : statement < 0 ? 0 : operationFlags.statement);
    this.#statement = statement;
    if ((flags & operationFlags.statement) === 0 && flags === this.#flags && kind === this.#kind && space === this.#space) return this.#head;
    const writer = new ByteWriter(16);
    writer.u8(kind);
    writer.u8(flags);
    writer.varint(space);
    if ((flags & operationFlags.statement) !== 0) writer.varint(statement);
    [this.#flags, this.#kind, this.#space, this.#head] = [flags, kind, space, writer.bytes()];
    return this.#head;
  }
}

function writeOperation(pieces: Uint8Array[], operation: NewOperation, heads: HeadWriter, space: number): void {
  const images = imagesOf(operation);
  pieces.push(heads.head(operation, images, space), operation.o.toBytes());
  for (const document of [operation.o2, images.before, images.after]) if (document !== undefined) pieces.push(document.toBytes());
}

/** Bytes of an operation's documents. */
export const sizeOf = ({ o, before, after }: NewOperation): number => o.byteLength + (before?.byteLength ?? 0) + (after?.byteLength ?? 0);

/** Cuts the operations where a row is full. */
function cut(operations: readonly NewOperation[]): NewOperation[][] {
  const rows: NewOperation[][] = [];
  let row: NewOperation[] = [];
  let bytes = 0;
  for (const operation of operations) {
    if (row.length > 0 && bytes + sizeOf(operation) > rowBytesMax) {
      rows.push(row);
      [row, bytes] = [[], 0];
    }
    row.push(operation);
    bytes += sizeOf(operation);
  }
  rows.push(row);
  return rows;
}

function encodeRow(operations: readonly NewOperation[], commit: CommitOperations, { tick, first, wallMs }: { readonly tick: number; readonly first: number; readonly wallMs: number }): Uint8Array[] {
  const spaces: OperationSpace[] = [];
  const body: Uint8Array[] = [];
  const heads = new HeadWriter();
  for (const operation of operations) {
    let space = spaces.lastIndexOf(operation.space);
    if (space < 0) space = spaces.push(operation.space) - 1;
    writeOperation(body, operation, heads, space);
  }
  const head = new ByteWriter(128);
  head.u8(rowFormat);
  head.u8((commit.transaction ? rowFlags.transaction : 0) | (commit.owner === undefined ? 0 : rowFlags.owner));
  head.varint(tick);
  head.varint(first);
  head.varint(operations.length);
  head.varint(wallMs);
  if (commit.owner !== undefined) head.append(Document.of({ lsid: commit.owner.lsid, txnNumber: commit.owner.txnNumber }).toBytes());
  head.varint(spaces.length);
  for (const { ns, uuid } of spaces) head.append(Document.of({ ns, ui: uuid }).toBytes());
  return [head.bytes(), ...body];
}

/** The rows of a commit with at least one operation. */
export function encodeCommit(commit: CommitOperations, wallMs: number): EncodedCommit {
  const values: Uint8Array[][] = [];
  let [ticks, first] = [0, 0];
  for (const operations of cut(commit.operations)) {
    values.push(encodeRow(operations, commit, { tick: ticks, first, wallMs }));
    first += operations.length;
    ticks += commit.transaction ? 1 : operations.length;
  }
  return { values, ticks, entries: ticks };
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
  if (reader.u8() !== rowFormat) reader.fail('an oplog row of an unknown format');
  const flags = reader.u8();
  const transaction = (flags & rowFlags.transaction) !== 0;
  const [tick, first, count] = [reader.varint(), reader.varint(), reader.varint()];
  const wall = new DateTime(reader.varint());
  const owner = (flags & rowFlags.owner) === 0 ? undefined : readOwner(reader);
  const spaces = Array.from({ length: reader.varint() }, () => readSpace(reader));
  const statements = { last: -2 };
  return Array.from({ length: count }, (_, index) => ({
    ...readOperation(reader, spaces, statements),
    time: timeAt(key, tick + (transaction ? 0 : index)),
    wall,
    owner,
    index: transaction ? first + index : undefined,
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
    fields.push(['op', 'c'], ['ns', 'admin.$cmd'], ['o', Document.of({ applyOps: list })]);
  }
  if (head.statement !== undefined) fields.push(['stmtId', head.statement]);
  fields.push(['ts', head.time], ['t', 1n], ['v', 2n], ['wall', head.wall]);
  return Document.fromEntries(fields);
}
