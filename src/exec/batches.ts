// Sources made of sources: one document to one or none, one to many, all before any. Each asks `checkInterrupt` at each batch and lets the
// event loop turn when it has worked for long, so that no pipeline holds the server up.

import type { Document } from '../bson/index.ts';
import { carryMetadata } from '../query/index.ts';
import type { BatchSource, OperationContext } from '../session/index.ts';
import type { SourceProvider } from './stage.ts';

/** The most documents that a batch of ours has. */
export const BATCH_DOCUMENTS_MAX = 256;
const SLICE_MS = 4;

/** Counts the time since the event loop last turned here. */
export class Pacer {
  readonly #provider: SourceProvider;
  #since: number | undefined;

  constructor(provider: SourceProvider) {
    this.#provider = provider;
  }

  /** To be awaited between batches: throws if the operation must stop, and lets the loop turn if it is time. */
  async turn(context: OperationContext): Promise<void> {
    context.checkInterrupt();
    const now = context.clock.monotonicMs();
    this.#since ??= now;
    if (now - this.#since < SLICE_MS) return;
    await this.#provider.pause();
    this.#since = context.clock.monotonicMs();
  }
}

/** Each document changed, or left out where `change` gives undefined. */
export function mapped(source: BatchSource, change: (document: Document) => Document | undefined): BatchSource {
  return {
    async next(context) {
      const batch = await source.next(context);
      if (batch === undefined) return undefined;
      context.checkInterrupt();
      const made: Document[] = [];
      for (const document of batch) {
        const changed = change(document);
        if (changed === undefined) continue;
        carryMetadata(document, changed);
        made.push(changed);
      }
      return made;
    },
    close: () => source.close(),
  };
}

/** Each document replaced by any number of others, in batches of bounded length. */
export function expanded(source: BatchSource, expand: (document: Document) => Iterable<Document>): BatchSource {
  let open: Iterator<Document> | undefined;
  return {
    async next(context) {
      if (open === undefined) {
        const batch = await source.next(context);
        if (batch === undefined) return undefined;
        open = eachOf(batch, expand);
      }
      context.checkInterrupt();
      const made: Document[] = [];
      while (made.length < BATCH_DOCUMENTS_MAX) {
        const step = open.next();
        if (step.done === true) {
          open = undefined;
          break;
        }
        made.push(step.value);
      }
      return made;
    },
    close: () => source.close(),
  };
}

function* eachOf(batch: readonly Document[], expand: (document: Document) => Iterable<Document>): Generator<Document, void> {
  for (const document of batch) {
    for (const made of expand(document)) {
      carryMetadata(document, made);
      yield made;
    }
  }
}

/** Takes all documents of a source in, batch by batch; `take` may wait. */
export async function drain(
  source: BatchSource,
  provider: SourceProvider,
  context: OperationContext,
  take: (batch: readonly Document[]) => unknown,
): Promise<void> {
  const pacer = new Pacer(provider);
  for (;;) {
    const batch = await source.next(context);
    if (batch === undefined) break;
    await take(batch);
    await pacer.turn(context);
  }
}

/** What is made only when everything below has been seen. `gather` runs once, at the first batch; the source is closed behind it. */
export function gathered(source: BatchSource, gather: (context: OperationContext) => Promise<Iterable<Document>>): BatchSource {
  let made: Iterator<Document> | undefined;
  return {
    async next(context) {
      if (made === undefined) {
        made = (await gather(context))[Symbol.iterator]();
        source.close();
      }
      context.checkInterrupt();
      const batch: Document[] = [];
      while (batch.length < BATCH_DOCUMENTS_MAX) {
        const step = made.next();
        if (step.done === true) break;
        batch.push(step.value);
      }
      return batch.length === 0 ? undefined : batch;
    },
    close() {
      made = [][Symbol.iterator]();
      source.close();
    },
  };
}

/** One source after another; each is opened when the one before is exhausted. */
export function concatenated(first: BatchSource, second: (context: OperationContext) => Promise<BatchSource>): BatchSource {
  let current = first;
  let atSecond = false;
  let closed = false;
  return {
    async next(context) {
      for (;;) {
        const batch = await current.next(context);
        if (batch !== undefined || atSecond || closed) return batch;
        current.close();
        current = await second(context);
        atSecond = true;
      }
    },
    close() {
      closed = true;
      current.close();
    },
  };
}

/** What a stage makes as it goes on, which may wait. The generator ends with the source: what it holds it must let go in a `finally`. */
export function streamed(
  source: BatchSource,
  provider: SourceProvider,
  make: (turn: () => Promise<void>, context: OperationContext) => AsyncGenerator<readonly Document[], void>,
): BatchSource {
  const pacer = new Pacer(provider);
  let made: AsyncGenerator<readonly Document[], void> | undefined;
  let current: OperationContext | undefined;
  let closed = false;
  const turn = async (): Promise<void> => {
    if (current !== undefined) await pacer.turn(current);
  };
  return {
    async next(context) {
      if (closed) return undefined;
      current = context;
      made ??= make(turn, context);
      const step = await made.next();
      return step.done === true ? undefined : step.value;
    },
    close() {
      closed = true;
      void made?.return();
      source.close();
    },
  };
}
