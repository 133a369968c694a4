// A loop of edges on the sphere, each the shorter arc between two vertices, and its inside: the smaller of the two sides, or, where winding counts,
// the left one. Points on an edge are inside, as MongoDB has it.

import { spend } from '../../base/long-work.ts';
import { distanceToEdge } from './edge.ts';
import type { Edge } from './edge.ts';
import { add, angleBetween, cross, dot, middle, normalized, sameAngle, scaled } from './vector.ts';
import type { Vector } from './vector.ts';

/** A circle on the sphere: everything within an angle of a point. */
export interface Cap {
  readonly centre: Vector;
  readonly radius: number;
}

/** So many edges are looked at in about the time of one step of another loop. */
const EDGES_PER_STEP = 4;

/** Triple products below this are none. */
const rounding = 1e-15;

/** Within this the shorter arcs between points of a cap stay in it. */
const convexRadius = 1.4;

/** The smallest simple cap around points: not the smallest there is. */
export function capAround(points: readonly Vector[]): Cap {
  let sum: Vector = [0, 0, 0];
  for (const point of points) sum = add(sum, point);
  const centre = normalized(sum);
  let radius = 0;
  for (const point of points) radius = Math.max(radius, angleBetween(centre, point));
  // Arcs between points that are far apart may leave the cap.
  return radius < convexRadius ? { centre, radius: radius + sameAngle } : { centre, radius: Math.PI };
}

/** A closed line of at least three vertices, none twice in a row. */
export class Loop {
  /** Vertices, the first one not repeated; the inside lies to the left. */
  readonly vertices: readonly Vector[];
  readonly cap: Cap;
  /** A point inside, near the first edge; for loops that no hemisphere holds. */
  readonly #inside: Vector;
  #edges: readonly Edge[] | undefined;

  /** `keepsWinding`: the inside is to the left of the vertices as they are given, however large. */
  constructor(vertices: readonly Vector[], keepsWinding: boolean = false) {
    this.vertices = keepsWinding || areaOnLeft(vertices) <= 2 * Math.PI ? vertices : vertices.toReversed();
    const isLarge = keepsWinding && areaOnLeft(vertices) > 2 * Math.PI;
    this.cap = isLarge ? { centre: [1, 0, 0], radius: Math.PI } : capAround(vertices);
    this.#inside = leftOfFirstEdge(this.vertices);
  }

  get edges(): readonly Edge[] {
    this.#edges ??= this.vertices.map((vertex, i): Edge => [vertex, this.vertices[(i + 1) % this.vertices.length] as Vector]);
    return this.#edges;
  }

  /** Points inside, one close to each edge. */
  get insidePoints(): Vector[] {
    return this.edges.map(([a, b]) => leftOfEdge(a, b));
  }

  /** Whether the point lies on an edge. */
  touches(point: Vector): boolean {
    spend(this.vertices.length / EDGES_PER_STEP);
    return this.edges.some((edge) => distanceToEdge(point, edge) <= sameAngle);
  }

  /** Whether the point lies inside or on an edge. */
  contains(point: Vector): boolean {
    return this.touches(point) || this.containsInside(point);
  }

  /** Whether a point that is not on an edge lies inside. */
  containsInside(point: Vector): boolean {
    if (this.cap.radius >= convexRadius) return this.#crossings(point) % 2 === 0;
    return angleBetween(this.cap.centre, point) <= this.cap.radius && Math.abs(this.#turnsAround(point)) > Math.PI;
  }

  /** The angle by which one turns who looks from the point along the loop: 2 pi inside, 0 outside. */
  #turnsAround(point: Vector): number {
    const { vertices } = this;
    let sum = 0;
    let before = tangent(point, vertices.at(-1) as Vector);
    for (const vertex of vertices) {
      const here = tangent(point, vertex);
      sum += Math.atan2(dot(point, cross(before, here)), dot(before, here));
      before = here;
    }
    return sum;
  }

  /** Edges between a point inside and this one. */
  #crossings(point: Vector): number {
    const way: Edge = [this.#inside, point];
    // The way to a point that is opposite is no single arc: it goes over a third one.
    const ways: Edge[] = dot(this.#inside, point) > -0.99 ? [way] : [[this.#inside, normalized(cross(this.#inside, [0.3, 0.5, 0.8]))], [normalized(cross(this.#inside, [0.3, 0.5, 0.8])), point]];
    let count = 0;
    for (const edge of this.edges) for (const part of ways) if (properlyCross(part, edge)) count += 1;
    return count;
  }
}

/** The direction from a point towards another, along the sphere. */
function tangent(from: Vector, to: Vector): Vector {
  return add(to, scaled(from, -dot(from, to)));
}

/** Area to the left of a loop, between 0 and 4 pi: triangles from one point, each with its sign. */
function areaOnLeft(vertices: readonly Vector[]): number {
  const centre = capCentre(vertices);
  let area = 0;
  vertices.forEach((a, i) => {
    const b = vertices[(i + 1) % vertices.length] as Vector;
    area += 2 * Math.atan2(dot(centre, cross(a, b)), 1 + dot(centre, a) + dot(a, b) + dot(b, centre));
  });
  return area < 0 ? area + 4 * Math.PI : area;
}

function capCentre(vertices: readonly Vector[]): Vector {
  let sum: Vector = [0, 0, 0];
  for (const vertex of vertices) sum = add(sum, vertex);
  return normalized(Math.hypot(...sum) < 1e-6 ? [0.2, 0.3, 0.9] : sum);
}

function leftOfFirstEdge(vertices: readonly Vector[]): Vector {
  const [a = [1, 0, 0], b = [0, 1, 0]] = vertices;
  return leftOfEdge(a, b);
}

function leftOfEdge(a: Vector, b: Vector): Vector {
  return normalized(add(middle(a, b), scaled(normalized(cross(a, b)), 1e-7)));
}

/** Whether two arcs cross at a point inside both. */
export function properlyCross([a, b]: Edge, [c, d]: Edge): boolean {
  const ab = cross(a, b);
  const acb = -dot(ab, c);
  const bda = dot(ab, d);
  if (acb * bda <= 0) return false;
  const cd = cross(c, d);
  const cbd = -dot(cd, b);
  const dac = dot(cd, a);
  // An end on the other edge touches it: what is left of the product is rounding.
  const isTouching = [acb, bda, cbd, dac].some((side) => Math.abs(side) < rounding);
  return !isTouching && acb * cbd > 0 && acb * dac > 0;
}
