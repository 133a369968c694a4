// A polygon on the sphere: a loop, and loops inside it that are holes. Its edges belong to it, those of its holes too.

import { firstIndex } from '../../base/long-lists.ts';
import { distanceToEdge } from './edge.ts';
import type { Edge } from './edge.ts';
import type { Loop} from './loop.ts';
import { properlyCross } from './loop.ts';
import { middle, sameAngle } from './vector.ts';
import type { Vector } from './vector.ts';

/** An area of the sphere with its edges. Its holes lie inside its outer loop. */
export class Polygon {
  readonly outer: Loop;
  readonly holes: readonly Loop[];

  constructor(outer: Loop, holes: readonly Loop[]) {
    this.outer = outer;
    this.holes = holes;
  }

  get edges(): Edge[] {
    return [this.outer, ...this.holes].flatMap((loop) => loop.edges);
  }

  /** Whether the point is inside or on an edge. */
  contains(point: Vector): boolean {
    return this.outer.contains(point) && !this.holes.some((hole) => !hole.touches(point) && hole.containsInside(point));
  }

  /** Whether all of a line is inside. */
  containsLine(line: readonly Vector[]): boolean {
    if (firstIndex(line, (point) => !this.contains(point)) >= 0) return false;
    const { edges } = this;
    return firstIndex(edgesOfLine(line), (edge) => !this.contains(middle(...edge)) || firstIndex(edges, (own) => properlyCross(own, edge)) >= 0) < 0;
  }

  /** Whether all of another polygon is inside. */
  containsPolygon(other: Polygon): boolean {
    const around = [...other.outer.vertices, other.outer.vertices[0] as Vector];
    if (!this.containsLine(around)) return false;
    return !this.holes.some((hole) => hole.vertices.some((vertex) => !other.outer.touches(vertex) && other.contains(vertex) && !other.holes.some((own) => own.touches(vertex))));
  }

  meetsLine(line: readonly Vector[]): boolean {
    if (firstIndex(line, (point) => this.contains(point)) >= 0) return true;
    const { edges } = this;
    return firstIndex(edgesOfLine(line), (edge) => firstIndex(edges, (own) => edgesMeet(own, edge)) >= 0) >= 0;
  }

  /** Whether the insides have a point in common: edges alone that touch do not count. */
  meetsPolygon(other: Polygon): boolean {
    const edges = other.edges;
    if (firstIndex(this.edges, (own) => firstIndex(edges, (edge) => properlyCross(own, edge)) >= 0) >= 0) return true;
    const meet = (point: Vector): boolean => this.contains(point) && other.contains(point);
    return firstIndex(other.outer.insidePoints, meet) >= 0 || firstIndex(this.outer.insidePoints, meet) >= 0;
  }
}

/** The edges of a line from point to point. */
export function edgesOfLine(line: readonly Vector[]): Edge[] {
  return line.slice(1).map((point, i): Edge => [line[i] as Vector, point]);
}

/** Whether two edges cross or touch. */
export function edgesMeet(a: Edge, b: Edge): boolean {
  if (properlyCross(a, b)) return true;
  return distanceToEdge(a[0], b) <= sameAngle || distanceToEdge(a[1], b) <= sameAngle || distanceToEdge(b[0], a) <= sameAngle || distanceToEdge(b[1], a) <= sameAngle;
}
