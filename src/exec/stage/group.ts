// `$group`: documents with equal keys together, with accumulators over each group. Groups come in the order of their first documents.
// Beyond 100 MB the documents of further groups are put aside in a scratch place; where nothing may be written the stage ends with 292.
// Follows the manual's page "$group (aggregation)".

import { CommandError } from '../../base/errors.ts';
import { BsonArray, Document, isNumber } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { accumulators, createCompiler, keyOfValue, refuse, sizeOfValue } from '../../query/index.ts';
import type { Accumulator, AccumulatorFactory, Compiler, Expression, ValueKey } from '../../query/index.ts';
import type { BatchSource, OperationContext } from '../../session/index.ts';
import { BATCH_DOCUMENTS_MAX, drain, streamed } from '../batches.ts';
import { MEMORY_BYTES_MAX, outOfMemory } from '../memory.ts';
import type { Scratch } from '../scratch.ts';
import { SpilledDocuments } from '../spilled-documents.ts';
import type { PipelineOptions, SourceProvider, Stage, StageRule } from '../stage.ts';

/** One accumulated field. */
export interface GroupField {
  readonly name: string;
  readonly factory: AccumulatorFactory;
}

/** A compiled `$group`. */
export interface Grouping {
  readonly id: Expression;
  readonly fields: readonly GroupField[];
  readonly compiler: Compiler;
}

interface Group {
  readonly id: Value;
  readonly states: readonly Accumulator[];
  bytes: number;
}

function compileId(value: Value, compiler: Compiler): Expression {
  if (value instanceof Document && value.first?.[0].startsWith('$') === false) {
    const inclusion = value.fields.some(([, field]) => typeof field === 'boolean' || isNumber(field));
    if (inclusion) throw refuse(17390, '$group does not support inclusion-style expressions');
  }
  return compiler.compile(value);
}

/** Compiles one accumulated field: `{name: {$accumulator: argument}}`. */
export function compileGroupField(name: string, value: Value, compiler: Compiler): GroupField {
  if (name.includes('.')) throw refuse(40235, `The field name '${name}' cannot contain '.'`);
  if (name.startsWith('$')) throw refuse(40236, `The field name '${name}' cannot be an operator name`);
  if (!(value instanceof Document) || value.first?.[0].startsWith('$') !== true) {
    throw refuse(40234, `The field '${name}' must be an accumulator object`);
  }
  if (value.fields.length !== 1) throw refuse(40238, `The field '${name}' must specify one accumulator`);
  const [operator, argument] = value.first;
  if (argument instanceof BsonArray) {
    throw refuse(40237, `The ${operator} accumulator is a unary operator`);
  }
  const rule = accumulators.get(operator);
  if (rule === undefined) throw refuse(15952, `unknown group operator '${operator}'`);
  return { name, factory: rule(argument, compiler, operator) };
}

function parseGroup(specification: Value, options: PipelineOptions): Grouping {
  if (!(specification instanceof Document)) throw refuse(15947, `a group's fields must be specified in an object`);
  const compiler = createCompiler(options);
  let id: Expression | undefined;
  const fields: GroupField[] = [];
  for (const [name, value] of specification.fields) {
    if (name === '_id') id = compileId(value, compiler);
    else if (name === '$doingMerge' || name === '$willBeMerged') throw refuse(17030, `${name} should be true if present`);
    else fields.push(compileGroupField(name, value, compiler));
  }
  if (id === undefined) throw refuse(15955, 'a group specification must include an _id');
  return { id, fields, compiler };
}

/** Codes that an error of an expression has in a `$group`, and in other stages. */
const GROUP_CODES: ReadonlyMap<string, number> = new Map([
  [`can't $divide by zero`, 4848401],
  [`can't $mod by zero`, 4848403],
]);

function groupError(error: unknown): unknown {
  if (!(error instanceof CommandError)) return error;
  const code = GROUP_CODES.get(error.message);
  return code === undefined ? error : refuse(code, error.message, error);
}

/** Groups that are here may still grow to this when others go aside. */
const GROWN_BYTES_MAX = 3 * MEMORY_BYTES_MAX;
/** So often what was put aside is put aside again. */
const DEPTH_MAX = 4;

/** The groups of what has been seen. */
class Groups {
  readonly #grouping: Grouping;
  readonly #groups = new Map<ValueKey, Group>();
  #bytes = 0;
  #aside: SpilledDocuments | undefined;
  #isFull = false;

  constructor(grouping: Grouping) {
    this.#grouping = grouping;
  }

  take(batch: readonly Document[]): void {
    try {
      for (const document of batch) this.#take(document);
    } catch (error) {
      throw groupError(error);
    }
    if (this.#bytes > MEMORY_BYTES_MAX && (this.#aside === undefined || this.#bytes > GROWN_BYTES_MAX)) this.#isFull = true;
  }

  /** Whether there is more than memory may hold: then documents of further groups must be put aside, or nothing goes on. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** From now on documents of groups that are not here go there. */
  putAside(aside: SpilledDocuments): void {
    if (this.#aside !== undefined) throw outOfMemory('$group');
    this.#aside = aside;
    this.#isFull = false;
  }

  *results(): Generator<Document, void> {
    const { fields } = this.#grouping;
    for (const group of this.#groups.values()) {
      const made: [string, Value][] = [['_id', group.id]];
      group.states.forEach((state, index) => made.push([fields[index]?.name ?? '', state.result() ?? null]));
      yield Document.fromEntries(made);
    }
  }

  #take(document: Document): void {
    const id = this.#grouping.id.evaluate(document) ?? null;
    const key = keyOfValue(id, this.#grouping.compiler.options.collation);
    const known = this.#groups.get(key);
    if (known === undefined && this.#aside !== undefined) {
      this.#aside.add(key, document);
      return;
    }
    const group = known ?? this.#begin(key, id);
    let bytes = 0;
    for (const state of group.states) {
      state.add(document);
      bytes += state.bytes;
    }
    this.#bytes += bytes - group.bytes;
    group.bytes = bytes;
  }

  #begin(key: ValueKey, id: Value): Group {
    const root = id instanceof Document ? id : Document.fromEntries([['_id', id]]);
    const group = { id, states: this.#grouping.fields.map((field) => field.factory.create(root)), bytes: 0 };
    this.#groups.set(key, group);
    this.#bytes += 200 + 2 * sizeOfValue(id);
    return group;
  }
}

interface GroupInput {
  readonly source: BatchSource;
  readonly provider: SourceProvider;
  readonly context: OperationContext;
  /** How often what comes was put aside before. */
  readonly depth: number;
}

/** The groups of a source; documents of those that memory does not hold are put aside, and grouped part by part afterwards. */
async function* grouped(grouping: Grouping, input: GroupInput): AsyncGenerator<readonly Document[], void> {
  const { source, provider, context, depth } = input;
  let scratch: Scratch | undefined;
  try {
    let groups: Groups | undefined = new Groups(grouping);
    let aside: SpilledDocuments | undefined;
    await drain(source, provider, context, async (batch) => {
      groups?.take(batch);
      if (groups?.isFull === true) {
        if (provider.openScratch === undefined || depth >= DEPTH_MAX) throw outOfMemory('$group');
        scratch ??= await provider.openScratch();
        const made = new SpilledDocuments(scratch, depth);
        groups.putAside(made);
        aside = made;
      }
      await aside?.relieve();
    });
    source.close();
    yield* batched(groups.results());
    groups = undefined;
    const parts = (await (aside)?.parts()) ?? [];
    for (const part of parts) yield* grouped(grouping, { source: part, provider, context, depth: depth + 1 });
  } finally {
    scratch?.close();
  }
}

function* batched(documents: Iterable<Document>): Generator<readonly Document[], void> {
  let batch: Document[] = [];
  for (const document of documents) {
    batch.push(document);
    if (batch.length < BATCH_DOCUMENTS_MAX) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** The stage of a compiled grouping. */
function groupStage(grouping: Grouping, specification: Value, name = '$group'): Stage {
  return {
    name,
    specification,
    open: (source, provider) =>
      streamed(source, provider, async function* (turn, context) {
        for await (const batch of grouped(grouping, { source, provider, context, depth: 0 })) {
          yield batch;
          await turn();
        }
      }),
    needs: (dependencies) => {
      dependencies.addAll(grouping.compiler.dependencies);
      return 'all-of-it';
    },
  };
}

/** How `$group` is compiled. */
export const groupRule: StageRule = {
  name: '$group',
  parse: (specification, { options }) => groupStage(parseGroup(specification, options), specification),
};
