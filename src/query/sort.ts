// Sorts: a specification made into keys whose bytes have the order of the sort. An array counts by its least element going up and by
// its greatest going down, over all parts of a compound specification together. Follows the manual's pages "sort()" and "$sort".

import { compareBytes } from '../base/bytes.ts';
import { overItems } from '../base/long-lists.ts';
import { BsonArray, Decimal128, decodeElement, describeField, describeValue, Document, Double, collated, encodeKey, findField, isNumber, parsePath, roundNumber, truncateNumber } from '../bson/index.ts';
import type { KeyDirection, Path, Value } from '../bson/index.ts';
import type { Collation } from '../collation/index.ts';
import { splitPath } from './expression/field-path.ts';
import { refuse } from './refuse.ts';
import { demandMetadata } from './expression/meta.ts';
import { metadataOf } from './metadata.ts';
import type { Metadata, MetadataKinds } from './metadata.ts';
import { tuplesOf } from './tuples.ts';

/** One part of a sort specification. */
export interface SortPart {
  readonly path: Path;
  readonly direction: KeyDirection;
  /** By what is known of the document beside its fields, not by the path. */
  readonly meta?: MetaSort;
}

/** A compiled sort. */
export interface SortKey {
  readonly parts: readonly SortPart[];
  /** The order of texts; undefined: that of their bytes. */
  readonly collation: Collation | undefined;
  /** Bytes whose order is the order of the sort; documents that tie have equal keys. */
  keyOf(doc: Document): Uint8Array;
  /** Negative, zero or positive as `a` comes before, with or after `b`. For more than a few documents keep their keys. */
  compare(a: Document, b: Document): number;
}

const PARTS_MAX = 32;

/** What a sort can go by beside fields. */
type MetaSort = 'textScore' | 'geoNearDistance';
/** The best comes first: a high score, a small distance. */
const metaDirections: Readonly<Record<MetaSort, KeyDirection>> = { textScore: -1, geoNearDistance: 1 };
/** What a sort may name that documents do not have. */
const emptyMetaSorts: ReadonlySet<string> = new Set(['randVal', 'searchScore', 'vectorSearchScore', 'score']);

/** Compiles a sort specification; an empty one makes all documents equal. Throws CommandError for what MongoDB refuses. */
export function compileSort(spec: Document, collation?: Collation, metadata?: MetadataKinds): SortKey {
  const parts: SortPart[] = [];
  const seen = new Set<string>();
  for (const [name, value] of spec.fields) {
    const meta = value instanceof Document ? metaOf(value, metadata) : undefined;
    const direction = value instanceof Document ? undefined : parseDirection(name, value);
    splitPath(name);
    if (seen.has(name)) throw refuse(7472500, `$sort key must not contain duplicate keys (field: '${name}')`);
    seen.add(name);
    if (meta !== undefined) parts.push({ path: metaPath, direction: metaDirections[meta], meta });
    if (direction !== undefined) parts.push({ path: parsePath(name), direction });
  }
  if (parts.length > PARTS_MAX) throw refuse(13103, 'too many compound keys');
  return sortKeyOf(parts, collation);
}

function parseDirection(name: string, value: Value): KeyDirection {
  if (!isNumber(value)) throw refuse(15974, `Illegal key in $sort specification: ${describeField(name, value)}`);
  // Doubles are cut, decimals rounded, as in MongoDB.
  const whole = truncateNumber(value instanceof Decimal128 ? (roundNumber(value, 0, 'half-even') ?? value) : value);
  if (whole === 1n) return 1;
  if (whole === -1n) return -1;
  throw refuse(15975, '$sort key ordering must be 1 (for ascending) or -1 (for descending)');
}

/** No field of a document: so no index claims to give this order. */
const metaPath = parsePath('$meta');

/** An object in a sort can only be `$meta`; gives what documents are sorted by, undefined where they have none of it. */
function metaOf(value: Document, metadata: MetadataKinds | undefined): MetaSort | undefined {
  const first = value.first;
  if (first?.[0] !== '$meta') throw refuse(17312, '$meta is the only expression supported by $sort right now');
  if (value.fields.length > 1) throw refuse(9, 'Cannot have additional keys in a $meta sort specification');
  const [, kind] = first;
  if (kind === 'textScore' || kind === 'geoNearDistance') {
    demandMetadata(kind, metadata);
    return kind;
  }
  if (typeof kind !== 'string' || !emptyMetaSorts.has(kind)) throw refuse(31138, `Illegal $meta sort: $meta: ${describeValue(kind)}`);
  return undefined;
}

/** The sort of these parts. */
export function sortKeyOf(parts: readonly SortPart[], collation?: Collation): SortKey {
  const directions = parts.map((part) => part.direction);
  const paths = parts.map((part) => part.path);
  const metas = parts.map(({ meta }) => meta);
  const hasMeta = metas.some((meta) => meta !== undefined);
  const encodePlain = (values: readonly Value[]): Uint8Array => encodeKey(collation === undefined ? values : values.map((value) => collated(value, collation)), directions);
  const keyOf = (doc: Document): Uint8Array => {
    const known = hasMeta ? (metadataOf(doc) ?? {}) : undefined;
    const encode = (values: readonly Value[]): Uint8Array => encodePlain(known === undefined ? values : values.map((value, i) => metaValue(metas[i], known) ?? value));
    const values = plainValues(doc, paths);
    if (values !== undefined) return encode(values);
    const begin = (): { least: Uint8Array | undefined } => ({ least: undefined });
    const { least } = overItems(tuplesOf(doc, paths, refuseParallel), begin, (state, tuple) => {
      const key = encode(tuple);
      if (state.least === undefined || compareBytes(key, state.least) < 0) state.least = key;
    });
    return least ?? encodeKey([], directions);
  };
  return { parts, collation, keyOf, compare: (a, b) => compareBytes(keyOf(a), keyOf(b)) };
}

function metaValue(meta: MetaSort | undefined, known: Metadata): Value | undefined {
  return meta === undefined ? undefined : new Double(known[meta] ?? 0);
}

function refuseParallel(): never {
  throw refuse(2, 'cannot sort with keys that are parallel arrays');
}

/** The values of the paths where no array is met, or undefined if one is. */
function plainValues(doc: Document, paths: readonly Path[]): Value[] | undefined {
  const values: Value[] = [];
  for (const path of paths) {
    let at: Value | undefined = doc;
    for (const part of path.parts) {
      if (!(at instanceof Document)) {
        at = undefined;
        break;
      }
      const element = findField(at.bytes, at.start, part.name);
      at = element < 0 ? undefined : decodeElement(at.bytes, element);
      if (at instanceof BsonArray) return undefined;
    }
    values.push(at ?? null);
  }
  return values;
}
