// One index: its definition, its dictionary, and the way from a document to its keys and rows.

import { compareBytes } from '../base/bytes.ts';
import { Document } from '../bson/index.ts';
import type { RawView } from '../bson/index.ts';
import type { Cursor, DictionaryId, Direction, KeyRange, Totals } from '../engine/index.ts';
import { compileFilter } from '../query/index.ts';
import type { Filter, FilterNode, QueryOptions } from '../query/index.ts';
import { indexRow, readIndexRow } from './index-row.ts';
import type { IndexKey, IndexRow } from './index-row.ts';
import type { MultikeyFlag } from './entry.ts';
import type { MultikeyFlags } from './multikey-flags.ts';
import { decodeSlots, encodeSlots } from './slot-key.ts';
import { indexPath, SlotFinder } from './slot.ts';
import type { Slot } from './slot.ts';
import type { CatalogTransaction, Index, IndexDefinition, IndexEntry, RecordKey } from './types.ts';

/** The keys of one document in one index, in no order, each once. */
export interface DocumentKeys {
  readonly keys: readonly IndexKey[];
  /** Multikey flags that the document needs, as `field * 256 + component`. */
  readonly flags: readonly number[];
}

/** Where an index lies and what is known of its arrays. */
export interface IndexPlace {
  readonly dictionary: DictionaryId;
  readonly isPrimary: boolean;
  readonly flags: MultikeyFlags;
}

const noKeys: DocumentKeys = { keys: [], flags: [] };
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
  readonly partialFilter: Document | undefined;
  readonly expireAfterSeconds: number | undefined;
  readonly spec: Document;
  readonly dictionary: DictionaryId;
  readonly isPrimary: boolean;
  /** Shared by all objects for this dictionary. */
  readonly flags: MultikeyFlags;
  readonly #finder: SlotFinder;
  readonly #filter: Filter | undefined;

  constructor(definition: IndexDefinition, place: IndexPlace, options: QueryOptions) {
    this.name = definition.name;
    this.key = definition.key;
    this.paths = definition.paths;
    this.directions = definition.directions;
    this.unique = definition.unique;
    this.sparse = definition.sparse;
    this.clustering = definition.clustering;
    this.hidden = definition.hidden;
    this.partialFilter = definition.partialFilter;
    this.expireAfterSeconds = definition.expireAfterSeconds;
    this.spec = definition.spec;
    this.dictionary = place.dictionary;
    this.isPrimary = place.isPrimary;
    this.flags = place.flags;
    const paths = definition.paths.map(indexPath);
    this.#finder = new SlotFinder(paths);
    this.#filter = definition.partialFilter === undefined ? undefined : compileFilter(definition.partialFilter, options);
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

  /** What the document gives; 171 for arrays side by side. */
  keysOf(document: Document): DocumentKeys {
    if (!this.includes(document)) return noKeys;
    const { bytes, start } = document.raw;
    const keys: IndexKey[] = [];
    let flags = noFlags;
    this.#finder.find(bytes, start, {
      key: (slots) => {
        if (!(this.sparse && slots.every(isMissing))) keys.push(encodeSlots(slots, this.directions));
      },
      array: (field, component) => {
        flags = [...flags, field * 256 + component];
      },
    });
    return keys.length > 1 ? { keys: distinct(keys), flags } : { keys, flags };
  }

  /** The row of one key of a document. */
  row(key: IndexKey, recordKey: RecordKey, document: RawView): IndexRow {
    const content = this.clustering ? document.bytes.subarray(document.start, document.end) : key.typeBits;
    return indexRow(this.unique, key, recordKey, content);
  }

  entry(key: Uint8Array, value: Uint8Array): IndexEntry {
    if (this.isPrimary) return { fields: key, recordKey: key, typeBits: noBits, document: value };
    return readIndexRow(this, key, value);
  }

  /** The values of one key as a document of paths, for messages. */
  keyValue(key: IndexKey): Document {
    const values = decodeSlots(key, this.directions);
    return Document.fromEntries(this.paths.map((path, i) => [path, values[i] ?? null]));
  }

  scan(txn: CatalogTransaction, range: KeyRange, direction: Direction): Cursor {
    return txn.engine.cursor(this.dictionary, range, direction);
  }

  totals(txn: CatalogTransaction): Totals {
    return txn.engine.totals(this.dictionary);
  }

  /** A flag as it is kept. */
  flagRow(flag: number): MultikeyFlag {
    return { dictionary: this.dictionary, field: flag >>> 8, component: flag & 0xff };
  }
}

const noBits = new Uint8Array(0);
const isMissing = (slot: Slot): boolean => slot.missing;

function distinct(keys: readonly IndexKey[]): readonly IndexKey[] {
  const sorted = [...keys].sort((a, b) => compareBytes(a.fields, b.fields));
  return sorted.filter((key, i) => i === 0 || compareBytes(key.fields, (sorted[i - 1] as IndexKey).fields) !== 0);
}
