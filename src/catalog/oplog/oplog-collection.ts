// `local.oplog.rs` as a collection that can be read: its documents are made of the rows when they are asked for. Keys are the times of the
// entries, so a plan that goes on from a key, and whoever tails it, finds its place again.

import { CommandError } from '../../base/errors.ts';
import { Binary, Document, Timestamp } from '../../bson/index.ts';
import type { Batch, BatchLimit, Cursor, Direction, KeyRange, Soon, Totals, TreeLevel } from '../../engine/index.ts';
import { Namespace } from '../namespace.ts';
import type { CatalogTransaction, Collection, CollectionCheck, CollectionOptions, Index, CollectionStorage, PreparedDocument, RecordKey } from '../types.ts';
import { timeKey } from './operation-cursor.ts';
import { entryOf } from './operation-row.ts';
import type { Operation, OperationCursor } from './operation.ts';
import type { OplogSegments } from './segments.ts';

/** Who reads the log. */
interface OperationReader {
  read(txn: CatalogTransaction, from: Timestamp | undefined, direction: Direction): OperationCursor;
}

const namespace = new Namespace('local', 'oplog.rs');
/** The same in all environments: it stands for no collection that could be renamed or dropped. */
const uuid = new Binary(Uint8Array.of(0, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, 1), 4);

interface Entry {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/** The entries of a row: one for each operation, or one for all that it has of a transaction. */
function entriesOf(row: readonly Operation[]): Entry[] {
  const made = (operations: readonly Operation[]): Entry => ({ key: timeKey((operations[0] as Operation).time), value: entryOf(operations).toBytes() });
  const [first] = row;
  if (first?.index === undefined) return row.map((operation) => made([operation]));
  return [made(first.index > (row.at(-1)?.index ?? 0) ? row.toReversed() : row)];
}

function timeOfKey(key: Uint8Array): Timestamp {
  const whole = new Uint8Array(8);
  whole.set(key.subarray(0, 8));
  const view = new DataView(whole.buffer);
  return new Timestamp(view.getUint32(0), view.getUint32(4));
}

function isBefore(a: Uint8Array, b: Uint8Array): boolean {
  for (let i = 0; i < Math.min(a.length, b.length); i++) if (a[i] !== b[i]) return (a[i] as number) < (b[i] as number);
  return a.length < b.length;
}

/** Entries as a scan of a dictionary gives rows. */
class EntryCursor implements Cursor {
  readonly #reader: OperationReader;
  readonly #txn: CatalogTransaction;
  readonly #range: KeyRange;
  readonly #direction: Direction;
  #operations: OperationCursor;
  #ready: Entry[] = [];

  constructor(reader: OperationReader, txn: CatalogTransaction, range: KeyRange, direction: Direction) {
    this.#reader = reader;
    this.#txn = txn;
    this.#range = range;
    this.#direction = direction;
    this.#operations = this.#from(direction === 1 ? range.from : range.to);
  }

  #from(key: Uint8Array | undefined): OperationCursor {
    return this.#reader.read(this.#txn, key === undefined ? undefined : timeOfKey(key), this.#direction);
  }

  async nextBatch({ rows }: BatchLimit): Promise<Batch> {
    while (this.#ready.length === 0) {
      const next = await this.#operations.nextRows();
      if (next.length === 0) break;
      const entries = next.flatMap(entriesOf);
      this.#ready = entries.filter(({ key }) => this.#isInside(key));
      if (this.#ready.length === 0 && entries.some(({ key }) => this.#isBeyond(key))) break;
    }
    const given = this.#ready.splice(0, rows);
    return {
      length: given.length,
      key: (index) => (given[index] as Entry).key,
      value: (index) => (given[index] as Entry).value,
    };
  }

  #isInside(key: Uint8Array): boolean {
    const { from, to } = this.#range;
    return (from === undefined || !isBefore(key, from)) && (to === undefined || isBefore(key, to));
  }

  /** Whether nothing that is read later can be inside. */
  #isBeyond(key: Uint8Array): boolean {
    const { from, to } = this.#range;
    return this.#direction === 1 ? to !== undefined && !isBefore(key, to) : from !== undefined && isBefore(key, from);
  }

  seek(key: Uint8Array): void {
    this.#operations.close();
    this.#ready = [];
    this.#operations = this.#from(key);
  }

  close(): void {
    this.#operations.close();
    this.#ready = [];
  }
}

function refused(): CommandError {
  return new CommandError(73, 'InvalidNamespace', 'the oplog is written by the server only');
}

/** The one collection of this kind. */
export class OplogCollection implements Collection {
  readonly kind = 'collection';
  readonly ns: Namespace = namespace;
  readonly uuid: Binary = uuid;
  readonly isKeyedById = false;
  readonly indexes: readonly Index[] = [];
  readonly options: CollectionOptions;
  readonly #reader: OperationReader;
  readonly #segments: OplogSegments;

  constructor(reader: OperationReader, segments: OplogSegments, bytesMax: number) {
    this.#reader = reader;
    this.#segments = segments;
    this.options = { capped: { sizeBytes: bytesMax }, collation: undefined, shown: Document.of({ capped: true, size: BigInt(bytesMax) }) };
  }

  describe(): Document {
    const info = Document.of({ readOnly: false, uuid });
    return Document.of({ name: namespace.collection, type: 'collection', options: this.options.shown, info });
  }

  scan(txn: CatalogTransaction, range: KeyRange, direction: Direction): Cursor {
    return new EntryCursor(this.#reader, txn, range, direction);
  }

  totals(txn: CatalogTransaction): Totals {
    let [rows, bytes] = [0, 0];
    for (const dictionary of this.#segments.dictionaries) {
      const part = txn.engine.totals(dictionary);
      rows += part.rows;
      bytes += part.bytes;
    }
    return { rows, bytes };
  }

  partitionInfo(): undefined {
    return undefined;
  }

  storage(): CollectionStorage {
    return { documents: this.#segments.figures(), indexes: new Map() };
  }

  levels(): Promise<ReadonlyMap<string, readonly TreeLevel[]>> {
    return Promise.resolve(new Map());
  }

  check(): Promise<CollectionCheck> {
    return Promise.resolve({ problems: [], documents: 0, entries: new Map() });
  }

  prepare(): PreparedDocument {
    throw refused();
  }

  keyAt(time: Timestamp): RecordKey {
    return timeKey(time);
  }

  keyOf(): RecordKey {
    return new Uint8Array(0);
  }

  getById(): Soon<Document | undefined> {
    return undefined;
  }

  insert(): Soon<void> {
    throw refused();
  }

  update(): Soon<void> {
    throw refused();
  }

  remove(): Soon<void> {
    throw refused();
  }

  lock(): Soon<void> {
    throw refused();
  }

  contentVersion(): undefined {
    return undefined;
  }

  get(): Soon<Document | undefined> {
    return undefined;
  }

  peek(): Soon<Uint8Array | undefined> {
    return undefined;
  }

  getLatest(): Soon<Document | undefined> {
    return undefined;
  }
}
