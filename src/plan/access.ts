// Ways to the rows of a query: a scan of one index within its bounds, of the collection, the union or the intersection of scans. Each says what
// it leaves to be tested on documents, whether its rows are documents, entries or keys, and whether they come in the order of the sort.

import { must } from '../base/assert.ts';
import { Document, skipKeyField } from '../bson/index.ts';
import type { Collection, Direction, Index, KeyRange } from '../catalog/index.ts';
import { andOf, filterOf } from '../query/index.ts';
import type { Filter, FilterNode, SortKey } from '../query/index.ts';
import { CollectionScan } from './collection-scan.ts';
import { Intersection, SortMerge, Union } from './combine.ts';
import type { Conditions } from './conditions.ts';
import { describeFilter } from './describe-filter.ts';
import { EntryReader, isDecidedByEntry } from './entry-reader.ts';
import { IndexScan } from './index-scan.ts';
import { logRangeOf } from './log-range.ts';
import { hasPosition } from './index-bounds.ts';
import type { IndexBounds } from './index-bounds.ts';
import type { PlanStage, Row } from './row.ts';
import { scanRanges } from './scan-ranges.ts';
import type { ScanRanges } from './scan-ranges.ts';
import { sortOrderOf } from './sort-order.ts';
import type { SortOrder } from './sort-order.ts';

/** What a query wants of its rows. */
export interface Wanted {
  /** The paths that are read; 'none' for a count, 'documents' for all. */
  readonly output: 'documents' | 'none' | ReadonlySet<string>;
  readonly sort: SortKey | undefined;
  readonly sortPattern: Document;
  /** Whether rows must carry their index entry whatever else they are. */
  readonly keys?: boolean;
  /** Whether the order of rows means nothing. */
  readonly anyOrder?: boolean;
  /** The path whose different values are wanted. */
  readonly distinct?: string | undefined;
  /** For a count of one scan: rows need no key. */
  readonly bare?: boolean;
}

/** Ranges that a client gave (`min`, `max`) in the place of bounds. */
export interface GivenRanges {
  readonly direction: Direction;
  readonly range: KeyRange | undefined;
}

/** One way. */
export interface Access {
  readonly stage: PlanStage;
  /** What rows carry. */
  readonly gives: 'documents' | 'entries' | 'keys';
  /** To be tested on the documents. */
  readonly residual: readonly FilterNode[];
  /** Whether rows come in the order of the sort. */
  readonly sorted: boolean;
  /** Bounds of its scans, for estimates. */
  readonly scans: readonly IndexBounds[];
  /** The reader of its entries, where rows are entries. */
  readonly reader: EntryReader | undefined;
}

/** A filter of these conditions; undefined where there is none. */
export function filterOfAll(nodes: readonly FilterNode[]): { readonly test: Filter | undefined; readonly shown: (() => Document) | undefined } {
  if (nodes.length === 0) return { test: undefined, shown: undefined };
  const node = andOf(nodes);
  return { test: filterOf(node), shown: () => describeFilter(node) };
}

/** The whole collection. */
export function collectionAccess(collection: Collection, conditions: Conditions, direction: Direction): Access {
  const stage = new CollectionScan(collection, filterOfAll(conditions.conjuncts), direction, logRangeOf(collection, conditions));
  return { stage, gives: 'documents', residual: [], sorted: false, scans: [], reader: undefined };
}

/** Whether entries of the index say all that is wanted: no arrays, every path there. */
function isCovered(bounds: IndexBounds, wanted: Wanted): boolean {
  const { output } = wanted;
  if (output === 'none') return true;
  if (output === 'documents' || !isReadable(bounds.index)) return false;
  return [...output].every((path) => bounds.index.paths.includes(path));
}

/** Whether a document of the indexed paths can be made from an entry: no arrays, no path that may mean their elements, and none inside another. */
function isReadable(index: Index): boolean {
  return index.kind === 'plain' && !index.isMultikey && !index.paths.some(hasPosition) && !index.paths.some((path) => index.paths.some((other) => other.startsWith(`${path}.`)));
}

/** What an index scan tests itself, and what it leaves to be tested on documents. */
interface Division {
  readonly decided: readonly FilterNode[];
  readonly residual: readonly FilterNode[];
}

function divide({ index, settled }: IndexBounds, { conjuncts }: Conditions): Division {
  const rest = conjuncts.filter((_, i) => !settled.has(i));
  if (carriesDocuments(index)) return { decided: rest, residual: [] };
  const decided = isReadable(index) ? rest.filter((node) => isDecidedByEntry(node, index.paths)) : [];
  return { decided, residual: rest.filter((node) => !decided.includes(node)) };
}

const carriesDocuments = (index: Index): boolean => index.clustering || index.isPrimary;

/** A scan of one index. */
export function indexAccess(bounds: IndexBounds, conditions: Conditions, wanted: Wanted, given?: GivenRanges): Access {
  const order = wanted.sort === undefined ? undefined : sortOrderOf(bounds, wanted.sort);
  const { decided, residual } = divide(bounds, conditions);
  const { index } = bounds;
  const covered = residual.length === 0 && (wanted.sort === undefined || order !== undefined) && isCovered(bounds, wanted);
  const gives = givenBy(index, covered, wanted);
  const reader = carriesDocuments(index) ? undefined : new EntryReader(index);
  const { test, shown } = filterOfAll(decided);
  const common = {
    direction: directionOf(order, given),
    entryFilter: test === undefined || reader === undefined ? undefined : { test, reader },
    documentFilter: reader === undefined ? test : undefined,
    shown,
    bare: gives === 'keys' && covered && wanted.bare === true,
    passesOver: gives === 'entries' ? fieldsPassedOver(index, decided, wanted) : 0,
    carries: { document: gives === 'documents', entry: gives === 'entries' || wanted.keys === true || isMerged(order) },
  };
  const make = (part: IndexBounds): IndexScan => new IndexScan({ ...common, bounds: part, scan: rangesOf(part, given) });
  const stage = isMerged(order) ? mergeOf(bounds, order, make, wanted) : make(bounds);
  return { stage, gives, residual, sorted: order !== undefined, scans: [bounds], reader };
}

/** How many fields an index begins with up to the path whose different values are wanted; 0: every entry counts. */
function fieldsPassedOver(index: Index, decided: readonly FilterNode[], { distinct }: Wanted): number {
  return distinct === undefined || decided.length > 0 ? 0 : index.paths.indexOf(distinct) + 1;
}

const isMerged = (order: SortOrder | undefined): order is SortOrder => order !== undefined && order.exploded > 0;

const directionOf = (order: SortOrder | undefined, given: GivenRanges | undefined): Direction => order?.direction ?? given?.direction ?? 1;

function givenBy(index: Index, covered: boolean, wanted: Wanted): Access['gives'] {
  if (covered && wanted.output === 'none') return 'keys';
  if (carriesDocuments(index)) return 'documents';
  return covered ? 'entries' : 'keys';
}

function rangesOf(bounds: IndexBounds, given: GivenRanges | undefined): ScanRanges {
  return given?.range === undefined ? scanRanges(bounds) : { ranges: [given.range], test: undefined, pointFields: 0 };
}

/** One scan for each combination of the leading points, merged by what the sort asks. */
function mergeOf(bounds: IndexBounds, order: SortOrder, make: (part: IndexBounds) => IndexScan, wanted: Wanted): PlanStage {
  let parts: IndexBounds[] = [bounds];
  for (let field = 0; field < order.exploded; field++) {
    parts = parts.flatMap((part) =>
      must(part.fields[field], 'a field of the index').map((interval) => ({ ...part, fields: part.fields.with(field, [interval]) })),
    );
  }
  const keyOf = (row: Row): Uint8Array => orderBytes(bounds, order, must(row.entry, 'rows to merge carry their entry').fields);
  return new SortMerge(parts.map(make), keyOf, wanted.sortPattern);
}

/** The bytes of an entry that scans are merged by: all behind the fields that were taken value by value. */
function orderBytes({ index }: IndexBounds, { exploded, direction }: SortOrder, fields: Uint8Array): Uint8Array {
  let at = 0;
  for (let field = 0; field < exploded; field++) at = skipKeyField(fields, at, must(index.directions[field], 'a field of the index'));
  return direction > 0 ? fields.subarray(at) : fields.slice(at).map((byte) => 0xff - byte);
}

/** Any of several ways; what is left to test is the whole filter, unless each way settles its own branch and nothing else is asked. */
export function unionAccess(branches: readonly Access[], conditions: Conditions, wanted: Wanted): Access {
  const settled = conditions.conjuncts.length === 1 && branches.every((branch) => branch.residual.length === 0);
  const documents = branches.every((branch) => branch.gives === 'documents');
  return {
    stage: new Union(branches.map((branch) => branch.stage)),
    gives: documents ? 'documents' : 'keys',
    residual: settled ? [] : conditions.conjuncts,
    sorted: wanted.sort !== undefined && wanted.sort.parts.length === 0,
    scans: branches.flatMap((branch) => branch.scans),
    reader: undefined,
  };
}

/** All of several index scans. */
export function intersectionAccess(parts: readonly IndexBounds[], conditions: Conditions): Access {
  const wanted: Wanted = { output: 'none', sort: undefined, sortPattern: Document.empty };
  const settled = new Set(parts.flatMap((part) => [...part.settled]));
  const residual = conditions.conjuncts.filter((_, i) => !settled.has(i));
  // Each scan tests nothing but its bounds: what is left is tested once, on the document.
  const scans = parts.map((part) => indexAccess(part, { conjuncts: [], leaves: [] }, wanted).stage);
  return { stage: new Intersection(scans), gives: 'keys', residual, sorted: false, scans: parts, reader: undefined };
}
