// One index: its definition, its dictionary, and the way from a document to its keys and rows.

import { must } from '../base/assert.ts';
import { compareBytes, concatBytes } from '../base/bytes.ts';
import { atOneGo, mappedItems, overItems } from '../base/long-lists.ts';
import { sortedOf } from '../base/long-sort.ts';
import { looped } from '../base/long-work.ts';
import { Document, elementValue, encodeKey, keyTypeBits } from '../bson/index.ts';
import type { RawView } from '../bson/index.ts';
import type { Cursor, DictionaryId, Direction, KeyRange, Totals } from '../engine/index.ts';
import type { Collation } from '../collation/index.ts';
import { compileFilter } from '../query/index.ts';
import type { Filter, FilterNode, QueryOptions } from '../query/index.ts';
import type { IndexKind } from './index-kind.ts';
import { noBits, readIndexRow, rowValue } from './index-row.ts';
import type { IndexRow } from './index-row.ts';
import type { MultikeyFlag } from './entry.ts';
import type { MultikeyFlags } from './multikey-flags.ts';
import { ChainedCursor } from './partition/chained-cursor.ts';
import { MergedCursor } from './partition/merged-cursor.ts';
import type { PartitionRouter } from './partition/partition-router.ts';
import { sumOfTotals } from './partition/sums.ts';
import { shownKey } from './refusal.ts';
import { exactValues, keyMaker, withPlainKey } from './slot-key.ts';
import { indexPath, SlotFinder } from './slot.ts';
import { specialKeysOf } from './special/make-special-keys.ts';
import type { SpecialKeys } from './special/special-keys.ts';
import type { CatalogTransaction, Index, IndexDefinition, IndexEntry, RecordKey } from './types.ts';

/** The rows of one document in one index, in the order of their keys, each key once. */
export interface DocumentRows {
  readonly rows: readonly IndexRow[];
  /** Multikey flags that the document needs, as `field * 256 + component`. */
  readonly flags: readonly number[];
}

/** Where an index lies and what is known of its arrays. */
export interface IndexPlace {
  readonly dictionary: DictionaryId;
  readonly isPrimary: boolean;
  readonly flags: MultikeyFlags;
  /** Of what writers keep beside an index that is being built: the index. */
  readonly sideOf?: DictionaryId;
  /** Of an index of a partitioned collection: its shares, in the order of the parts. */
  readonly shares?: IndexShares;
  /** Of such a share: the index, under which the flags of all are kept. */
  readonly shareOf?: DictionaryId;
}

/** The shares of an index over a partitioned collection. */
export interface IndexShares {
  readonly router: PartitionRouter;
  readonly indexes: readonly StoredIndex[];
}

/** Stands for the row of a document that has none. */
export const noRow: IndexRow = { key: noBits, value: noBits };

/** So many bytes of a document are looked through in about the time of one step of a loop. */
const BYTES_PER_STEP = 64;

const noRows: DocumentRows = { rows: [], flags: [] };
const noFlags: readonly number[] = [];

/** An index over the documents of a collection. */
export class StoredIndex implements Index {
  readonly name: string;
  readonly key: Document;
  readonly paths: readonly string[];
  readonly directions: readonly Direction[];
  readonly unique: boolean;
  readonly sparse: boolean;
  readonly clustering: boolean;
  readonly hidden: boolean;
  readonly preparesUnique: boolean;
  readonly partialFilter: Document | undefined;
  readonly expireAfterSeconds: number | undefined;
  readonly collation: Collation | undefined;
  readonly kind: IndexKind;
  readonly wildcardProjection: Document | undefined;
  readonly spec: Document;
  readonly dictionary: DictionaryId;
  readonly isPrimary: boolean;
  /** What writers keep beside a unique index that is being built: its rows say of each document whether it has the key. */
  readonly isSide: boolean;
  readonly #flagsDictionary: DictionaryId;
  /** Shared by all objects for this dictionary. */
  readonly flags: MultikeyFlags;
  readonly #finder: SlotFinder;
  readonly #filter: Filter | undefined;
  readonly #special: SpecialKeys | undefined;
  readonly #shares: IndexShares | undefined;

  constructor(definition: IndexDefinition, place: IndexPlace, options: QueryOptions) {
    this.name = definition.name;
    this.key = definition.key;
    this.paths = definition.paths;
    this.directions = definition.directions;
    this.unique = definition.unique;
    this.sparse = definition.sparse;
    this.clustering = definition.clustering;
    this.hidden = definition.hidden;
    this.preparesUnique = definition.preparesUnique;
    this.partialFilter = definition.partialFilter;
    this.expireAfterSeconds = definition.expireAfterSeconds;
    this.collation = definition.collation;
    this.kind = definition.kind;
    this.wildcardProjection = definition.wildcardProjection;
    this.#special = specialKeysOf(definition);
    this.spec = definition.spec;
    this.dictionary = place.dictionary;
    this.isPrimary = place.isPrimary;
    this.isSide = place.sideOf !== undefined;
    this.#flagsDictionary = place.sideOf ?? place.shareOf ?? place.dictionary;
    this.#shares = place.shares;
    this.flags = place.flags;
    const paths = definition.paths.map(indexPath);
    this.#finder = new SlotFinder(paths);
    this.#filter = definition.partialFilter === undefined ? undefined : compileFilter(definition.partialFilter, { ...options, collation: definition.collation });
  }

  get partialShape(): FilterNode | undefined {
    return this.#filter?.shape;
  }

  get isMultikey(): boolean {
    return this.flags.isMultikey;
  }

  get multikeyComponents(): readonly (readonly boolean[])[] {
    return this.flags.components;
  }

  /** Whether the index has an entry of this document at all. */
  includes(document: Document): boolean {
    return this.#filter === undefined || this.#filter.matches(document);
  }

  /** What a document with this key has in the index; 171 for arrays side by side. */
  rowsOf(document: Document, recordKey: RecordKey): DocumentRows {
    if (!this.includes(document)) return noRows;
    if (this.#special !== undefined) return this.#specialRows(this.#special, document, recordKey);
    const row = this.#plainRow(document.raw, recordKey);
    if (row === undefined) return this.#rowsOfArrays(document.raw, recordKey);
    return row === noRow ? noRows : { rows: [row], flags: noFlags };
  }

  /** The row of a document where no path meets an array; `noRow` where it has none, undefined where `rowsOf` must tell. */
  plainRowOf(document: Document, recordKey: RecordKey): IndexRow | undefined {
    if (this.#special !== undefined) return undefined;
    return this.includes(document) ? this.#plainRow(document.raw, recordKey) : noRow;
  }

  /** Whether a document has one row at most if no path meets an array, under a key that no other document can have. */
  get isPlain(): boolean {
    return !(this.unique || this.clustering || this.isSide || this.preparesUnique) && this.#special === undefined && this.#filter === undefined;
  }

  /** Whether a path meets an array. */
  meetsArray({ bytes, start }: RawView): boolean {
    for (let field = 0; field < this.directions.length; field++) if (this.#finder.locate(bytes, start, field) === -2) return true;
    return false;
  }

  /** Of a plain index and a document without arrays on its paths: makes the key of its row in `keyMaker`, and gives the value; undefined: it has none. */
  makePlain(document: RawView, recordKey: RecordKey): Uint8Array | undefined {
    const found = this.#makeFields(document);
    if (this.sparse && found === 0) {
      keyMaker.finishBits();
      return undefined;
    }
    keyMaker.append(recordKey);
    return rowValue(false, recordKey, keyMaker.finishBits());
  }

  /** Where no path meets an array, there is one row at most; undefined where one does. */
  #plainRow(document: RawView, recordKey: RecordKey): IndexRow | undefined {
    const found = this.#makeFields(document);
    if (found < 0) {
      keyMaker.finishBits();
      return undefined;
    }
    const row = this.#finishRow(document, recordKey);
    return this.sparse && found === 0 ? noRow : row;
  }

  /** Makes the fields of a key in `keyMaker`; how many of them the document has, or -1 where a path meets an array. */
  #makeFields({ bytes, start }: RawView): number {
    const { directions } = this;
    let found = 0;
    keyMaker.begin(this.collation);
    for (let field = 0; field < directions.length; field++) {
      const offset = this.#finder.locate(bytes, start, field);
      if (offset === -2) return -1;
      const direction = directions[field] as Direction;
      if (offset < 0) keyMaker.addMissing(direction);
      else {
        found += 1;
        keyMaker.add(bytes, bytes[offset] as number, elementValue(bytes, offset), direction);
      }
    }
    return found;
  }

  #finishRow(document: RawView, recordKey: RecordKey): IndexRow {
    if (!this.unique) keyMaker.append(recordKey);
    const { key, typeBits } = keyMaker.finish();
    const content = this.clustering ? document.bytes.subarray(document.start, document.end) : typeBits;
    return { key, value: rowValue(this.unique, recordKey, content) };
  }

  #specialRows(special: SpecialKeys, document: Document, recordKey: RecordKey): DocumentRows {
    const { keys, isMultikey } = atOneGo(document.byteLength / BYTES_PER_STEP, () => special.keysOf(document));
    const rows = mappedItems(keys, ({ values, plain }): IndexRow => {
      const fields = encodeKey(values, special.directions);
      const exact = plain ?? values;
      const bits = keyTypeBits(exact);
      const typeBits = this.collation === undefined ? bits : withPlainKey(encodeKey(exact, special.directions), bits);
      const content = this.clustering ? document.toBytes() : typeBits;
      return { key: this.unique ? fields : concatBytes([fields, recordKey]), value: rowValue(this.unique, recordKey, content) };
    });
    return { rows: distinct(rows), flags: isMultikey ? [0] : noFlags };
  }

  #rowsOfArrays(document: RawView, recordKey: RecordKey): DocumentRows {
    const begin = (): ArrayRows => ({ rows: [], flags: new Set() });
    // What has been gathered is kept where a long array is left for a while: the walk goes on behind it.
    const { rows, flags } = must(looped(begin, (found) => this.#gather(document, recordKey, found)), 'rows are gathered');
    return { rows: distinct(rows), flags: [...flags] };
  }

  #gather(document: RawView, recordKey: RecordKey, { rows, flags }: ArrayRows): true {
    this.#finder.find(document.bytes, document.start, {
      key: (slots) => {
        if (this.sparse && slots.every((slot) => slot.missing)) return;
        keyMaker.begin(this.collation);
        slots.forEach(({ bytes, type, at }, field) => {
          keyMaker.add(bytes, type, at, this.directions[field] as Direction);
        });
        rows.push(this.#finishRow(document, recordKey));
      },
      array: (field, component) => flags.add(field * 256 + component),
    });
    return true;
  }

  entry(key: Uint8Array, value: Uint8Array): IndexEntry {
    if (this.isPrimary) return { fields: key, recordKey: key, typeBits: noBits, document: value };
    return readIndexRow(this, key, value);
  }

  /** As `entry`, of what lies in the side dictionary of this unique index. */
  entryOfSide(key: Uint8Array, value: Uint8Array): IndexEntry {
    return readIndexRow({ unique: false, clustering: this.clustering }, key, value);
  }

  /** The values of a row as a document of paths, for messages. */
  keyValue({ key, value }: IndexRow): Document {
    const values = exactValues(this, this.entry(key, value));
    return Document.fromEntries(this.paths.map((path, i) => [path, shownKey(values[i] ?? null, this.collation)]));
  }

  scan(txn: CatalogTransaction, range: KeyRange, direction: Direction): Cursor {
    if (this.#shares === undefined) return txn.engine.cursor(this.dictionary, range, direction);
    return this.#scanShares(this.#shares, txn, { range, direction });
  }

  totals(txn: CatalogTransaction): Totals {
    if (this.#shares === undefined) return txn.engine.totals(this.dictionary);
    return sumOfTotals(this.#shares.indexes.map((share) => share.totals(txn)));
  }

  #scanShares({ router, indexes }: IndexShares, txn: CatalogTransaction, { range, direction }: { readonly range: KeyRange; readonly direction: Direction }): Cursor {
    if (!this.isPrimary) return new MergedCursor(indexes.map((share) => share.scan(txn, range, direction)), direction);
    const { first, last } = router.span(range);
    const cursors = indexes.slice(first, last + 1).map((share) => share.scan(txn, range, direction));
    return new ChainedCursor(direction > 0 ? cursors : cursors.reverse());
  }

  /** Where its entries are: its own dictionary, or those of its shares. */
  get dictionaries(): readonly DictionaryId[] {
    return this.#shares === undefined ? [this.dictionary] : this.#shares.indexes.map(({ dictionary }) => dictionary);
  }

  /** Where the entries of the document with this key are: the index itself, or its share. */
  shareFor(recordKey: RecordKey): StoredIndex {
    if (this.#shares === undefined) return this;
    return must(this.#shares.indexes[this.#shares.router.find(recordKey)], 'a share for every part');
  }

  /** A flag as it is kept. */
  flagRow(flag: number): MultikeyFlag {
    return { dictionary: this.#flagsDictionary, field: flag >>> 8, component: flag & 0xff };
  }
}

interface ArrayRows {
  readonly rows: IndexRow[];
  readonly flags: Set<number>;
}

/** Rows in the order of their keys, each key once. */
function distinct(rows: readonly IndexRow[]): readonly IndexRow[] {
  const sorted = sortedOf(rows, (a, b) => compareBytes(a.key, b.key));
  return overItems(sorted, (): IndexRow[] => [], (kept, row) => {
    const last = kept.at(-1);
    if (last === undefined || compareBytes(row.key, last.key) !== 0) kept.push(row);
  });
}
