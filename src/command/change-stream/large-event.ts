// Events larger than a message may hold (manual: "$changeStreamSplitLargeEvent"): with that stage they come in fragments, small fields first, so
// that the first fragment has as many fields as it can; without it the stream ends with an error. Sizes count behind the stages of the stream:
// one that takes the large fields away has no large event.

import { CommandError } from '../../base/errors.ts';
import { Document, type Value } from '../../bson/index.ts';
import { compareTimes } from '../../catalog/index.ts';
import type { BatchSource, OperationContext, Tail } from '../../session/index.ts';
import { positionOf, tokenOf, type StreamPosition } from './resume-token.ts';

/** What a document may have that the server makes itself. */
const eventBytesMax = 16 * 1024 * 1024 + 16 * 1024;

/** Length and end of a document, type and end of a name. */
const [documentBytes, fieldBytes] = [5, 2];

function fatal(text: string): CommandError {
  return new CommandError(280, 'ChangeStreamFatalError', text);
}

const bytesOf = (name: string, value: Value): number => Document.fromEntries([[name, value]]).byteLength - documentBytes;

/** The fields of each fragment, the smallest first; equal ones in the order of their names. */
function fragmentsOf(event: Document, room: number): [string, Value][][] {
  const sized = event.fields.filter(([name]) => name !== '_id').map(([name, value]) => ({ name, value, bytes: bytesOf(name, value) }));
  sized.sort((a, b) => a.bytes - b.bytes || (a.name < b.name ? -1 : 1));
  const fragments: [string, Value][][] = [];
  let left = -1;
  for (const { name, value, bytes } of sized) {
    if (bytes > room) {
      const text = `Splitting change event failed: fragment size ${String(bytes + eventBytesMax - room)} is greater than maximum allowed fragment size ${String(eventBytesMax)}`;
      throw new CommandError(7182500, 'Location7182500', text);
    }
    if (bytes > left) {
      fragments.push([]);
      left = room;
    }
    fragments.at(-1)?.push([name, value]);
    left -= bytes;
  }
  if (fragments.length === 0) throw new CommandError(7182502, 'Location7182502', "Cannot split an empty event or an event containing solely '_id' field");
  return fragments;
}

/** A large event in fragments, each with a token of its own. */
function splitEvent(event: Document, token: Document): Document[] {
  const position = positionOf(token);
  const head = (fragment: number, of: number): [string, Value][] => [
    ['_id', tokenOf({ ...position, fragment })],
    ['splitEvent', Document.of({ fragment: fragment + 1, of })],
  ];
  const headBytes = Document.fromEntries(head(0, 0)).byteLength + fieldBytes;
  const fragments = fragmentsOf(event, eventBytesMax - headBytes);
  return fragments.map((fields, number) => Document.fromEntries([...head(number, fragments.length), ...fields]));
}

/** What the source of a stream's events is read through. */
export interface SizedEventsOptions {
  readonly source: BatchSource;
  readonly stream: Tail & { readonly token: () => Document };
  /** The stream has the stage that splits. */
  readonly splits: boolean;
  /** Where a client resumes. */
  readonly from: StreamPosition | undefined;
}

/** Events that fit, made of all. */
export class SizedEvents implements BatchSource, Tail {
  readonly #options: SizedEventsOptions;
  /** The event of which the client has some fragments, until it is met. */
  #resumed: StreamPosition | undefined;
  /** Met behind events that are given first, with the token of the last of them. */
  #failure: { readonly error: unknown; readonly token: Document } | undefined;
  #token: Document;

  constructor(options: SizedEventsOptions) {
    const { from, splits, stream } = options;
    if (from?.fragment !== undefined && !splits) {
      throw fatal('To resume from a split event, the $changeStream pipeline must include a $changeStreamSplitLargeEvent stage');
    }
    this.#options = options;
    this.#resumed = from?.fragment === undefined ? undefined : from;
    this.#token = stream.token();
  }

  /** What comes before a failure is given before anybody looks further. */
  get isAtEnd(): boolean {
    return this.#failure !== undefined || this.#options.stream.isAtEnd;
  }

  async next(context: OperationContext): Promise<readonly Document[] | undefined> {
    if (this.#failure !== undefined) throw this.#failure.error;
    const batch = await this.#options.source.next(context);
    if (batch === undefined) return undefined;
    const fitting: Document[] = [];
    try {
      for (const event of batch) fitting.push(...this.#fit(event));
    } catch (error) {
      if (fitting.length === 0) throw error;
      this.#failure = { error, token: this.#token };
    }
    return fitting;
  }

  #fit(event: Document): readonly Document[] {
    const token = event.get('_id');
    if (!(token instanceof Document)) return [event];
    const had = this.#fragmentsHad(token);
    if (event.byteLength <= eventBytesMax) {
      if (had > 0) throw fatal('Attempted to resume from a split event fragment, but the event in the resumed stream was not large enough to be split');
      this.#token = token;
      return [event];
    }
    if (!this.#options.splits) {
      throw new CommandError(10334, 'BSONObjectTooLarge', `BSONObj size: ${String(event.byteLength)} is invalid. Size must be between 0 and ${String(eventBytesMax)}`);
    }
    const fragments = splitEvent(event, token);
    if (had > fragments.length) throw fatal('Attempted to resume from a split event, but the resumed stream produced a different split. Ensure that the pipeline used to resume is the same as the original');
    this.#token = token;
    return fragments.slice(had);
  }

  /** How many fragments of an event the client has: the first event after a resumption must be the one that it has some of. */
  #fragmentsHad(token: Document): number {
    const resumed = this.#resumed;
    if (resumed?.fragment === undefined) return 0;
    this.#resumed = undefined;
    const { time, index } = positionOf(token);
    if (compareTimes(time, resumed.time) !== 0 || index !== resumed.index) throw fatal('cannot resume stream; the resume token was not found.');
    return resumed.fragment + 1;
  }

  token(): Document {
    return this.#failure?.token ?? this.#options.stream.token();
  }

  async wait(context: OperationContext, ms: number): Promise<void> {
    await this.#options.stream.wait?.(context, ms);
  }

  close(): void {
    this.#options.source.close();
  }
}
