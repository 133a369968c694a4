// The one shape in which documents move: batches that are pulled. Stages, plans and client cursors pass these on, so a consumer that stops
// pulling stops all work below it, and nothing pays a promise for each document.

import type { Document } from '../bson/index.ts';
import type { OperationContext } from './operation-context.ts';

/** A stream of documents. */
export interface BatchSource {
  /**
   * The next batch, of at most about 256 documents or 1 MiB; undefined when exhausted, and then for ever. An empty batch means "not yet":
   * ask again. One call at a time. Throws CommandError, after which only `close` may be called.
   */
  next(context: OperationContext): Promise<readonly Document[] | undefined>;
  /** Between two batches, when nobody has asked for long: gives up what others must keep for it, and goes on in a newer state. Absent: it cannot. */
  release?(): void;
  /** Frees what the source holds. May be called at any time, also twice; after exhaustion too. */
  close(): void;
}

/** A source of documents that are there already. */
export function sourceOf(documents: readonly Document[]): BatchSource {
  let rest: readonly Document[] | undefined = documents.length === 0 ? undefined : documents;
  return {
    next() {
      const batch = rest;
      rest = undefined;
      return Promise.resolve(batch);
    },
    close() {
      rest = undefined;
    },
  };
}

/** The end of a result that may grow: what lies under a tailable cursor. An empty batch of its source means "nothing more now". */
export interface Tail {
  /** Whether the last batch ended where there is nothing more now, whatever became of its documents on their way. */
  readonly isAtEnd: boolean;
  /** Waits so many milliseconds, or less, for more; absent: the cursor does not wait. */
  readonly wait?: ((context: OperationContext, ms: number) => Promise<void>) | undefined;
  /** The token from which a stream can be resumed behind all that was given; absent: it is none. */
  token?(): Document;
}
