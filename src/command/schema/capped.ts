// convertToCapped and cloneCollectionAsCapped: a collection copied, in its natural order, into a capped one.

import { CommandError } from '../../base/errors.ts';
import { isNumber, type Value } from '../../bson/index.ts';
import { checkCreatable, namespaceOf, type Namespace } from '../../catalog/index.ts';
import { defineCommand, type Command, type CommandContext, type Reply } from '../command.ts';
import { anyField, collectionField } from '../fields.ts';
import { noteWrite } from '../note-write.ts';
import { toInt64Truncated } from '../number-fields.ts';
import { reading } from '../storage-scope.ts';

/** The size of a capped collection in bytes. */
function sizeOf(value: Value | undefined): number {
  const size = value !== undefined && isNumber(value) ? Number(toInt64Truncated(value)) : 0;
  if (size <= 0) throw new CommandError(72, 'InvalidOptions', 'Capped collection size must be greater than zero');
  if (size > 2 ** 50) throw new CommandError(2, 'BadValue', 'Capped collection size must be less than or equal to one petabyte');
  return size;
}

async function checkSource(context: CommandContext, ns: Namespace): Promise<void> {
  if (ns.collection.includes('$')) throw new CommandError(73, 'InvalidNamespace', `Invalid collection name: ${ns.collection}`);
  if (ns.collection.startsWith('system.buckets.')) throw new CommandError(20, 'IllegalOperation', `there are no collections of buckets: ${ns.text}`);
  const named = await reading(context, async (txn) => context.server.catalog.lookup(txn, ns));
  if (named === undefined) throw new CommandError(26, 'NamespaceNotFound', `source collection ${ns.text} does not exist`);
  if (named.kind === 'view' || named.options.timeSeries !== undefined) {
    throw new CommandError(166, 'CommandNotSupportedOnView', `cannot make ${ns.text} capped: it is a view or a time series`);
  }
}

async function checkTarget(context: CommandContext, ns: Namespace): Promise<void> {
  checkCreatable(ns);
  const named = await reading(context, async (txn) => context.server.catalog.lookup(txn, ns));
  if (named?.kind === 'view') throw new CommandError(166, 'CommandNotSupportedOnView', `cloneCollectionAsCapped not supported for views: ${ns.text}`);
  if (named !== undefined) throw new CommandError(48, 'NamespaceExists', `cloneCollectionAsCapped failed - destination collection ${ns.text} already exists.`);
}

const convertToCapped: Command = defineCommand({
  name: 'convertToCapped',
  access: 'write',
  lax: true,
  about: 'makes a collection a capped one',
  fields: { convertToCapped: collectionField, size: anyField },
  run: async (context, { convertToCapped: name, size }): Promise<Reply> => {
    const { server, db, operation } = context;
    const from = namespaceOf(db, name);
    const sizeBytes = sizeOf(size);
    await checkSource(context, from);
    const to = namespaceOf(db, `tmp.convertToCapped.${server.ids.next().toHexString()}`);
    await server.catalog.copyAsCapped({ from, to, sizeBytes, replaces: true, checkInterrupt: () => operation.turn() });
    noteWrite(server);
    server.cursors.collectionGone(from.db, from.collection);
    return {};
  },
});

const cloneCollectionAsCapped: Command = defineCommand({
  name: 'cloneCollectionAsCapped',
  access: 'write',
  lax: true,
  about: 'copies a collection into a capped one',
  fields: { cloneCollectionAsCapped: anyField, toCollection: anyField, size: anyField },
  run: async (context, { cloneCollectionAsCapped: name, toCollection, size }): Promise<Reply> => {
    const { server, db, operation } = context;
    for (const [field, value] of [['cloneCollectionAsCapped', name], ['toCollection', toCollection]] as const) {
      if (typeof value !== 'string') throw new CommandError(14, 'TypeMismatch', `'${field}' must be of type String`);
    }
    if (typeof name !== 'string' || typeof toCollection !== 'string') return {};
    const [from, to] = [namespaceOf(db, name), namespaceOf(db, toCollection)];
    const sizeBytes = sizeOf(size);
    if (name.includes('$')) throw new CommandError(73, 'InvalidNamespace', `Invalid collection name: ${from.text}`);
    await checkSource(context, from);
    await checkTarget(context, to);
    await server.catalog.copyAsCapped({ from, to, sizeBytes, replaces: false, checkInterrupt: () => operation.turn() });
    noteWrite(server);
    return {};
  },
});

export const CAPPED_COMMANDS: readonly Command[] = [convertToCapped, cloneCollectionAsCapped];
