// `$near` and `$nearSphere`: order by distance from a point, between two distances (manual: "$near", "$nearSphere"). A GeoJSON point measures in metres
// on the sphere; a legacy pair measures in its own units on the plane, or, for `$nearSphere`, in radians on the sphere.

import { BsonArray, describeValue, Document, isNumber, toDouble } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { refuse } from '../refuse.ts';
import { isOnEarth, readFlatPoint, readGeoJson } from './geometry.ts';
import type { FlatPoint, Geometry } from './geometry.ts';
import { distanceTo } from './region.ts';
import { earthRadiusMetres, vectorOf } from './vector.ts';

/** A point, and how far from it. */
export interface NearQuery {
  readonly point: FlatPoint;
  /** Measures on the sphere; else on the plane. */
  readonly isSphere: boolean;
  /** Units of a radian, on the sphere: metres, or 1. */
  readonly unitsPerRadian: number;
  /** In those units. */
  readonly minDistance: number;
  readonly maxDistance: number;
}

const distanceNames: ReadonlySet<string> = new Set(['$geometry', '$maxDistance', '$minDistance']);

/** Reads the operator's operand, and the distances beside it. BadValue where it is wrong. */
export function readNear(name: '$near' | '$nearSphere', operand: Value, siblings: Document): NearQuery {
  for (const [sibling] of siblings.fields) {
    if (sibling !== name && !distanceNames.has(sibling)) throw refuse(2, `invalid argument in geo near query: ${sibling}`);
  }
  if (operand instanceof Document && operand.has('$geometry')) return readGeoJsonNear(name, operand);
  if (!(operand instanceof BsonArray) && !(operand instanceof Document)) throw refuse(2, `near must be first in: ${describeValue(siblings)}`);
  if (operand instanceof Document && typeof operand.get('type') === 'string') return sphereMetres(pointOf(readGeoJson(operand), operand), distancesOf(siblings, shapeCodes));
  const point = readFlatPoint(operand);
  const third = operand instanceof BsonArray ? operand.items()[2] : operand.fields[2]?.[1];
  const distances = distancesOf(siblings, pairCodes, third);
  if (name === '$near') return { point, isSphere: false, unitsPerRadian: 1, ...distances };
  if (!isOnEarth(point)) throw refuse(2, `longitude/latitude is out of bounds, lng: ${point[0]} lat: ${point[1]}`);
  return { point, isSphere: true, unitsPerRadian: 1, ...distances };
}

function readGeoJsonNear(name: string, operand: Document): NearQuery {
  for (const [field] of operand.fields) if (!distanceNames.has(field)) throw refuse(2, `invalid argument in geo near query: ${field}`);
  const shape = operand.get('$geometry');
  if (!(shape instanceof Document)) throw refuse(2, `${name} requires a point, given ${describeValue(shape ?? null)}`);
  return sphereMetres(pointOf(shape.has('type') ? readGeoJson(shape) : undefined, shape), distancesOf(operand, shapeCodes));
}

function pointOf(geometry: Geometry | undefined, given: Document): FlatPoint {
  const point = geometry === undefined ? readFlatPoint(given.get('coordinates') ?? given) : geometry.flat;
  if (point === undefined || !isOnEarth(point)) throw refuse(2, `$near requires a point, given ${describeValue(given)}`);
  return point;
}

function sphereMetres(point: FlatPoint, distances: Pick<NearQuery, 'minDistance' | 'maxDistance'>): NearQuery {
  return { point, isSphere: true, unitsPerRadian: earthRadiusMetres, ...distances };
}

/** Codes for a distance that is no number, and for one that is out of bounds. */
interface DistanceCodes {
  readonly min: readonly [number, number];
  readonly max: readonly [number, number];
  readonly takesInfinity: boolean;
}

const shapeCodes: DistanceCodes = { min: [2, 2], max: [2, 2], takesInfinity: false };
const pairCodes: DistanceCodes = { min: [16893, 16894], max: [16895, 16896], takesInfinity: true };

function distancesOf(given: Document, codes: DistanceCodes, third?: Value): Pick<NearQuery, 'minDistance' | 'maxDistance'> {
  const max = given.has('$maxDistance') ? given.get('$maxDistance') : third;
  return {
    minDistance: distance('$minDistance', given.get('$minDistance'), codes.min, codes.takesInfinity) ?? 0,
    maxDistance: distance('$maxDistance', max, codes.max, codes.takesInfinity) ?? Infinity,
  };
}

function distance(name: string, value: Value | undefined, [typeCode, boundsCode]: readonly [number, number], takesInfinity: boolean): number | undefined {
  if (value === undefined) return undefined;
  if (!isNumber(value)) throw refuse(typeCode, `${name} must be a number`);
  const number = toDouble(value);
  if (!(number >= 0) || (!takesInfinity && number === Infinity)) throw refuse(boundsCode, `${name} must be non-negative`);
  return number;
}

/** The distance of a stored shape in the query's units; undefined where it has none. */
export function nearDistance(query: NearQuery, shape: Geometry): number | undefined {
  if (!query.isSphere) return shape.flat === undefined ? undefined : Math.hypot(shape.flat[0] - query.point[0], shape.flat[1] - query.point[1]);
  return shape.isOnSphere ? distanceTo(shape, vectorOf(...query.point)) * query.unitsPerRadian : undefined;
}

/** Whether a distance is between those asked for. */
export function isNear({ minDistance, maxDistance }: NearQuery, distance: number): boolean {
  return distance >= minDistance && distance <= maxDistance;
}
