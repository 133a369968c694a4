// `$geoNear`: the documents of the collection in order of distance from a point, with the distance in each. It comes first and reads through a
// geospatial index, as a query with `$near` does. Follows the manual's page "$geoNear (aggregation)".

import { CommandError } from '../../base/errors.ts';
import { BsonArray, Document, Double, isNumber, parsePath, toDouble } from '../../bson/index.ts';
import type { Path, Value } from '../../bson/index.ts';
import { compileAddFields, compileExpression, compileFilter, nameOf, nearestPlace, noteMetadata, readNear, refuse, splitPath, Variable } from '../../query/index.ts';
import type { NearQuery, Projection } from '../../query/index.ts';
import { sourceOf } from '../../session/index.ts';
import { concatenated, mapped } from '../batches.ts';
import type { PipelineOptions, SourceProvider, StageRule } from '../stage.ts';

const FIELDS: ReadonlySet<string> = new Set(['near', 'distanceField', 'spherical', 'maxDistance', 'minDistance', 'query', 'distanceMultiplier', 'includeLocs', 'key', 'uniqueDocs']);

/** The condition below the path, `$near` and the distances, as a filter has it and as it is read. */
interface QueryParts {
  readonly operators: Document;
  readonly query: NearQuery;
}

const pathComponentsMax = 200;
const keyComponentsMax = 180;

/** A specification, read. */
interface GeoNear {
  /** The point and the distances, which may be variables of a stage around; so they are read when the stage is opened. */
  readonly readQuery: () => QueryParts;
  readonly filter: Document;
  readonly key: string | undefined;
  readonly multiplier: number;
  readonly distanceField: string | undefined;
  readonly includeLocs: string | undefined;
}

/** Codes for a value that no expression without a document gives, and for one of another type, by argument. */
const numberCodes: Readonly<Record<'minDistance' | 'maxDistance', readonly [number, number]>> = { minDistance: [7555701, 7555701], maxDistance: [7555702, 7555702] };

function badValue(text: string): CommandError {
  return new CommandError(2, 'BadValue', text);
}

function distanceOf(given: Document, name: 'minDistance' | 'maxDistance', options: PipelineOptions): number | undefined {
  const value = given.get(name);
  if (value === undefined) return undefined;
  const evaluated = compileExpression(value, options).evaluate(Document.empty);
  const [missing] = numberCodes[name];
  if (evaluated === undefined) throw refuse(missing, `$geoNear requires '${name}' to be a constant`);
  if (!isNumber(evaluated)) throw new CommandError(14, 'TypeMismatch', `$geoNear parameter '${name}' must be a number, not ${nameOf(evaluated)}`);
  const number = toDouble(evaluated);
  if (!(number >= 0)) throw badValue(`${name} must be non-negative`);
  return number;
}

/** The factor: a plain number, no expression. */
function multiplierOf(given: Document): number {
  const value = given.get('distanceMultiplier');
  if (value === undefined) return 1;
  if (!isNumber(value)) throw new CommandError(14, 'TypeMismatch', `$geoNear parameter 'distanceMultiplier' must be a number, not ${nameOf(value)}`);
  const number = toDouble(value);
  if (!(number >= 0)) throw badValue('distanceMultiplier must be nonnegative');
  return number;
}

/** A path that results are put at, or undefined. */
function outputPath(given: Document, name: string, code: number): string | undefined {
  const value = given.get(name);
  if (value === undefined) return undefined;
  if (typeof value !== 'string') throw refuse(code, `$geoNear requires that '${name}' is of type string`);
  if (splitPath(value).length >= pathComponentsMax) throw refuse(5984700, 'FieldPath is too long');
  return value;
}

function keyPath(given: Document): string | undefined {
  const value = given.get('key');
  if (value === undefined) return undefined;
  if (typeof value !== 'string') throw new CommandError(14, 'TypeMismatch', `$geoNear parameter 'key' must be of type string but found type: ${nameOf(value)}`);
  if (value === '') throw badValue("$geoNear parameter 'key' cannot be the empty string");
  if (splitPath(value).length > keyComponentsMax) throw refuse(5729100, '$geoNear key is too long');
  return value;
}

function queryOf(given: Document): Document {
  const query = given.has('query') ? given.get('query') : Document.empty;
  if (!(query instanceof Document)) throw new CommandError(14, 'TypeMismatch', `$geoNear parameter 'query' must be of type object but found type: ${nameOf(query ?? null)}`);
  if (query.has('$text')) throw badValue('$text is not allowed in the query of $geoNear');
  return query;
}

function parse(specification: Value, options: PipelineOptions): GeoNear {
  if (specification instanceof BsonArray) throw refuse(5860400, "$geoNear requires a 'near' argument");
  if (!(specification instanceof Document)) throw new CommandError(10065, 'Location10065', 'invalid parameter: expected an object ($geoNear)');
  for (const name of specification.keys()) if (!FIELDS.has(name)) throw badValue(`Unknown argument to $geoNear: ${name}`);
  const filter = queryOf(specification);
  // A query that orders by distance itself has no place here: it is compiled as a stage's to be refused as one.
  compileFilter(filter, options, 'match');
  const readQuery = (): QueryParts => {
    const { operator, operators } = operatorsOf(specification, options);
    return { operators, query: readNear(operator, operators.get(operator) ?? null, operators) };
  };
  if (!specification.has('near')) throw refuse(5860400, "$geoNear requires a 'near' argument");
  // What is constant is refused at once.
  if ([...(options.variables ?? new Map<string, Variable>()).values()].every((variable) => variable.fixed)) readQuery();
  return {
    readQuery, filter, key: keyPath(specification), multiplier: multiplierOf(specification),
    distanceField: outputPath(specification, 'distanceField', 16606), includeLocs: outputPath(specification, 'includeLocs', 16607),
  };
}

/** The point, as an expression without a document gives it. */
function pointOf(specification: Document, options: PipelineOptions): Document | BsonArray {
  const near = compileExpression(specification.get('near') ?? null, options).evaluate(Document.empty);
  if (near === undefined) throw refuse(5860402, "$geoNear requires a constant 'near' argument");
  if (near instanceof BsonArray && near.items().length > 3) throw badValue('$geoNear: a legacy point has two coordinates, and a distance at most');
  if (near instanceof Document || near instanceof BsonArray) return near;
  throw refuse(5860401, "$geoNear requires the 'near' argument to be a GeoJSON object or a legacy coordinate pair");
}

/** The condition as a filter has it: GeoJSON with its distances inside, a pair with them beside. */
function operatorsOf(specification: Document, options: PipelineOptions): { readonly operators: Document; readonly operator: '$near' | '$nearSphere' } {
  const near = pointOf(specification, options);
  const isShape = near instanceof Document && near.has('type');
  const operator = isShape || measuresOnSphere(specification) ? '$nearSphere' : '$near';
  const distances = (['minDistance', 'maxDistance'] as const).flatMap((name): [string, Value][] => {
    const number = distanceOf(specification, name, options);
    // Here an infinite distance is allowed, and is none at all, or beyond every other.
    if (number === undefined || (number === Infinity && name === 'maxDistance')) return [];
    return [[`$${name}`, new Double(Math.min(number, Number.MAX_VALUE))]];
  });
  const operators = isShape
    ? Document.of({ [operator]: Document.fromEntries([['$geometry', near], ...distances]) })
    : Document.fromEntries([[operator, near], ...distances]);
  return { operator, operators };
}

/** Whether the distances are of the sphere: any value but false, null and zero says so. */
function measuresOnSphere(specification: Document): boolean {
  const value = specification.get('spherical');
  if (value === undefined || value === null || value === false) return false;
  return !isNumber(value) || toDouble(value) !== 0;
}

/** Puts distance and place into documents. */
class Marker {
  readonly #distance: Variable = new Variable(undefined, false);
  readonly #place: Variable = new Variable(undefined, false);
  readonly #projection: Projection | undefined;
  readonly #geoNear: GeoNear;
  readonly #query: NearQuery;

  constructor(geoNear: GeoNear, query: NearQuery, options: PipelineOptions) {
    const { distanceField, includeLocs } = geoNear;
    const fields: [string, Value][] = [];
    // At one path the place is put last.
    if (distanceField !== undefined && distanceField !== includeLocs) fields.push([distanceField, '$$distance']);
    if (includeLocs !== undefined) fields.push([includeLocs, '$$place']);
    const variables = new Map([['distance', this.#distance], ['place', this.#place]]);
    this.#geoNear = geoNear;
    this.#query = query;
    this.#projection = fields.length === 0 ? undefined : compileAddFields(Document.fromEntries(fields), { ...options, variables });
  }

  mark(document: Document, path: Path): Document {
    const place = nearestPlace(this.#query, path, document);
    if (place === undefined) return document;
    noteMetadata(document, { geoNearDistance: place.distance, geoNearPoint: place.value });
    if (this.#projection === undefined) return document;
    this.#distance.value = new Double(place.distance * this.#geoNear.multiplier);
    this.#place.value = place.value;
    return this.#projection.apply(document);
  }
}

async function keyOf(key: string | undefined, query: NearQuery, {  database, collection = '' }: PipelineOptions, provider: SourceProvider): Promise<string> {
  const paths = await provider.geoPaths?.(database, collection);
  if (paths === undefined) throw new CommandError(26, 'NamespaceNotFound', `$geoNear requires a geo index to run, but ${database}.${collection} does not exist`);
  if (key !== undefined) return key;
  const { flat, sphere } = paths;
  if (flat.length > 1 || (flat.length === 0 && sphere.length > 1)) {
    const kind = flat.length > 1 ? '2d' : '2dsphere';
    throw new CommandError(27, 'IndexNotFound', `There is more than one ${kind} index on ${database}.${collection}; unsure which to use for $geoNear`);
  }
  const path = query.isSphere && sphere.length === 1 ? sphere[0] : (flat[0] ?? sphere[0]);
  if (path === undefined) throw new CommandError(27, 'IndexNotFound', '$geoNear requires a 2d or 2dsphere index, but none were found');
  return path;
}

/** The variables with the values that they have now. */
function fixed(variables: ReadonlyMap<string, Variable> = new Map()): ReadonlyMap<string, Variable> {
  return new Map([...variables].map(([name, { value }]) => [name, new Variable(value, true)]));
}

/** How `$geoNear` is compiled. */
export const geoNearRule: StageRule = {
  name: '$geoNear',
  parse: (specification, { options }) => {
    const geoNear = parse(specification, options);
    if (options.collection === undefined) throw refuse(73, '$geoNear is not valid without a collection');
    const collection = options.collection;
    return {
      name: '$geoNear',
      specification,
      makesDocuments: true,
      open: (source, provider) => {
        source.close();
        return concatenated(sourceOf([]), async (context) => {
          const { operators, query } = geoNear.readQuery();
          const key = await keyOf(geoNear.key, query, options, provider);
          const near = Document.fromEntries([[key, operators]]);
          const filter = geoNear.filter.isEmpty ? near : Document.of({ $and: BsonArray.of([geoNear.filter, near]) });
          const found = await provider.collection({ database: options.database, collection, filter, variables: fixed(options.variables) }, context);
          const [marker, path] = [new Marker(geoNear, query, options), parsePath(key)];
          return mapped(found, (document) => marker.mark(document, path));
        });
      },
      needs: () => 'all-of-it',
    };
  },
};
