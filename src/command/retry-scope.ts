// The memory of one retryable write while it runs: which of its statements were done by an earlier try, and what the present one has done.
// Results become the session's only when the engine transaction that wrote them, record and all, has committed.

import { CommandError } from '../base/errors.ts';
import type { CatalogTransaction, Soon } from '../catalog/index.ts';
import type { LogicalSession, RetryRecord, StatementResult } from '../session/index.ts';
import { errorName } from './error-names.ts';
import type { ServerState } from './server-state.ts';

/** Statements of one retryable write. */
export class RetryScope {
  readonly #session: LogicalSession;
  readonly #server: Pick<ServerState, 'retries' | 'failPoints'>;
  readonly #ids: number | readonly number[];
  /** What the present try has done; most writes are of one statement, which is here as long as it is the only one. */
  #only: readonly [number, StatementResult] | undefined;
  #pending: Map<number, StatementResult> | undefined;
  /** The record that is written with the transaction. */
  #written: RetryRecord | undefined;
  readonly #retried: number[] = [];
  /** Whether a fail point wants the client to hear nothing of what was done. */
  closesConnection = false;

  constructor(session: LogicalSession, server: Pick<ServerState, 'retries' | 'failPoints'>, statementIds: number | readonly number[]) {
    this.#session = session;
    this.#server = server;
    this.#ids = statementIds;
  }

  /** The result that the statement of this index was answered with before; undefined when it is new. */
  earlier(index: number): StatementResult | undefined {
    const id = this.#idOf(index);
    const result = this.#session.currentRecord().resultOf(id);
    if (result !== undefined) this.#retried.push(id);
    return result;
  }

  /** Notes what the statement of this index did in the transaction that is not yet committed. */
  done(index: number, result: StatementResult): void {
    const id = this.#idOf(index);
    if (this.#pending === undefined && (this.#only === undefined || this.#only[0] === id)) {
      this.#only = [id, result];
      return;
    }
    this.#pending ??= new Map(this.#only === undefined ? [] : [this.#only]);
    this.#only = undefined;
    this.#pending.set(id, result);
  }

  /** The number of the statement of this index. */
  idOf(index: number): number {
    return this.#idOf(index);
  }

  /** Tells the log who writes. */
  identify(txn: CatalogTransaction): void {
    txn.identify({ lsid: this.#session.id, txnNumber: this.#session.txnNumber });
  }

  /** Takes back what `done` noted of this statement and those after it. */
  undone(index: number): void {
    const id = this.#idOf(index);
    if (this.#only?.[0] === id) this.#only = undefined;
    this.#pending?.delete(id);
  }

  /** Writes all that is noted with the transaction; call before its commit. */
  write(txn: CatalogTransaction): Soon<void> {
    if (this.#isEmpty) return undefined;
    this.#failOnPurpose();
    this.#written = this.#session.currentRecord().with(this.#pending ?? (this.#only === undefined ? [] : [this.#only]));
    return this.#server.retries.write(txn, this.#session, this.#written);
  }

  /** The fail point `onPrimaryTransactionalWrite`: the client hears nothing, of a write that is done or of one that is not. */
  #failOnPurpose(): void {
    const point = this.#server.failPoints.at('onPrimaryTransactionalWrite');
    if (point === undefined) return;
    this.closesConnection = point.data.get('closeConnection') !== false;
    const code = point.data.get('failBeforeCommitExceptionCode');
    if (typeof code === 'number') throw new CommandError(code, errorName(code), 'Failing the write on purpose before its commit');
  }

  /** The transaction has committed: the session remembers. */
  committed(): void {
    if (this.#written !== undefined) this.#session.record = this.#written;
    this.aborted();
  }

  /** The transaction was aborted: nothing of it happened. */
  aborted(): void {
    this.#only = undefined;
    this.#pending = undefined;
    this.#written = undefined;
  }

  get #isEmpty(): boolean {
    return this.#only === undefined && (this.#pending === undefined || this.#pending.size === 0);
  }

  /** Numbers of statements that an earlier try had done, for the reply. */
  get retriedIds(): readonly number[] {
    return this.#retried;
  }

  #idOf(index: number): number {
    return typeof this.#ids === 'number' ? this.#ids + index : (this.#ids[index] ?? index);
  }
}
