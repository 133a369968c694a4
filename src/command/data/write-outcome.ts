// What a batch of writes did, statement by statement, until it becomes a reply: counts, errors by index, what an earlier try had done.

import { CommandError } from '../../base/errors.ts';
import { BsonArray, Document, type Value } from '../../bson/index.ts';
import type { CommandContext, Reply } from '../command.ts';
import { labelsOf, NOWHERE, writeErrorDocument } from '../translate-error.ts';

/** Most statements in one command; hello tells it as maxWriteBatchSize. */
const BATCH_MAX = 100_000;

/** Refuses a batch without statements or with too many. */
export function checkBatchSize(length: number): void {
  if (length >= 1 && length <= BATCH_MAX) return;
  const text = `Write batch sizes must be between 1 and ${String(BATCH_MAX)}. Got ${String(length)} operations.`;
  throw new CommandError(16, 'InvalidLength', text);
}

/** So many statements are kept as they were parsed: of more the documents take room enough. */
const keptStatements = 100;

/** Parses all statements, so that none is run where one is wrong; of a short batch those that were parsed are given. */
export function parsedOnce<T>(documents: readonly Document[], parse: (document: Document) => T): readonly T[] {
  if (documents.length <= keptStatements) return documents.map(parse);
  for (const document of documents) parse(document);
  return [];
}

/** What one statement did. */
export interface StatementOutcome {
  n: number;
  nModified: number;
  upserted?: Value | undefined;
  error?: CommandError | undefined;
}

const nothingDone: Readonly<StatementOutcome> = { n: 0, nModified: 0 };

/** The outcomes of one command. */
export class WriteOutcome {
  /** By statement; those without one have done nothing so far. */
  readonly #outcomes: (Readonly<StatementOutcome> | undefined)[] = [];

  /** The outcome of the statement, empty at first. */
  of(index: number): Readonly<StatementOutcome> {
    return this.#outcomes[index] ?? nothingDone;
  }

  set(index: number, outcome: Readonly<StatementOutcome>): void {
    for (let at = this.#outcomes.length; at < index; at++) this.#outcomes.push(undefined);
    this.#outcomes[index] = outcome;
  }

  forget(index: number): void {
    if (index < this.#outcomes.length) this.#outcomes[index] = undefined;
  }

  get failed(): boolean {
    return this.#outcomes.some((outcome) => outcome?.error !== undefined);
  }

  /** The reply's fields; see `settle`. */
  reply(context: CommandContext, counts: { nModified: boolean }): Reply {
    const errors: Document[] = [];
    const upserted: Document[] = [];
    let n = 0;
    let nModified = 0;
    this.each((index, outcome) => {
      n += outcome.n;
      nModified += outcome.nModified;
      if (outcome.upserted !== undefined) upserted.push(Document.of({ index, _id: outcome.upserted }));
      if (outcome.error !== undefined) errors.push(writeErrorDocument(index, outcome.error));
    });
    this.settle(context);
    // Whoever asked not to be told (w: 0) is told nothing, also where the protocol carries a reply.
    if (context.generic.writeConcern?.w === 0) return {};
    return {
      n,
      nModified: counts.nModified ? nModified : undefined,
      upserted: upserted.length === 0 ? undefined : BsonArray.of(upserted),
      writeErrors: errors.length === 0 ? undefined : BsonArray.of(errors),
      retriedStmtIds: this.retriedIds(context),
    };
  }

  /** Calls `visit` for each outcome, in order of their statements. */
  each(visit: (index: number, outcome: Readonly<StatementOutcome>) => void): void {
    for (const [index, outcome] of this.#outcomes.entries()) if (outcome !== undefined) visit(index, outcome);
  }

  /** The `retriedStmtIds` of the reply, which are counted; undefined where there are none. */
  retriedIds(context: CommandContext): BsonArray | undefined {
    const retried = context.retry?.retriedIds ?? [];
    context.server.counters.retriedStatements += retried.length;
    return retried.length === 0 ? undefined : BsonArray.of([...retried]);
  }

  /** An error ends the multi-statement transaction it came up in; one that makes the whole worth trying again is thrown. */
  settle(context: CommandContext): void {
    if (context.transaction === undefined || !this.failed) return;
    const { session } = context.operation;
    if (session?.transaction === context.transaction) session.abortOpen();
    else context.transaction.abort();
    for (const outcome of this.#outcomes) {
      const error = outcome?.error;
      if (error === undefined) continue;
      if (labelsOf(error, { ...NOWHERE, inTransaction: true }).length > 0) throw error;
    }
  }
}
