// Shapes as documents hold them and queries give them: legacy pairs and GeoJSON (RFC 7946, and the manual's page "GeoJSON Objects"). Reading throws
// BadValue with the reason; a stored value that is no shape simply matches nothing.

import { overItems } from '../../base/long-lists.ts';
import { CommandError } from '../../base/errors.ts';
import { BsonArray, bsonType, decodeValue, describeValue, Document, isNumber, toDouble } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { refuse } from '../refuse.ts';
import { crossingEdges } from './crossing.ts';
import { Loop } from './loop.ts';
import { Polygon } from './polygon.ts';
import { angleBetween, sameAngle, vectorOf } from './vector.ts';
import type { Vector } from './vector.ts';

/** Two plain coordinates. */
export type FlatPoint = readonly [number, number];

/** A shape, taken apart. */
export interface Geometry {
  /** Coordinates of a single point as they were given; undefined for other shapes. */
  readonly flat: FlatPoint | undefined;
  /** Whether it may lie on the sphere: a legacy pair beyond the bounds of longitude and latitude may not. */
  readonly isOnSphere: boolean;
  readonly points: readonly Vector[];
  readonly lines: readonly (readonly Vector[])[];
  readonly polygons: readonly Polygon[];
}

interface Parts {
  points: Vector[];
  lines: (readonly Vector[])[];
  polygons: Polygon[];
}

const strictWinding = 'urn:x-mongodb:crs:strictwinding:EPSG:4326';
const knownSystems: ReadonlySet<string> = new Set(['urn:ogc:def:crs:OGC:1.3:CRS84', 'EPSG:4326', strictWinding]);
const loopVerticesMin = 3;

function bad(reason: string): CommandError {
  return refuse(2, reason);
}

/** Two coordinates of an array or of a document's first two fields. `exact`: nothing else may follow. */
export function readFlatPoint(value: Value, exact: boolean = false): FlatPoint {
  const items = value instanceof BsonArray ? value.items() : value instanceof Document ? value.fields.map(([, each]) => each) : undefined;
  if (items === undefined) throw bad(`Point must be an array or object, instead got ${describeValue(value)}`);
  const numbers = items.slice(0, 2).map((each) => {
    if (!isNumber(each)) throw bad(`Point must only contain numeric elements, instead got ${describeValue(value)}`);
    if (!Number.isFinite(toDouble(each))) throw bad('Point coordinates must be finite numbers');
    return toDouble(each);
  });
  const [x, y] = numbers;
  if (x === undefined || y === undefined) throw bad(`Point must only contain numeric elements, instead got ${describeValue(value)}`);
  if (exact && items.length > 2) throw bad('Point must only contain two numeric elements');
  return [x, y];
}

/** Whether a pair is a longitude and a latitude. */
export function isOnEarth([longitude, latitude]: FlatPoint): boolean {
  return Math.abs(longitude) <= 180 && Math.abs(latitude) <= 90;
}

function readSpherePoint(value: Value): Vector {
  const point = readFlatPoint(value);
  if (!isOnEarth(point)) throw bad(`longitude/latitude is out of bounds, lng: ${point[0]} lat: ${point[1]}`);
  return vectorOf(...point);
}

function itemsOf(value: Value | undefined, what: string): readonly Value[] {
  if (!(value instanceof BsonArray)) throw bad(`${what} must be an array`);
  return value.items();
}

/** Points with what repeats left out. */
function distinctOf(points: readonly Vector[]): Vector[] {
  return points.filter((point, i) => i === 0 || angleBetween(point, points[i - 1] as Vector) > sameAngle);
}

function readLine(value: Value | undefined): readonly Vector[] {
  const points = distinctOf(itemsOf(value, 'LineString coordinates').map(readSpherePoint));
  if (points.length < 2) throw bad(`GeoJSON LineString must have at least 2 vertices: ${describeValue(value ?? null)}`);
  return points;
}

function readLoop(value: Value, keepsWinding: boolean): Loop {
  const points = itemsOf(value, 'Polygon coordinates').map(readSpherePoint);
  const [first] = points;
  const last = points.at(-1);
  if (first === undefined || last === undefined) throw bad('Loop has no vertices');
  if (angleBetween(first, last) > sameAngle) throw bad(`Loop is not closed, first vertex does not equal last vertex: ${describeValue(value)}`);
  const vertices = distinctOf(points);
  vertices.pop();
  if (vertices.length < loopVerticesMin) throw bad(`Loop must have at least 3 different vertices: ${describeValue(value)}`);
  const loop = new Loop(vertices, keepsWinding);
  checkSimple(loop, value);
  return loop;
}

/** Equal for points that are the same place. */
const placeOf = (vertex: Vector): string => vertex.map((part) => part.toFixed(11)).join();

/** Refuses a loop that meets itself. */
function checkSimple(loop: Loop, value: Value): void {
  overItems(loop.vertices, () => new Set<string>(), (seen, vertex) => {
    const key = placeOf(vertex);
    if (seen.has(key)) throw bad(`Loop is not valid: ${describeValue(value)} Duplicate vertices`);
    seen.add(key);
  });
  const crossing = crossingEdges(loop.edges);
  if (crossing !== undefined) throw bad(`Loop is not valid: ${describeValue(value)} Edges ${crossing[0]} and ${crossing[1]} cross`);
}

function readPolygon(value: Value | undefined, keepsWinding: boolean): Polygon {
  const loops = itemsOf(value, 'Polygon coordinates').map((loop) => readLoop(loop, keepsWinding));
  const [outer, ...holes] = loops;
  if (outer === undefined) throw bad('Polygon has no loops.');
  if (keepsWinding && holes.length > 0) throw bad('Only one simple loop is allowed in a big polygon.');
  const own = new Set(outer.vertices.map(placeOf));
  for (const hole of holes) {
    if (hole.vertices.some((vertex) => own.has(placeOf(vertex)))) throw bad(`Polygon isn't valid: a hole shares a vertex with the exterior: ${describeValue(value ?? null)}`);
    if (!hole.vertices.every((vertex) => outer.contains(vertex))) throw bad(`Secondary loops not contained by first exterior loop - secondary loops must be holes: ${describeValue(value ?? null)}`);
  }
  return new Polygon(outer, holes);
}

type Reader = (shape: Document, parts: Parts, keepsWinding: boolean) => void;

/** The members of a Multi shape; there must be one. */
function membersOf(shape: Document, name: string, field: string = 'coordinates'): readonly Value[] {
  const members = itemsOf(shape.get(field), `${name} ${field}`);
  if (members.length === 0) throw bad(`${name} ${field} must have at least 1 element`);
  return members;
}

const readers: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['Point', (shape, parts) => parts.points.push(readSpherePoint(shape.get('coordinates') ?? null))],
  ['LineString', (shape, parts) => parts.lines.push(readLine(shape.get('coordinates')))],
  ['Polygon', (shape, parts, keepsWinding) => parts.polygons.push(readPolygon(shape.get('coordinates'), keepsWinding))],
  ['MultiPoint', (shape, parts) => parts.points.push(...membersOf(shape, 'MultiPoint').map(readSpherePoint))],
  ['MultiLineString', (shape, parts) => parts.lines.push(...membersOf(shape, 'MultiLineString').map(readLine))],
  ['MultiPolygon', (shape, parts) => parts.polygons.push(...membersOf(shape, 'MultiPolygon').map((each) => readPolygon(each, false)))],
  ['GeometryCollection', (shape, parts) => {
    for (const member of membersOf(shape, 'GeometryCollection', 'geometries')) {
      if (!(member instanceof Document)) throw bad(`Element ${describeValue(member)} of "geometries" is not an object`);
      if (member.get('type') === 'GeometryCollection') throw bad('GeometryCollections cannot be nested');
      readShape(member, parts, false);
    }
  }],
]);

function readShape(shape: Document, parts: Parts, keepsWinding: boolean): void {
  const type = shape.get('type');
  const reader = typeof type === 'string' ? readers.get(type) : undefined;
  if (reader === undefined) throw bad(`unknown GeoJSON type: ${describeValue(shape)}`);
  reader(shape, parts, keepsWinding);
}

/** Whether the shape's reference system says that the winding of its loop counts; an unknown one is refused. */
function windingOf(shape: Document): boolean {
  if (!shape.has('crs')) return false;
  const crs = shape.get('crs');
  const properties = crs instanceof Document && crs.get('type') === 'name' ? crs.get('properties') : undefined;
  const name = properties instanceof Document ? properties.get('name') : undefined;
  if (typeof name !== 'string') throw bad(`invalid GeoJSON CRS: ${describeValue(crs ?? null)}`);
  if (!knownSystems.has(name)) throw bad(`Unknown CRS name: ${name}`);
  if (name === strictWinding && shape.get('type') !== 'Polygon') throw bad('strict winding is for polygons only');
  return name === strictWinding;
}

/** A GeoJSON object as a query gives it. */
export function readGeoJson(shape: Document): Geometry {
  const parts: Parts = { points: [], lines: [], polygons: [] };
  const keepsWinding = windingOf(shape);
  readShape(shape, parts, keepsWinding);
  const coordinates = shape.get('type') === 'Point' ? shape.get('coordinates') : undefined;
  return { ...parts, flat: coordinates === undefined ? undefined : readFlatPoint(coordinates), isOnSphere: true };
}

/** A value of a document: a legacy pair or GeoJSON; throws BadValue where it is neither. */
export function readStored(value: Value): Geometry {
  if (value instanceof Document && (typeof value.get('type') === 'string' || value.has('coordinates'))) return readGeoJson(value);
  const flat = readFlatPoint(value);
  const isOnSphere = isOnEarth(flat);
  return { flat, isOnSphere, points: isOnSphere ? [vectorOf(...flat)] : [], lines: [], polygons: [] };
}

/** Whether a value is a polygon whose winding counts: a query may have one, documents may not. */
export function countsWinding(value: Value): boolean {
  return value instanceof Document && value.has('crs') && windingOf(value);
}

/** The shape of a raw value, or undefined where it is none that is searched. */
export function shapeAt(bytes: Uint8Array, type: number, at: number): Geometry | undefined {
  if (type !== bsonType.object && type !== bsonType.array) return undefined;
  try {
    const value = decodeValue(bytes, type, at);
    return countsWinding(value) ? undefined : readStored(value);
  } catch (error) {
    if (error instanceof CommandError) return undefined;
    throw error;
  }
}
