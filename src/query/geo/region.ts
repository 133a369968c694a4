// What a query asks a shape for: to lie within a region, or to meet it. Regions are GeoJSON on the sphere, circles on the sphere, or legacy
// shapes on the plane, which know points only (manual: "$geoWithin", "$geoIntersects").

import { BsonArray, describeValue, Document, isNumber, toDouble } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { refuse } from '../refuse.ts';
import { edgesMeet, edgesOfLine } from './polygon.ts';
import { isOnEarth, readFlatPoint, readStored } from './geometry.ts';
import type { FlatPoint, Geometry } from './geometry.ts';
import { capAround } from './loop.ts';
import type { Cap } from './loop.ts';
import { distanceToEdge } from './edge.ts';
import { angleBetween, sameAngle, vectorOf } from './vector.ts';
import type { Vector } from './vector.ts';

/** A rectangle of the plane: [west, south, east, north]. */
export type Bounds = readonly [number, number, number, number];

/** A region of the sphere or of the plane. */
export interface Region {
  /** Where the index looks: on the sphere, or on the plane. */
  readonly cap: Cap | undefined;
  readonly bounds: Bounds | undefined;
  /** Whether all of the shape is in the region; undefined: the region cannot be asked that. */
  readonly contains: ((shape: Geometry) => boolean) | undefined;
  /** Whether some of the shape is; undefined: it cannot be asked. */
  readonly meets: ((shape: Geometry) => boolean) | undefined;
}

/** The region of one geo specifier; BadValue where it is none. */
export function readRegion(name: string, value: Value): Region {
  const reader = readers.get(name);
  if (reader === undefined) throw refuse(2, `unknown geo specifier: ${name}: ${describeValue(value)}`);
  return reader(value);
}

const readers: ReadonlyMap<string, (value: Value) => Region> = new Map<string, (value: Value) => Region>([
  ['$geometry', readGeometryRegion],
  ['$box', readBox],
  ['$polygon', readFlatPolygon],
  ['$center', readCircle],
  ['$centerSphere', readSphereCircle],
]);

function readGeometryRegion(value: Value): Region {
  if (value instanceof Document && !value.has('type') && !value.has('coordinates')) readFlatPoint(value, true);
  const region = readStored(value);
  if (!region.isOnSphere) throw refuse(2, `longitude/latitude is out of bounds: ${describeValue(value)}`);
  const areas = region.polygons;
  return {
    cap: capOf(region),
    bounds: undefined,
    contains: areas.length > 0 && region.points.length === 0 && region.lines.length === 0 ? (shape) => within(shape, region) : undefined,
    meets: (shape) => meets(shape, region),
  };
}

/** A circle around all of a shape. */
export function capOf(shape: Geometry): Cap {
  const { points, lines, polygons } = shape;
  const whole = polygons.map(({ outer }) => outer.cap);
  if (whole.length === 1 && points.length === 0 && lines.length === 0) return whole[0] as Cap;
  if (whole.some(({ radius }) => radius >= Math.PI)) return { centre: [1, 0, 0], radius: Math.PI };
  return capAround([...points, ...lines.flat(), ...polygons.flatMap(({ outer }) => outer.vertices)]);
}

function within(shape: Geometry, region: Geometry): boolean {
  if (!shape.isOnSphere) return false;
  const { polygons } = region;
  return (
    shape.points.every((point) => polygons.some((area) => area.contains(point))) &&
    shape.lines.every((line) => polygons.some((area) => area.containsLine(line))) &&
    shape.polygons.every((each) => polygons.some((area) => area.containsPolygon(each)))
  );
}

function meets(shape: Geometry, region: Geometry): boolean {
  if (!shape.isOnSphere) return false;
  return meetsPoints(shape, region.points) || meetsLines(shape, region.lines) || region.polygons.some((area) => {
    return shape.points.some((point) => area.contains(point)) || shape.lines.some((line) => area.meetsLine(line)) || shape.polygons.some((each) => area.meetsPolygon(each));
  });
}

function meetsPoints(shape: Geometry, points: readonly Vector[]): boolean {
  return points.some((point) => {
    if (shape.points.some((own) => angleBetween(own, point) <= sameAngle)) return true;
    return shape.lines.some((line) => edgesOfLine(line).some((edge) => distanceToEdge(point, edge) <= sameAngle)) || shape.polygons.some((area) => area.contains(point));
  });
}

function meetsLines(shape: Geometry, lines: readonly (readonly Vector[])[]): boolean {
  return lines.some((line) => {
    const edges = edgesOfLine(line);
    if (shape.points.some((point) => edges.some((edge) => distanceToEdge(point, edge) <= sameAngle))) return true;
    if (shape.lines.some((own) => edgesOfLine(own).some((edge) => edges.some((other) => edgesMeet(edge, other))))) return true;
    return shape.polygons.some((area) => area.meetsLine(line));
  });
}

/** The angle between a point and the nearest point of a shape: 0 inside an area. */
export function distanceTo(shape: Geometry, point: Vector): number {
  let nearest = Infinity;
  for (const own of shape.points) nearest = Math.min(nearest, angleBetween(own, point));
  for (const line of shape.lines) for (const edge of edgesOfLine(line)) nearest = Math.min(nearest, distanceToEdge(point, edge));
  for (const area of shape.polygons) {
    if (area.contains(point)) return 0;
    for (const edge of area.edges) nearest = Math.min(nearest, distanceToEdge(point, edge));
  }
  return nearest;
}

// Shapes of the plane.

/** A region that knows points only. */
function flatRegion(bounds: Bounds, holds: (point: FlatPoint) => boolean): Region {
  return { cap: undefined, bounds, contains: ({ flat }) => flat !== undefined && holds(flat), meets: undefined };
}

/** Points of an array, or of a document's fields. */
function pointsOf(value: Value, what: string): readonly Value[] {
  if (value instanceof BsonArray) return value.items();
  if (value instanceof Document) return value.fields.map(([, each]) => each);
  throw refuse(2, `${what} must be an array or object`);
}

function readBox(value: Value): Region {
  const [first, second, ...more] = pointsOf(value, 'Box');
  if (first === undefined || second === undefined || more.length > 0) throw refuse(2, 'Box must have two corners');
  const [[ax, ay], [bx, by]] = [readFlatPoint(first, true), readFlatPoint(second, true)];
  const bounds: Bounds = [Math.min(ax, bx), Math.min(ay, by), Math.max(ax, bx), Math.max(ay, by)];
  const [west, south, east, north] = bounds;
  return flatRegion(bounds, ([x, y]) => x >= west && x <= east && y >= south && y <= north);
}

function readFlatPolygon(value: Value): Region {
  const points = pointsOf(value, 'Polygon').map((point) => readFlatPoint(point));
  if (points.length < 3) throw refuse(2, 'Polygon must have at least 3 points');
  const xs = points.map(([x]) => x);
  const ys = points.map(([, y]) => y);
  return flatRegion([Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)], (point) => isInFlatPolygon(points, point));
}

/**
 * Inside by the number of edges to the right of the point. As in MongoDB an edge has its upper end and not its lower one, and a point on it
 * counts as left of it; a corner, and a point on an upright or a level edge, are inside.
 */
function isInFlatPolygon(points: readonly FlatPoint[], [x, y]: FlatPoint): boolean {
  let inside = false;
  for (const [i, [bx, by]] of points.entries()) {
    if (x === bx && y === by) return true;
    const [ax, ay] = points.at(i - 1) as FlatPoint;
    if (y === ay && y === by && x >= Math.min(ax, bx) && x <= Math.max(ax, bx)) return true;
    if (!(y > Math.min(ay, by) && y <= Math.max(ay, by) && x <= Math.max(ax, bx))) continue;
    if (ax === bx && x === ax) return true;
    if (ax === bx || x <= ((y - ay) * (bx - ax)) / (by - ay) + ax) inside = !inside;
  }
  return inside;
}

function readCentre(value: Value, what: string): { readonly centre: FlatPoint; readonly radius: number } {
  const parts = pointsOf(value, what);
  const [centre, radius] = parts;
  if (centre === undefined) throw refuse(2, `${what} must have a center`);
  const point = readFlatPoint(centre, true);
  if (radius === undefined || !isNumber(radius) || !(toDouble(radius) >= 0)) throw refuse(2, 'radius must be a non-negative number');
  if (parts.length > 2) throw refuse(2, `Only 2 fields allowed for circular region, but found ${parts.length}`);
  return { centre: point, radius: toDouble(radius) };
}

function readCircle(value: Value): Region {
  const { centre: [x, y], radius } = readCentre(value, '$center');
  return flatRegion([x - radius, y - radius, x + radius, y + radius], (point) => isWithin([x, y], point, radius));
}

/** Whether two points are no further apart than that. Straight above or beside each other it is asked of their sums, for differences round otherwise. */
function isWithin([ax, ay]: FlatPoint, [bx, by]: FlatPoint, radius: number): boolean {
  if (ax === bx) return Math.max(ay, by) <= Math.min(ay, by) + radius;
  if (ay === by) return Math.max(ax, bx) <= Math.min(ax, bx) + radius;
  return Math.hypot(ax - bx, ay - by) <= radius;
}

/** A circle on the sphere; its radius is an angle. */
function readSphereCircle(value: Value): Region {
  const { centre, radius } = readCentre(value, '$centerSphere');
  if (!isOnEarth(centre)) throw refuse(2, `longitude/latitude is out of bounds, lng: ${centre[0]} lat: ${centre[1]}`);
  const middle = vectorOf(...centre);
  const holds = (point: Vector): boolean => angleBetween(point, middle) <= radius + sameAngle;
  const contains = (shape: Geometry): boolean => shape.isOnSphere && [...shape.points, ...shape.lines.flat(), ...shape.polygons.flatMap(({ outer }) => outer.vertices)].every(holds);
  return { cap: { centre: middle, radius: Math.min(Math.PI, radius + sameAngle) }, bounds: undefined, contains, meets: (shape) => shape.isOnSphere && distanceTo(shape, middle) <= radius + sameAngle };
}
