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

function valuesOf(input: Expression, best: Best<Value>, takesNull: boolean): Accumulator {
  return {
    add: (root) => {
      const value = input.evaluate(root);
      if (takesNull || !isNullish(value)) best.put(value ?? null);
    },
    result: () => BsonArray.of(best.items()),
    get bytes() {
      return best.length * ITEM_BYTES;
    },
  };
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

function lastValues(input: Expression, count: number): Accumulator {
  let values: Value[] = [];
  return {
    add: (root) => {
      values.push(input.evaluate(root) ?? null);
      if (values.length > 2 * count + 16) values = values.slice(-count);
    },
    result: () => BsonArray.of(values.slice(-count)),
    get bytes() {
      return values.length * ITEM_BYTES;
    },
  };
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

/** `sign` -1 takes from the end of the order: its result is in the order still, the last document last. */
function rankRule(sign: 1 | -1, counted: boolean): AccumulatorRule {
  return (argument, compiler, name): AccumulatorFactory => {
    const { sort, output, n } = rankingOf(argument, compiler, name, counted);
    return {
      create: (group) => {
        const count = n === undefined ? 1 : countOf(n.evaluate(group));
        const best = new Best<Keyed>(count, (left, right) => sign * compareBytes(left.key, right.key), sign);
        let bytes = 0;
        return {
          add: (root) => {
            const keyed = { key: sort.keyOf(root), output: output.evaluate(root) ?? null };
            bytes = Math.max(bytes, sizeOfValue(keyed.output) + keyed.key.length);
            best.put(keyed);
          },
          result: () => {
            const outputs = best.items().map((keyed) => keyed.output);
            if (sign < 0) outputs.reverse();
            return counted ? BsonArray.of(outputs) : (outputs[0] ?? null);
          },
          get bytes() {
            return best.length * (ITEM_BYTES + bytes);
          },
        };
      },
    };
  };
}

/** The accumulators, by name. */
export const rankedAccumulators: AccumulatorTable = {
  $firstN: inputRule((input, count) => valuesOf(input, new Best<Value>(count, inOrderOfArrival), true)),
  $lastN: inputRule(lastValues),
  $minN: inputRule((input, count, order) => valuesOf(input, new Best<Value>(count, comparerOf(order)), false)),
  $maxN: inputRule((input, count, order) => {
    const compare = comparerOf(order);
    return valuesOf(input, new Best<Value>(count, (left, right) => compare(right, left)), false);
  }),
  $top: rankRule(1, false),
  $topN: rankRule(1, true),
  $bottom: rankRule(-1, false),
  $bottomN: rankRule(-1, true),
};
