// A statement by itself as a series of engine transactions, cut between documents (server.md, "Transactions"): most statements are one.
// Each step changes one document. Where two statements wait for each other, or the catalog changed under a part, the part is done again; so a
// statement waits and never fails for a conflict. Inside a multi-statement transaction there is one engine transaction and no second try:
// a conflict is the caller's at once.

import { CommandError, EngineError } from '../base/errors.ts';
import { afterSoon, type CatalogTransaction, type Collection, type Namespace, type Soon } from '../catalog/index.ts';
import type { Collation } from '../collation/index.ts';
import type { Unfinished } from '../session/index.ts';
import type { CommandContext } from './command.ts';
import { largeDocumentBytes } from './large-work.ts';
import { noteWrite } from './note-write.ts';

/**
 * The change of one document, or of one of many: `place` says which, so that a batch of thousands is one object. It may run more than once, each time in
 * another transaction, with `undo` in between.
 */
export interface WriteStep {
  /** Does it in `txn`, and notes what it did. False: nothing further of the statement is to be done. A refusal of the document itself is noted, not thrown. */
  run(txn: CatalogTransaction, place: number): Soon<boolean>;
  /** Forgets what `run` noted. */
  undo(place: number): void;
}

/** The refusal of a write to a collection of the server's own in a transaction of a session. */
function systemInTransaction(command: string, ns: Namespace): CommandError {
  const code = command === 'findAndModify' ? 50781 : 50791;
  return new CommandError(code, `Location${String(code)}`, `Cannot write to system collection ${ns.text} within a transaction.`);
}

/** A part is committed when it has this many steps: it bounds write sets and the time locks are held. */
const PART_STEPS_MAX = 1000;

/** Or this many bytes of documents. */
const PART_BYTES_MAX = 2 * 1024 * 1024;

/** What a statement by itself gets over: it does the step again in another transaction. */
const PASSING: ReadonlySet<string> = new Set(['write-conflict', 'deadlock', 'locked', 'too-large']);

function isPassing(error: unknown): error is EngineError {
  return error instanceof EngineError && PASSING.has(error.code);
}

/** A step that is tried again and again lets others go on after so many tries. */
const TRIES_A_TURN = 8;

/** Milliseconds before a step is tried again for which the open transactions of all left no room, and for how long it is tried. */
const ROOM_PAUSE_MS = 10;
const ROOM_WAIT_MS = 3_000;

/** MongoDB's transactions do not write to capped collections. */
function cappedInTransaction(ns: Namespace): CommandError {
  const text = `Operation not permitted in transaction :: caused by :: Collection '${ns.text}' is a capped collection. Writes in transactions are not allowed on capped collections.`;
  return new CommandError(263, 'OperationNotSupportedInTransaction', text);
}

/** The steps of one statement. An operation that fails between two of them, because its time is over for instance, ends it: it holds locks. */
export class WriteSeries implements Unfinished {
  readonly #context: CommandContext;
  readonly #ns: Namespace;
  #txn: CatalogTransaction | undefined;
  #collection: { readonly txn: CatalogTransaction; readonly found: Collection | undefined } | undefined;
  /** The steps of the present part, and the place of each. */
  #part: WriteStep[] = [];
  #places: number[] = [];
  #bytes = 0;
  #stopped = false;
  /** What it holds of the room for large documents. */
  #large = 0;
  #noRoomSinceMs: number | undefined;

  constructor(context: CommandContext, ns: Namespace) {
    this.#context = context;
    this.#ns = ns;
    if (context.generic.inTransaction && ns.isSystem) throw systemInTransaction(context.operation.command, ns);
    if (context.transaction === undefined) context.operation.unfinished.push(this);
  }

  /** Whether a step has said that nothing further is to be done. */
  get stopped(): boolean {
    return this.#stopped;
  }

  /** The collation that statements have which do not say one: that of the collection. */
  collation(): Soon<Collation | undefined> {
    const { transaction, server } = this.#context;
    if (transaction === undefined) return server.catalog.collationOf(this.#ns);
    return afterSoon(server.catalog.lookup(transaction.storage, this.#ns), (named) => (named?.kind === 'collection' ? named.options.collation : named?.collation));
  }

  /** The collection as `txn` sees it. */
  collection(txn: CatalogTransaction): Soon<Collection | undefined> {
    if (this.#collection?.txn === txn) return this.#collection.found;
    const found = this.#context.server.catalog.collection(txn, this.#ns);
    return found instanceof Promise ? found.then((later) => this.#remember(txn, later)) : this.#remember(txn, found);
  }

  #remember(txn: CatalogTransaction, found: Collection | undefined): Collection | undefined {
    if (found?.options.capped !== undefined && this.#context.generic.inTransaction) throw cappedInTransaction(this.#ns);
    this.#collection = { txn, found };
    return found;
  }

  /** The collection as another transaction sees it. */
  async collectionIn(txn: CatalogTransaction): Promise<Collection | undefined> {
    return this.#context.server.catalog.collection(txn, this.#ns);
  }

  /** The collection, made if it is not there. */
  ensureCollection(txn: CatalogTransaction): Soon<Collection> {
    const found = this.collection(txn);
    return found === undefined || found instanceof Promise ? this.#ensure(txn, found) : found;
  }

  async #ensure(txn: CatalogTransaction, finding: Soon<Collection | undefined>): Promise<Collection> {
    const found = await finding;
    if (found !== undefined) return found;
    const made = await this.#context.server.catalog.ensureCollection(txn, this.#ns);
    this.#collection = { txn, found: made };
    return made;
  }

  /** Takes back what a step did of which a document was refused; a collection that it made is no more. */
  rollback(txn: CatalogTransaction, mark: number): void {
    txn.rollbackTo(mark);
    this.#collection = undefined;
  }

  /** Waits for room to change a document of so many bytes; it is held until the present part is committed or given up. */
  enterLarge(bytes: number): Promise<void> | undefined {
    const { transaction, server } = this.#context;
    if (bytes < largeDocumentBytes || transaction !== undefined || this.#large > 0) return undefined;
    this.#large = bytes;
    return server.largeWork.enter(bytes);
  }

  /** Adds to the size of the present part. */
  weigh(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Runs a step. Throws what ends the whole statement; what was done before it is kept unless the engine failed. */
  add(step: WriteStep, place: number = 0): Soon<void> {
    const { transaction, operation } = this.#context;
    const turn = operation.turn();
    if (turn !== undefined) return turn.then(() => this.add(step, place));
    if (transaction !== undefined) return this.#addTo(transaction.storage, step, place);
    const done = this.#stopped || this.#try(step, place);
    if (done !== true) return this.#retry(step, place, done);
    return this.#isFull ? this.#commit() : undefined;
  }

  async #addTo(txn: CatalogTransaction, step: WriteStep, place: number): Promise<void> {
    txn.pace = this.#context.operation;
    if (!(await step.run(txn, place))) this.#stopped = true;
  }

  get #isFull(): boolean {
    return this.#part.length >= PART_STEPS_MAX || this.#bytes >= PART_BYTES_MAX;
  }

  /** Waits for the first try of a step, and goes on with others until it is done. */
  async #retry(step: WriteStep, place: number, first: Soon<boolean>): Promise<void> {
    let tries = 0;
    for (let isDone = await first; !isDone && !this.#stopped; isDone = await this.#try(step, place)) {
      this.#context.operation.checkInterrupt();
      // Whatever the reason is, others have their turn meanwhile.
      if (++tries % TRIES_A_TURN === 0) await this.#context.server.env.tasks.pause();
    }
    if (this.#isFull) await this.#commit();
  }

  /** Commits what is left. */
  finish(): Soon<void> {
    return this.#txn === undefined ? undefined : this.#commit();
  }

  /** Commits what is left, or gives it up where that cannot be. */
  async end(): Promise<void> {
    try {
      await this.finish();
    } catch (error) {
      // The operation has failed already, and its time may be over.
      if (!(error instanceof CommandError)) throw error;
    } finally {
      this.abandon();
    }
  }

  /** Ends without committing the present part. */
  abandon(): void {
    this.#part.forEach((step, i) => {
      step.undo(this.#places[i] as number);
    });
    this.#forget();
  }

  #begin(): CatalogTransaction {
    const txn = this.#context.server.catalog.begin('statement');
    txn.pace = this.#context.operation;
    return txn;
  }

  /** True when the step is done; false when it must be tried again in another transaction. */
  #try(step: WriteStep, place: number): Soon<boolean> {
    const txn = (this.#txn ??= this.#begin());
    const mark = txn.mark();
    let goesOn: Soon<boolean>;
    try {
      goesOn = step.run(txn, place);
    } catch (error) {
      return this.#failed(step, place, { txn, mark, error });
    }
    return goesOn instanceof Promise ? this.#tried(step, place, { txn, mark, goesOn }) : this.#done(step, place, goesOn);
  }

  async #tried(step: WriteStep, place: number, { txn, mark, goesOn }: { txn: CatalogTransaction; mark: number; goesOn: Promise<boolean> }): Promise<boolean> {
    try {
      return this.#done(step, place, await goesOn);
    } catch (error) {
      return this.#failed(step, place, { txn, mark, error });
    }
  }

  #done(step: WriteStep, place: number, goesOn: boolean): true {
    if (!goesOn) this.#stopped = true;
    this.#part.push(step);
    this.#places.push(place);
    this.#noRoomSinceMs = undefined;
    return true;
  }

  async #failed(step: WriteStep, place: number, { txn, mark, error }: { txn: CatalogTransaction; mark: number; error: unknown }): Promise<false> {
    step.undo(place);
    if (error instanceof CommandError || (isPassing(error) && this.#part.length > 0)) {
      this.rollback(txn, mark);
      await this.#commit();
    } else {
      this.abandon();
      await this.#waitForRoom(error);
    }
    if (isPassing(error)) return false;
    throw error;
  }

  /** A single document that finds no room among the write sets of all waits until others have committed. */
  async #waitForRoom(error: unknown): Promise<void> {
    if (!(error instanceof EngineError) || error.code !== 'too-large') return;
    const { clock } = this.#context.server.env;
    this.#noRoomSinceMs ??= clock.monotonicMs();
    if (clock.monotonicMs() - this.#noRoomSinceMs > ROOM_WAIT_MS) throw error;
    await clock.sleep(ROOM_PAUSE_MS);
  }

  async #commit(): Promise<void> {
    const { retry, server } = this.#context;
    for (let txn = this.#txn; txn !== undefined; txn = this.#txn) {
      try {
        if (txn.hasWritten) {
          const written = retry?.write(txn);
          if (written !== undefined) await written;
          retry?.identify(txn);
          await txn.commit();
          retry?.committed();
          noteWrite(server);
          this.#txn = undefined;
        }
        this.#forget();
        return;
      } catch (error) {
        if (!isPassing(error)) {
          this.abandon();
          throw error;
        }
        await this.#replay(error);
      }
    }
  }

  /** Does the present part again in a new transaction; each step in one of its own where together they are too large. */
  async #replay(error: EngineError): Promise<void> {
    const steps = this.#part;
    const places = this.#places;
    const tooLarge = error.code === 'too-large';
    this.abandon();
    if (tooLarge && steps.length <= 1) throw error;
    this.#stopped = false;
    for (const [i, step] of steps.entries()) {
      // A conflict met here commits what was replayed before it, or starts anew; the step is still to be done.
      while (!this.stopped && !(await this.#try(step, places[i] as number))) this.#context.operation.checkInterrupt();
      if (tooLarge) await this.#commit();
    }
  }

  #forget(): void {
    if (this.#large > 0) this.#context.server.largeWork.leave(this.#large);
    this.#large = 0;
    this.#txn?.abort();
    this.#txn = undefined;
    this.#collection = undefined;
    this.#part = [];
    this.#places = [];
    this.#bytes = 0;
    this.#context.retry?.aborted();
  }
}
