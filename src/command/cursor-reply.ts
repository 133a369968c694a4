// Results as clients get them: a first batch and, if there is more, a cursor. The first batch has 101 documents unless the command says
// otherwise, no batch passes 16 MiB, or less where the cache is small, and a result that its limit has ended says so at once (compatibility.md 4.8).

import { BsonArray, Document, type Timestamp, type Value } from '../bson/index.ts';
import { BATCH_BYTES_MAX, type BatchSource, type ClientCursor, type Tail } from '../session/index.ts';
import type { CommandContext, Reply } from './command.ts';
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
    const bytes = (request.singleBatch === true ? undefined : server.options.batchBytesMax) ?? BATCH_BYTES_MAX;
    const documents = await cursor.fill(operation, { documents: request.batchSize ?? FIRST_BATCH, bytes });
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
