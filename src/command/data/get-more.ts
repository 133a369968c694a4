// getMore and killCursors. A cursor is used only from the session and the transaction it was opened in.

import { clusterTarget } from '../../auth/index.ts';
import { CommandError } from '../../base/errors.ts';
import { BsonArray, type Document, type Value } from '../../bson/index.ts';
import { namespaceOf } from '../../catalog/index.ts';
import type { ClientCursor } from '../../session/index.ts';
import { defineCommand, type Command, type CommandContext } from '../command.ts';
import { resumable } from '../change-stream/resumable.ts';
import { cursorDocument, fillBatch } from '../cursor-reply.ts';
import { arrayField, boundedField, collectionField, required, strictLongField, stringField, objectField, anyField, typeText } from '../fields.ts';

function checkOwner(context: CommandContext, cursor: ClientCursor): void {
  if (cursor.options.user !== context.operation.connection.user) {
    throw new CommandError(13, 'Unauthorized', `cursor id ${String(cursor.id)} was not created by the authenticated user`);
  }
  const { sessionKey, txnNumber } = cursor.options;
  const session = context.operation.session?.key;
  const id = String(cursor.id);
  if (sessionKey !== undefined && session === undefined) {
    throw new CommandError(50736, 'Location50736', `Cannot run getMore on cursor ${id}, which was created in a session, without an lsid`);
  }
  if (sessionKey === undefined && session !== undefined) {
    throw new CommandError(50737, 'Location50737', `Cannot run getMore on cursor ${id}, which was not created in a session, in a session`);
  }
  if (sessionKey !== session) {
    throw new CommandError(50738, 'Location50738', `Cannot run getMore on cursor ${id}, which was created in one session, in another session`);
  }
  const current = context.transaction?.txnNumber;
  if (txnNumber !== undefined && current === undefined) {
    throw new CommandError(50740, 'Location50740', `Cannot run getMore on cursor ${id}, which was created in transaction ${String(txnNumber)}, without a txnNumber`);
  }
  if (txnNumber === undefined && current !== undefined) {
    throw new CommandError(50739, 'Location50739', `Cannot run getMore on cursor ${id}, which was not created in a transaction, in transaction ${String(current)}`);
  }
  if (txnNumber !== current) {
    throw new CommandError(50741, 'Location50741', `Cannot run getMore on cursor ${id}, which was created in transaction ${String(txnNumber)}, in transaction ${String(current)}`);
  }
}

/** How long a tailable cursor waits for more where the client does not say it. */
const AWAIT_MS = 1000;

function checkNamespace(cursor: ClientCursor, namespace: string): void {
  if (cursor.options.namespace === namespace) return;
  const text = `Requested getMore on namespace '${namespace}', but cursor belongs to a different namespace ${cursor.options.namespace}`;
  throw new CommandError(13, 'Unauthorized', text);
}

/** The cursor, in use by this operation from now on, if it may be. */
function takeCursor(context: CommandContext, id: bigint, namespace: string): ClientCursor {
  const { server, operation, generic } = context;
  const cursor = server.cursors.acquire(id, operation);
  try {
    checkNamespace(cursor, namespace);
    checkOwner(context, cursor);
    if (generic.maxTimeGiven && cursor.options.tail?.wait === undefined) {
      throw new CommandError(2, 'BadValue', 'cannot set maxTimeMS on getMore command for a non-awaitData cursor');
    }
    return cursor;
  } catch (error) {
    server.cursors.release(cursor);
    throw error;
  }
}

async function nextBatch(context: CommandContext, cursor: ClientCursor, batchSize: number | undefined): Promise<Document> {
  const { server, generic, stream } = context;
  const failure = server.failPoints.at('failGetMoreAfterCursorCheckout')?.failure;
  if (failure?.error !== undefined) throw failure.error;
  const wanted = batchSize === undefined || batchSize === 0 ? Number.POSITIVE_INFINITY : batchSize;
  const awaitMs = generic.maxTimeGiven ? generic.maxTimeMs : AWAIT_MS;
  const documents = await fillBatch(context, cursor, { documents: wanted, awaitMs });
  // Where the client takes further answers unasked, this one is followed by the next batch until there is none.
  if (stream !== undefined && !cursor.exhausted) stream.next = context.request.body;
  return cursorDocument('nextBatch', documents, { id: cursor.exhausted ? 0n : cursor.id, cursor });
}

/** The time that a cursor was given is that of all its batches together. */
function limitWork({ operation, server }: CommandContext, cursor: ClientCursor): void {
  if (cursor.leftMs === undefined) return;
  operation.limitTo(server.failPoints.timesOut() ? 0 : cursor.leftMs);
  operation.checkInterrupt();
}

const getMore: Command = defineCommand({
  name: 'getMore',
  access: 'read',
  inTransaction: 'yes',
  // Clients in a snapshot session say it again; the cursor has its own.
  readConcern: 'all',
  about: 'the next batch of a cursor',
  fields: {
    getMore: required(strictLongField),
    collection: required(stringField),
    batchSize: boundedField(0),
    term: strictLongField,
    lastKnownCommittedOpTime: objectField,
    includeQueryStatsMetrics: anyField,
  },
  run: async (context, { getMore: id, collection, batchSize }) => {
    const { server, db } = context;
    server.counters.operations.getmore += 1;
    if (collection.length === 0) throw new CommandError(73, 'InvalidNamespace', `Invalid namespace specified '${db}.'`);
    const cursor = takeCursor(context, id, `${db}.${collection}`);
    try {
      limitWork(context, cursor);
      return { cursor: await nextBatch(context, cursor, batchSize) };
    } catch (error) {
      cursor.close();
      throw cursor.options.tail?.token === undefined ? error : resumable(error);
    } finally {
      if (cursor.leftMs !== undefined) cursor.leftMs = Math.max(0, cursor.leftMs - (context.operation.clock.monotonicMs() - context.operation.startedMs));
      server.cursors.release(cursor);
    }
  },
});

function cursorIds(value: BsonArray): bigint[] {
  return value.items().map((item, index) => {
    if (typeof item === 'bigint') return item;
    const text = `BSON field 'killCursors.cursors.${String(index)}' is the wrong type '${typeText(item)}', expected type 'long'`;
    throw new CommandError(14, 'TypeMismatch', text);
  });
}

const killCursors: Command = defineCommand({
  name: 'killCursors',
  access: 'read',
  inTransaction: 'yes',
  about: 'closes cursors',
  fields: { killCursors: collectionField, cursors: required(arrayField) },
  run: async (context, { killCursors: name, cursors }) => {
    const { connection } = context.operation;
    const limits = await context.server.access.limits(connection);
    const mayKillAny = limits?.allows(clusterTarget, 'killAnyCursor') ?? true;
    namespaceOf(context.db, name);
    const killed: Value[] = [];
    const notFound: Value[] = [];
    for (const id of cursorIds(cursors)) {
      const cursor = context.server.cursors.find(id);
      if (cursor === undefined || (cursor.options.user !== connection.user && !mayKillAny)) notFound.push(id);
      else if (context.server.cursors.kill(id)) killed.push(id);
    }
    return {
      cursorsKilled: BsonArray.of(killed),
      cursorsNotFound: BsonArray.of(notFound),
      cursorsAlive: BsonArray.empty,
      cursorsUnknown: BsonArray.empty,
    };
  },
});

export const CURSOR_COMMANDS: readonly Command[] = [getMore, killCursors];
