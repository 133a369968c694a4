// From a request to a plan: what is wanted of the rows, the way to them, and the stages above it.

import { must } from '../base/assert.ts';
import { CommandError } from '../base/errors.ts';
import { BsonArray, bsonUndefined, collated, Document, encodeKey, hasText, isNumber, Regex, toDouble } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';
import type { CatalogTransaction, Collection, Direction, Index, KeyRange } from '../catalog/index.ts';

import { equalKeys } from '../catalog/index.ts';
import { sameCollation } from '../collation/index.ts';
import type { FilterNode } from '../query/index.ts';
import { collectionAccess, filterOfAll, indexAccess } from './access.ts';
import type { Access, Wanted } from './access.ts';
import { chooseAccess } from './choose.ts';
import type { Chosen } from './choose.ts';
import { conditionsOf } from './conditions.ts';
import type { Conditions } from './conditions.ts';
import { queryShape } from './shape-hash.ts';
import { EntryReader } from './entry-reader.ts';
import { Fetch } from './fetch.ts';
import { demandedAccess } from './demanded.ts';
import { badHint, hintedIndex } from './hint.ts';
import { IdLookup, Nothing } from './id-lookup.ts';
import { holdsAll } from './implication.ts';
import { indexBounds } from './index-bounds.ts';
import { Output } from './output.ts';
import type { Interruptible, PlanStage } from './row.ts';
import { Sort, sortBytesMaxDefault } from './sort.ts';
import { boundsFor } from './special-bounds.ts';
import { TotalRows } from './total-rows.ts';
import { StoredPlan } from './stored-plan.ts';
import type { Plan, QueryRequest, QueryTarget } from './types.ts';
import { inSlices } from '../env/index.ts';
import { Window } from './window.ts';

/** Chooses how to answer the request. Refuses hints that mean nothing (2). */
export async function planQuery(target: QueryTarget, request: QueryRequest, context: Interruptible): Promise<Plan> {
  const { collection } = target;
  const parting = inSlices(context, () => conditionsOf(request.filter.shape));
  const conditions = parting instanceof Promise ? await parting : parting;
  if (collection === undefined || conditions.conjuncts.some(isNever)) return nothing(target, request);
  const wanted = wantedOf(request);
  const chosen = await choose(target, { collection, conditions, wanted, request }, context);
  return inSlices(context, () => {
    const stage = stagesAbove(chosen.access, collection, request, wanted);
    const output = outputOf(chosen.access, collection, request, wanted);
    return new StoredPlan({ target, request, stage, output, rejected: chosen.rejected.map((access) => stagesAbove(access, collection, request, wanted)) });
  });
}

const isNever = (node: FilterNode): boolean =>
  (node.kind === 'always' && !node.value) || (node.kind === 'in' && node.values.length === 0 && node.patterns.length === 0);

function nothing(target: QueryTarget, request: QueryRequest): Plan {
  const output = new Output({ collection: undefined, projection: undefined, covered: undefined, returnKey: undefined, carriesKey: undefined, showRecordId: false });
  return new StoredPlan({ target, request, stage: new Nothing(), output, rejected: [] });
}

function wantedOf(request: QueryRequest): Wanted {
  const { purpose, sort, given, anyOrder } = request;
  const sortPattern = given?.sort ?? Document.empty;
  const order = sort?.parts.length === 0 ? undefined : sort;
  const paths = purpose === 'keyed' ? undefined : pathsRead(request);
  const readsNothing = purpose === 'count' || (paths?.size === 0 && order === undefined && !showsKeys(request));
  if (readsNothing) return { output: 'none', sort: undefined, sortPattern, bare: true };
  const output = request.returnKey === true ? new Set<string>() : (paths ?? 'documents');
  return { output, sort: order, sortPattern, keys: request.returnKey === true || request.carriesKey === true, anyOrder: anyOrder === true, distinct: request.distinct };
}

/** The paths that the answer is made of; undefined: all. */
function pathsRead({ projection, fieldsNeeded }: QueryRequest): ReadonlySet<string> | undefined {
  const paths = projection === undefined || projection.kind === 'all' ? fieldsNeeded : projection.fieldsNeeded;
  return paths === undefined ? undefined : new Set(paths);
}

const showsKeys = ({ returnKey, showRecordId }: QueryRequest): boolean => returnKey === true || showRecordId === true;

interface Question {
  readonly collection: Collection;
  readonly conditions: Conditions;
  readonly wanted: Wanted;
  readonly request: QueryRequest;
}

const hasRange = ({ min, max }: QueryRequest): boolean => min?.isEmpty === false || max?.isEmpty === false;

async function choose({ txn, watch }: QueryTarget, question: Question, context: Interruptible): Promise<Chosen> {
  const { collection, conditions, wanted, request } = question;
  const settled = watch?.settledIndexes === undefined || hasRange(request) ? undefined : await chooseSettled(watch.settledIndexes, question, txn, context);
  if (settled !== undefined) return settled;
  const only = watch?.indexFilters?.(queryShape(request));
  const hinted = only === undefined ? hintedIndex(collection, request.hint) : undefined;
  const demanding = inSlices(context, () => demandedAccess(collection, { conditions, wanted, hinted, few: rowsMax(request) !== undefined }));
  const demanded = demanding instanceof Promise ? await demanding : demanding;
  if (demanded !== undefined) return alone(demanded);
  if (only !== undefined) return chooseAmong(allowedIndexes(collection, only), question, txn, context);
  return hinted?.kind === 'natural' ? naturalAccess(hinted.direction, question) : chooseHinted(hinted?.index, question, txn, context);
}

/** The collection in its own order, backwards or not. */
function naturalAccess(direction: Direction, { collection, conditions, request }: Question): Chosen {
  if (hasRange(request)) throw badHint('$natural hint is not allowed with min/max');
  return alone(collectionAccess(collection, conditions, direction));
}

async function chooseHinted(hinted: Index | undefined, question: Question, txn: CatalogTransaction, context: Interruptible): Promise<Chosen> {
  const { collection, conditions, wanted, request } = question;
  const limit = rowsMax(request);
  if (hinted?.kind === 'wildcard') return hintedWildcard(hinted, question, { txn, limit }, context);
  if (hinted !== undefined) return alone(await inSlices(context, () => hintedAccess(hinted, question)));
  if (hasRange(request)) throw new CommandError(51173, 'Location51173', 'When using min()/max() a hint of which index to use must be provided');
  if (wanted.output === 'none' && conditions.conjuncts.length === 0) return alone(totalsAccess(collection));
  const id = collection.isKeyedById ? idOf(conditions, collection) : undefined;
  if (id !== undefined && request.returnKey !== true) return alone(idAccess(collection, id));
  const indexes = collection.indexes.filter((index) => !index.hidden);
  return chooseAccess({ txn, collection, indexes, conditions, wanted, limit }, context);
}

/** The way through what the settings of the query allow; undefined where that leads nowhere: then they are passed over. */
async function chooseSettled(allowed: readonly Value[], question: Question, txn: CatalogTransaction, context: Interruptible): Promise<Chosen | undefined> {
  const { collection, conditions, wanted, request } = question;
  const demanded = demandedAccess(collection, { conditions, wanted, hinted: undefined, few: rowsMax(request) !== undefined });
  if (demanded !== undefined) return alone(demanded);
  const indexes = allowedIndexes(collection, allowed);
  const chosen = indexes.length === 0 ? undefined : await chooseAmong(indexes, question, txn, context);
  if (chosen !== undefined && chosen.access.scans.length > 0) return chosen;
  const natural = allowed.map((named) => (named instanceof Document ? named.get('$natural') : undefined)).find((way) => way !== undefined);
  return natural === undefined ? undefined : alone(collectionAccess(collection, conditions, isNumber(natural) && toDouble(natural) < 0 ? -1 : 1));
}

/** Those of the indexes that an index filter names, by key pattern or name. */
function allowedIndexes(collection: Collection, only: readonly Value[]): Index[] {
  return collection.indexes.filter(
    (index) => !index.hidden && only.some((named) => (named instanceof Document ? equalKeys(index.key, named) : named === index.name)),
  );
}

function chooseAmong(indexes: readonly Index[], { collection, conditions, wanted, request }: Question, txn: CatalogTransaction, context: Interruptible): Promise<Chosen> {
  return chooseAccess({ txn, collection, indexes, conditions, wanted, limit: rowsMax(request) }, context);
}

/** How many rows are taken at most. */
const rowsMax = ({ limit, skip }: QueryRequest): number | undefined => (limit === undefined || limit === 0 ? undefined : limit + (skip ?? 0));

const alone = (access: Access): Chosen => ({ access, rejected: [] });

/** The `_id` that the filter asks for and nothing else. */
function idOf({ conjuncts }: Conditions, { options }: Collection): Value | undefined {
  const [only] = conjuncts;
  if (conjuncts.length !== 1 || only?.kind !== 'compare' || only.operator !== 'eq' || only.path.text !== '_id') return undefined;
  if (hasText(only.value) && !sameCollation(only.collation, options.collation)) return undefined;
  return only.value instanceof BsonArray || only.value instanceof Regex || only.value === bsonUndefined ? undefined : only.value;
}

/** Rows that nothing is read of: their number is known. */
function totalsAccess(collection: Collection): Access {
  return { stage: new TotalRows(collection), gives: 'keys', residual: [], sorted: true, scans: [], reader: undefined };
}

function idAccess(collection: Collection, id: Value): Access {
  const stage = new IdLookup(collection, collection.keyOf(id), undefined);
  return { stage, gives: 'documents', residual: [], sorted: true, scans: [], reader: undefined };
}

/** A wildcard index that is hinted must have something to say of the conditions. */
async function hintedWildcard(
  index: Index,
  { collection, conditions, wanted, request }: Question,
  { txn, limit }: { readonly txn: CatalogTransaction; readonly limit: number | undefined },
  context: Interruptible,
): Promise<Chosen> {
  if (hasRange(request)) throw new CommandError(51174, 'Location51174', `The index chosen is not compatible with min/max: ${index.name}`);
  const chosen = await chooseAccess({ txn, collection, indexes: [index], conditions, wanted, limit }, context);
  if (chosen.access.scans.length > 0) return chosen;
  throw new CommandError(291, 'NoQueryExecutionPlans', `No query solutions: hint '${index.name}' does not correspond to an index that can serve the query`);
}

function hintedAccess(index: Index, { conditions, wanted, request }: Question): Access {
  const [bounds = indexBounds(index, conditions)] = boundsFor(index, conditions);
  const range = hasRange(request) ? givenRange(index, request) : undefined;
  // A hint of an index that leaves documents out is obeyed: MongoDB then gives what the index has.
  const complete = range === undefined || holdsAll(index, conditions.conjuncts);
  const used = complete ? bounds : { ...bounds, settled: new Set<number>() };
  return indexAccess(range === undefined ? used : { ...used, settled: new Set<number>() }, conditions, wanted, { direction: 1, range });
}

/** The range of keys from `min` to `max`, which must name the index's fields. */
function givenRange(index: Index, { min, max, collation }: QueryRequest): KeyRange {
  const encode = (bound: Document | undefined): Uint8Array | undefined => {
    if (bound === undefined || bound.isEmpty) return undefined;
    const names = bound.keys();
    if (names.length !== index.paths.length || index.paths.some((path, i) => names[i] !== path)) {
      throw new CommandError(51174, 'Location51174', `The index chosen is not compatible with min/max: ${index.name}`);
    }
    if (hasText(bound) && !sameCollation(index.collation, collation)) {
      throw new CommandError(51174, 'Location51174', `The index chosen is not compatible with min/max: ${index.name} has another collation`);
    }
    return encodeKey(bound.fields.map(([, value]) => collated(value, index.collation)), index.directions);
  };
  const from = encode(min);
  const to = encode(max);
  return { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
}

/** FETCH, SORT, SKIP and LIMIT, as far as they are needed. */
function stagesAbove(access: Access, collection: Collection, request: QueryRequest, wanted: Wanted): PlanStage {
  const { skip = 0, limit = 0 } = request;
  const unsorted = wanted.sort !== undefined && !access.sorted;
  const { residual } = access;
  let stage = access.stage;
  // What is left out is not read, where rows are those of the answer in their order already.
  const early = skip > 0 && !unsorted && residual.length === 0;
  if (early) stage = new Window(stage, 'SKIP', skip);
  if (needsDocuments(access, wanted, unsorted)) {
    stage = new Fetch(stage, { collection, filter: filterOfAll(residual), keepsOrder: wanted.sort !== undefined && access.sorted });
  }
  if (unsorted) {
    stage = new Sort(stage, {
      key: must(wanted.sort, 'a sort'),
      pattern: wanted.sortPattern,
      limit: limit > 0 ? skip + limit : undefined,
      bytesMax: request.sortBytesMax ?? sortBytesMaxDefault,
      workspace: request.workspace,
    });
  }
  if (skip > 0 && !early) stage = new Window(stage, 'SKIP', skip);
  return limit > 0 ? new Window(stage, 'LIMIT', limit) : stage;
}

function needsDocuments({ residual, gives }: Access, wanted: Wanted, unsorted: boolean): boolean {
  return residual.length > 0 || (gives === 'keys' && wanted.output !== 'none') || (unsorted && gives !== 'documents');
}

function outputOf(access: Access, collection: Collection, request: QueryRequest, wanted: Wanted): Output {
  const { projection, showRecordId, returnKey, carriesKey } = request;
  const { reader, scans } = access;
  const indexed = scans[0]?.index.paths ?? [];
  const covered =
    access.gives === 'entries' && reader !== undefined && wanted.output instanceof Set
      ? { reader, indexed, paths: [...(wanted.output as ReadonlySet<string>)] }
      : undefined;
  const [scan] = scans;
  const keyReader = reader ?? (scan === undefined ? undefined : new EntryReader(scan.index));
  return new Output({
    collection,
    projection,
    covered,
    returnKey: returnKey === true ? (keyReader ?? 'none') : undefined,
    carriesKey: carriesKey === true ? keyReader : undefined,
    showRecordId: showRecordId === true,
  });
}

