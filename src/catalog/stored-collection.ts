// A collection over dictionaries: documents keyed by their encoded `_id`, and the indexes that go with them. One object stands for one
// version of the collection's definition; `owner` is the transaction that changed it and has not committed yet, if there is one.

import { must } from '../base/assert.ts';
import { equalBytes } from '../base/bytes.ts';
import { CommandError } from '../base/errors.ts';
import { collated, Document, encodeKey, equalValues } from '../bson/index.ts';
import type { Binary, Value } from '../bson/index.ts';
import { isFreshValue } from '../engine/index.ts';
import { inSlices } from '../env/index.ts';
import type { Cursor, DictionaryId, DictionaryStatistics, Direction, KeyRange, Seq, Soon, Totals, Transaction, TreeLevel, ValuePart } from '../engine/index.ts';
import { nextRecordKey, removeOldest } from './capped.ts';
import { checkCollection } from './check.ts';
import { changeOf, DocumentChange, longBytes, readLocked, turnOf } from './document-change.ts';
import type { ChangedCollection } from './changed-collection.ts';
import type { KeyMove } from './document-change.ts';
import { unsizedKey } from './entry.ts';
import type { NameEntry } from './entry.ts';
import type { IncomingDocuments } from './incoming.ts';
import { bytesMaxOf, checkDepth, documentBytesMax } from './incoming.ts';
import type { Namespace } from './namespace.ts';
import { DocumentNotes } from './oplog/document-notes.ts';
import { describeCollection, optionsOf } from './options.ts';
import type { Partitions } from './partition/partitions.ts';
import { hasPlainRows, writePlain } from './plain-insertion.ts';
import { PrimaryKey } from './primary-key.ts';
import { recordKeyOf } from './record-key.ts';
import { duplicateKey, shownKey } from './refusal.ts';
import { afterSoon } from './soon.ts';
import type { StoredIndex } from './stored-index.ts';
import { checkMeasurement } from './time-series.ts';
import { storedTransaction } from './transaction.ts';
import type { CollectionState, StoredTransaction } from './transaction.ts';
import type {
  CatalogTransaction,
  Collection,
  CollectionCheck,
  CollectionOptions,
  CollectionStorage,
  InsertChoices,
  PartitionInfo,
  PreparedDocument,
  RecordKey,
  StorageFigures,
} from './types.ts';
import { Validator } from './validator.ts';
import type { QueryOptions } from '../query/index.ts';

/** What collections share of their catalog. */
export interface CollectionServices {
  readonly incoming: IncomingDocuments;
  readonly catalogDictionary: DictionaryId;
  readonly dictionaryStatistics: (id: DictionaryId) => DictionaryStatistics;
  readonly treeLevels: (id: DictionaryId) => Promise<readonly TreeLevel[]>;
  readonly lastWrite: (id: DictionaryId, snapshot: Seq) => Seq | undefined;
  readonly queryOptions: () => QueryOptions;
  readonly beginRead: () => Transaction;
}

/** What one object is made of. */
export interface CollectionParts {
  readonly ns: Namespace;
  readonly entry: Extract<NameEntry, { readonly kind: 'collection' }>;
  /** `_id_` first. */
  readonly indexes: readonly StoredIndex[];
  /** What writers keep of indexes that are being built. */
  readonly building: readonly StoredIndex[];
  /** Of a partitioned collection. */
  readonly partitions?: Partitions;
  readonly state: CollectionState;
  readonly version: number;
}

/** A document on its way in, and what comes with it. */
interface Insertion {
  readonly txn: StoredTransaction;
  readonly place: ChangedCollection;
  readonly key: RecordKey;
  readonly document: Document;
  readonly choices: InsertChoices | undefined;
  readonly change: DocumentChange;
}

/** The one implementation of Collection. */
export class StoredCollection implements Collection {
  readonly kind = 'collection';
  readonly ns: Namespace;
  readonly uuid: Binary;
  readonly dictionary: DictionaryId;
  readonly indexes: readonly StoredIndex[];
  readonly secondaries: readonly StoredIndex[];
  /** All that a writer keeps beside the documents. */
  readonly kept: readonly StoredIndex[];
  readonly entry: CollectionParts['entry'];
  readonly state: CollectionState;
  readonly options: CollectionOptions;
  readonly isKeyedById: boolean;
  readonly partitions: Partitions | undefined;
  version: number;
  owner: CatalogTransaction | undefined;
  readonly #services: CollectionServices;
  readonly #bytesMax: number;
  readonly #validator: Validator;
  readonly #notes: DocumentNotes;
  /** Of a collection that chose one. */
  readonly #primaryKey: PrimaryKey | undefined;
  /** Whether its documents have one row at most in each index, but for arrays. */
  readonly #isPlain: boolean;

  constructor(parts: CollectionParts, services: CollectionServices) {
    this.ns = parts.ns;
    this.entry = parts.entry;
    this.uuid = parts.entry.uuid;
    this.dictionary = parts.entry.dictionary;
    this.indexes = parts.indexes;
    this.partitions = parts.partitions;
    this.isKeyedById = parts.entry.idIndex === undefined;
    this.secondaries = parts.indexes.filter((index) => !index.isPrimary);
    const primaryKey = this.isKeyedById ? undefined : parts.indexes.find((index) => index.isPrimary);
    this.#primaryKey = primaryKey === undefined ? undefined : new PrimaryKey(primaryKey);
    this.kept = parts.building.length === 0 ? this.secondaries : [...this.secondaries, ...parts.building];
    this.#isPlain = parts.partitions === undefined && this.kept.every((index) => index.isPlain);
    this.state = parts.state;
    this.version = parts.version;
    this.options = optionsOf(parts.entry.options);
    this.#notes = new DocumentNotes({ ns: parts.ns, uuid: parts.entry.uuid, keepsImages: this.options.keepsImages === true });
    this.#services = services;
    const { validator, validationLevel, validationAction } = this.options;
    const validation = { validator, level: validationLevel ?? 'strict', action: validationAction ?? 'error' } as const;
    this.#bytesMax = bytesMaxOf(this.ns);
    this.#validator = new Validator(validation, () => ({ ...services.queryOptions(), collation: this.options.collation }));
  }

  /** Whether documents lie in the order of their insertion. */
  get #isNumbered(): boolean {
    return !this.isKeyedById && this.#primaryKey === undefined;
  }

  get catalogDictionary(): DictionaryId {
    return this.#services.catalogDictionary;
  }

  beginRead(): Transaction {
    return this.#services.beginRead();
  }

  describe(): Document {
    return describeCollection(this.ns, this.entry);
  }

  prepare(document: Document): PreparedDocument {
    const prepared = this.#services.incoming.prepare(document, this.#bytesMax);
    if (this.options.timeSeries !== undefined) checkMeasurement(prepared, this.options.timeSeries);
    return { document: prepared, key: this.#primaryKey?.keyOf(prepared) ?? recordKeyOf(prepared, this.options.collation) };
  }

  keyOf(id: Value): RecordKey {
    if (!this.isKeyedById) throw new CommandError(20, 'IllegalOperation', `documents of ${this.ns.text} do not lie in the order of _id`);
    return this.#idKeyOf(id);
  }

  #idKeyOf(id: Value): RecordKey {
    return encodeKey([collated(id, this.options.collation)]);
  }

  keyFor(document: Document): RecordKey | undefined {
    if (this.isKeyedById) return recordKeyOf(document, this.options.collation);
    return this.#primaryKey?.keyOf(document);
  }

  getById(txn: CatalogTransaction, id: Value): Soon<Document | undefined> {
    const key = this.#idKeyOf(id);
    if (this.isKeyedById) return this.get(txn, key);
    const index = must(this.indexes[0], 'the index on _id');
    if (!index.unique) return this.#firstById(txn, index, key);
    if (this.partitions !== undefined) return this.#getByIdInParts(txn, index, key);
    return afterSoon(txn.engine.get(index.dictionary, key), (row) => (row === undefined ? undefined : this.get(txn, index.entry(key, row).recordKey.slice())));
  }

  /** Of documents that may share an `_id` the first. */
  async #firstById(txn: CatalogTransaction, index: StoredIndex, key: RecordKey): Promise<Document | undefined> {
    const cursor = index.scan(txn, { from: key }, 1);
    try {
      const batch = await cursor.nextBatch({ rows: 1, bytes: 1 });
      const entry = batch.length === 0 ? undefined : index.entry(batch.key(0), batch.value(0));
      return entry !== undefined && equalBytes(entry.fields, key) ? await this.get(txn, entry.recordKey.slice()) : undefined;
    } finally {
      cursor.close();
    }
  }

  async #getByIdInParts(txn: CatalogTransaction, index: StoredIndex, key: RecordKey): Promise<Document | undefined> {
    const cursor = index.scan(txn, { from: key }, 1);
    try {
      const batch = await cursor.nextBatch({ rows: 1, bytes: 1 });
      if (batch.length === 0 || !equalBytes(batch.key(0), key)) return undefined;
      return await this.get(txn, index.entry(key, batch.value(0)).recordKey.slice());
    } finally {
      cursor.close();
    }
  }

  insert(transaction: CatalogTransaction, prepared: PreparedDocument, choices?: InsertChoices): Soon<void> {
    const txn = storedTransaction(transaction);
    const { document } = prepared;
    const checked = choices?.bypassValidation === true ? undefined : this.#validate(txn, document, undefined);
    if (checked !== undefined) return checked.then(() => this.#insertValid(txn, prepared, choices));
    return this.#insertValid(txn, prepared, choices);
  }

  #insertValid(txn: StoredTransaction, { document, key }: PreparedDocument, choices: InsertChoices | undefined): Soon<void> {
    if (this.#isNumbered) return this.#insertNumbered(txn, document, choices);
    if (this.#isPlain && document.byteLength < longBytes) return this.#insertPlain(txn, { document, key }, choices);
    return this.#insertUsual(txn, { document, key }, choices);
  }

  /** Inserts a short document with one row at most in each index; where it must wait, or has other rows, in the usual way. */
  #insertPlain(txn: StoredTransaction, prepared: PreparedDocument, choices: InsertChoices | undefined): Soon<void> {
    const { document, key } = prepared;
    const waiting = txn.willWrite(this) ?? txn.engine.lock(this.dictionary, key);
    const found = waiting ?? readLocked(txn, this, key);
    if (found instanceof Promise) return found.then(() => this.#insertUsual(txn, prepared, choices));
    if (found !== undefined) throw this.#duplicateId(document);
    if (!hasPlainRows(this.kept, document)) return this.#insertUsual(txn, prepared, choices);
    this.#notes.insert(txn, document, choices);
    return writePlain({ txn, collection: this, key, document });
  }

  #insertUsual(txn: StoredTransaction, { document, key }: PreparedDocument, choices: InsertChoices | undefined): Soon<void> {
    const place = this.#placeOf(key);
    const making = changeOf(txn, document.byteLength, () => new DocumentChange(place, key, undefined, document));
    if (making instanceof Promise) return making.then((change) => this.#insertChange({ txn, place, key, document, choices, change }));
    return this.#insertChange({ txn, place, key, document, choices, change: making });
  }

  #insertChange(insertion: Insertion): Soon<void> {
    const { txn, place, key } = insertion;
    const waiting = txn.willWrite(this) ?? txn.engine.lock(place.dictionary, key);
    return waiting === undefined ? this.#insertLocked(insertion) : this.#insertAfter(waiting, insertion);
  }

  /** Waits, and does what comes before the insertion once more: what was done already is done at once. */
  async #insertAfter(waiting: Promise<void>, insertion: Insertion): Promise<void> {
    const { txn, place, key } = insertion;
    await waiting;
    await txn.willWrite(this);
    await txn.engine.lock(place.dictionary, key);
    await this.#insertLocked(insertion);
  }

  #insertLocked(insertion: Insertion): Soon<void> {
    const { txn, place, key } = insertion;
    const found = readLocked(txn, place, key);
    return found instanceof Promise ? found.then((later) => this.#insertNew(later, insertion)) : this.#insertNew(found, insertion);
  }

  /** Inserts under a key where so much was found. */
  #insertNew(found: Uint8Array | undefined, insertion: Insertion): Soon<void> {
    if (found !== undefined) throw this.#duplicateId(insertion.document);
    const checking = insertion.change.check(insertion.txn);
    return checking === undefined ? this.#insertChecked(insertion) : checking.then(() => this.#insertChecked(insertion));
  }

  #insertChecked({ txn, document, choices, change }: Insertion): Soon<void> {
    this.#notes.insert(txn, document, choices);
    const turn = turnOf(txn, document);
    return turn === undefined ? change.write(txn) : turn.then(() => change.write(txn));
  }

  /** Refuses a document that the validator does (121); in slices where that may take long. */
  #validate({ pace }: StoredTransaction, document: Document, before: Document | undefined): Promise<void> | undefined {
    const check = (): void => {
      this.#validator.check(document, before);
    };
    if (pace === undefined || this.#validator.isEmpty) check();
    else return inSlices(pace, check) ?? undefined;
    return undefined;
  }

  /** Refuses a new document that the validator does (121). */
  checkNew(document: Document): void {
    this.#validator.check(document, undefined);
  }

  /** Notes for the log that the document of these bytes goes; of them nothing is kept that is not needed. */
  noteGone(txn: StoredTransaction, bytes: Uint8Array): void {
    this.#notes.gone(txn, bytes);
  }

  /** A document of a capped collection or a time series gets the next number; of a capped one the oldest go for which there is no room left. */
  async #insertNumbered(txn: StoredTransaction, document: Document, choices: InsertChoices | undefined): Promise<void> {
    await txn.willWrite(this);
    const key = await nextRecordKey(txn, this);
    const change = await changeOf(txn, document.byteLength, () => new DocumentChange(this, key, undefined, document));
    await change.check(txn);
    this.#notes.insert(txn, document, choices);
    await change.write(txn);
    if (this.options.capped !== undefined) await removeOldest(txn, this, this.options.capped);
  }

  #duplicateId(document: Document): CommandError {
    const [primary] = this.indexes;
    return duplicateKey(this.ns, primary as StoredIndex, Document.of({ _id: shownKey(document.get('_id') ?? null, this.options.collation) }));
  }

  update(
    transaction: CatalogTransaction,
    key: RecordKey,
    { before, after }: { readonly before: Document; readonly after: Document },
    choices?: InsertChoices,
  ): Soon<void> {
    const txn = storedTransaction(transaction);
    if (equalBytes(before.toBytes(), after.toBytes())) return undefined;
    this.#checkReplacement(this.isKeyedById ? key : recordKeyOf(before, this.options.collation), before, after);
    const checked = choices?.bypassValidation === true ? undefined : this.#validate(txn, after, before);
    if (checked !== undefined) return checked.then(() => this.#updateValid(txn, key, { before, after }, choices));
    return this.#updateValid(txn, key, { before, after }, choices);
  }

  #updateValid(txn: StoredTransaction, key: RecordKey, { before, after }: { readonly before: Document; readonly after: Document }, choices: InsertChoices | undefined): Soon<void> {
    const place = this.#placeOf(key);
    const moved = this.#moved(key, after);
    if (!(moved instanceof Uint8Array) && this.#placeOf(moved.to) !== place) return this.#moveOver(txn, moved, { before, after }, choices);
    const making = changeOf(txn, before.byteLength + after.byteLength, () => new DocumentChange(place, moved, before, after));
    return afterSoon(making, (change) =>
      afterSoon(txn.willWrite(this), () =>
        afterSoon(change.check(txn), () =>
          afterSoon(turnOf(txn, before), () =>
            afterSoon(this.#notes.update(txn, { before, after }, choices), () => afterSoon(turnOf(txn, before), () => change.write(txn))),
          ),
        ),
      ),
    );
  }

  /** Where the document of a key and its entries are. */
  #placeOf(key: RecordKey): ChangedCollection {
    return this.partitions === undefined ? this : this.partitions.of(key);
  }

  /** An update that takes the document from one part into another. */
  async #moveOver(txn: StoredTransaction, { from, to }: KeyMove, { before, after }: { readonly before: Document; readonly after: Document }, choices: InsertChoices | undefined): Promise<void> {
    const out = new DocumentChange(this.#placeOf(from), from, before, undefined);
    const into = new DocumentChange(this.#placeOf(to), to, undefined, after);
    await txn.willWrite(this);
    await into.check(txn);
    await this.#notes.update(txn, { before, after }, choices);
    await out.write(txn);
    await into.write(txn);
  }

  /** The key, and where an update changes it, the one that the document comes to lie under. */
  #moved(key: RecordKey, after: Document): RecordKey | KeyMove {
    const to = this.#primaryKey?.keyOf(after);
    return to === undefined || equalBytes(key, to) ? key : { from: key, to };
  }

  #checkReplacement(key: RecordKey, before: Document, after: Document): void {
    if (after.byteLength > this.#bytesMax) {
      throw new CommandError(17419, 'Location17419', `Resulting document after update is larger than ${this.#bytesMax}`);
    }
    if (!after.has('_id') || !equalBytes(recordKeyOf(after, this.options.collation), key) || this.#movesId(before, after)) {
      throw new CommandError(66, 'ImmutableField', "Performing an update on the path '_id' would modify the immutable field '_id'");
    }
    const { bytes, start } = after.raw;
    checkDepth(bytes, start, 1);
  }

  /** Under a collation an `_id` may change without its key changing. */
  #movesId(before: Document, after: Document): boolean {
    return this.options.collation !== undefined && !equalValues(after.get('_id') ?? null, before.get('_id') ?? null);
  }

  remove(transaction: CatalogTransaction, key: RecordKey, before: Document, choices?: InsertChoices): Soon<void> {
    const txn = storedTransaction(transaction);
    const making = changeOf(txn, before.byteLength, () => new DocumentChange(this.#placeOf(key), key, before, undefined));
    return afterSoon(making, (change) =>
      afterSoon(txn.willWrite(this), () => {
        this.#notes.remove(txn, before, choices);
        return change.write(txn);
      }),
    );
  }

  lock(transaction: CatalogTransaction, key: RecordKey): Soon<void> {
    const txn = storedTransaction(transaction);
    return afterSoon(txn.willWrite(this), () => txn.engine.lock(this.#placeOf(key).dictionary, key));
  }

  contentVersion(txn: CatalogTransaction): number | undefined {
    return txn.mode === 'read' && this.partitions === undefined ? this.#services.lastWrite(this.dictionary, txn.snapshot) : undefined;
  }

  get(txn: CatalogTransaction, key: RecordKey): Soon<Document | undefined> {
    return afterSoon(txn.engine.get(this.#placeOf(key).dictionary, key), documentOf);
  }

  peek(txn: CatalogTransaction, key: RecordKey, part: ValuePart = wholeDocument): Soon<Uint8Array | undefined> {
    return txn.engine.getPart(this.#placeOf(key).dictionary, key, part);
  }

  getLatest(txn: CatalogTransaction, key: RecordKey): Soon<Document | undefined> {
    return afterSoon(txn.engine.getLatest(this.#placeOf(key).dictionary, key), documentOf);
  }

  scan(txn: CatalogTransaction, range: KeyRange, direction: Direction): Cursor {
    return this.partitions === undefined ? txn.engine.cursor(this.dictionary, range, direction) : this.partitions.scan(txn.engine, range, direction);
  }

  totals(txn: CatalogTransaction): Totals {
    return this.partitions === undefined ? txn.engine.totals(this.dictionary) : this.partitions.totals(txn.engine);
  }

  storage(): CollectionStorage {
    const of = (id: DictionaryId): StorageFigures => this.#services.dictionaryStatistics(id);
    if (this.partitions !== undefined) return this.partitions.figures(of);
    return { documents: of(this.dictionary), indexes: new Map(this.secondaries.map((index) => [index.name, of(index.dictionary)])) };
  }

  async levels(): Promise<ReadonlyMap<string, readonly TreeLevel[]>> {
    const found = new Map<string, readonly TreeLevel[]>();
    if (this.partitions === undefined) for (const { name, dictionary } of this.indexes) found.set(name, await this.#services.treeLevels(dictionary));
    return found;
  }

  partitionInfo(): readonly PartitionInfo[] | undefined {
    const primary = this.indexes.find((index) => index.isPrimary);
    return primary === undefined ? undefined : this.partitions?.info(primary);
  }

  isSized(txn: CatalogTransaction): Soon<boolean> {
    return afterSoon(txn.engine.get(this.catalogDictionary, unsizedKey(this.dictionary)), (row) => row === undefined);
  }

  check(txn: CatalogTransaction, checkInterrupt?: () => Soon<void>): Promise<CollectionCheck> {
    return checkCollection(txn, this, checkInterrupt);
  }
}

/** Documents that may be larger than others, those of an administrator's own making, are whole in it too. */
const wholeDocument: ValuePart = { from: 0, to: 2 * documentBytesMax };
const documentOf = (bytes: Uint8Array | undefined): Document | undefined =>
  bytes === undefined ? undefined : Document.fromBytes(isFreshValue(bytes) ? bytes : bytes.slice());
