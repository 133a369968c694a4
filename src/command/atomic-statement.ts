// A statement over many documents all or nothing, where that is asked for: by the field `atomic` of the command, or for the whole server by the
// parameter `atomicStatements`. TokuMX's statements were so. It is one engine transaction, with one snapshot; where somebody else changed a
// document meanwhile the whole statement is done again, and where any of its documents is refused nothing of it is done.

import { BsonArray, Document, type Value } from '../bson/index.ts';
import { CommandError, EngineError } from '../base/errors.ts';
import type { CommandContext, Reply, Run } from './command.ts';
import { HeldTransaction } from './held-transaction.ts';
import { noteWrite } from './note-write.ts';

/** Commands that are statements over documents. */
const STATEMENTS: ReadonlySet<string> = new Set(['insert', 'update', 'delete']);

/** Longest pause before another try, in milliseconds; the first is one, each further one twice as long. */
const PAUSE_MS_MAX = 64;

/** Whether the statement is to be all or nothing. In a transaction it is part of something larger that is. */
export function isAtomicStatement({ server, request, transaction }: CommandContext, command: string): boolean {
  if (transaction !== undefined || !STATEMENTS.has(command)) return false;
  const asked = request.body.get('atomic');
  return asked === undefined ? server.parameters.get('atomicStatements') === true : asked === true;
}

function isConflict(error: unknown): boolean {
  return (error instanceof CommandError && error.code === 112) || (error instanceof EngineError && (error.code === 'write-conflict' || error.code === 'deadlock'));
}

/** Runs the statement; its reply has counts of nothing where something was refused. */
export async function runAtomically(context: CommandContext, run: Run): Promise<Reply | Document> {
  for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX)) {
    context.operation.checkInterrupt();
    try {
      return await tryOnce(context, run);
    } catch (error) {
      context.retry?.aborted();
      if (!isConflict(error)) throw error;
      await context.operation.sleep(pauseMs);
    }
  }
}

async function tryOnce(context: CommandContext, run: Run): Promise<Reply | Document> {
  const { server, retry } = context;
  const storage = server.catalog.begin('snapshot');
  const transaction = new HeldTransaction(0n, storage, { startedMs: server.env.clock.monotonicMs(), onEnd: () => undefined });
  try {
    const reply = await run({ ...context, transaction });
    const fields: readonly (readonly [string, Value | undefined])[] = reply instanceof Document ? reply.fields : Object.entries(reply);
    if (fields.some(([name, value]) => name === 'writeErrors' && value instanceof BsonArray)) {
      retry?.aborted();
      return withoutCounts(fields);
    }
    if (storage.hasWritten) {
      await retry?.write(storage);
      retry?.identify(storage);
      await transaction.commit();
      noteWrite(server);
      retry?.committed();
    }
    return reply;
  } finally {
    transaction.abort();
  }
}

/** The reply of a statement of which nothing was done. */
function withoutCounts(fields: readonly (readonly [string, Value | undefined])[]): Reply {
  const kept = fields.filter(([name]) => name !== 'upserted').map(([name, value]) => [name, name === 'n' || name === 'nModified' ? 0 : value] as const);
  return Object.fromEntries(kept);
}
