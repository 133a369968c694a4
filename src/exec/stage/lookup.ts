// `$lookup`: for each document, an array of documents of another collection: those with an equal field, or what a pipeline gives, or both.
// Follows the manual's page "$lookup (aggregation)".

import { BsonArray, describeValue, Document, parsePath } from '../../bson/index.ts';
import type { Path, Value } from '../../bson/index.ts';
import { createCompiler, nameOf, refuse, splitPath, validateVariableName, Variable } from '../../query/index.ts';
import type { Compiler, Expression } from '../../query/index.ts';
import type { BatchSource, OperationContext } from '../../session/index.ts';
import { leavesAllBut } from '../hoist.ts';
import { NestedPipeline } from '../nested.ts';
import type { NestedTarget } from '../nested.ts';
import type { SourceProvider, Stage, StageContext, StageRule } from '../stage.ts';
import { JoinBatch, joinFilter, localValues } from './equality-join.ts';
import { withValueAt } from './unwind.ts';

const FIELDS: ReadonlySet<string> = new Set(['from', 'as', 'localField', 'foreignField', 'let', 'pipeline']);

interface Binding {
  readonly name: string;
  readonly variable: Variable;
  readonly expression: Expression;
}

interface Lookup {
  readonly as: readonly string[];
  readonly local: Path | undefined;
  readonly foreignField: string | undefined;
  readonly bindings: readonly Binding[];
  readonly nested: NestedPipeline;
  readonly compiler: Compiler;
}

function fieldsOf(specification: Value): ReadonlyMap<string, Value> {
  if (!(specification instanceof Document)) {
    throw refuse(9, `the $lookup specification must be an object, but found ${nameOf(specification)}`);
  }
  const found = new Map<string, Value>();
  for (const [name, value] of specification.fields) {
    if (found.has(name)) throw refuse(40413, `BSON field '$lookup.${name}' is a duplicate field`);
    found.set(name, value);
  }
  const unknown = [...found.keys()].find((name) => !FIELDS.has(name));
  if (unknown !== undefined && found.has('from')) throw refuse(40415, `BSON field '$lookup.${unknown}' is an unknown field.`);
  return found;
}

function stringField(found: ReadonlyMap<string, Value>, name: string): string | undefined {
  const value = found.get(name);
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value === '' && name !== 'as' ? undefined : value;
  throw refuse(14, `BSON field '$lookup.${name}' is the wrong type '${nameOf(value)}', expected type 'string'`);
}

function targetOf(found: ReadonlyMap<string, Value>, stages: readonly Value[], context: StageContext): NestedTarget {
  const from = found.get('from');
  const { database } = context.options;
  if (from instanceof Document) return targetDocument(from, database);
  if (from === undefined) {
    const [first] = stages;
    if (first instanceof Document && first.has('$documents')) return { database, collection: '' };
    throw refuse(9, `must specify 'from' field for a $lookup`);
  }
  if (typeof from !== 'string') throw refuse(9, `$lookup 'from' field must be a string, but found ${nameOf(from)}`);
  if (from === '' || from.includes('\0') || from.startsWith('.')) throw refuse(73, `Invalid namespace specified '${database}.${from}'`);
  return { database, collection: from };
}

function targetDocument(from: Document, database: string): NestedTarget {
  const unknown = from.keys().find((name) => name !== 'db' && name !== 'coll');
  if (unknown !== undefined) throw refuse(40415, `BSON field '$lookup.from.${unknown}' is an unknown field.`);
  const collection = from.get('coll');
  const other = from.get('db') ?? database;
  if (typeof collection !== 'string' || typeof other !== 'string' || other !== database) {
    throw refuse(9, `$lookup with syntax {from: {db:<>, coll:<>},..} is not supported for db: ${describeValue(other)} and coll: ${nameOf(collection)}`);
  }
  return { database: other, collection };
}

function stagesOf(found: ReadonlyMap<string, Value>): readonly Value[] | undefined {
  const pipeline = found.get('pipeline');
  if (pipeline === undefined) return undefined;
  if (!(pipeline instanceof BsonArray)) throw refuse(14, `'pipeline' option must be specified as an array`);
  for (const stage of pipeline.items()) {
    const name = stage instanceof Document ? stage.first?.[0] : undefined;
    if (name === '$out' || name === '$merge') throw refuse(51047, `${name} is not allowed within a $lookup's sub-pipeline`);
  }
  return pipeline.items();
}

function bindingsOf(found: ReadonlyMap<string, Value>, compiler: Compiler): Binding[] {
  const given = found.get('let') ?? null;
  if (given === null) return [];
  if (!(given instanceof Document)) throw refuse(14, `BSON field '$lookup.let' is the wrong type '${nameOf(given)}', expected type 'object'`);
  return given.fields.map(([name, value]) => {
    validateVariableName(name, 'write');
    return { name, variable: new Variable(undefined, false), expression: compiler.compile(value) };
  });
}

function parseLookup(specification: Value, context: StageContext): Lookup {
  const found = fieldsOf(specification);
  const as = stringField(found, 'as');
  const local = stringField(found, 'localField');
  const foreignField = stringField(found, 'foreignField');
  const stages = stagesOf(found);
  if (as === undefined) throw refuse(9, `must specify 'as' field for a $lookup`);
  const target = targetOf(found, stages ?? [], context);
  if ((local === undefined) !== (foreignField === undefined)) {
    throw refuse(9, '$lookup requires both or neither of \'localField\' and \'foreignField\' to be specified');
  }
  if (stages === undefined && local === undefined) {
    throw refuse(9, `$lookup requires either 'pipeline' or both 'localField' and 'foreignField' to be specified`);
  }
  if (stages === undefined && found.has('let')) throw refuse(9, `$lookup with a 'let' argument must also specify 'pipeline'`);
  if (local !== undefined) splitPath(local);
  if (foreignField !== undefined) splitPath(foreignField);
  const compiler = createCompiler(context.options);
  const bindings = bindingsOf(found, compiler);
  const inner = new Map([...(context.options.variables ?? []), ...bindings.map(({ name, variable }) => [name, variable] as const)]);
  return {
    as: splitPath(as),
    local: local === undefined ? undefined : parsePath(local),
    foreignField,
    bindings,
    nested: new NestedPipeline(target, stages ?? [], { ...context, options: { ...context.options, ...target, variables: inner } }),
    compiler,
  };
}

/** So many documents are joined by one query. */
const JOIN_DOCUMENTS_MAX = 128;

class Joiner {
  readonly #lookup: Lookup;
  readonly #provider: SourceProvider;
  #constant: BsonArray | undefined;

  constructor(lookup: Lookup, provider: SourceProvider) {
    this.#lookup = lookup;
    this.#provider = provider;
  }

  async join(batch: readonly Document[], context: OperationContext): Promise<Document[]> {
    const together = await this.#joinTogether(batch, context);
    const made: Document[] = [];
    for (const document of batch) {
      await context.turn();
      const found = together?.get(document);
      const joined = found === undefined ? await this.#found(document, context) : BsonArray.of(found);
      made.push(withValueAt(document, this.#lookup.as, joined));
    }
    return made;
  }

  /** Joins the documents of a plain join by equality that one query can serve. */
  async #joinTogether(batch: readonly Document[], context: OperationContext): Promise<ReadonlyMap<Document, readonly Document[]> | undefined> {
    const { foreignField, local, nested } = this.#lookup;
    if (local === undefined || foreignField === undefined || nested.pipeline.stages.length > 0) return undefined;
    const join = new JoinBatch(this.#lookup.compiler.options.collation);
    const count = batch.filter((document) => join.add(document, localValues(document, local))).length;
    if (count < 2) return undefined;
    const run = { stage: '$lookup', filter: joinFilter(foreignField, join.values) };
    return join.distribute(await nested.collect(this.#provider, context, run), foreignField);
  }

  async #found(document: Document, context: OperationContext): Promise<BsonArray> {
    if (this.#constant !== undefined) return this.#constant;
    const { bindings, foreignField, local, nested } = this.#lookup;
    const values = bindings.map(({ expression }) => expression.evaluate(document));
    bindings.forEach(({ variable }, index) => (variable.value = values[index]));
    const filter = local === undefined || foreignField === undefined ? undefined : joinFilter(foreignField, localValues(document, local));
    const run = filter === undefined ? { stage: '$lookup' } : { stage: '$lookup', filter };
    const found = BsonArray.of(await nested.collect(this.#provider, context, run));
    if (filter === undefined && nested.isConstant) this.#constant = found;
    return found;
  }
}

function joined(source: BatchSource, joiner: Joiner): BatchSource {
  let waiting: readonly Document[] = [];
  return {
    async next(context) {
      if (waiting.length === 0) {
        const batch = await source.next(context);
        if (batch === undefined) return undefined;
        waiting = batch;
      }
      const batch = waiting.slice(0, JOIN_DOCUMENTS_MAX);
      waiting = waiting.slice(JOIN_DOCUMENTS_MAX);
      return joiner.join(batch, context);
    },
    close: () => source.close(),
  };
}

function lookupStage(lookup: Lookup, specification: Value): Stage {
  return {
    name: '$lookup',
    specification,
    leaves: leavesAllBut([lookup.as.join('.')]),
    open: (source, provider) => joined(source, new Joiner(lookup, provider)),
    needs: (dependencies) => {
      if (lookup.local !== undefined) dependencies.addPath(lookup.local.text);
      dependencies.addAll(lookup.compiler.dependencies);
      return 'some';
    },
  };
}

/** How `$lookup` is compiled. */
export const lookupRule: StageRule = {
  name: '$lookup',
  parse: (specification, context) => lookupStage(parseLookup(specification, context), specification),
};
