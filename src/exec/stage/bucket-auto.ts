// `$bucketAuto`: groups of about the same number of documents, by an expression in order; with a granularity the boundaries are preferred
// numbers. All documents are in memory. Follows the manual's page "$bucketAuto (aggregation)".

import { comparerOf, describeValue, Document, isNumber, wholeNumber } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { createCompiler, nameOf, refuse, sizeOfValue } from '../../query/index.ts';
import type { Compiler, Expression } from '../../query/index.ts';
import { drain, gathered } from '../batches.ts';
import { granularityOf } from '../granularity.ts';
import type { Granularity } from '../granularity.ts';
import { MEMORY_BYTES_MAX, outOfMemory } from '../memory.ts';
import type { PipelineOptions, StageRule } from '../stage.ts';
import { isGroupKey, outputFields } from './bucket.ts';
import { compileGroupField } from './group.ts';
import type { GroupField } from './group.ts';

interface BucketAuto {
  readonly groupBy: Expression;
  readonly buckets: number;
  readonly fields: readonly GroupField[];
  readonly granularity: Granularity | undefined;
  readonly compiler: Compiler;
}

interface Keyed {
  readonly key: Value;
  readonly document: Document;
  readonly order: number;
}

function checkGroupBy(value: Value): void {
  if (isGroupKey(value)) return;
  throw refuse(40239, `The $bucketAuto 'groupBy' field must be defined as a $-prefixed path or an expression, but found: ${describeValue(value)}.`);
}

function bucketsOf(value: Value): number {
  if (!isNumber(value)) throw refuse(40241, `The $bucketAuto 'buckets' field must be a numeric value, but found type: ${nameOf(value)}.`);
  const whole = wholeNumber(value);
  if (whole === undefined || BigInt.asIntN(32, whole) !== whole) {
    throw refuse(40242, `The $bucketAuto 'buckets' field must be representable as a 32-bit integer, but found ${describeValue(value)}.`);
  }
  if (whole <= 0n) throw refuse(40243, `The $bucketAuto 'buckets' field must be greater than 0, but found: ${String(whole)}.`);
  return Number(whole);
}

function granularityField(value: Value): Granularity {
  if (typeof value !== 'string') throw refuse(40261, `The $bucketAuto 'granularity' field must be a string, but found type: ${nameOf(value)}.`);
  const granularity = granularityOf(value);
  if (granularity === undefined) throw refuse(40257, `Unknown rounding granularity '${value}'`);
  return granularity;
}

const checks: Readonly<Record<string, (value: Value) => unknown>> = {
  groupBy: checkGroupBy,
  buckets: bucketsOf,
  granularity: granularityField,
  output: (value) => outputFields(value, 40244, '$bucketAuto'),
};

function parseBucketAuto(specification: Value, options: PipelineOptions): BucketAuto {
  if (!(specification instanceof Document)) {
    throw refuse(40240, `The argument to $bucketAuto must be an object, but found type: ${nameOf(specification)}.`);
  }
  for (const [name, value] of specification.fields) {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (check === undefined) throw refuse(40245, `Unrecognized option to $bucketAuto: ${name}.`);
    check(value);
  }
  const groupBy = specification.get('groupBy');
  const buckets = specification.get('buckets');
  const granularity = specification.get('granularity');
  if (groupBy === undefined || buckets === undefined) throw refuse(40246, `$bucketAuto requires 'groupBy' and 'buckets' to be specified.`);
  const compiler = createCompiler(options);
  const output = outputFields(specification.get('output'), 40244, '$bucketAuto');
  return {
    groupBy: compiler.compile(groupBy),
    buckets: bucketsOf(buckets),
    fields: output.map(([name, value]) => compileGroupField(name, value, compiler)),
    granularity: granularity === undefined ? undefined : granularityField(granularity),
    compiler,
  };
}

/** Documents in the order of their keys, cut into buckets one after the other. */
class Buckets {
  readonly #stage: BucketAuto;
  readonly #items: Keyed[] = [];
  #bytes = 0;
  #at = 0;

  constructor(stage: BucketAuto) {
    this.#stage = stage;
  }

  take(document: Document): void {
    const key = this.#stage.groupBy.evaluate(document) ?? null;
    this.#stage.granularity?.check(key);
    this.#items.push({ key, document, order: this.#items.length });
    this.#bytes += document.byteLength + sizeOfValue(key) + 64;
    if (this.#bytes > MEMORY_BYTES_MAX) throw outOfMemory('$bucketAuto');
  }

  *results(): Generator<Document, void> {
    const compare = comparerOf(this.#stage.compiler.options.collation);
    this.#items.sort((left, right) => compare(left.key, right.key) || left.order - right.order);
    const { buckets, granularity } = this.#stage;
    const size = Math.max(1, Math.round(this.#items.length / buckets));
    let before: Value | undefined;
    for (let made = 0; this.#at < this.#items.length; made++) {
      const first = this.#items[this.#at]?.key ?? null;
      const min: Value = granularity === undefined ? first : (before ?? granularity.roundDown(first));
      const members = this.#fill(size, made === buckets - 1);
      const last = members.at(-1)?.key ?? null;
      const next = this.#items[this.#at]?.key;
      const max = granularity === undefined ? (next ?? last) : granularity.roundUp(last);
      yield this.#bucket(min, max, members);
      before = max;
    }
  }

  /** Takes the members of the next bucket: so many, and all that belong on the same side of its boundary. */
  #fill(size: number, isLast: boolean): Keyed[] {
    const start = this.#at;
    this.#at = isLast ? this.#items.length : Math.min(start + size, this.#items.length);
    const { granularity } = this.#stage;
    const last = this.#items[this.#at - 1]?.key ?? null;
    const boundary = granularity === undefined ? last : granularity.roundUp(last);
    const compare = comparerOf(this.#stage.compiler.options.collation);
    for (let next = this.#items[this.#at]; next !== undefined; next = this.#items[this.#at]) {
      const order = compare(next.key, boundary);
      if (granularity === undefined ? order !== 0 : order >= 0) break;
      this.#at += 1;
    }
    return this.#items.slice(start, this.#at);
  }

  #bucket(min: Value, max: Value, members: readonly Keyed[]): Document {
    const id = Document.of({ min, max });
    const states = this.#stage.fields.map((field) => ({ name: field.name, state: field.factory.create(id) }));
    for (const { document } of members) for (const { state } of states) state.add(document);
    const fields = states.map(({ name, state }): [string, Value] => [name, state.result() ?? null]);
    return Document.fromEntries([['_id', id], ...fields]);
  }
}

/** How `$bucketAuto` is compiled. */
export const bucketAutoRule: StageRule = {
  name: '$bucketAuto',
  parse: (specification, { options }) => {
    const stage = parseBucketAuto(specification, options);
    return {
      name: '$bucketAuto',
      specification,
      open: (source) =>
        gathered(source, async (context) => {
          const buckets = new Buckets(stage);
          await drain(source, context, (batch) => batch.forEach((document) => buckets.take(document)));
          return buckets.results();
        }),
      needs: (dependencies) => {
        dependencies.addAll(stage.compiler.dependencies);
        return 'all-of-it';
      },
    };
  },
};
