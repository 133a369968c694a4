// listDatabases and listCollections.

import { clusterTarget, databaseTarget } from '../../auth/index.ts';
import { BsonArray, DateTime, Document } from '../../bson/index.ts';
import type { Collection, View } from '../../catalog/index.ts';
import { compileFilter, type Filter } from '../../query/index.ts';
import { sourceOf } from '../../session/index.ts';
import { defineCommand, type Command, type CommandContext } from '../command.ts';
import { replyWithCursor } from '../cursor-reply.ts';
import { anyField, boolField, objectField, strictBoolField } from '../fields.ts';
import { reading } from '../storage-scope.ts';
import { batchSizeOf } from './indexes.ts';
import { describeViews } from './system-views.ts';

function optionalFilter(context: CommandContext, filter: Document | undefined): Filter | undefined {
  if (filter === undefined) return undefined;
  return compileFilter(filter, { now: new DateTime(context.server.env.clock.nowMs()), timeless: true }, 'single');
}

/** Bytes on disk of a collection and its indexes. */
function diskBytesOf(entry: Collection | View): number {
  if (entry.kind === 'view') return 0;
  const { documents, indexes } = entry.storage();
  let bytes = documents.diskBytes;
  for (const index of indexes.values()) bytes += index.diskBytes;
  return bytes;
}

/** Databases of the server itself: there from the beginning. */
const ownDatabases = ['admin', 'config', 'local'];

interface DatabaseRow {
  readonly name: string;
  readonly bytes: number;
}

async function databaseRows(context: CommandContext): Promise<DatabaseRow[]> {
  const { catalog } = context.server;
  return reading(context, async (txn) => {
    const rows: DatabaseRow[] = [];
    for (const name of [...new Set([...ownDatabases, ...(await catalog.databases(txn))])].sort()) {
      const collections = await catalog.collections(txn, name);
      rows.push({ name, bytes: collections.reduce((sum, entry) => sum + diskBytesOf(entry), 0) });
    }
    return rows;
  });
}

const listDatabases: Command = defineCommand({
  name: 'listDatabases',
  access: 'read',
  adminOnly: true,
  about: 'the databases and their sizes',
  fields: { listDatabases: anyField, filter: objectField, nameOnly: boolField, authorizedDatabases: strictBoolField },
  run: async (context, { filter, nameOnly, authorizedDatabases }) => {
    const matches = optionalFilter(context, filter);
    const limits = await context.server.access.limits(context.operation.connection);
    const showsAll = limits === undefined || (authorizedDatabases !== true && limits.allows(clusterTarget, 'listDatabases'));
    let total = 0;
    const shown: Document[] = [];
    for (const { name, bytes } of await databaseRows(context)) {
      if (!showsAll && !limits.touches(name)) continue;
      const row = nameOnly === true ? Document.of({ name }) : Document.of({ name, sizeOnDisk: BigInt(bytes), empty: false });
      if (matches?.matches(row) === false) continue;
      total += bytes;
      shown.push(row);
    }
    if (nameOnly === true) return { databases: BsonArray.of(shown) };
    const megabytes = BigInt(Math.floor(total / (1024 * 1024)));
    return { databases: BsonArray.of(shown), totalSize: BigInt(total), totalSizeMb: megabytes };
  },
});

function nameAndType(row: Document): Document {
  return Document.of({ name: row.get('name'), type: row.get('type') });
}

const listCollections: Command = defineCommand({
  name: 'listCollections',
  access: 'read',
  about: 'the collections and views of a database',
  fields: { listCollections: anyField, filter: objectField, nameOnly: strictBoolField, authorizedCollections: strictBoolField, cursor: objectField },
  run: async (context, { filter, nameOnly, authorizedCollections, cursor }) => {
    const { db, server } = context;
    const limits = await server.access.limits(context.operation.connection);
    const showsAll = limits === undefined || (authorizedCollections !== true && limits.allows(databaseTarget(db), 'listCollections'));
    const matches = optionalFilter(context, filter);
    const rows = await reading(context, async (txn) => {
      const entries = await server.catalog.collections(txn, db);
      const views = entries.some(({ kind, ns }) => kind === 'view' && (showsAll || limits.touches(db, ns.collection)));
      const shown = showsAll ? entries : entries.filter(({ ns }) => limits.touches(db, ns.collection));
      const described = [...shown.map((entry) => entry.describe()), ...(views ? [describeViews(db)] : [])];
      return (nameOnly === true ? described.map(nameAndType) : described).filter((row) => matches?.matches(row) !== false);
    });
    const batchSize = batchSizeOf('listCollections', cursor);
    return replyWithCursor(context, sourceOf(rows), { namespace: `${db}.$cmd.listCollections`, batchSize, limit: rows.length === 0 ? undefined : rows.length });
  },
});

export const LIST_COMMANDS: readonly Command[] = [listDatabases, listCollections];
