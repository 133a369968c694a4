// dbHash: one hash for the contents of each collection, by which two servers find out whether they hold the same. MD5 over the documents in
// the order of their `_id`, as MongoDB's is.

import { CommandError } from '../../base/errors.ts';
import { Md5 } from '../../base/md5.ts';
import { BsonArray, Document, type Value } from '../../bson/index.ts';
import type { CatalogTransaction, Collection } from '../../catalog/index.ts';
import { defineCommand, type Command, type CommandContext } from '../command.ts';
import { anyField } from '../fields.ts';
import { reading } from '../storage-scope.ts';

/** Bytes that are hashed in one go: about a millisecond's work. */
const PIECE_BYTES = 128 * 1024;

async function update(md5: Md5, bytes: Uint8Array, { operation }: CommandContext): Promise<void> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    const turn = operation.turn();
    if (turn !== undefined) await turn;
    md5.update(bytes.subarray(at, at + PIECE_BYTES));
  }
}

async function hashOf(context: CommandContext, txn: CatalogTransaction, collection: Collection): Promise<string> {
  const md5 = new Md5();
  const cursor = collection.scan(txn, {}, 1);
  try {
    for (;;) {
      await context.operation.turn();
      const batch = await cursor.nextBatch({ rows: 256, bytes: 1 << 20 });
      if (batch.length === 0) return md5.digest();
      for (let at = 0; at < batch.length; at++) await update(md5, batch.value(at), context);
    }
  } finally {
    cursor.close();
  }
}

/** Names asked for; undefined: all. What is no array counts as not said. */
function askedNames(value: Value | undefined): ReadonlySet<string> | undefined {
  if (!(value instanceof BsonArray) || value.isEmpty) return undefined;
  const names = value.items().map((name) => {
    if (typeof name === 'string') return name;
    throw new CommandError(2, 'BadValue', 'collections entries have to be strings');
  });
  return new Set(names);
}

const dbHash: Command = defineCommand({
  name: 'dbHash',
  aliases: ['dbhash'],
  access: 'read',
  readConcern: 'all',
  about: 'a hash of the contents of each collection of a database',
  fields: { dbHash: anyField, collections: anyField },
  lax: true,
  run: async (context, { collections }) => {
    const { server, db } = context;
    const names = askedNames(collections);
    const startedMs = server.env.clock.monotonicMs();
    const hashes: [string, Value][] = [];
    const uuids: [string, Value][] = [];
    const capped: string[] = [];
    const whole = new Md5();
    await reading(context, async (txn) => {
      for (const entry of await server.catalog.collections(txn, db)) {
        const { collection: name } = entry.ns;
        if (entry.kind === 'view' || names?.has(name) === false || name === 'system.profile') continue;
        const hash = await hashOf(context, txn, entry);
        hashes.push([name, hash]);
        uuids.push([name, entry.uuid]);
        if (entry.options.capped !== undefined) capped.push(name);
        whole.update(new TextEncoder().encode(hash));
      }
    });
    return {
      host: `${server.env.host.hostname}:${String(server.options.port)}`,
      collections: Document.fromEntries(hashes),
      capped: BsonArray.of(capped),
      uuids: Document.fromEntries(uuids),
      md5: whole.digest(),
      timeMillis: Math.round(server.env.clock.monotonicMs() - startedMs),
    };
  },
});

export const HASH_COMMANDS: readonly Command[] = [dbHash];
