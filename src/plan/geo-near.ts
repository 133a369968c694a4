// Documents in order of distance from a point: rings around it, each read through a geospatial index and sorted before the next is begun, so that a
// small limit reads little (manual: "$near"). A document is as far as the nearest of its places.

import { Document } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';
import { gridOf } from '../catalog/index.ts';
import type { Collection, Index } from '../catalog/index.ts';
import { CommandError } from '../base/errors.ts';
import { capRectangles, nearestPlace, noteMetadata, vectorOf } from '../query/index.ts';
import type { FilterNode, GeoBounds, NearQuery } from '../query/index.ts';
import { filterOfAll, indexAccess } from './access.ts';
import type { Access, Wanted } from './access.ts';
import type { Conditions } from './conditions.ts';
import { Fetch } from './fetch.ts';
import { cellIntervals, withCells } from './geo-bounds.ts';
import { holdsAll } from './implication.ts';
import type { Counters, Execution, Interruptible, PlanStage, Row, RowSource } from './row.ts';
import { batchRows } from './row.ts';

/** The condition that asks for the nearest. */
export type NearNode = Extract<FilterNode, { readonly kind: 'near' }>;
type GeoIndex = Index & { readonly kind: '2d' | '2dsphere' };

/** The first ring's reach, as a share of the largest there is; each further ring reaches four times as far. */
const firstRing = 1 / 65_536;
const growth = 4;

/** A ring: what is nearer than `inner` was in those before. */
interface Ring {
  readonly inner: number;
  readonly outer: number;
  readonly stage: PlanStage;
}

/** The condition that orders by distance; 2 where there are several. */
export function nearNodeOf({ conjuncts }: Conditions): NearNode | undefined {
  const found = conjuncts.filter((node) => node.kind === 'near');
  if (found.length > 1) throw new CommandError(2, 'BadValue', 'Too many geoNear expressions');
  if (found.length === 0 && conjuncts.some(hidesNear)) throw new CommandError(2, 'BadValue', 'geo $near must be top-level expr');
  return found[0];
}

function hidesNear(node: FilterNode): boolean {
  if (node.kind === 'and' || node.kind === 'or') return node.children.some((child) => child.kind === 'near' || hidesNear(child));
  return node.kind === 'not' && (node.child.kind === 'near' || hidesNear(node.child));
}

/** The way to documents in order of distance; 291 where no index has the path's shapes. `few`: not all of them will be taken. */
export function nearAccess(collection: Collection, conditions: Conditions, near: NearNode, choice: { readonly indexes: readonly Index[]; readonly wanted: Wanted; readonly few: boolean }): Access {
  const index = choice.indexes.find((candidate): candidate is GeoIndex => canServe(candidate, near) && holdsAll(candidate, conditions.conjuncts));
  if (index === undefined) {
    throw new CommandError(291, 'NoQueryExecutionPlans', 'error processing query: planner returned error :: caused by :: unable to find index for $geoNear query');
  }
  checkPoint(index, near.query);
  const { sort } = choice.wanted;
  const rings = ringsOf(collection, conditions, near, { index, few: choice.few && sort === undefined });
  const stage = new GeoNear(index, near, rings);
  return { stage, gives: 'documents', residual: [], sorted: sort === undefined, scans: [], reader: undefined };
}

function canServe(index: Index, { path, query }: NearNode): index is GeoIndex {
  const word = index.key.get(path.text);
  return word === '2dsphere' ? query.isSphere : word === '2d' && query.unitsPerRadian === 1;
}

/** A 2d index knows no place beyond its bounds. */
function checkPoint(index: GeoIndex, { point: [x, y] }: NearQuery): void {
  if (index.kind !== '2d') return;
  const [low, , high] = gridOf('2d', index.spec).bounds;
  if (x >= low && x <= high && y >= low && y <= high) return;
  throw new CommandError(16433, 'Location16433', `point not in interval of [ ${low}, ${high} ] :: caused by :: [ ${x}, ${y} ]`);
}

/** The largest distance there is, in the query's units. */
function farthest(query: NearQuery, index: GeoIndex): number {
  if (query.isSphere) return Math.PI * query.unitsPerRadian;
  const [west, south, east, north] = gridOf(index.kind, index.spec).bounds;
  const [x, y] = query.point;
  return Math.hypot(Math.max(Math.abs(x - west), Math.abs(x - east)), Math.max(Math.abs(y - south), Math.abs(y - north)));
}

function ringsOf(collection: Collection, conditions: Conditions, near: NearNode, { index, few }: { readonly index: GeoIndex; readonly few: boolean }): Ring[] {
  const { query } = near;
  const limit = Math.min(query.maxDistance, farthest(query, index));
  const rings: Ring[] = [];
  let inner = query.minDistance;
  for (let outer = few ? Math.max(inner * 2, farthest(query, index) * firstRing) : limit; ; outer *= growth) {
    const reach = Math.min(outer, limit);
    rings.push({ inner, outer: reach, stage: ringStage(collection, conditions, near, { index, reach }) });
    if (reach >= limit) return rings;
    inner = reach;
  }
}

function ringStage(collection: Collection, conditions: Conditions, near: NearNode, { index, reach }: { readonly index: GeoIndex; readonly reach: number }): PlanStage {
  const { path, query } = near;
  const field = index.paths.indexOf(path.text);
  const bounds = withCells(index, field, conditions, cellIntervals(index, index.kind, rectanglesWithin(query, reach)));
  const scan = indexAccess(bounds, { conjuncts: [], leaves: [] }, { output: 'none', sort: undefined, sortPattern: Document.empty });
  return new Fetch(scan.stage, { collection, filter: filterOfAll(conditions.conjuncts), keepsOrder: false });
}

function rectanglesWithin(query: NearQuery, reach: number): readonly GeoBounds[] {
  const [x, y] = query.point;
  if (!query.isSphere) return [[x - reach, y - reach, x + reach, y + reach]];
  return capRectangles({ centre: vectorOf(x, y), radius: Math.min(Math.PI, reach / query.unitsPerRadian) });
}

/** GEO_NEAR_2D, GEO_NEAR_2DSPHERE. */
class GeoNear implements PlanStage {
  readonly name: string;
  readonly inputs: readonly PlanStage[];
  readonly #index: GeoIndex;
  readonly #near: NearNode;
  readonly #rings: readonly Ring[];

  constructor(index: GeoIndex, near: NearNode, rings: readonly Ring[]) {
    this.name = index.kind === '2d' ? 'GEO_NEAR_2D' : 'GEO_NEAR_2DSPHERE';
    this.inputs = rings.map(({ stage }) => stage);
    this.#index = index;
    this.#near = near;
    this.#rings = rings;
  }

  open(execution: Execution): RowSource {
    return new GeoNearSource(this.#near, this.#rings, execution, execution.countersOf(this));
  }

  details(): readonly (readonly [string, Value])[] {
    return [['keyPattern', this.#index.key], ['indexName', this.#index.name]];
  }

  statistics(): readonly (readonly [string, Value])[] {
    return [];
  }
}

class GeoNearSource implements RowSource {
  readonly #near: NearNode;
  readonly #rings: readonly Ring[];
  readonly #execution: Execution;
  readonly #counters: Counters;
  #ring = 0;
  #sorted: readonly Row[] = [];
  #at = 0;

  constructor(near: NearNode, rings: readonly Ring[], execution: Execution, counters: Counters) {
    this.#near = near;
    this.#rings = rings;
    this.#execution = execution;
    this.#counters = counters;
  }

  async next(context: Interruptible): Promise<readonly Row[] | undefined> {
    while (this.#at >= this.#sorted.length) {
      const ring = this.#rings[this.#ring++];
      if (ring === undefined) return undefined;
      this.#sorted = await this.#read(ring, context);
      this.#at = 0;
    }
    const rows = this.#sorted.slice(this.#at, this.#at + batchRows);
    this.#at += rows.length;
    this.#counters.advanced += rows.length;
    return rows;
  }

  async #read({ inner, outer, stage }: Ring, context: Interruptible): Promise<readonly Row[]> {
    const { query, path } = this.#near;
    const isFirst = this.#ring === 1;
    const isLast = this.#ring === this.#rings.length;
    const found: { readonly row: Row; readonly distance: number }[] = [];
    const source = stage.open(this.#execution);
    try {
      for (let rows = await source.next(context); rows !== undefined; rows = await source.next(context)) {
        this.#counters.works += rows.length;
        for (const row of rows) {
          const place = row.document === undefined ? undefined : nearestPlace(query, path, row.document);
          if (place === undefined || row.document === undefined) continue;
          const { distance } = place;
          if ((!isFirst && distance < inner) || (!isLast && distance >= outer)) continue;
          noteMetadata(row.document, { geoNearDistance: distance, geoNearPoint: place.value });
          found.push({ row, distance });
        }
      }
    } finally {
      source.close();
    }
    return found.sort((a, b) => a.distance - b.distance).map(({ row }) => row);
  }

  close(): void {
    this.#sorted = [];
    this.#ring = this.#rings.length;
  }
}
