// A cursor that a client knows by number: the rest of a result, pulled batch by batch through getMore. It belongs to the session and the
// transaction it was opened in; between two batches it holds its source (and so its snapshot) and the documents pulled but not yet sent.

import type { CommandError } from '../base/errors.ts';
import type { Document, Value } from '../bson/index.ts';
import type { BatchSource, Tail } from './batch-source.ts';
import type { OperationContext } from './operation-context.ts';

/** What a cursor is opened with. */
export interface ClientCursorOptions {
  /** Namespace that getMore must name, `db.collection`. */
  readonly namespace: string;
  readonly source: BatchSource;
  readonly user: string;
  /** Key of the session it was opened under. */
  readonly sessionKey?: string | undefined;
  /** Number of the multi-statement transaction it was opened in. */
  readonly txnNumber?: bigint | undefined;
  readonly noTimeout?: boolean;
  /** Documents still to give before the result is complete; absent: all. */
  readonly limit?: number | undefined;
  /** The command that opened it, for currentOp. */
  readonly command: Document;
  /** Batch size of later batches when getMore names none. */
  readonly batchSize?: number | undefined;
  /** Of a tailable cursor. */
  readonly tail?: Tail | undefined;
}

/** Where a batch ends. At least one document is given whatever its size. */
export interface ClientBatchLimit {
  readonly documents: number;
  readonly bytes: number;
  /** How long a tailable cursor waits for a first document. */
  readonly awaitMs?: number;
}

/** Reply documents of one batch stay below the largest document and room for the reply around them. */
export const BATCH_BYTES_MAX: number = 16 * 1024 * 1024;

/** The state of one client cursor. */
export class ClientCursor {
  /** Zero until the registry keeps it: most results end with their first batch and need no number. */
  id = 0n;
  readonly options: ClientCursorOptions;
  lastUsedMs: number;
  /** The operation that uses it now. */
  usedBy: OperationContext | undefined;
  /** Milliseconds of work that are left of the `maxTimeMS` it was opened with; undefined: no limit. */
  leftMs: number | undefined;
  /** Documents given so far. */
  given = 0;
  #unsent: readonly Document[] = [];
  #position = 0;
  #lastGiven: Document | undefined;
  #exhausted = false;
  #closed = false;
  #failure: CommandError | undefined;

  constructor(options: ClientCursorOptions, nowMs: number) {
    this.options = options;
    this.lastUsedMs = nowMs;
  }

  /** Whether everything has been given: the cursor may be forgotten. */
  get exhausted(): boolean {
    return this.#exhausted;
  }

  /** Why it can give nothing more, where something outside ended it. */
  get failure(): CommandError | undefined {
    return this.#failure;
  }

  /** Ends it for a reason that its next user is told. */
  fail(error: CommandError): void {
    this.#failure ??= error;
    if (this.usedBy === undefined) this.close();
  }

  /** Pulls the next batch. After it `exhausted` tells whether there may be more. */
  async fill(context: OperationContext, limit: ClientBatchLimit): Promise<Document[]> {
    const batch: Document[] = [];
    const most = Math.min(limit.documents, (this.options.limit ?? Number.POSITIVE_INFINITY) - this.given);
    const until = context.clock.monotonicMs() + (limit.awaitMs ?? 0);
    let bytes = 0;
    while (batch.length < most) {
      // What was found is given before anybody looks whether there is more meanwhile.
      if (this.#isAtEnd && batch.length > 0) break;
      if (!(await this.#hasNext(context, batch.length === 0 ? until : 0))) break;
      const next = this.#unsent[this.#position];
      if (next === undefined) continue;
      bytes += next.byteLength;
      if (batch.length > 0 && bytes > limit.bytes) break;
      batch.push(next);
      this.#lastGiven = next;
      this.#position += 1;
    }
    this.given += batch.length;
    if (this.options.limit !== undefined && this.given >= this.options.limit) this.#exhausted = true;
    if (this.#exhausted) this.close();
    return batch;
  }

  /** Pulls where nothing is left, and waits for more until that time; false: there is nothing more, or nothing more now. */
  async #hasNext(context: OperationContext, until: number): Promise<boolean> {
    if (this.#position >= this.#unsent.length && !(await this.#pull(context))) return false;
    return !this.#isAtEnd || (await this.#awaitMore(context, until));
  }

  /** Of a change stream: the token behind the last document given. */
  get resumeToken(): Value | undefined {
    const { tail } = this.options;
    if (tail?.token === undefined) return undefined;
    return this.#position < this.#unsent.length && this.#lastGiven !== undefined ? this.#lastGiven.get('_id') : tail.token();
  }

  /** Whether there is nothing more now of a result that may grow. */
  get #isAtEnd(): boolean {
    return this.options.tail?.isAtEnd === true && this.#position >= this.#unsent.length && !this.#exhausted;
  }

  /** Waits for more; false: the time is over. */
  async #awaitMore(context: OperationContext, until: number): Promise<boolean> {
    const { tail } = this.options;
    const left = until - context.clock.monotonicMs();
    if (tail?.wait === undefined || left <= 0 || context.connection.stopping.aborted) return false;
    await tail.wait(context, left);
    context.checkInterrupt();
    return true;
  }

  /** Gives up its snapshot, if its source can do without. */
  release(): void {
    if (this.usedBy === undefined && !this.#closed) this.options.source.release?.();
  }

  /** Frees the source. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#exhausted = true;
    this.#unsent = [];
    this.options.source.close();
  }

  async #pull(context: OperationContext): Promise<boolean> {
    context.checkInterrupt();
    if (this.#failure !== undefined) throw this.#failure;
    const batch = this.#closed ? undefined : await this.options.source.next(context);
    if (batch === undefined) {
      this.#exhausted = true;
      return false;
    }
    this.#unsent = batch;
    this.#position = 0;
    return true;
  }
}
