// A statement by itself as a series of engine transactions, cut between documents (server.md, "Transactions"): most statements are one.
// Each step changes one document. Where two statements wait for each other, or the catalog changed under a part, the part is done again; so a
// statement waits and never fails for a conflict. Inside a multi-statement transaction there is one engine transaction and no second try:
// a conflict is the caller's at once.

import { CommandError, EngineError } from '../base/errors.ts';
import type { CatalogTransaction, Collection, Namespace } from '../catalog/index.ts';
import type { CommandContext } from './command.ts';

/** The change of one document. It may run more than once, each time in another transaction, with `undo` in between. */
export interface WriteStep {
  /** Does it in `txn`, and notes what it did. False: nothing further of the statement is to be done. A refusal of the document itself is noted, not thrown. */
  run(txn: CatalogTransaction): Promise<boolean>;
  /** Forgets what `run` noted. */
  undo(): void;
}

/** A part is committed when it has this many steps: it bounds write sets and the time locks are held. */
const PART_STEPS_MAX = 1000;

/** Or this many bytes of documents. */
const PART_BYTES_MAX = 4 * 1024 * 1024;

function isConflict(error: unknown): boolean {
  return error instanceof EngineError && (error.code === 'write-conflict' || error.code === 'deadlock');
}

/** The steps of one statement. */
export class WriteSeries {
  readonly #context: CommandContext;
  readonly #ns: Namespace;
  #txn: CatalogTransaction | undefined;
  #collection: { readonly txn: CatalogTransaction; readonly found: Collection | undefined } | undefined;
  #part: WriteStep[] = [];
  #bytes = 0;
  #stopped = false;

  constructor(context: CommandContext, ns: Namespace) {
    this.#context = context;
    this.#ns = ns;
  }

  /** Whether a step has said that nothing further is to be done. */
  get stopped(): boolean {
    return this.#stopped;
  }

  /** The collection as `txn` sees it. */
  async collection(txn: CatalogTransaction): Promise<Collection | undefined> {
    if (this.#collection?.txn === txn) return this.#collection.found;
    const found = await this.#context.server.catalog.collection(txn, this.#ns);
    this.#collection = { txn, found };
    return found;
  }

  /** The collection as another transaction sees it. */
  async collectionIn(txn: CatalogTransaction): Promise<Collection | undefined> {
    return this.#context.server.catalog.collection(txn, this.#ns);
  }

  /** The collection, made if it is not there. */
  async ensureCollection(txn: CatalogTransaction): Promise<Collection> {
    const found = await this.collection(txn);
    if (found !== undefined) return found;
    const made = await this.#context.server.catalog.ensureCollection(txn, this.#ns);
    this.#collection = { txn, found: made };
    return made;
  }

  /** Adds to the size of the present part. */
  weigh(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Runs a step. Throws what ends the whole statement; what was done before it is kept unless the engine failed. */
  async add(step: WriteStep): Promise<void> {
    const { transaction, operation } = this.#context;
    operation.checkInterrupt();
    if (transaction !== undefined) {
      if (!(await step.run(transaction.storage))) this.#stopped = true;
      return;
    }
    while (!this.#stopped && !(await this.#try(step))) operation.checkInterrupt();
    if (this.#part.length >= PART_STEPS_MAX || this.#bytes >= PART_BYTES_MAX) await this.#commit();
  }

  /** Commits what is left. */
  async finish(): Promise<void> {
    if (this.#txn !== undefined) await this.#commit();
  }

  /** Ends without committing the present part. */
  abandon(): void {
    for (const step of this.#part) step.undo();
    this.#forget();
  }

  /** True when the step is done; false when it must be tried again in another transaction. */
  async #try(step: WriteStep): Promise<boolean> {
    const txn = this.#txn ?? this.#context.server.catalog.begin('statement');
    this.#txn = txn;
    const mark = txn.mark();
    try {
      if (!(await step.run(txn))) this.#stopped = true;
      this.#part.push(step);
      return true;
    } catch (error) {
      step.undo();
      if (error instanceof CommandError || (isConflict(error) && this.#part.length > 0)) {
        txn.rollbackTo(mark);
        await this.#commit();
      } else {
        this.abandon();
      }
      if (isConflict(error)) return false;
      throw error;
    }
  }

  async #commit(): Promise<void> {
    while (this.#txn !== undefined) {
      try {
        await this.#commitOnce(this.#txn);
        return;
      } catch (error) {
        if (!isConflict(error)) {
          this.abandon();
          throw error;
        }
        await this.#replay();
      }
    }
  }

  async #commitOnce(txn: CatalogTransaction): Promise<void> {
    const { retry, server } = this.#context;
    if (txn.hasWritten) {
      await retry?.write(txn);
      await txn.commit();
      retry?.committed();
      server.time.tick();
      this.#txn = undefined;
    }
    this.#forget();
  }

  /** Does the present part again in a new transaction. */
  async #replay(): Promise<void> {
    const steps = this.#part;
    this.abandon();
    this.#stopped = false;
    for (const step of steps) {
      // A conflict met here commits what was replayed before it, or starts anew; the step is still to be done.
      while (!this.stopped && !(await this.#try(step))) this.#context.operation.checkInterrupt();
    }
  }

  #forget(): void {
    this.#txn?.abort();
    this.#txn = undefined;
    this.#collection = undefined;
    this.#part = [];
    this.#bytes = 0;
    this.#context.retry?.aborted();
  }
}
