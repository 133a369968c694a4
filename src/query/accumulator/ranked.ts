// Accumulators that keep some of the values: the first or last n that came, the n least or greatest, and the outputs of the documents that
// come first or last in an order. Follows the manual's pages "$firstN", "$lastN", "$minN", "$maxN", "$top", "$topN", "$bottom", "$bottomN".

import { compareBytes } from '../../base/bytes.ts';
import { BsonArray, comparerOf, Document } from '../../bson/index.ts';
import type { TextOrder, Value } from '../../bson/index.ts';
import { countOf } from '../expression/array.ts';
import { isNullish, namedArguments, nameOf } from '../expression/define.ts';
import type { Compiler } from '../expression/compiler.ts';
import type { Expression } from '../expression/expression.ts';
import { refuse } from '../refuse.ts';
import { compileSort } from '../sort.ts';
import type { SortKey } from '../sort.ts';
import type { Accumulator, AccumulatorFactory, AccumulatorRule, AccumulatorTable } from './accumulator.ts';
import { sizeOfValue } from './size.ts';

interface Ranked<T> {
  readonly item: T;
  readonly order: number;
}

/** The least `count` items of all that were put in; of items that tie the earlier ones (`tie` 1) or the later ones (-1) come first. */
class Best<T> {
  readonly #count: number;
  readonly #compare: (left: T, right: T) => number;
  readonly #tie: 1 | -1;
  #items: Ranked<T>[] = [];
  #seen = 0;

  constructor(count: number, compare: (left: T, right: T) => number, tie: 1 | -1 = 1) {
    this.#count = count;
    this.#compare = compare;
    this.#tie = tie;
  }

  put(item: T): void {
    this.#items.push({ item, order: this.#seen++ });
    if (this.#items.length >= 2 * this.#count + 16) this.#cut();
  }

  items(): T[] {
    this.#cut();
    return this.#items.map(({ item }) => item);
  }

  get length(): number {
    return this.#items.length;
  }

  #cut(): void {
    this.#items.sort((left, right) => this.#compare(left.item, right.item) || this.#tie * (left.order - right.order));
    if (this.#items.length > this.#count) this.#items = this.#items.slice(0, this.#count);
  }
}

/** The size of a state is asked at each document: it is counted, not measured. */
const ITEM_BYTES = 64;

/** The best values of an expression. */
class BestValues implements Accumulator {
  readonly #input: Expression;
  readonly #best: Best<Value>;
  readonly #takesNull: boolean;

  constructor(input: Expression, best: Best<Value>, takesNull: boolean) {
    this.#input = input;
    this.#best = best;
    this.#takesNull = takesNull;
  }

  get bytes(): number {
    return this.#best.length * ITEM_BYTES;
  }

  add(root: Document): void {
    const value = this.#input.evaluate(root);
    if (this.#takesNull || !isNullish(value)) this.#best.put(value ?? null);
  }

  result(): Value {
    return BsonArray.of(this.#best.items());
  }
}

const inputArguments = { words: 'only', notObject: 5787900, unknown: 5787901, required: { n: 5787906, input: 5787907 } } as const;

/** The rule of an accumulator of `{input, n}`; `create` makes a state that holds `count` values. */
function inputRule(create: (input: Expression, count: number, order: TextOrder | undefined) => Accumulator): AccumulatorRule {
  return (argument, compiler, name): AccumulatorFactory => {
    const found = namedArguments(argument, name, inputArguments);
    const input = compiler.compile(found.get('input') ?? null);
    const n = compiler.compile(found.get('n') ?? null);
    checkConstant(n);
    return { create: (group) => create(input, countOf(n.evaluate(group)), compiler.options.collation) };
  };
}

function checkConstant(n: Expression): void {
  if (n.form.kind === 'constant') countOf(n.form.value);
}

function inOrderOfArrival(): number {
  return 0;
}

/** The last values of an expression. */
class LastValues implements Accumulator {
  readonly #input: Expression;
  readonly #count: number;
  #values: Value[] = [];

  constructor(input: Expression, count: number) {
    this.#input = input;
    this.#count = count;
  }

  get bytes(): number {
    return this.#values.length * ITEM_BYTES;
  }

  add(root: Document): void {
    this.#values.push(this.#input.evaluate(root) ?? null);
    if (this.#values.length > 2 * this.#count + 16) this.#values = this.#values.slice(-this.#count);
  }

  result(): Value {
    return BsonArray.of(this.#values.slice(-this.#count));
  }
}

interface Keyed {
  readonly key: Uint8Array;
  readonly output: Value;
}

interface Ranking {
  readonly sort: SortKey;
  readonly output: Expression;
  readonly n: Expression | undefined;
}

function rankingOf(argument: Value, compiler: Compiler, name: string, counted: boolean): Ranking {
  const required = { sortBy: 5788005, output: 5788004 };
  const rule = {
    words: 'only',
    notObject: 5788001,
    unknown: 5788002,
    required: counted ? { n: 5788003, ...required } : required,
  } as const;
  const found = namedArguments(argument, name, rule);
  const sortBy = found.get('sortBy') ?? null;
  if (!(sortBy instanceof Document)) throw refuse(10065, `invalid parameter: expected an object (sortBy), found ${nameOf(sortBy)}`);
  for (const path of sortBy.keys()) compiler.dependencies.addPath(path);
  const n = counted ? compiler.compile(found.get('n') ?? null) : undefined;
  if (n !== undefined) checkConstant(n);
  return { sort: compileSort(sortBy, compiler.options.collation), output: compiler.compile(found.get('output') ?? null), n };
}

/** The outputs of the documents that are best by a sort. `sign` as for `rankRule`. */
class BestOutputs implements Accumulator {
  readonly #ranking: Ranking;
  readonly #sign: 1 | -1;
  readonly #best: Best<Keyed>;
  #bytes = 0;

  constructor(ranking: Ranking, sign: 1 | -1, count: number) {
    this.#ranking = ranking;
    this.#sign = sign;
    this.#best = new Best<Keyed>(count, (left, right) => sign * compareBytes(left.key, right.key), sign);
  }

  get bytes(): number {
    return this.#best.length * (ITEM_BYTES + this.#bytes);
  }

  add(root: Document): void {
    const { sort, output } = this.#ranking;
    const keyed = { key: sort.keyOf(root), output: output.evaluate(root) ?? null };
    this.#bytes = Math.max(this.#bytes, sizeOfValue(keyed.output) + keyed.key.length);
    this.#best.put(keyed);
  }

  result(): Value {
    const outputs = this.#best.items().map((keyed) => keyed.output);
    if (this.#sign < 0) outputs.reverse();
    return this.#ranking.n === undefined ? (outputs[0] ?? null) : BsonArray.of(outputs);
  }
}

/** `sign` -1 takes from the end of the order: its result is in the order still, the last document last. */
function rankRule(sign: 1 | -1, counted: boolean): AccumulatorRule {
  return (argument, compiler, name): AccumulatorFactory => {
    const ranking = rankingOf(argument, compiler, name, counted);
    const { n } = ranking;
    return { create: (group) => new BestOutputs(ranking, sign, n === undefined ? 1 : countOf(n.evaluate(group))) };
  };
}

/** The accumulators, by name. */
export const rankedAccumulators: AccumulatorTable = {
  $firstN: inputRule((input, count) => new BestValues(input, new Best<Value>(count, inOrderOfArrival), true)),
  $lastN: inputRule((input, count) => new LastValues(input, count)),
  $minN: inputRule((input, count, order) => new BestValues(input, new Best<Value>(count, comparerOf(order)), false)),
  $maxN: inputRule((input, count, order) => {
    const compare = comparerOf(order);
    return new BestValues(input, new Best<Value>(count, (left, right) => compare(right, left)), false);
  }),
  $top: rankRule(1, false),
  $topN: rankRule(1, true),
  $bottom: rankRule(-1, false),
  $bottomN: rankRule(-1, true),
};
