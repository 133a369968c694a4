// `$geoNear`: the documents of the collection in order of distance from a point, with the distance in each. It comes first and reads through a
// geospatial index, as a query with `$near` does. Follows the manual's page "$geoNear (aggregation)".

import { CommandError } from '../../base/errors.ts';
import { BsonArray, Document, Double, isNumber, parsePath, toDouble } from '../../bson/index.ts';
import type { Path, Value } from '../../bson/index.ts';
import { compileAddFields, compileExpression, nameOf, nearestPlace, readNear, refuse, Variable } from '../../query/index.ts';
import type { NearQuery, Projection } from '../../query/index.ts';
import { sourceOf } from '../../session/index.ts';
import { concatenated, mapped } from '../batches.ts';
import type { PipelineOptions, SourceProvider, StageRule } from '../stage.ts';

const FIELDS: ReadonlySet<string> = new Set(['near', 'distanceField', 'spherical', 'maxDistance', 'minDistance', 'query', 'distanceMultiplier', 'includeLocs', 'key', 'uniqueDocs']);

/** A specification, read. */
interface GeoNear {
  /** The operators below the path: `$near` and the distances. */
  readonly operators: Document;
  readonly query: NearQuery;
  readonly filter: Document;
  readonly key: string | undefined;
  readonly multiplier: number;
  readonly distanceField: string | undefined;
  readonly includeLocs: string | undefined;
}

function failedToParse(text: string): CommandError {
  return new CommandError(9, 'FailedToParse', text);
}

function typeMismatch(name: string, value: Value, wanted: string): CommandError {
  return new CommandError(14, 'TypeMismatch', `$geoNear parameter '${name}' must be of type ${wanted} but found type: ${nameOf(value)}`);
}

function numberOf(given: Document, name: string, options: PipelineOptions): number | undefined {
  const value = given.get(name);
  if (value === undefined) return undefined;
  const evaluated = compileExpression(value, options).evaluate(Document.empty);
  if (evaluated === undefined || !isNumber(evaluated)) throw typeMismatch(name, evaluated ?? null, 'number');
  const number = toDouble(evaluated);
  if (!(number >= 0)) throw new CommandError(2, 'BadValue', `${name} must be non-negative`);
  return number;
}

function textOf(given: Document, name: string): string | undefined {
  const value = given.get(name);
  if (value === undefined) return undefined;
  if (typeof value !== 'string') throw typeMismatch(name, value, 'string');
  if (value === '') throw failedToParse(`$geoNear parameter '${name}' cannot be the empty string`);
  return value;
}

function parse(specification: Value, options: PipelineOptions): GeoNear {
  if (!(specification instanceof Document)) throw new CommandError(10065, 'Location10065', 'invalid parameter: expected an object ($geoNear)');
  for (const name of specification.keys()) if (!FIELDS.has(name)) throw failedToParse(`Unknown argument to $geoNear: ${name}`);
  const filter = specification.get('query') ?? Document.empty;
  if (!(filter instanceof Document)) throw typeMismatch('query', filter, 'object');
  const { operator, operators } = operatorsOf(specification, options);
  return {
    operators, filter, query: readNear(operator, operators.get(operator) ?? null, operators), key: textOf(specification, 'key'),
    multiplier: numberOf(specification, 'distanceMultiplier', options) ?? 1, distanceField: textOf(specification, 'distanceField'), includeLocs: textOf(specification, 'includeLocs'),
  };
}

/** The point, as an expression without a document gives it. */
function pointOf(specification: Document, options: PipelineOptions): Document | BsonArray {
  const near = specification.has('near') ? compileExpression(specification.get('near') ?? null, options).evaluate(Document.empty) : undefined;
  if (near === undefined) throw new CommandError(5860400, 'Location5860400', "$geoNear requires a 'near' argument");
  if (near instanceof Document || near instanceof BsonArray) return near;
  throw new CommandError(5860401, 'Location5860401', "$geoNear requires the 'near' argument to be a GeoJSON object or a legacy coordinate pair");
}

/** The condition as a filter has it: GeoJSON with its distances inside, a pair with them beside. */
function operatorsOf(specification: Document, options: PipelineOptions): Pick<GeoNear, 'operators'> & { readonly operator: '$near' | '$nearSphere' } {
  const near = pointOf(specification, options);
  const isShape = near instanceof Document && near.has('type');
  const operator = isShape || specification.get('spherical') === true ? '$nearSphere' : '$near';
  const distances = ['minDistance', 'maxDistance'].flatMap((name): [string, Value][] => {
    const number = numberOf(specification, name, options);
    return number === undefined ? [] : [[`$${name}`, new Double(number)]];
  });
  const operators = isShape
    ? Document.of({ [operator]: Document.fromEntries([['$geometry', near], ...distances]) })
    : Document.fromEntries([[operator, near], ...distances]);
  return { operator, operators };
}

/** Puts distance and place into documents. */
class Marker {
  readonly #distance: Variable = new Variable(undefined, false);
  readonly #place: Variable = new Variable(undefined, false);
  readonly #projection: Projection | undefined;
  readonly #geoNear: GeoNear;

  constructor(geoNear: GeoNear, options: PipelineOptions) {
    const { distanceField, includeLocs } = geoNear;
    const fields: [string, Value][] = [];
    if (distanceField !== undefined) fields.push([distanceField, '$$distance']);
    if (includeLocs !== undefined) fields.push([includeLocs, '$$place']);
    const variables = new Map([['distance', this.#distance], ['place', this.#place]]);
    this.#geoNear = geoNear;
    this.#projection = fields.length === 0 ? undefined : compileAddFields(Document.fromEntries(fields), { ...options, variables });
  }

  mark(document: Document, path: Path): Document {
    const place = nearestPlace(this.#geoNear.query, path, document);
    if (place === undefined || this.#projection === undefined) return document;
    this.#distance.value = new Double(place.distance * this.#geoNear.multiplier);
    this.#place.value = place.value;
    return this.#projection.apply(document);
  }
}

async function keyOf({ key, query }: GeoNear, { database, collection = '' }: PipelineOptions, provider: SourceProvider): Promise<string> {
  if (key !== undefined) return key;
  const { flat, sphere } = (await provider.geoPaths?.(database, collection)) ?? { flat: [], sphere: [] };
  if (flat.length > 1 || (flat.length === 0 && sphere.length > 1)) {
    const kind = flat.length > 1 ? '2d' : '2dsphere';
    throw new CommandError(27, 'IndexNotFound', `There is more than one ${kind} index on ${database}.${collection}; unsure which to use for $geoNear`);
  }
  const path = query.isSphere && sphere.length === 1 ? sphere[0] : (flat[0] ?? sphere[0]);
  if (path === undefined) throw new CommandError(27, 'IndexNotFound', '$geoNear requires a 2d or 2dsphere index, but none were found');
  return path;
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
          const key = await keyOf(geoNear, options, provider);
          const near = Document.fromEntries([[key, geoNear.operators]]);
          const filter = geoNear.filter.isEmpty ? near : Document.of({ $and: BsonArray.of([geoNear.filter, near]) });
          const found = await provider.collection({ database: options.database, collection, filter }, context);
          const [marker, path] = [new Marker(geoNear, options), parsePath(key)];
          return mapped(found, (document) => marker.mark(document, path));
        });
      },
      needs: () => 'all-of-it',
    };
  },
};
