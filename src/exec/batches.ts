// Sources made of sources: one document to one or none, one to many, all before any. Each asks for its operation's turn at each batch, and works
// on single documents in slices, so that no pipeline holds the server up.

import type { Document } from '../bson/index.ts';
import { carryMetadata } from '../query/index.ts';
import { inSlices } from '../env/index.ts';
import type { BatchSource, OperationContext } from '../session/index.ts';

/** The most documents that a batch of ours has. */
export const BATCH_DOCUMENTS_MAX = 256;
/** After so many documents it is asked whether it is time for others. */
const DOCUMENTS_BETWEEN_LOOKS = 16;
/** Each document changed, or left out where `change` gives undefined. */
export function mapped(source: BatchSource, change: (document: Document) => Document | undefined): BatchSource {
  return {
    async next(context) {
      const batch = await source.next(context);
      if (batch === undefined) return undefined;
      const made: Document[] = [];
      let untilLook = 0;
      for (const document of batch) {
        if (untilLook-- === 0) {
          untilLook = DOCUMENTS_BETWEEN_LOOKS;
          const turn = context.turn();
          if (turn !== undefined) await turn;
        }
        const changing = inSlices(context, () => change(document));
        const changed = changing instanceof Promise ? await changing : changing;
        if (changed === undefined) continue;
        carryMetadata(document, changed);
        made.push(changed);
      }
      return made;
    },
    close: () => source.close(),
  };
}

/** The same documents, each looked at as it passes: what is wrong with it is thrown. */
export function inspected(source: BatchSource, inspect: (document: Document) => void): BatchSource {
  return {
    async next(context) {
      const batch = await source.next(context);
      if (batch !== undefined) for (const document of batch) inspect(document);
      return batch;
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
      await context.turn();
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
  context: OperationContext,
  take: (batch: readonly Document[]) => unknown,
): Promise<void> {
  for (;;) {
    const batch = await source.next(context);
    if (batch === undefined) break;
    await take(batch);
    await context.turn();
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
      await context.turn();
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

/**
 * What a stage makes as it goes on, which may wait. The generator ends with the source: what it holds it must let go in a `finally`.
 * `operation` gives the one that waits for the next batch.
 */
export function streamed(source: BatchSource, make: (operation: () => OperationContext) => AsyncGenerator<readonly Document[], void>): BatchSource {
  let made: AsyncGenerator<readonly Document[], void> | undefined;
  let current: OperationContext;
  let closed = false;
  return {
    async next(context) {
      if (closed) return undefined;
      await context.turn();
      current = context;
      made ??= make(() => current);
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
