// Results as clients get them: a first batch and, if there is more, a cursor. The first batch has 101 documents unless the command says
// otherwise, no batch passes 16 MiB, or less where the cache is small, and a result that its limit has ended says so at once (compatibility.md 4.8).

import { BsonArray, Document, type Timestamp, type Value } from '../bson/index.ts';
import { BATCH_BYTES_MAX, type BatchSource, type ClientCursor, type Tail } from '../session/index.ts';
import type { CommandContext, Reply } from './command.ts';
import type { ServerState } from './server-state.ts';
import type { ReadScope } from './storage-scope.ts';

/** Documents in a first batch of which nothing was said. */
const FIRST_BATCH = 101;

/** What a result is to become. */
export interface CursorRequest {
  /** `db.collection`, as the reply and later getMores name it. */
  readonly namespace: string;
  readonly batchSize?: number | undefined;
  readonly limit?: number | undefined;
  readonly singleBatch?: boolean | undefined;
  readonly noTimeout?: boolean | undefined;
  /** The time of the state that is read, told with the first batch. */
  readonly atClusterTime?: Timestamp | undefined;
  /** Of a tailable cursor. */
  readonly tail?: Tail | undefined;
}

/** A source that frees its transaction when it is closed. */
export function scopedSource(source: BatchSource, scope: ReadScope): BatchSource {
  const release = source.release?.bind(source);
  return {
    next: (operation) => source.next(operation),
    ...(release === undefined
      ? {}
      : {
          release: () => {
            release();
            scope.end();
          },
        }),
    close: () => {
      source.close();
      scope.end();
    },
  };
}

/** Batches are never shorter for the sake of others. */
const batchBytesMin = 64 * 1024;

/** Most bytes of a batch of a cursor that goes on: the fewer, the more of other replies waits for clients that do not read, or is about to. */
function batchBytesOf({ options, counters }: Pick<ServerState, 'options' | 'counters'>): number {
  const { batchBytesMax = BATCH_BYTES_MAX, unsentBytesMax = Infinity } = options;
  return Math.min(batchBytesMax, Math.max(batchBytesMin, (unsentBytesMax - counters.unsentBytes) / (4 + 2 * counters.batchesUnderWay)));
}

/** The next batch of a cursor: so many documents, or as many as have room. */
export async function fillBatch(
  { server, operation }: Pick<CommandContext, 'server' | 'operation'>,
  cursor: ClientCursor,
  limit: { readonly documents: number; readonly awaitMs?: number; readonly isSingle?: boolean },
): Promise<Document[]> {
  const { counters } = server;
  const bytes = limit.isSingle === true ? BATCH_BYTES_MAX : batchBytesOf(server);
  const waits = limit.awaitMs !== undefined && cursor.options.tail !== undefined;
  if (!waits) counters.batchesUnderWay += 1;
  try {
    return await cursor.fill(operation, { documents: limit.documents, bytes, awaitMs: limit.awaitMs ?? 0 });
  } finally {
    if (!waits) counters.batchesUnderWay -= 1;
  }
}

/** The reply `{ cursor: { firstBatch, id, ns } }`. Takes the source over: it is closed here or with the cursor. */
export async function replyWithCursor(context: CommandContext, source: BatchSource, request: CursorRequest): Promise<Reply> {
  const { server, operation } = context;
  const cursor = server.cursors.create({
    namespace: request.namespace,
    source,
    user: operation.connection.user,
    sessionKey: operation.session?.key,
    txnNumber: context.transaction?.txnNumber,
    noTimeout: request.noTimeout ?? false,
    limit: request.limit,
    tail: request.tail,
    command: context.request.body,
  });
  try {
    // Nobody can ask for the rest of a single batch.
    const documents = await fillBatch(context, cursor, { documents: request.batchSize ?? FIRST_BATCH, isSingle: request.singleBatch === true });
    const keep = !cursor.exhausted && request.singleBatch !== true;
    if (keep) {
      server.cursors.keep(cursor);
      const { maxTimeMs } = context.generic;
      if (maxTimeMs > 0 && request.tail === undefined) cursor.leftMs = Math.max(0, maxTimeMs - (operation.clock.monotonicMs() - operation.startedMs));
    }
    if (!keep) cursor.close();
    return { cursor: cursorDocument('firstBatch', documents, { id: keep ? cursor.id : 0n, cursor, atClusterTime: request.atClusterTime }) };
  } catch (error) {
    cursor.close();
    throw error;
  }
}

/** The document `cursor` of a reply. */
export function cursorDocument(
  batchName: 'firstBatch' | 'nextBatch',
  documents: readonly Document[],
  { id, cursor, atClusterTime }: { id: bigint; cursor: ClientCursor; atClusterTime?: Timestamp | undefined },
): Document {
  const fields: [string, Value][] = [
    [batchName, BsonArray.of(documents)],
    ['id', id],
    ['ns', cursor.options.namespace],
  ];
  const token = cursor.resumeToken;
  if (token !== undefined) fields.push(['postBatchResumeToken', token]);
  if (atClusterTime !== undefined) fields.push(['atClusterTime', atClusterTime]);
  return Document.fromEntries(fields);
}
