// `$group`: documents with equal keys together, with accumulators over each group. Groups come in the order of their first documents.
// Where all work of the server holds too much, the documents of further groups are put aside in a scratch place; beyond 100 MB the stage ends with 292 where disk
// may not be used.
// Follows the manual's page "$group (aggregation)".

import { CommandError } from '../../base/errors.ts';
import { BsonArray, Document, isNumber } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { inSlices } from '../../env/index.ts';
import { accumulators, createCompiler, isLight, keyOfValue, refuse, sizeOfValue } from '../../query/index.ts';
import type { Accumulator, AccumulatorFactory, Compiler, Expression, ValueKey } from '../../query/index.ts';
import type { BatchSource, OperationContext } from '../../session/index.ts';
import { BATCH_DOCUMENTS_MAX, drain, streamed } from '../batches.ts';
import { MEMORY_BYTES_MAX, outOfMemory } from '../memory.ts';
import type { Scratch } from '../scratch.ts';
import type { WorkHold } from '../work-memory.ts';
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
  /** Whether nothing is evaluated that could take long. */
  readonly #isLight: boolean;
  readonly #hold: WorkHold | undefined;
  readonly #groups = new Map<ValueKey, Group>();
  #bytes = 0;
  #aside: SpilledDocuments | undefined;
  #isFull = false;

  constructor(grouping: Grouping, hold: WorkHold | undefined) {
    this.#hold = hold;
    this.#grouping = grouping;
    this.#isLight = isLight(grouping.id) && grouping.fields.every(({ factory }) => factory.isLight === true);
  }

  /** Takes documents in; expressions that may take long are evaluated in slices of the operation. */
  async take(batch: readonly Document[], context: OperationContext): Promise<void> {
    try {
      if (this.#isLight) for (const document of batch) this.#take(document);
      else await this.#takeInSlices(batch, context);
    } catch (error) {
      throw groupError(error);
    }
    const gives = this.#hold?.holds(this.#bytes) === true;
    if (this.#aside === undefined ? gives || this.#bytes > MEMORY_BYTES_MAX : this.#bytes > GROWN_BYTES_MAX) this.#isFull = true;
  }

  /** About how many bytes they hold. */
  get bytes(): number {
    return this.#bytes;
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
    const group = this.#groupOf(this.#idOf(document), document);
    if (group === undefined) return;
    let bytes = 0;
    for (const state of group.states) {
      state.add(document);
      bytes += state.bytes;
    }
    this.#bytes += bytes - group.bytes;
    group.bytes = bytes;
  }

  async #takeInSlices(batch: readonly Document[], context: OperationContext): Promise<void> {
    for (const document of batch) {
      const finding = inSlices(context, () => this.#idOf(document));
      const group = this.#groupOf(finding instanceof Promise ? await finding : finding, document);
      if (group === undefined) continue;
      for (const state of group.states) {
        const adding = inSlices(context, () => {
          state.add(document);
        });
        if (adding instanceof Promise) await adding;
      }
      this.#weigh(group);
    }
  }

  #idOf(document: Document): Value {
    return this.#grouping.id.evaluate(document) ?? null;
  }

  /** The group of a document; undefined: it has gone aside. */
  #groupOf(id: Value, document: Document): Group | undefined {
    const key = keyOfValue(id, this.#grouping.compiler.options.collation);
    const known = this.#groups.get(key);
    if (known !== undefined || this.#aside === undefined) return known ?? this.#begin(key, id);
    this.#aside.add(key, document);
    return undefined;
  }

  #weigh(group: Group): void {
    let bytes = 0;
    for (const state of group.states) bytes += state.bytes;
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
  readonly operation: () => OperationContext;
  /** How often what comes was put aside before. */
  readonly depth: number;
}

/** The groups of a source; documents of those that memory does not hold are put aside, and grouped part by part afterwards. */
async function* grouped(grouping: Grouping, input: GroupInput): AsyncGenerator<readonly Document[], void> {
  const { source, provider, operation, depth } = input;
  let scratch: Scratch | undefined;
  const { workspace } = provider;
  const hold = workspace?.memory.open();
  try {
    let groups: Groups | undefined = new Groups(grouping, hold);
    let aside: SpilledDocuments | undefined;
    await drain(source, operation(), async (batch) => {
      await groups?.take(batch, operation());
      if (groups?.isFull === true) {
        if (workspace === undefined || depth >= DEPTH_MAX) throw outOfMemory('$group');
        scratch ??= await workspace.openScratch();
        const made = new SpilledDocuments(scratch, depth);
        groups.putAside(made);
        aside = made;
      }
      await aside?.relieve();
      if (workspace?.mayExceed === false && (groups?.bytes ?? 0) + (aside?.bytes ?? 0) > MEMORY_BYTES_MAX) throw outOfMemory('$group');
    });
    source.close();
    yield* batched(groups.results());
    groups = undefined;
    hold?.holds(0);
    const parts = (await (aside)?.parts()) ?? [];
    for (const part of parts) yield* grouped(grouping, { source: part, provider, operation, depth: depth + 1 });
  } finally {
    scratch?.close();
    hold?.close();
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
      streamed(source, (operation) => grouped(grouping, { source, provider, operation, depth: 0 })),
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
