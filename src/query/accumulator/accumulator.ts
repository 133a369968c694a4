// What an accumulator is: made once for each group, given each document of the group, asked for its result at the end. The rule compiles
// the accumulator's argument; it is the same for all groups. Follows the manual's page "Accumulators ($group, $bucket, ...)".

import type { Document, TextOrder, Value } from '../../bson/index.ts';
import type { Compiler } from '../expression/compiler.ts';
import { isLight } from '../expression/expression.ts';
import type { Expression } from '../expression/expression.ts';

/** The state of one accumulator of one group. */
export interface Accumulator {
  /** Takes one document of the group in. */
  add(root: Document): void;
  /** The value so far; `undefined` is missing. */
  result(): Value | undefined;
  /** About how many bytes of memory the state holds. */
  readonly bytes: number;
}

/** A compiled accumulator. `group` is the document that expressions on the group's key are evaluated on. */
export interface AccumulatorFactory {
  create(group: Document): Accumulator;
  /** Whether taking a document in never takes long; absent: it may. */
  readonly isLight?: boolean;
}

/** How an accumulator is compiled from its argument. */
export type AccumulatorRule = (argument: Value, compiler: Compiler, name: string) => AccumulatorFactory;

/** Accumulators by name with `$`. */
export type AccumulatorTable = Readonly<Record<string, AccumulatorRule>>;

/** An accumulator of values: what most are, and what the expressions of the same name use. */
export interface ValueAccumulator {
  add(value: Value | undefined): void;
  result(): Value | undefined;
  readonly bytes: number;
}

/** There is one for each group. A class, for each literal with a getter in it would have a shape of its own. */
class FedAccumulator implements Accumulator {
  readonly #input: Expression;
  readonly #state: ValueAccumulator;

  constructor(input: Expression, state: ValueAccumulator) {
    this.#input = input;
    this.#state = state;
  }

  get bytes(): number {
    return this.#state.bytes;
  }

  add(root: Document): void {
    this.#state.add(this.#input.evaluate(root));
  }

  result(): Value | undefined {
    return this.#state.result();
  }
}

/** A state that takes the values of an expression. */
export function fedBy(input: Expression, state: ValueAccumulator): Accumulator {
  return new FedAccumulator(input, state);
}

/** The rule of an accumulator that takes the values of one expression. */
export function ofValues(create: (order: TextOrder | undefined) => ValueAccumulator): AccumulatorRule {
  return (argument, compiler) => {
    const input = compiler.compile(argument);
    return { create: () => fedBy(input, create(compiler.options.collation)), isLight: isLight(input) };
  };
}
