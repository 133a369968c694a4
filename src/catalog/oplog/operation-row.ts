// How the operations of one commit are kept: rows of the oplog's dictionary, whose keys begin with the commit's time. A commit with many
// documents is one row, with the documents in it as they are; each operation outside of a transaction has a time of its own, counted on
// from the row's. Layout in docs/file-format.md.

import { ByteReader } from '../../base/byte-reader.ts';
import { ByteWriter } from '../../base/byte-writer.ts';
import { Binary, BsonArray, BsonWriter, DateTime, Document, Timestamp } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import type { NewOperation, Operation, OperationKind, OperationOwner, OperationSpace } from './operation.ts';

export const rowFormat = 1;

export const kinds: readonly OperationKind[] = ['insert', 'update', 'replace', 'remove', 'command', 'note'];

/** A row that stands for rows of another dictionary. */
const elsewhereFormat = 2;

export const rowFlags = { transaction: 1, owner: 2, more: 4 } as const;
export const operationFlags = { o2: 1, before: 2, after: 4, statement: 8, nextStatement: 16 } as const;

/** Bytes of documents in a row that lies beside the log: there are many, and whoever goes on in the middle of one reads it from its beginning. */
export const asideRowBytes: number = 256 * 1024;
/** What a commit's rows have in common. */
export interface CommitHead {
  /** They are one transaction of several statements. */
  readonly transaction: boolean;
  readonly owner: OperationOwner | undefined;
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

/** Owners are written in it, one after the other: each retryable write has one. */
const owners: BsonWriter = new BsonWriter(64);

/** How a row tells whose it is. */
export const ownerRow = ({ lsid, txnNumber }: OperationOwner): Uint8Array => owners.reset().writeElement('lsid', lsid).writeElement('txnNumber', txnNumber).finish();

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
