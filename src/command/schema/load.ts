// TokuMX's bulk loader: beginLoad, commitLoad and abortLoad, inside a transaction, for a collection that is not there yet. Between them `insert` of
// the same connection or session gives documents to the load; nobody sees them, and the collection comes with the commit of the transaction.

import { CommandError } from '../../base/errors.ts';
import { BsonArray, Document, type Value } from '../../bson/index.ts';
import { namespaceOf } from '../../catalog/index.ts';
import { defineCommand, type Command, type CommandContext } from '../command.ts';
import { anyField } from '../fields.ts';
import type { HeldTransaction } from '../held-transaction.ts';

const refused = (code: number, text: string): CommandError => new CommandError(code, `Location${String(code)}`, text);

/** The specifications of indexes, without the namespace that TokuMX's clients put into them. */
function specsOf(indexes: Value | undefined, ns: string): readonly Document[] {
  if (!(indexes instanceof BsonArray)) throw refused(16883, 'The indexes field must be an array of index objects.');
  return indexes.items().map((spec) => {
    if (!(spec instanceof Document)) throw refused(16885, 'Each index spec must be an object describing the index to be built');
    if (spec.has('ns') && spec.get('ns') !== ns) throw refused(16886, "Each index spec's ns field, if provided, must match the loaded ns.");
    if (typeof spec.get('name') !== 'string') throw refused(16887, 'Each index spec must have a string name field.');
    return spec;
  });
}

function transactionOf({ transaction }: CommandContext): HeldTransaction {
  if (transaction === undefined) throw refused(16892, 'Must be in a multi-statement transaction to begin a load.');
  return transaction;
}

const beginLoad: Command = defineCommand({
  name: 'beginLoad',
  access: 'write',
  inTransaction: 'yes',
  about: 'begins to load a new collection in bulk',
  fields: { beginLoad: anyField, ns: anyField, indexes: anyField, options: anyField },
  run: async (context, { ns: name, indexes, options }) => {
    const transaction = transactionOf(context);
    if (typeof name !== 'string') throw refused(16882, 'The ns field must be a string.');
    const ns = namespaceOf(context.db, name);
    const specs = specsOf(indexes, ns.text);
    if (!(options instanceof Document)) throw refused(16884, 'The options field must be an object.');
    if (transaction.load !== undefined) throw refused(16915, 'Cannot begin load, one is already in progress');
    transaction.beginLoad(await context.server.catalog.beginLoad(transaction.storage, ns, { specs, options }));
    return { status: 'load began' };
  },
});

const commitLoad: Command = defineCommand({
  name: 'commitLoad',
  access: 'write',
  inTransaction: 'yes',
  about: 'ends a bulk load: its collection is part of the transaction',
  fields: { commitLoad: anyField },
  run: async (context) => {
    const { operation } = context;
    const load = context.transaction?.endLoad();
    if (load === undefined) throw refused(16876, 'Cannot commit client load, none in progress.');
    await load.finish(() => operation.turn());
    return { status: 'load committed' };
  },
});

const abortLoad: Command = defineCommand({
  name: 'abortLoad',
  access: 'write',
  inTransaction: 'yes',
  about: 'forgets a bulk load',
  fields: { abortLoad: anyField },
  run: async (context) => {
    const load = context.transaction?.endLoad();
    if (load === undefined) throw refused(16888, 'Cannot abort client load, none in progress.');
    await load.abort();
    return { status: 'load aborted' };
  },
});

export const LOAD_COMMANDS: readonly Command[] = [beginLoad, commitLoad, abortLoad];
