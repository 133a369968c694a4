// A polygon on the sphere: a loop, and loops inside it that are holes. Its edges belong to it, those of its holes too.

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
    return line.every((point) => this.contains(point)) && edgesOfLine(line).every((edge) => this.contains(middle(...edge)) && !this.edges.some((own) => properlyCross(own, edge)));
  }

  /** Whether all of another polygon is inside. */
  containsPolygon(other: Polygon): boolean {
    const around = [...other.outer.vertices, other.outer.vertices[0] as Vector];
    if (!this.containsLine(around)) return false;
    return !this.holes.some((hole) => hole.vertices.some((vertex) => !other.outer.touches(vertex) && other.contains(vertex) && !other.holes.some((own) => own.touches(vertex))));
  }

  meetsLine(line: readonly Vector[]): boolean {
    return line.some((point) => this.contains(point)) || edgesOfLine(line).some((edge) => this.edges.some((own) => edgesMeet(own, edge)));
  }

  /** Whether the insides have a point in common: edges alone that touch do not count. */
  meetsPolygon(other: Polygon): boolean {
    const edges = other.edges;
    if (this.edges.some((own) => edges.some((edge) => properlyCross(own, edge)))) return true;
    return other.outer.insidePoints.some((point) => other.contains(point) && this.contains(point)) || this.outer.insidePoints.some((point) => this.contains(point) && other.contains(point));
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
