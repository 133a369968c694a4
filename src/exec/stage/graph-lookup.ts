// `$graphLookup`: the documents of a collection that can be reached by following a field, level by level. Each is found once; all that
// were found are in memory. Follows the manual's page "$graphLookup (aggregation)".

import { BsonArray, describeValue, Document, isNumber, parsePath, visitPath, wholeNumber } from '../../bson/index.ts';
import type { Path, Value } from '../../bson/index.ts';
import { compileFilter, createCompiler, keyOfValue, nameOf, refuse, splitPath } from '../../query/index.ts';
import type { Compiler, Expression, ValueKey } from '../../query/index.ts';
import type { BatchSource, OperationContext } from '../../session/index.ts';
import { MEMORY_BYTES_MAX, outOfMemory } from '../memory.ts';
import { collect } from '../nested.ts';
import { joinedFilters } from '../filters.ts';
import type { PipelineOptions, SourceProvider, StageRule } from '../stage.ts';
import { withValueAt } from './unwind.ts';

const FIELDS: ReadonlySet<string> = new Set(
  'from startWith connectFromField connectToField as maxDepth depthField restrictSearchWithMatch'.split(' '),
);

interface GraphLookup {
  readonly from: string;
  readonly as: readonly string[];
  readonly startWith: Expression;
  readonly connectFrom: Path;
  readonly connectTo: string;
  readonly maxDepth: number;
  readonly depthField: readonly string[] | undefined;
  readonly restriction: Document | undefined;
  readonly compiler: Compiler;
  readonly options: PipelineOptions;
}

function textField(specification: Document, name: string): string | undefined {
  const value = specification.get(name);
  if (value === undefined || typeof value === 'string') return value;
  throw refuse(40103, `expected string as argument for ${name}, found: ${describeValue(value)}`);
}

function maxDepthOf(value: Value | undefined): number {
  if (value === undefined) return Infinity;
  if (!isNumber(value)) throw refuse(40100, `maxDepth requires numeric argument, found ${nameOf(value)}`);
  const whole = wholeNumber(value);
  if (whole === undefined) throw refuse(40102, `maxDepth could not be represented as a long long: ${describeValue(value)}`);
  if (whole < 0n) throw refuse(40101, `maxDepth requires a nonnegative argument, found: ${describeValue(value)}`);
  return Number(whole);
}

function restrictionOf(value: Value | undefined, options: PipelineOptions): Document | undefined {
  if (value === undefined) return undefined;
  if (!(value instanceof Document)) throw refuse(40185, `restrictSearchWithMatch must be an object, found ${nameOf(value)}`);
  compileFilter(value, options);
  return value;
}

function parseGraphLookup(specification: Value, options: PipelineOptions): GraphLookup {
  if (!(specification instanceof Document)) throw refuse(40327, `the $graphLookup stage specification must be an object, but found ${nameOf(specification)}`);
  const unknown = specification.keys().find((name) => !FIELDS.has(name));
  if (unknown !== undefined) throw refuse(40104, `Unknown argument to $graphLookup: ${unknown}`);
  const compiler = createCompiler(options);
  const from = textField(specification, 'from');
  const as = textField(specification, 'as');
  const connectFrom = textField(specification, 'connectFromField');
  const connectTo = textField(specification, 'connectToField');
  const depthField = textField(specification, 'depthField');
  const startWith = specification.get('startWith');
  if (from === undefined || as === undefined || connectFrom === undefined || connectTo === undefined || startWith === undefined) {
    const names = `'from', 'as', 'startWith', 'connectFromField', and 'connectToField'`;
    throw refuse(40105, `$graphLookup requires ${names} to be specified.`);
  }
  splitPath(connectFrom);
  splitPath(connectTo);
  return {
    from,
    as: splitPath(as),
    startWith: compiler.compile(startWith),
    connectFrom: parsePath(connectFrom),
    connectTo,
    maxDepth: maxDepthOf(specification.get('maxDepth')),
    depthField: depthField === undefined ? undefined : splitPath(depthField),
    restriction: restrictionOf(specification.get('restrictSearchWithMatch'), options),
    compiler,
    options,
  };
}

/** One search from one document. */
class Search {
  readonly #lookup: GraphLookup;
  readonly #provider: SourceProvider;
  readonly #found = new Map<ValueKey, Document>();
  readonly #asked = new Set<ValueKey>();
  #frontier: Value[] = [];
  #bytes = 0;

  constructor(lookup: GraphLookup, provider: SourceProvider) {
    this.#lookup = lookup;
    this.#provider = provider;
  }

  async run(document: Document, context: OperationContext): Promise<BsonArray> {
    const start = this.#lookup.startWith.evaluate(document);
    if (start instanceof BsonArray) start.items().forEach((value) => this.#ask(value));
    else this.#ask(start ?? null);
    for (let depth = 0; this.#frontier.length > 0 && depth <= this.#lookup.maxDepth; depth++) await this.#level(depth, context);
    return BsonArray.of([...this.#found.values()]);
  }

  #ask(value: Value): void {
    const key = keyOfValue(value, this.#lookup.options.collation);
    if (this.#asked.has(key)) return;
    this.#asked.add(key);
    this.#frontier.push(value);
  }

  async #level(depth: number, context: OperationContext): Promise<void> {
    const { connectTo, restriction, from, options } = this.#lookup;
    const wanted = Document.fromEntries([[connectTo, Document.of({ $in: BsonArray.of(this.#frontier) })]]);
    this.#frontier = [];
    const filter = joinedFilters(restriction === undefined ? [wanted] : [wanted, restriction]) ?? wanted;
    const request = { database: options.database, collection: from, filter };
    const source = await this.#provider.collection(options.variables === undefined ? request : { ...request, variables: options.variables }, context);
    const documents = await collect(source, context, '$graphLookup');
    source.close();
    for (const document of documents) this.#take(document, depth);
  }

  #take(document: Document, depth: number): void {
    const key = keyOfValue(document.get('_id') ?? null, this.#lookup.options.collation);
    if (this.#found.has(key)) return;
    const { depthField, connectFrom } = this.#lookup;
    this.#found.set(key, depthField === undefined ? document : withValueAt(document, depthField, BigInt(depth)));
    this.#bytes += document.byteLength + 100;
    if (this.#bytes > MEMORY_BYTES_MAX) throw outOfMemory('$graphLookup');
    visitPath(document, connectFrom, (value) => {
      if (value instanceof BsonArray) value.items().forEach((item) => this.#ask(item));
      else if (value !== undefined) this.#ask(value);
      return false;
    });
  }
}

function searched(source: BatchSource, lookup: GraphLookup, provider: SourceProvider): BatchSource {
  return {
    async next(context) {
      const batch = await source.next(context);
      if (batch === undefined) return undefined;
      const made: Document[] = [];
      for (const document of batch) {
        await context.turn();
        made.push(withValueAt(document, lookup.as, await new Search(lookup, provider).run(document, context)));
      }
      return made;
    },
    close: () => source.close(),
  };
}

/** How `$graphLookup` is compiled. */
export const graphLookupRule: StageRule = {
  name: '$graphLookup',
  parse: (specification, { options }) => {
    const lookup = parseGraphLookup(specification, options);
    return {
      name: '$graphLookup',
      specification,
      open: (source, provider) => searched(source, lookup, provider),
      needs: (dependencies) => {
        dependencies.addAll(lookup.compiler.dependencies);
        return 'some';
      },
    };
  },
};
