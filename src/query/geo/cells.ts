// Cells of a quadtree over a rectangle, numbered so that the descendants of a cell are one interval: what geospatial indexes hold. A point has the one
// smallest cell; another shape a few cells that cover it. A region asks for the intervals of its cells, and for the cells around them, which larger shapes
// may have. What the cells let through in vain is tested on the shape.

import type { Bounds } from './region.ts';
import type { Cap } from './loop.ts';
import { degreesOf } from './vector.ts';

/** Halvings of each axis. */
const depth = 29;
/** Bits of a number: two for each halving, and one that ends it. */
const bits = BigInt(2 * depth + 1);
const shapeCellsMax = 16;
const regionCellsMax = 32;

/** The rectangle that is divided; points beyond lie in its outermost cells. */
export interface Grid {
  readonly bounds: Bounds;
}

/** The sphere by longitude and latitude. */
export const sphereGrid: Grid = { bounds: [-180, -90, 180, 90] };

/** Numbers of cells, both ends inside. */
export interface CellInterval {
  readonly low: bigint;
  readonly high: bigint;
}

interface Cell {
  readonly x: number;
  readonly y: number;
  readonly level: number;
}

/** The smallest cell at a place. */
export function pointCell({ bounds: [west, south, east, north] }: Grid, x: number, y: number): bigint {
  return numberOf({ x: step((x - west) / (east - west)), y: step((y - south) / (north - south)), level: depth });
}

function step(share: number): number {
  return Math.min(2 ** depth - 1, Math.max(0, Math.floor(share * 2 ** depth)));
}

/** Bits of two numbers in turn: those of the cell from the top. */
function prefixOf({ x, y, level }: Cell): bigint {
  let prefix = 0n;
  for (let bit = level - 1; bit >= 0; bit--) {
    const unit = 2 ** bit;
    prefix = (prefix << 2n) | BigInt((Math.floor(x / unit) % 2) * 2 + (Math.floor(y / unit) % 2));
  }
  return prefix;
}

function numberOf(cell: Cell): bigint {
  return ((prefixOf(cell) << 1n) | 1n) << (bits - 1n - BigInt(2 * cell.level));
}

/** Cells that cover rectangles: few, and no smaller than they need be. */
function cover({ bounds: [west, south, east, north] }: Grid, rectangles: readonly Bounds[], cellsMax: number): Cell[] {
  const meets = ({ x, y, level }: Cell): 'not' | 'partly' | 'wholly' => {
    const [width, height] = [(east - west) / 2 ** level, (north - south) / 2 ** level];
    const [left, bottom] = [west + x * width, south + y * height];
    let found: 'not' | 'partly' = 'not';
    for (const [a, b, c, d] of rectangles) {
      if (a <= left && b <= bottom && c >= left + width && d >= bottom + height) return 'wholly';
      // Closed: what lies on the edge of a cell may have been put to either side.
      if (a <= left + width && c >= left && b <= bottom + height && d >= bottom) found = 'partly';
    }
    return found;
  };
  const whole: Cell[] = [];
  let open: Cell[] = [{ x: 0, y: 0, level: 0 }];
  for (let level = 0; level < depth && open.length > 0; level++) {
    const next: Cell[] = [];
    const inside: Cell[] = [];
    for (const cell of open) {
      for (const [dx, dy] of [[0, 0], [0, 1], [1, 0], [1, 1]] as const) {
        const child = { x: cell.x * 2 + dx, y: cell.y * 2 + dy, level: level + 1 };
        const how = meets(child);
        if (how === 'wholly') inside.push(child);
        else if (how === 'partly') next.push(child);
      }
    }
    if (whole.length + inside.length + next.length > cellsMax) break;
    whole.push(...inside);
    open = next;
  }
  return [...whole, ...open];
}

/** Cells of a shape that lies in these rectangles. */
export function shapeCells(grid: Grid, rectangles: readonly Bounds[]): bigint[] {
  return cover(grid, rectangles, shapeCellsMax).map(numberOf);
}

/** Where shapes that meet these rectangles may be: ascending, apart. */
export function regionIntervals(grid: Grid, rectangles: readonly Bounds[]): CellInterval[] {
  const found: CellInterval[] = [];
  for (const cell of cover(grid, rectangles, regionCellsMax)) {
    const shift = bits - BigInt(2 * cell.level);
    const prefix = prefixOf(cell);
    found.push({ low: prefix << shift, high: ((prefix + 1n) << shift) - 1n });
    for (let level = 0; level < cell.level; level++) {
      const unit = 2 ** (cell.level - level);
      const around = numberOf({ x: Math.floor(cell.x / unit), y: Math.floor(cell.y / unit), level });
      found.push({ low: around, high: around });
    }
  }
  return joined(found);
}

function joined(intervals: readonly CellInterval[]): CellInterval[] {
  const result: CellInterval[] = [];
  for (const interval of [...intervals].sort((a, b) => (a.low < b.low ? -1 : a.low > b.low ? 1 : 0))) {
    const last = result.at(-1);
    if (last !== undefined && interval.low <= last.high + 1n) result[result.length - 1] = { low: last.low, high: last.high > interval.high ? last.high : interval.high };
    else result.push(interval);
  }
  return result;
}

/** Rectangles of longitude and latitude around a circle of the sphere. */
export function capRectangles({ centre, radius }: Cap): Bounds[] {
  const [longitude, latitude] = degreesOf(centre);
  const reach = (radius * 180) / Math.PI + 1e-7;
  const [south, north] = [Math.max(-90, latitude - reach), Math.min(90, latitude + reach)];
  if (north >= 90 || south <= -90 || reach >= 90) return [[-180, south, 180, north]];
  const wide = (Math.asin(Math.min(1, Math.sin(radius) / Math.cos((latitude * Math.PI) / 180))) * 180) / Math.PI + 1e-7;
  if (wide >= 180) return [[-180, south, 180, north]];
  const [west, east] = [longitude - wide, longitude + wide];
  if (west < -180) return [[west + 360, south, 180, north], [-180, south, east, north]];
  if (east > 180) return [[west, south, 180, north], [-180, south, east - 360, north]];
  return [[west, south, east, north]];
}
