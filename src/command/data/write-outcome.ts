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

/** The outcomes of one command. */
export class WriteOutcome {
  readonly #outcomes: Map<number, StatementOutcome> = new Map();

  /** The outcome of the statement, empty at first. */
  of(index: number): StatementOutcome {
    let outcome = this.#outcomes.get(index);
    if (outcome === undefined) {
      outcome = { n: 0, nModified: 0 };
      this.#outcomes.set(index, outcome);
    }
    return outcome;
  }

  set(index: number, outcome: Readonly<StatementOutcome>): void {
    this.#outcomes.set(index, outcome);
  }

  forget(index: number): void {
    this.#outcomes.delete(index);
  }

  get failed(): boolean {
    for (const { error } of this.#outcomes.values()) if (error !== undefined) return true;
    return false;
  }

  /** The reply's fields; see `settle`. */
  reply(context: CommandContext, counts: { nModified: boolean }): Reply {
    const rows = this.rows();
    const errors: Document[] = [];
    const upserted: Document[] = [];
    let n = 0;
    let nModified = 0;
    for (const [index, outcome] of rows) {
      n += outcome.n;
      nModified += outcome.nModified;
      if (outcome.upserted !== undefined) upserted.push(Document.of({ index, _id: outcome.upserted }));
      if (outcome.error !== undefined) errors.push(writeErrorDocument(index, outcome.error));
    }
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

  /** The outcomes in order of their statements. */
  rows(): readonly (readonly [number, StatementOutcome])[] {
    return [...this.#outcomes].sort(([a], [b]) => a - b);
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
    for (const { error } of this.#outcomes.values()) {
      if (error === undefined) continue;
      if (labelsOf(error, { ...NOWHERE, inTransaction: true }).length > 0) throw error;
    }
  }
}
