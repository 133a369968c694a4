// A client may say which collection it believes a name to stand for; it is told when that is not so (MongoDB's CollectionUUIDMismatch).

import { equalBytes } from '../base/bytes.ts';
import { CommandError } from '../base/errors.ts';
import type { Binary, Value } from '../bson/index.ts';
import type { Namespace } from '../catalog/index.ts';
import type { CommandContext } from './command.ts';
import { reading } from './storage-scope.ts';

/** Refuses (361) a name that does not stand for the collection of this UUID. */
export async function checkCollectionUuid(context: CommandContext, ns: Namespace, uuid: Binary): Promise<void> {
  const actual = await reading(context, async (txn) => {
    const all = await context.server.catalog.collections(txn, ns.db);
    return all.find((named) => named.kind === 'collection' && equalBytes(named.uuid.bytes, uuid.bytes))?.ns.collection ?? null;
  });
  if (actual === ns.collection) return;
  const details = new Map<string, Value>([
    ['db', ns.db],
    ['collectionUUID', uuid],
    ['expectedCollection', ns.collection],
    ['actualCollection', actual],
  ]);
  throw new CommandError(361, 'CollectionUUIDMismatch', "Collection UUID does not match that specified", { details });
}
