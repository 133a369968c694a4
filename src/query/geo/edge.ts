// Edges: the shorter arc between two points of the sphere.

import { add, angleBetween, cross, dot, normalized, scaled } from './vector.ts';
import type { Vector } from './vector.ts';

/** Two ends. */
export type Edge = readonly [Vector, Vector];

/** The angle between a point and the nearest point of an edge. */
export function distanceToEdge(point: Vector, [a, b]: Edge): number {
  const ends = Math.min(angleBetween(point, a), angleBetween(point, b));
  const normal = cross(a, b);
  if (Math.hypot(...normal) < 1e-15) return ends;
  const unit = normalized(normal);
  // The foot of the perpendicular lies on the arc if the point is on the inner side of both end planes.
  const isBeside = dot(cross(unit, a), point) >= 0 && dot(cross(b, unit), point) >= 0;
  return isBeside ? Math.min(ends, angleBetween(point, normalized(add(point, scaled(unit, -dot(unit, point)))))) : ends;
}
