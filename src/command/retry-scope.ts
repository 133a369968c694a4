// The memory of one retryable write while it runs: which of its statements were done by an earlier try, and what the present one has done.
// Results become the session's only when the engine transaction that wrote them, record and all, has committed.

import { CommandError } from '../base/errors.ts';
import type { CatalogTransaction, Soon } from '../catalog/index.ts';
import type { LogicalSession, StatementResult } from '../session/index.ts';
import { errorName } from './error-names.ts';
import type { ServerState } from './server-state.ts';

/** Statements of one retryable write. */
export class RetryScope {
  readonly #session: LogicalSession;
  readonly #server: Pick<ServerState, 'retries' | 'failPoints'>;
  readonly #ids: number | readonly number[];
  readonly #pending: Map<number, StatementResult> = new Map();
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
    this.#pending.set(this.#idOf(index), result);
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
    this.#pending.delete(this.#idOf(index));
  }

  /** Writes all that is noted with the transaction; call before its commit. */
  write(txn: CatalogTransaction): Soon<void> {
    if (this.#pending.size === 0) return undefined;
    this.#failOnPurpose();
    return this.#server.retries.write(txn, this.#session, this.#session.currentRecord().with(this.#pending));
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
    if (this.#pending.size === 0) return;
    this.#session.record = this.#session.currentRecord().with(this.#pending);
    this.#pending.clear();
  }

  /** The transaction was aborted: nothing of it happened. */
  aborted(): void {
    this.#pending.clear();
  }

  /** Numbers of statements that an earlier try had done, for the reply. */
  get retriedIds(): readonly number[] {
    return this.#retried;
  }

  #idOf(index: number): number {
    return typeof this.#ids === 'number' ? this.#ids + index : (this.#ids[index] ?? index);
  }
}
