// The events of a change stream as a source of batches. Each batch is read in a snapshot of its own that ends with it, from where the last one
// ended: so a stream that nobody asks holds nothing, and one that is resumed elsewhere by its token reads on in the same way.

import { CommandError } from '../../base/errors.ts';
import { Document } from '../../bson/index.ts';
import { compareTimes, namespaceOf, parseNamespace, type Operation, type OperationCursor } from '../../catalog/index.ts';
import type { BatchSource, OperationContext, Tail } from '../../session/index.ts';
import type { ServerState } from '../server-state.ts';
import { eventsOf, positionAt } from './event.ts';
import { tokenOf, type StreamPosition } from './resume-token.ts';
import type { StreamOptions } from './stream-options.ts';

const BATCH_EVENTS = 100;
/** Events with images can be large: a batch ends when it has so many bytes. */
const BATCH_BYTES = 16 * 1024 * 1024;

function isBehind(operation: Operation, position: StreamPosition): boolean {
  const order = compareTimes(operation.time, position.time);
  if (order !== 0 || position.kind === 'time') return order >= 0;
  // Behind a fragment there is the rest of the same event.
  return (operation.index ?? 0) > position.index || (position.fragment !== undefined && isAt(operation, position));
}

function isAt(operation: Operation, position: StreamPosition): boolean {
  return compareTimes(operation.time, position.time) === 0 && (operation.index ?? 0) === position.index;
}

function isFull(batch: readonly Document[]): boolean {
  return batch.length >= BATCH_EVENTS || batch.reduce((sum, event) => sum + event.byteLength, 0) >= BATCH_BYTES;
}

function notFound(): CommandError {
  return new CommandError(280, 'ChangeStreamFatalError', 'cannot resume stream; the resume token was not found.');
}

/** The digits of an event's token. */
function dataOf(event: Document): string | undefined {
  const token = event.get('_id');
  const data = token instanceof Document ? token.get('_data') : undefined;
  return typeof data === 'string' ? data : undefined;
}

/** The source and the tail of one stream. */
export class StreamSource implements BatchSource, Tail {
  readonly #server: ServerState;
  readonly #options: StreamOptions;
  /** Behind the last operation that was looked at. */
  #position: StreamPosition;
  /** Where a client resumes: there must be an event of this stream. */
  #unproven: StreamPosition | undefined;
  #seen = -1;
  #ended = false;
  isAtEnd = false;
  /** Tokens of the events of the last batch. */
  readonly #given: Set<string> = new Set();

  constructor(server: ServerState, options: StreamOptions) {
    this.#server = server;
    this.#options = options;
    const { operationTime } = server.time;
    this.#position = options.from ?? { time: operationTime, kind: 'event', index: 0xffffffff, mark: 'passed' };
    if (options.from?.mark === 'given') this.#unproven = options.from;
    this.#checkKept();
  }

  token(): Document {
    return tokenOf(this.#position);
  }

  /** Refuses a document whose token a stage has changed: nobody could resume from it. */
  check(document: Document): void {
    const data = dataOf(document);
    if (data !== undefined && this.#given.has(data)) return;
    const text =
      'Encountered an event whose _id field, which contains the resume token, was modified by the pipeline. Modifying the _id field of an event makes it impossible to resume the stream from that point. Only transformations that retain the unmodified _id field are allowed.';
    throw new CommandError(280, 'ChangeStreamFatalError', text);
  }

  async next(context: OperationContext): Promise<readonly Document[] | undefined> {
    context.checkInterrupt();
    if (this.#ended) return undefined;
    this.#checkKept();
    this.#given.clear();
    const { catalog } = this.#server;
    this.#seen = catalog.oplog.version;
    const txn = catalog.begin('read');
    const cursor = catalog.oplog.read(txn, this.#position.time);
    const batch: Document[] = [];
    try {
      this.isAtEnd = await this.#fill(batch, cursor, context);
    } catch (error) {
      // What was made before it is given first; the operation is met again.
      if (batch.length === 0 || !(error instanceof CommandError)) throw error;
      this.isAtEnd = true;
    } finally {
      cursor.close();
      txn.abort();
    }
    return batch;
  }

  /** Reads until the batch is full, the stream ends, or there is nothing more now (true). */
  async #fill(batch: Document[], cursor: OperationCursor, context: OperationContext): Promise<boolean> {
    for (;;) {
      context.checkInterrupt();
      const rows = await cursor.nextRows();
      if (rows.length === 0) return true;
      for (const operation of rows.flat()) {
        if (!isBehind(operation, this.#position)) {
          if (this.#unproven !== undefined && isAt(operation, this.#unproven)) this.#ended = await this.#prove(operation, batch);
          if (this.#ended) return false;
          continue;
        }
        this.#ended = await this.#takeBehind(operation, batch);
        if (this.#ended || isFull(batch)) return false;
      }
    }
  }

  /** Takes an operation behind the position. A client that has some fragments of an event resumes with that event. */
  async #takeBehind(operation: Operation, batch: Document[]): Promise<boolean> {
    const goesOn = this.#unproven?.fragment !== undefined && isAt(operation, this.#unproven);
    if (this.#unproven !== undefined && !goesOn) throw notFound();
    const ended = await this.#take(operation, batch);
    if (goesOn && batch.length === 0) throw notFound();
    this.#unproven = undefined;
    return ended;
  }

  /** Makes the events of an operation; true: the stream ends with them. */
  async #take(operation: Operation, batch: Document[]): Promise<boolean> {
    const { events, invalidates } = await eventsOf(operation, this.#options, (of) => this.#lookup(of));
    for (const event of events) {
      batch.push(event);
      this.#given.add(dataOf(event) ?? '');
    }
    this.#position = { ...positionAt(operation), mark: invalidates ? 'invalidated' : events.length > 0 ? 'given' : 'passed' };
    return invalidates;
  }

  /** The operation that a client resumes behind must be one of this stream; where it ends the stream, its `invalidate` is still to come (true). */
  async #prove(operation: Operation, batch: Document[]): Promise<boolean> {
    const { events, invalidates } = await eventsOf(operation, { ...this.#options, fullDocument: 'default', before: 'off' }, () => Promise.resolve(null));
    const last = events.at(-1);
    if (last === undefined) throw notFound();
    this.#unproven = undefined;
    if (!invalidates) return false;
    batch.push(last);
    this.#given.add(dataOf(last) ?? '');
    this.#position = { ...positionAt(operation), mark: 'invalidated' };
    return true;
  }

  /** The document as it is now, in the collection that the operation was on. */
  async #lookup({ space, o2 }: Operation): Promise<Document | null> {
    const { catalog } = this.#server;
    const txn = catalog.begin('read');
    try {
      const { db, collection: name } = parseNamespace(space.ns);
      const collection = await catalog.collection(txn, namespaceOf(db, name));
      const id = o2?.get('_id');
      if (collection === undefined || id === undefined) return null;
      return (await collection.getById(txn, id)) ?? null;
    } finally {
      txn.abort();
    }
  }

  /** What lies behind the position must still be there. */
  #checkKept(): void {
    if (!this.#server.catalog.oplog.isLost(this.#position.time)) return;
    const text = 'Resume of change stream was not possible, as the resume point may no longer be in the oplog.';
    throw new CommandError(286, 'ChangeStreamHistoryLost', text);
  }

  async wait(context: OperationContext, ms: number): Promise<void> {
    const { oplog } = this.#server.catalog;
    if (this.#ended || oplog.version !== this.#seen) return;
    await context.sleep(ms, (wake) => oplog.subscribe(wake));
  }

  close(): void {
    this.#ended = true;
  }
}
