// compact: the files are made smaller in the background at all times; the command does a checkpoint, after which what was freed can be given
// back, and tells by how much the data files shrank meanwhile.

import { CommandError } from '../../base/errors.ts';
import { namespaceOf } from '../../catalog/index.ts';
import { defineCommand, type Command, type CommandContext } from '../command.ts';
import { boundedField, collectionField, strictBoolField } from '../fields.ts';
import { reading } from '../storage-scope.ts';

/** A counter of the engine by name. */
function figure({ server }: CommandContext, name: string): number {
  const found = Object.entries(server.engine.statistics()).find(([key]) => key === name);
  const value: unknown = found?.[1];
  return typeof value === 'number' ? value : 0;
}

/** Bytes of the files that data lies in. */
function filesBytes(context: CommandContext): number {
  return figure(context, 'dataFileBytes') + figure(context, 'blobFileBytes');
}

/** Megabytes that must be there to be freed when nothing is said. */
const TARGET_MB = 20;

const compact: Command = defineCommand({
  name: 'compact',
  access: 'write',
  writeConcern: false,
  about: 'gives space back to the system that is not needed any more',
  fields: { compact: collectionField, force: strictBoolField, dryRun: strictBoolField, freeSpaceTargetMB: boundedField(1) },
  run: async (context, { compact: name, dryRun, freeSpaceTargetMB: megabytes = TARGET_MB }) => {
    const ns = namespaceOf(context.db, name);
    const collection = await reading(context, (txn) => Promise.resolve(context.server.catalog.collection(txn, ns)));
    if (collection === undefined) throw new CommandError(26, 'NamespaceNotFound', 'collection does not exist');
    // Less than the target is not worth the work, as in MongoDB.
    const freeable = figure(context, 'freeableBytes');
    const worth = freeable >= megabytes * 1024 * 1024 ? freeable : 0;
    if (dryRun === true) return { estimatedBytesFreed: worth };
    if (worth === 0) return { bytesFreed: 0 };
    const before = filesBytes(context);
    await context.server.engine.checkpoint();
    return { bytesFreed: Math.max(0, before - filesBytes(context)) };
  },
});

export const COMPACT_COMMANDS: readonly Command[] = [compact];
