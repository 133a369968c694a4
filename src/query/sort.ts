// Sorts: a specification made into keys whose bytes have the order of the sort. An array counts by its least element going up and by
// its greatest going down, over all parts of a compound specification together. Follows the manual's pages "sort()" and "$sort".

import { compareBytes } from '../base/bytes.ts';
import { BsonArray, Decimal128, decodeElement, describeField, describeValue, Document, Double, collated, encodeKey, findField, isNumber, parsePath, roundNumber, truncateNumber } from '../bson/index.ts';
import type { KeyDirection, Path, Value } from '../bson/index.ts';
import type { Collation } from '../collation/index.ts';
import { splitPath } from './expression/field-path.ts';
import { refuse } from './refuse.ts';
import { textScoreOf } from './text/text-score.ts';
import { tuplesOf } from './tuples.ts';

/** One part of a sort specification. */
export interface SortPart {
  readonly path: Path;
  readonly direction: KeyDirection;
  /** By the score of a text search, not by the path. */
  readonly isScore?: boolean;
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

const metaSorts: ReadonlySet<string> = new Set(['textScore', 'randVal', 'searchScore', 'vectorSearchScore', 'geoNearDistance', 'score']);

/** Compiles a sort specification; an empty one makes all documents equal. Throws CommandError for what MongoDB refuses. */
export function compileSort(spec: Document, collation?: Collation, textScore = false): SortKey {
  const parts: SortPart[] = [];
  const seen = new Set<string>();
  for (const [name, value] of spec.fields) {
    const isScore = value instanceof Document && checkMeta(value, textScore) === 'textScore';
    const direction = value instanceof Document ? undefined : parseDirection(name, value);
    splitPath(name);
    if (seen.has(name)) throw refuse(7472500, `$sort key must not contain duplicate keys (field: '${name}')`);
    seen.add(name);
    if (isScore) parts.push({ path: scorePath, direction: -1, isScore });
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

/** No field of a document: so no index claims to give the order of scores. */
const scorePath = parsePath('$textScore');

/** An object in a sort can only be `$meta`; gives its kind. Documents carry the score of a text search only. */
function checkMeta(value: Document, textScore: boolean): string {
  const first = value.first;
  if (first?.[0] !== '$meta') throw refuse(17312, '$meta is the only expression supported by $sort right now');
  if (value.fields.length > 1) throw refuse(9, 'Cannot have additional keys in a $meta sort specification');
  const [, kind] = first;
  if (typeof kind !== 'string' || !metaSorts.has(kind)) {
    throw refuse(31138, `Illegal $meta sort: $meta: ${describeValue(kind)}`);
  }
  if ((kind === 'textScore' && !textScore) || kind === 'geoNearDistance') {
    throw refuse(40218, `query requires ${kind === 'textScore' ? 'text score' : '$geoNear distance'} metadata, but it is not available`);
  }
  return kind;
}

/** The sort of these parts. */
export function sortKeyOf(parts: readonly SortPart[], collation?: Collation): SortKey {
  const directions = parts.map((part) => part.direction);
  const paths = parts.map((part) => part.path);
  const scored = parts.some(({ isScore }) => isScore === true);
  const encodePlain = (values: readonly Value[]): Uint8Array => encodeKey(collation === undefined ? values : values.map((value) => collated(value, collation)), directions);
  const keyOf = (doc: Document): Uint8Array => {
    const score = scored ? new Double(textScoreOf(doc) ?? 0) : undefined;
    const encode = (values: readonly Value[]): Uint8Array =>
      encodePlain(score === undefined ? values : values.map((value, i) => (parts[i]?.isScore === true ? score : value)));
    const values = plainValues(doc, paths);
    if (values !== undefined) return encode(values);
    let least: Uint8Array | undefined;
    for (const tuple of tuplesOf(doc, paths, refuseParallel)) {
      const key = encode(tuple);
      if (least === undefined || compareBytes(key, least) < 0) least = key;
    }
    return least ?? encodeKey([], directions);
  };
  return { parts, collation, keyOf, compare: (a, b) => compareBytes(keyOf(a), keyOf(b)) };
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
