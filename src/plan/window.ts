// SKIP and LIMIT.

import type { Value } from '../bson/index.ts';
import type { Counters, Execution, Interruptible, PlanStage, Row, RowSource } from './row.ts';

/** Leaves out the first rows, or all after some number of them. */
export class Window implements PlanStage {
  readonly name: 'SKIP' | 'LIMIT';
  readonly inputs: readonly PlanStage[];
  readonly amount: number;

  constructor(input: PlanStage, name: 'SKIP' | 'LIMIT', amount: number) {
    this.name = name;
    this.inputs = [input];
    this.amount = amount;
  }

  open(execution: Execution): RowSource {
    const [input] = this.inputs;
    return new WindowSource((input as PlanStage).open(execution), this, execution.countersOf(this));
  }

  details(): readonly (readonly [string, Value])[] {
    return [[this.name === 'SKIP' ? 'skipAmount' : 'limitAmount', BigInt(this.amount)]];
  }

  statistics(): readonly (readonly [string, Value])[] {
    return [];
  }
}

class WindowSource implements RowSource {
  readonly #input: RowSource;
  readonly #skips: boolean;
  readonly #counters: Counters;
  #left: number;

  constructor(input: RowSource, { name, amount }: Window, counters: Counters) {
    this.#input = input;
    this.#skips = name === 'SKIP';
    this.#left = amount;
    this.#counters = counters;
  }

  async next(context: Interruptible): Promise<readonly Row[] | undefined> {
    if (!this.#skips && this.#left === 0) return undefined;
    const rows = await this.#input.next(context);
    if (rows === undefined) return undefined;
    const cut = Math.min(this.#left, rows.length);
    this.#left -= cut;
    const given = this.#skips ? rows.slice(cut) : rows.slice(0, cut);
    this.#counters.works += rows.length;
    this.#counters.advanced += given.length;
    if (!this.#skips && this.#left === 0) this.#input.close();
    return given;
  }

  close(): void {
    this.#input.close();
    this.#left = 0;
  }
}
