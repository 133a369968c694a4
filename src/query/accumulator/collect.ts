// Accumulators that keep values as they are: the first, the last, the least, the greatest, all, all different, merged.
// Follows the manual's pages of `$first`, `$last`, `$min`, `$max`, `$push`, `$addToSet`, `$mergeObjects` and `$count`.

import { BsonArray, comparerOf, Document } from '../../bson/index.ts';
import type { Comparer, TextOrder, Value } from '../../bson/index.ts';
import { isNullish, nameOf } from '../expression/define.ts';
import { refuse } from '../refuse.ts';
import { keyOfValue } from '../value-key.ts';
import type { ValueKey } from '../value-key.ts';
import { ofValues } from './accumulator.ts';
import type { AccumulatorFactory, AccumulatorRule, AccumulatorTable, ValueAccumulator } from './accumulator.ts';
import { sizeOfValue } from './size.ts';

const COLLECTED_BYTES_MAX = 100 * 1024 * 1024;

function tooMuch(name: string): Error {
  return refuse(146, `${name} used too much memory and cannot spill to disk. Memory limit: ${COLLECTED_BYTES_MAX} bytes`);
}

class First implements ValueAccumulator {
  bytes = 0;
  #given = false;
  #value: Value | undefined;

  add(value: Value | undefined): void {
    if (this.#given) return;
    this.#given = true;
    this.#value = value;
    this.bytes = sizeOfValue(value);
  }

  result(): Value | undefined {
    return this.#value ?? null;
  }
}

class Last implements ValueAccumulator {
  #value: Value | undefined;

  get bytes(): number {
    return sizeOfValue(this.#value);
  }

  add(value: Value | undefined): void {
    this.#value = value;
  }

  result(): Value | undefined {
    return this.#value ?? null;
  }
}

/** The least (sign 1) or greatest (sign -1) value in BSON order; null and missing do not count. */
export class Extreme implements ValueAccumulator {
  readonly #sign: 1 | -1;
  readonly #compare: Comparer;
  #value: Value | undefined;

  constructor(sign: 1 | -1, order: TextOrder | undefined) {
    this.#sign = sign;
    this.#compare = comparerOf(order);
  }

  get bytes(): number {
    return sizeOfValue(this.#value);
  }

  add(value: Value | undefined): void {
    if (isNullish(value)) return;
    if (this.#value === undefined || this.#compare(value, this.#value) * this.#sign < 0) this.#value = value;
  }

  result(): Value | undefined {
    return this.#value ?? null;
  }
}

class Push implements ValueAccumulator {
  bytes = 0;
  readonly #values: Value[] = [];

  add(value: Value | undefined): void {
    if (value === undefined) return;
    this.#values.push(value);
    this.bytes += sizeOfValue(value) + 8;
    if (this.bytes > COLLECTED_BYTES_MAX) throw tooMuch('$push');
  }

  result(): Value | undefined {
    return BsonArray.of([...this.#values]);
  }
}

class AddToSet implements ValueAccumulator {
  bytes = 0;
  readonly #values = new Map<ValueKey, Value>();
  readonly #order: TextOrder | undefined;

  constructor(order: TextOrder | undefined) {
    this.#order = order;
  }

  add(value: Value | undefined): void {
    if (value === undefined) return;
    const key = keyOfValue(value, this.#order);
    if (this.#values.has(key)) return;
    this.#values.set(key, value);
    this.bytes += sizeOfValue(value) + 48;
    if (this.bytes > COLLECTED_BYTES_MAX) throw tooMuch('$addToSet');
  }

  result(): Value | undefined {
    return BsonArray.of([...this.#values.values()]);
  }
}

/** The elements of arrays: all (`$concatArrays`), or those that differ (`$setUnion`). */
class Elements implements ValueAccumulator {
  readonly #name: string;
  readonly #into: Push | AddToSet;

  constructor(name: string, into: Push | AddToSet) {
    this.#name = name;
    this.#into = into;
  }

  get bytes(): number {
    return this.#into.bytes;
  }

  add(value: Value | undefined): void {
    if (value === undefined) return;
    if (!(value instanceof BsonArray)) throw refuse(14, `${this.#name} requires array inputs, but input is of type ${nameOf(value)}`);
    for (const item of value.items()) this.#into.add(item);
  }

  result(): Value | undefined {
    return this.#into.result();
  }
}

class MergeObjects implements ValueAccumulator {
  bytes = 0;
  readonly #fields = new Map<string, Value>();

  add(value: Value | undefined): void {
    if (isNullish(value)) return;
    if (!(value instanceof Document)) {
      throw refuse(5911200, `$mergeObjects requires object inputs, but input is of type ${nameOf(value)}`);
    }
    for (const [name, field] of value.fields) this.#fields.set(name, field);
    this.bytes += sizeOfValue(value);
  }

  result(): Value | undefined {
    return Document.fromEntries([...this.#fields]);
  }
}

class Count {
  readonly bytes = 8;
  #count = 0;

  add(): void {
    this.#count += 1;
  }

  result(): Value {
    return this.#count > 0x7fffffff ? BigInt(this.#count) : this.#count;
  }
}

const compileCount: AccumulatorRule = (argument): AccumulatorFactory => {
  if (!(argument instanceof Document) || !argument.isEmpty) throw refuse(14, '$count takes no arguments, i.e. $count:{}');
  return { create: () => new Count() };
};

/** The accumulators, by name. */
export const collectAccumulators: AccumulatorTable = {
  $first: ofValues(() => new First()),
  $last: ofValues(() => new Last()),
  $min: ofValues((order) => new Extreme(1, order)),
  $max: ofValues((order) => new Extreme(-1, order)),
  $push: ofValues(() => new Push()),
  $addToSet: ofValues((order) => new AddToSet(order)),
  $mergeObjects: ofValues(() => new MergeObjects()),
  $count: compileCount,
  $concatArrays: ofValues(() => new Elements('$concatArrays', new Push())),
  $setUnion: ofValues((order) => new Elements('$setUnion', new AddToSet(order))),
};
