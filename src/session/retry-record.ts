// What a session remembers of its last retryable write: for each statement the result that was given, so that a repeat is answered and not
// done again (server.md, "Retryable writes"). The same record is written by the engine transaction that does the write; this file only
// knows its shape. Statements with equal plain results share one range: an insert of a hundred thousand documents is one row.

import { Document, BsonArray, BsonWriter, item, type DateTime, type Value } from '../bson/index.ts';
import { AssertionError } from '../base/errors.ts';

/** What a statement did, as the log tells it: an upsert that found nothing is an insert. */
export type StatementKind = 'insert' | 'update' | 'delete';

/** The result of one statement. `reply` is the whole answer of a findAndModify. */
export interface StatementResult {
  readonly kind: StatementKind;
  readonly n: number;
  readonly nModified: number;
  /** The _id of the document that an upsert inserted. */
  readonly upserted?: Value | undefined;
  readonly reply?: Document | undefined;
  /** Whether the document in `reply` is the one after the change. */
  readonly showsAfter?: boolean | undefined;
}

interface ResultRange {
  readonly first: number;
  last: number;
  readonly result: StatementResult;
}

/** Records are written in it, one after the other: there is one for each write of a client. */
const shared: BsonWriter = new BsonWriter();

/** How the transaction of this number ended; a record of retryable writes has none. */
export type RecordedOutcome = 'committed' | undefined;

/** What a session did under one transaction number. */
export class RetryRecord {
  readonly txnNumber: bigint;
  /** Set when the number was that of a multi-statement transaction and it was committed. */
  readonly outcome: RecordedOutcome;
  readonly #ranges: ResultRange[];

  constructor(txnNumber: bigint, outcome?: RecordedOutcome, ranges: ResultRange[] = []) {
    this.txnNumber = txnNumber;
    this.outcome = outcome;
    this.#ranges = ranges;
  }

  get isEmpty(): boolean {
    return this.#ranges.length === 0;
  }

  /** The result of a statement done before; undefined when it was not. */
  resultOf(statementId: number): StatementResult | undefined {
    for (const { first, last, result } of this.#ranges) if (first <= statementId && statementId <= last) return result;
    return undefined;
  }

  /** This record and further results. The record itself is not changed: what was not committed must not be remembered. */
  with(results: Iterable<readonly [number, StatementResult]>): RetryRecord {
    const ranges: ResultRange[] = this.#ranges.map(({ first, last, result }) => ({ first, last, result }));
    for (const [statementId, result] of results) {
      const last = ranges.at(-1);
      if (last?.last === statementId - 1 && samePlainResult(last.result, result)) last.last = statementId;
      else ranges.push({ first: statementId, last: statementId, result });
    }
    return new RetryRecord(this.txnNumber, this.outcome, ranges);
  }

  /** The stored form, under the session's id. */
  toDocument(sessionId: Document, now: DateTime): Document {
    const writer = shared.reset();
    writer.writeElement('_id', sessionId).writeElement('txnNum', this.txnNumber).writeElement('lastWriteDate', now);
    if (this.outcome !== undefined) writer.writeElement('state', this.outcome);
    writer.startArray('statements');
    this.#ranges.forEach((range, index) => {
      writeRange(writer, range, index);
    });
    return writer.end().finishDocument();
  }

  static fromDocument(stored: Document): RetryRecord {
    const txnNumber = stored.get('txnNum');
    const statements = stored.get('statements');
    if (typeof txnNumber !== 'bigint' || !(statements instanceof BsonArray)) {
      throw new AssertionError('a stored session record has no number or no statements');
    }
    const outcome = stored.get('state') === 'committed' ? 'committed' : undefined;
    return new RetryRecord(txnNumber, outcome, statements.items().map(rangeFromDocument));
  }
}

function samePlainResult(a: StatementResult, b: StatementResult): boolean {
  const plain = (result: StatementResult): boolean => result.upserted === undefined && result.reply === undefined;
  return plain(a) && plain(b) && a.kind === b.kind && a.n === b.n && a.nModified === b.nModified;
}

function writeRange(writer: BsonWriter, { first, last, result }: ResultRange, index: number): void {
  const { kind, n, nModified, upserted, reply, showsAfter } = result;
  writer.startDocument(item(index)).writeElement('first', first).writeElement('last', last).writeElement('n', n).writeElement('nModified', nModified);
  // Most are inserts, so that is what a range is when it says nothing.
  if (kind !== 'insert') writer.writeElement('kind', kind);
  if (upserted !== undefined) writer.writeElement('upserted', upserted);
  if (reply !== undefined) writer.writeElement('reply', reply);
  if (showsAfter === true) writer.writeElement('showsAfter', true);
  writer.end();
}

function rangeFromDocument(value: Value): ResultRange {
  if (!(value instanceof Document)) throw new AssertionError('a stored statement result is not a document');
  const integer = (name: string): number => {
    const field = value.get(name);
    if (typeof field !== 'number') throw new AssertionError('a stored statement result lacks a number');
    return field;
  };
  const reply = value.get('reply');
  const kind = value.get('kind');
  return {
    first: integer('first'),
    last: integer('last'),
    result: {
      kind: kind === 'update' || kind === 'delete' ? kind : 'insert',
      n: integer('n'),
      nModified: integer('nModified'),
      upserted: value.get('upserted'),
      reply: reply instanceof Document ? reply : undefined,
      showsAfter: value.get('showsAfter') === true,
    },
  };
}
