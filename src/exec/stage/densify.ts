// `$densify`: documents where values of a field are missing between others, in each partition. The documents are sorted in memory as by
// `$sort`; those that are made come one at a time, at most 500,000. Follows the manual's page "$densify (aggregation)".

import { BsonArray, compareValues, Document, getField, parsePath } from '../../bson/index.ts';
import type { Path, Value } from '../../bson/index.ts';
import { compileAddFields, compileSort, nameOf, refuse, keyOfValue, splitPath, Variable } from '../../query/index.ts';
import type { Projection, SortKey, ValueKey } from '../../query/index.ts';
import { drain, gathered } from '../batches.ts';
import { compileDensifyRange } from '../densify-range.ts';
import type { DensifyRange, Place } from '../densify-range.ts';
import { RunSorter } from '../run-sorter.ts';
import type { PipelineOptions, StageContext, StageRule } from '../stage.ts';

const MADE_MAX = 500_000;
const FIELDS: ReadonlySet<string> = new Set(['field', 'partitionByFields', 'range']);

/** Makes the documents between others: the fields of the partition and the place. */
class Maker {
  readonly #projection: Projection;
  readonly #partition: readonly Variable[];
  readonly #place = new Variable(undefined, false);
  #made = 0;

  constructor(field: string, partitionFields: readonly string[], options: PipelineOptions) {
    this.#partition = partitionFields.map(() => new Variable(undefined, false));
    const variables = new Map<string, Variable>([...this.#partition.map((variable, index) => [`p${String(index)}`, variable] as const), ['v', this.#place]]);
    const fields = [...partitionFields.map((name, index): [string, Value] => [name, `$$p${String(index)}`]), [field, '$$v'] as [string, Value]];
    this.#projection = compileAddFields(Document.fromEntries(fields), { ...options, variables });
  }

  make(values: readonly (Value | undefined)[], place: Place): Document {
    this.#made += 1;
    if (this.#made > MADE_MAX) {
      const text = `Generated ${String(this.#made)} documents in $densify, which is over the limit of ${String(MADE_MAX)}. Increase the 'internalQueryMaxAllowedDensifyDocs' parameter to allow more generated documents`;
      throw refuse(5897900, text);
    }
    this.#partition.forEach((variable, index) => (variable.value = values[index]));
    this.#place.value = place;
    return this.#projection.apply(Document.empty);
  }
}

interface Densify {
  readonly collation: PipelineOptions['collation'];
  readonly path: Path;
  readonly range: DensifyRange;
  readonly partitionPaths: readonly Path[];
  readonly sort: SortKey;
  readonly maker: () => Maker;
}

/** How far a partition has come. */
interface PartitionState {
  readonly values: readonly (Value | undefined)[];
  next: Place;
}

/** Goes through sorted documents and puts in what lies between. */
class Densifier {
  readonly #densify: Densify;
  readonly #maker: Maker;
  readonly #open = new Map<ValueKey, PartitionState>();
  #least: Place | undefined;
  #most: Place | undefined;

  constructor(densify: Densify) {
    this.#densify = densify;
    this.#maker = densify.maker();
    if (typeof densify.range.bounds === 'object' && densify.partitionPaths.length === 0) this.#begin([], densify.range.bounds.low);
  }

  *take(document: Document): Generator<Document, void> {
    const { path, range, partitionPaths } = this.#densify;
    const place = range.placeOf(getField(document, path));
    if (place === undefined) {
      yield document;
      return;
    }
    this.#least ??= place;
    this.#most = place;
    const values = partitionPaths.map((at) => getField(document, at));
    const key = keyOfValue(BsonArray.of(values.map((value) => value ?? null)), this.#densify.collation);
    const state = this.#open.get(key) ?? this.#begin(values, this.#start(place), key);
    yield* this.#upTo(state, this.#within(place), values);
    if (this.#isInside(place) && compareValues(state.next, place) === 0) state.next = range.next(state.next);
    yield document;
  }

  /** What is left to make behind the last document. */
  *finish(): Generator<Document, void> {
    const { bounds } = this.#densify.range;
    if (bounds === 'partition') return;
    for (const state of this.#open.values()) {
      if (bounds !== 'full') yield* this.#upTo(state, bounds.high);
      else if (this.#most !== undefined) {
        yield* this.#upTo(state, this.#most);
        if (compareValues(state.next, this.#most) === 0) yield this.#maker.make(state.values, state.next);
      }
    }
  }

  #begin(values: readonly (Value | undefined)[], next: Place, key = keyOfValue(BsonArray.of([]))): PartitionState {
    const state = { values, next };
    this.#open.set(key, state);
    return state;
  }

  /** Where the grid of a partition begins whose first document is here. */
  #start(place: Place): Place {
    const { bounds } = this.#densify.range;
    if (typeof bounds === 'object') return bounds.low;
    return bounds === 'full' ? (this.#least ?? place) : place;
  }

  #isInside(place: Place): boolean {
    const { bounds } = this.#densify.range;
    return typeof bounds !== 'object' || (compareValues(place, bounds.low) >= 0 && compareValues(place, bounds.high) < 0);
  }

  #within(place: Place): Place {
    const { bounds } = this.#densify.range;
    return typeof bounds === 'object' && compareValues(place, bounds.high) > 0 ? bounds.high : place;
  }

  /** With the fields of the partition as the document behind has them: under a collation its texts may differ from the first one's. */
  *#upTo(state: PartitionState, end: Place, values = state.values): Generator<Document, void> {
    while (compareValues(state.next, end) < 0) {
      yield this.#maker.make(values, state.next);
      state.next = this.#densify.range.next(state.next);
    }
  }
}

function partitionFieldsOf(value: Value): string[] {
  if (value === null) return [];
  if (!(value instanceof BsonArray)) throw refuse(14, `BSON field '$densify.partitionByFields' is the wrong type '${nameOf(value)}', expected type 'array'`);
  return value.items().map((name, index) => {
    if (typeof name === 'string') return splitPath(name).join('.');
    throw refuse(14, `BSON field '$densify.partitionByFields.${String(index)}' is the wrong type '${nameOf(name)}', expected type 'string'`);
  });
}

function fieldOf(value: Value | undefined): string {
  if (value === undefined || value === null) throw refuse(40414, `BSON field '$densify.field' is missing but a required field`);
  if (typeof value !== 'string') throw refuse(14, `BSON field '$densify.field' is the wrong type '${nameOf(value)}', expected type 'string'`);
  return splitPath(value).join('.');
}

function checkOverlap(field: string, partitionFields: readonly string[]): void {
  for (const other of partitionFields) {
    if (field === other || field.startsWith(`${other}.`)) throw refuse(8993000, `BSON field '$densify.partitionByFields' contains a field that is a prefix of the field '$densify.field'`);
    if (other.startsWith(`${field}.`)) throw refuse(9554500, `BSON field '$densify.field' is a prefix of a field of '$densify.partitionByFields'`);
  }
}

function parseDensify(specification: Value, { options }: StageContext): Densify & { readonly fields: readonly string[] } {
  if (!(specification instanceof Document)) throw refuse(9, `The $densify stage specification must be an object, found ${nameOf(specification)}`);
  const unknown = specification.keys().find((name) => !FIELDS.has(name));
  if (unknown !== undefined) throw refuse(40415, `BSON field '$densify.${unknown}' is an unknown field.`);
  const field = fieldOf(specification.get('field'));
  const partitionFields = partitionFieldsOf(specification.get('partitionByFields') ?? null);
  const range = compileDensifyRange(specification.get('range'));
  if (range.bounds === 'partition' && partitionFields.length === 0) {
    const text = "One cannot specify the bounds as 'partition' without specifying a non-empty array of partitionByFields. You may have meant to specify 'full' bounds.";
    throw refuse(5733408, text);
  }
  checkOverlap(field, partitionFields);
  const sorted = range.bounds === 'full' ? [field] : [...partitionFields, field];
  return {
    path: parsePath(field),
    range,
    partitionPaths: partitionFields.map(parsePath),
    sort: compileSort(Document.fromEntries(sorted.map((name) => [name, 1])), options.collation),
    collation: options.collation,
    maker: () => new Maker(field, partitionFields, options),
    fields: [...partitionFields, field],
  };
}

/** How `$densify` is compiled. */
export const densifyRule: StageRule = {
  name: '$densify',
  parse: (specification, context) => {
    const densify = parseDensify(specification, context);
    return {
      name: '$densify',
      specification,
      open: (source) =>
        gathered(source, async (operation) => {
          const sorter = new RunSorter('$densify');
          let order = 0;
          await drain(source, operation, (batch) => {
            for (const document of batch) sorter.add({ key: densify.sort.keyOf(document), document, order: order++ });
          });
          return densified(new Densifier(densify), sorter);
        }),
      needs: (dependencies) => {
        for (const path of densify.fields) dependencies.addPath(path);
        return 'some';
      },
    };
  },
};

function* densified(densifier: Densifier, sorter: RunSorter): Generator<Document, void> {
  for (const { document } of sorter.results(Infinity)) yield* densifier.take(document);
  yield* densifier.finish();
}
