// Whether the edges of a loop cross each other. Edges are taken in the order in which their boxes begin along one axis of space, and only those whose
// boxes meet are looked at, so a loop of many short edges takes about as long as it has edges, not as it has pairs of them.

import { overItems } from '../../base/long-lists.ts';
import { sortedOf } from '../../base/long-sort.ts';
import { spend } from '../../base/long-work.ts';
import type { Edge } from './edge.ts';
import { properlyCross } from './loop.ts';
import { angleBetween } from './vector.ts';

/** So many edges are passed by in about the time of one step of another loop. */
const EDGES_PER_STEP = 16;

interface Boxed {
  readonly edge: Edge;
  readonly index: number;
  readonly low: readonly [number, number, number];
  readonly high: readonly [number, number, number];
}

/** The box of space around an arc, which lies a little outside of the straight line between its ends. */
function boxed(edge: Edge, index: number): Boxed {
  const [[ax, ay, az], [bx, by, bz]] = edge;
  const reach = 1 - Math.cos(angleBetween(...edge) / 2) + 1e-12;
  return {
    edge,
    index,
    low: [Math.min(ax, bx) - reach, Math.min(ay, by) - reach, Math.min(az, bz) - reach],
    high: [Math.max(ax, bx) + reach, Math.max(ay, by) + reach, Math.max(az, bz) + reach],
  };
}

function boxesMeet(a: Boxed, b: Boxed): boolean {
  return a.low[1] <= b.high[1] && b.low[1] <= a.high[1] && a.low[2] <= b.high[2] && b.low[2] <= a.high[2];
}

/** The first two edges of a closed loop that cross, neighbours left out; undefined where none do. */
export function crossingEdges(edges: readonly Edge[]): readonly [number, number] | undefined {
  const order = sortedOf(edges.map(boxed), (a, b) => a.low[0] - b.low[0]);
  const begin = (): { first: readonly [number, number] | undefined } => ({ first: undefined });
  return overItems(order, begin, (found, one, at) => {
    let next = at + 1;
    for (let other = order[next]; other !== undefined && other.low[0] <= one.high[0]; other = order[++next]) {
      if (!boxesMeet(one, other)) continue;
      const [i, j] = [Math.min(one.index, other.index), Math.max(one.index, other.index)];
      const areNeighbours = j === i + 1 || (i === 0 && j === edges.length - 1);
      if (areNeighbours || !properlyCross(edges[i] as Edge, edges[j] as Edge)) continue;
      if (found.first === undefined || i < found.first[0] || (i === found.first[0] && j < found.first[1])) found.first = [i, j];
    }
    spend((next - at) / EDGES_PER_STEP);
  }).first;
}
