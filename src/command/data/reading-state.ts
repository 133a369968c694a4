// The state of the data that a pipeline reads: that of its command at first. Where its client stays away for long it is given up, and the pipeline goes on
// in a newer one: every plan under it from behind its last key, and what stages ask for from then on in that newer state too, one for all.

import type { CatalogTransaction } from '../../catalog/index.ts';
import type { Plan } from '../../plan/index.ts';
import type { BatchSource } from '../../session/index.ts';
import type { CommandContext } from '../command.ts';

/** Whether what a command reads may be another state later: not in a transaction, nor where it asked for a snapshot. */
export function canRelease({ transaction, generic }: CommandContext): boolean {
  return transaction === undefined && generic.readConcern?.level !== 'snapshot';
}

/** One pipeline's state. */
export class ReadingState {
  #txn: CatalogTransaction | undefined;
  /** Whether the transaction was begun here. */
  #isOwn = false;
  readonly #renew: (() => CatalogTransaction) | undefined;
  readonly #context: CommandContext;
  /** What reads now. */
  readonly #sources: Set<BatchSource> = new Set();

  /** `renew` begins another state; absent: there is none but this. */
  constructor(context: CommandContext, txn: CatalogTransaction, renew: (() => CatalogTransaction) | undefined) {
    this.#context = context;
    this.#txn = txn;
    this.#renew = renew;
  }

  get txn(): CatalogTransaction {
    if (this.#txn === undefined) {
      this.#txn = this.#renew?.() ?? this.#context.server.catalog.begin('read');
      this.#isOwn = true;
    }
    return this.#txn;
  }

  /** Begins a transaction of the same state, for whoever ends it himself; absent where there is no other state. */
  get shared(): (() => CatalogTransaction) | undefined {
    return this.#renew === undefined ? undefined : () => this.#context.server.catalog.begin('read', this.txn);
  }

  open(plan: Plan): BatchSource {
    return this.track(plan.open(this.shared));
  }

  /** A source that gives its state up with this one. */
  track(source: BatchSource): BatchSource {
    if (this.#renew === undefined) return source;
    this.#sources.add(source);
    return {
      next: (operation) => source.next(operation),
      close: () => {
        this.#sources.delete(source);
        source.close();
      },
    };
  }

  /** The pipeline's result, which takes this state along. */
  result(source: BatchSource): BatchSource {
    const close = (): void => {
      source.close();
      this.#end();
    };
    if (this.#renew === undefined) return { next: (operation) => source.next(operation), close };
    return {
      next: (operation) => source.next(operation),
      release: () => {
        for (const one of this.#sources) one.release?.();
        this.#end();
        this.#txn = undefined;
      },
      close,
    };
  }

  #end(): void {
    if (this.#isOwn) this.#txn?.abort();
    this.#isOwn = false;
  }
}
