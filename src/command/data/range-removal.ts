// deleteMany of all documents, or of a range of `_id`s that no index but `_id_` has: one message instead of a removal for each (server.md,
// "Transactions"). Only where it pays, in a statement by itself, and only if the collection is had without others who write to it; else
// undefined, and the caller removes document by document.

import { EngineError } from '../../base/errors.ts';
import type { Namespace } from '../../catalog/index.ts';
import { primaryRange } from '../../plan/index.ts';
import type { Filter } from '../../query/index.ts';
import type { CommandContext } from '../command.ts';

/** Fewer documents are removed one by one. */
const documentsMin = 1000;

const passing: ReadonlySet<string> = new Set(['write-conflict', 'deadlock', 'locked', 'no-space']);

/** Removes what matches; how many that were, exactly. */
export async function removeMatchingRange(context: CommandContext, ns: Namespace, filter: Filter): Promise<number | undefined> {
  const { catalog, time } = context.server;
  if (context.transaction !== undefined || context.retry !== undefined) return undefined;
  const txn = catalog.begin('statement');
  try {
    const collection = await catalog.collection(txn, ns);
    if (collection === undefined || collection.totals(txn).rows < documentsMin) return undefined;
    const range = primaryRange(collection, filter);
    if (range === undefined || !catalog.canRemoveRange(collection, range)) return undefined;
    const removed = await catalog.removeRange(txn, collection, range, () => context.operation.turn());
    await txn.commit();
    time.tick();
    return removed;
  } catch (error) {
    if (error instanceof EngineError && passing.has(error.code)) return undefined;
    throw error;
  } finally {
    txn.abort();
  }
}
