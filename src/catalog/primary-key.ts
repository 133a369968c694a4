// The primary key of a collection that chose one with `primaryKey: { a: 1, _id: 1 }` (TokuMX's option of `create`; server.md, "Catalog and
// indexes"). Documents lie in its order, so a query by it reads neighbours. It ends in `_id`, which has a unique index of its own and makes
// every key one document's; what it is made of may be neither array, regular expression nor undefined.

import { bsonType, describeValue, Document, elementValue, isNumber } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';
import type { Collation } from '../collation/index.ts';
import type { Direction } from '../engine/index.ts';
import { numberOf } from './number.ts';
import { isTrue } from './option-check.ts';
import { failedToParse, invalidOptions, location } from './refusal.ts';
import { keyMaker } from './slot-key.ts';
import { indexPath, SlotFinder } from './slot.ts';
import type { IndexDefinition, RecordKey } from './types.ts';

const name = 'primaryKey';

/** Checks the option: 17209, 17203, and 72 or 9 for fields that cannot be in it. */
export function checkPrimaryKey(value: Value): void {
  if (!(value instanceof Document)) throw location(17209, 'defined primary key must be an object');
  const { fields } = value;
  const last = fields.at(-1);
  if (last?.[0] !== '_id' || numberOf(last[1]) !== 1) throw location(17203, 'defined primary key must end in _id: 1');
  if (new Set(value.keys()).size < fields.length) throw failedToParse(`a field is twice in the primary key ${describeValue(value)}`);
  for (const [path, direction] of fields) {
    if (!isNumber(direction) || ![1, -1].includes(numberOf(direction))) throw invalidOptions(`fields of a primary key have the direction 1 or -1: ${path}: ${describeValue(direction)}`);
    if (path.split('.').some((part) => part === '' || part.startsWith('$'))) throw invalidOptions(`the field '${path}' cannot be in a primary key`);
  }
}

/** Options that a primary key cannot have beside it. */
export function checkPrimaryKeyWith(given: Document): void {
  if (primaryKeyPatternOf(given) === undefined) return;
  if (given.has('viewOn')) throw invalidOptions(`the option '${name}' is not allowed for views`);
  if (isTrue(given.get('capped'))) throw invalidOptions('a capped collection lies in the order of insertion and takes no primary key');
  for (const other of ['clusteredIndex', 'timeseries']) if (given.has(other)) throw invalidOptions(`the options '${name}' and '${other}' exclude each other`);
}

/** The key pattern of a collection whose primary key is not `_id` alone. */
export function primaryKeyPatternOf(options: Document): Document | undefined {
  const pattern = options.get(name);
  return pattern instanceof Document && pattern.fields.length > 1 ? pattern : undefined;
}

/** The primary key as the index that it is; `listIndexes` shows it first. */
export function primaryKeySpec(pattern: Document, collation: Collation | undefined): Document {
  const spec = Document.of({ v: 2, key: pattern, name, unique: true, clustering: true });
  return collation === undefined ? spec : Document.fromEntries([...spec.fields, ['collation', collation.spec]]);
}

/** Types that no field of a key may have, with code and name. */
const refusedTypes: ReadonlyMap<number, readonly [number, string]> = new Map<number, readonly [number, string]>([
  [bsonType.regex, [17208, 'a regex']],
  [bsonType.undefined, [17210, 'undefined']],
]);

function checkType(type: number): void {
  const refused = refusedTypes.get(type);
  if (refused === undefined) return;
  const [code, what] = refused;
  throw location(code, `can't use ${what} for any portion of the primary key`);
}

/** Makes the record keys of one collection. */
export class PrimaryKey {
  readonly pattern: Document;
  readonly #directions: readonly Direction[];
  readonly #collation: Collation | undefined;
  readonly #finder: SlotFinder;

  constructor({ key, directions, paths, collation }: Pick<IndexDefinition, 'key' | 'directions' | 'paths' | 'collation'>) {
    this.pattern = key;
    this.#directions = directions;
    this.#collation = collation;
    this.#finder = new SlotFinder(paths.map(indexPath));
  }

  /** The record key of a document; what it does not have counts as null. 17205, 17208, 17210. */
  keyOf(document: Document): RecordKey {
    const { bytes, start } = document.raw;
    const offsets = this.#directions.map((_, field) => this.#finder.locate(bytes, start, field));
    for (const offset of offsets) {
      if (offset === -2) throw location(17205, `primary key ${describeValue(this.pattern)} cannot be multi-key`);
      if (offset >= 0) checkType(bytes[offset] as number);
    }
    keyMaker.begin(this.#collation);
    for (const [field, offset] of offsets.entries()) {
      const direction = this.#directions[field] as Direction;
      if (offset < 0) keyMaker.addMissing(direction);
      else keyMaker.add(bytes, bytes[offset] as number, elementValue(bytes, offset), direction);
    }
    return keyMaker.finish().key;
  }
}
