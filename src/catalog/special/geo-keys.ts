// Entries of 2d and 2dsphere indexes: the cells of the shape at one path, the other fields as they are (manual: "2dsphere Indexes", "2d Indexes"). A document
// without a shape has no entry: these indexes are sparse.

import { CommandError } from '../../base/errors.ts';
import { BsonArray, collated, describeValue, Document, isNumber } from '../../bson/index.ts';
import type { TextOrder, Value } from '../../bson/index.ts';
import type { Direction } from '../../engine/index.ts';
import { capOf, countsWinding, capRectangles, pointCell, readFlatPoint, readStored, shapeCells, sphereGrid, valuesAt } from '../../query/index.ts';
import type { Grid } from '../../query/index.ts';
import { toDouble } from '../number.ts';
import type { IndexDefinition } from '../types.ts';
import type { SpecialDocumentKeys, SpecialKeys } from './special-keys.ts';

/** The kinds of geospatial index. */
export type GeoKind = '2d' | '2dsphere';

/** Bounds of a 2d index that says nothing of them. */
const flatBounds = { min: -180, max: 180 };

/** The grid of an index of this kind. */
export function gridOf(kind: GeoKind, spec: Document): Grid {
  if (kind === '2dsphere') return sphereGrid;
  const bound = (name: 'min' | 'max'): number => {
    const value = spec.get(name);
    return value !== undefined && isNumber(value) ? toDouble(value) : flatBounds[name];
  };
  const [min, max] = [bound('min'), bound('max')];
  return { bounds: [min, min, max, max] };
}

/** Whether the value of a key pattern's field asks for cells. */
function isGeoField(value: Value | undefined): value is GeoKind {
  return value === '2d' || value === '2dsphere';
}

/** How one field of a document becomes values of an entry. */
type FieldValues = (document: Document) => { readonly values: readonly Value[]; readonly isMany: boolean };

/** The entries of a 2d or 2dsphere index: for each document the combinations of its shape's cells and its other fields' values. */
export class GeoKeys implements SpecialKeys {
  readonly directions: readonly Direction[];
  readonly #fields: readonly FieldValues[];
  readonly #isGeo: readonly boolean[];

  constructor(definition: IndexDefinition) {
    const { key, directions, collation, spec } = definition;
    this.directions = directions;
    this.#isGeo = key.fields.map(([, value]) => isGeoField(value));
    this.#fields = key.fields.map(([path, value]): FieldValues => {
      const parts = path.split('.');
      if (!isGeoField(value)) return (document) => plainValues(valuesAt(document, parts), collation);
      const grid = gridOf(value, spec);
      return value === '2d' ? (document) => flatCells(grid, valuesAt(document, parts)) : (document) => sphereCells(valuesAt(document, parts), document);
    });
  }

  keysOf(document: Document): SpecialDocumentKeys {
    const found = this.#fields.map((field) => field(document));
    const hasShape = found.some(({ values }, field) => this.#isGeo[field] === true && values.length > 0);
    if (!hasShape) return { keys: [], isMultikey: false };
    let lists: Value[][] = [[]];
    for (const { values } of found) lists = lists.flatMap((list) => (values.length === 0 ? [null] : values).map((value) => [...list, value]));
    return { keys: lists.map((values) => ({ values })), isMultikey: found.some(({ isMany }) => isMany) };
  }
}

function plainValues(found: readonly Value[], order: TextOrder | undefined): ReturnType<FieldValues> {
  const isMany = found.length > 1 || found.some((value) => value instanceof BsonArray);
  const values = found.flatMap((value) => (value instanceof BsonArray ? value.items() : [value]));
  return { values: values.map((value) => collated(value, order)), isMany };
}

const isNothing = (value: Value): boolean => value === null || (value instanceof BsonArray && value.isEmpty) || (value instanceof Document && value.isEmpty);

function sphereCells(found: readonly Value[], document: Document): ReturnType<FieldValues> {
  const shapes = found.filter((value) => !isNothing(value)).map((value) => readIndexed(value, document));
  const cells = new Set<bigint>();
  for (const shape of shapes) {
    if (shape.flat !== undefined) cells.add(pointCell(sphereGrid, ...shape.flat));
    else for (const cell of shapeCells(sphereGrid, capRectangles(capOf(shape)))) cells.add(cell);
  }
  return { values: [...cells], isMany: cells.size > 1 };
}

function readIndexed(value: Value, document: Document): ReturnType<typeof readStored> {
  try {
    if (countsWinding(value)) throw new CommandError(2, 'BadValue', `can't index geometry with strict winding order: ${describeValue(value)}`);
    const shape = readStored(value);
    if (shape.isOnSphere) return shape;
    throw new CommandError(2, 'BadValue', `longitude/latitude is out of bounds, lng: ${String(shape.flat?.[0])} lat: ${String(shape.flat?.[1])}`);
  } catch (cause) {
    if (!(cause instanceof CommandError)) throw cause;
    throw new CommandError(16755, 'Location16755', `Can't extract geo keys: ${describeValue(document)}  ${cause.message}`, { cause });
  }
}

/** Legacy pairs: one, or a list of them. */
function flatCells(grid: Grid, found: readonly Value[]): ReturnType<FieldValues> {
  const pairs = found.filter((value) => !isNothing(value)).flatMap((value) => (value instanceof BsonArray && !isNumber(value.items()[0] ?? null) ? value.items() : [value]));
  const [west, , east] = grid.bounds;
  const cells = new Set<bigint>();
  for (const pair of pairs) {
    const [x, y] = readPair(pair);
    if (!(x >= west && x <= east && y >= west && y <= east)) {
      throw new CommandError(13027, 'Location13027', `point not in interval of [ ${west}, ${east} ] :: caused by :: ${describeValue(pair)}`);
    }
    cells.add(pointCell(grid, x, y));
  }
  return { values: [...cells], isMany: pairs.length > 1 };
}

function readPair(value: Value): readonly [number, number] {
  try {
    return readFlatPoint(value);
  } catch (cause) {
    if (!(cause instanceof CommandError)) throw cause;
    throw new CommandError(16804, 'Location16804', `location object expected, location array not in correct format: ${describeValue(value)}`, { cause });
  }
}
