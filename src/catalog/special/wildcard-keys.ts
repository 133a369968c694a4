// Entries of a wildcard index: one for each value at the end of a path of a document, with that path, and the values of the plain fields around
// (manual: "Wildcard Indexes", "Compound Wildcard Indexes"). Documents and arrays are entered; what is empty, and an array inside an array, is a value.

import { atOneGo, mappedItems } from '../../base/long-lists.ts';
import { BsonArray, bsonUndefined, collated, Document, isNumber, minKey, toDouble } from '../../bson/index.ts';
import type { TextOrder, Value } from '../../bson/index.ts';
import { CommandError } from '../../base/errors.ts';
import type { Direction } from '../../engine/index.ts';
import type { SpecialDocumentKeys, SpecialKey, SpecialKeys } from './special-keys.ts';

/** Instead of a path: every field, in indexes of texts too. */
export const everyField = '$**';

/** The name of the field that holds the path. */
export const wildcardPathField = '$_path';

/** A wildcard index as its key pattern says it. */
export interface WildcardShape {
  /** The place of the wildcard in the key pattern. */
  readonly field: number;
  /** The path below which all is indexed; '' for everything. */
  readonly root: string;
  readonly projection: WildcardProjection;
}

/** The paths that are indexed: all, those of an inclusion, or all but those of an exclusion. `_id` is left out unless it is named. */
export class WildcardProjection {
  readonly #includes: boolean;
  readonly #paths: readonly string[];
  readonly #takesId: boolean;

  constructor(projection: Document | undefined, root: string) {
    const flat: (readonly [string, boolean])[] = root !== '' ? [[root, true]] : projection === undefined ? [] : flatten(projection, '');
    const others = flat.filter(([path]) => path !== '_id');
    const id = flat.find(([path]) => path === '_id')?.[1];
    const isInclusion = others.length > 0 ? others.some(([, shown]) => shown) : id === true;
    this.#includes = isInclusion;
    this.#paths = others.map(([path]) => path);
    this.#takesId = id ?? others.some(([path]) => path.startsWith('_id.'));
  }

  /** Whether values at this path are indexed. */
  takes(path: string): boolean {
    if (path === '_id' || path.startsWith('_id.')) return this.#takesId || (this.#includes && this.#names(path));
    return this.#includes ? this.#names(path) : !this.#names(path);
  }

  /** Whether a path below this one may be indexed. */
  enters(path: string): boolean {
    return this.takes(path) || (this.#includes && this.#paths.some((named) => named.startsWith(`${path}.`)));
  }

  #names(path: string): boolean {
    return this.#paths.some((named) => path === named || path.startsWith(`${named}.`));
  }
}

function flatten(projection: Document, prefix: string): (readonly [string, boolean])[] {
  return projection.fields.flatMap(([name, value]): (readonly [string, boolean])[] => {
    const path = prefix + name;
    if (value instanceof Document) return flatten(value, `${path}.`);
    return [[path, value === true || (isNumber(value) && toDouble(value) !== 0)]];
  });
}

/** The shape of a wildcard key pattern. */
export function wildcardShapeOf(key: Document, projection: Document | undefined): WildcardShape {
  const field = key.keys().findIndex((path) => path === '$**' || path.endsWith('.$**'));
  const path = key.keys()[field] ?? '$**';
  const root = path === '$**' ? '' : path.slice(0, -4);
  return { field, root, projection: new WildcardProjection(projection, root) };
}

interface Leaf {
  readonly path: string;
  readonly value: Value;
}

/** The entries of a wildcard index: one for each path and value of a document. */
export class WildcardKeys implements SpecialKeys {
  readonly directions: readonly Direction[];
  readonly #shape: WildcardShape;
  readonly #plain: readonly (readonly string[])[];
  readonly #order: TextOrder | undefined;

  constructor(key: Document, shape: WildcardShape, { directions, collation }: { directions: readonly Direction[]; collation: TextOrder | undefined }) {
    this.#shape = shape;
    this.#plain = key.keys().map((path) => path.split('.'));
    this.#order = collation;
    this.directions = [...directions.slice(0, shape.field), 1, ...directions.slice(shape.field)];
  }

  keysOf(document: Document): SpecialDocumentKeys {
    const { field, projection } = this.#shape;
    const walk = atOneGo(document.byteLength / BYTES_PER_STEP, () => new LeafWalk(projection).document(document, ''));
    const around = this.#plain.map((path, i) => (i === field ? null : plainValue(document, path)));
    const leaves = walk.leaves;
    const isCompound = around.length > 1;
    // A compound index has an entry of each document, so that it serves conditions on its plain fields alone.
    if (leaves.length === 0) return { keys: isCompound ? [this.#key(around, minKey, minKey)] : [], isMultikey: false };
    return { keys: mappedItems(leaves, ({ path, value }) => this.#key(around, path, value)), isMultikey: walk.metArray || (isCompound && leaves.length > 1) };
  }

  #key(around: readonly Value[], path: Value, value: Value): SpecialKey {
    const { field } = this.#shape;
    const plain = [...around.slice(0, field), path, value, ...around.slice(field + 1)];
    if (this.#order === undefined) return { values: plain };
    return { values: plain.map((each, i) => (i === field ? each : collated(each, this.#order))), plain };
  }
}

/** So many bytes are walked through in about the time of one step of a loop. */
const BYTES_PER_STEP = 16;

class LeafWalk {
  readonly leaves: Leaf[] = [];
  readonly #projection: WildcardProjection;
  metArray = false;

  constructor(projection: WildcardProjection) {
    this.#projection = projection;
  }

  document(document: Document, prefix: string): this {
    for (const [name, value] of document.fields) {
      const path = prefix + name;
      if (this.#projection.enters(path)) this.#value(value, path);
    }
    return this;
  }

  #value(value: Value, path: string): void {
    if (value instanceof Document && !value.isEmpty) this.document(value, `${path}.`);
    else if (value instanceof BsonArray) this.#array(value, path);
    else this.#leaf(value, path);
  }

  #array(array: BsonArray, path: string): void {
    this.metArray = true;
    if (array.isEmpty) this.#leaf(bsonUndefined, path);
    for (const item of array.items()) {
      if (item instanceof Document && !item.isEmpty) this.document(item, `${path}.`);
      else this.#leaf(item, path);
    }
  }

  #leaf(value: Value, path: string): void {
    if (this.#projection.takes(path)) this.leaves.push({ path, value });
  }
}

function plainValue(document: Document, path: readonly string[]): Value {
  let at: Value | undefined = document;
  for (const name of path) {
    at = at instanceof Document ? at.get(name) : undefined;
    if (at instanceof BsonArray) {
      throw new CommandError(7246301, 'Location7246301', `The non-wildcard fields of a compound wildcard index cannot be multikey: ${path.join('.')}`);
    }
  }
  return at ?? null;
}
