// collStats, dbStats, dataSize and validate: exact counts and sizes, which the catalog keeps with every commit.

import { CommandError, EngineError } from '../../base/errors.ts';
import { BsonArray, Document, Double, type Value } from '../../bson/index.ts';
import {
  describeDictionaryOptions,
  namespaceOf,
  type CatalogTransaction,
  type Collection,
  type CollectionStorage,
  type Index,
  type Namespace,
  type StorageFigures,
  type TreeLevel,
} from '../../catalog/index.ts';
import type { DiskSpace, Env } from '../../env/index.ts';
import { defineCommand, type Command, type CommandContext, type Reply } from '../command.ts';
import { anyField, boolField, collectionField, numberField, truthyField } from '../fields.ts';
import { reading } from '../storage-scope.ts';
import { DATA_SIZE_COMMANDS } from './data-size.ts';
import { namesViews, viewDefinitions, VIEWS_INDEX } from './system-views.ts';

/** A count as MongoDB's replies have it: an int32 where it fits, else an int64. */
function integer(value: number): Value {
  const whole = Math.floor(value);
  return Math.abs(whole) < 0x80000000 ? whole : BigInt(whole);
}

function checkScale(scale: number | undefined, [code, codeName]: readonly [number, string]): number {
  if (scale === undefined) return 1;
  if (scale >= 1) return scale;
  throw new CommandError(code, codeName, `BSON field 'scale' value must be >= 1, actual value '${String(scale)}'`);
}

function withCollection<T>(
  context: CommandContext,
  name: string,
  work: (collection: Collection | undefined, totals: { rows: number; bytes: number }) => T | Promise<T>,
): Promise<T> {
  const ns = namespaceOf(context.db, name);
  return reading(context, async (txn) => {
    const collection = await context.server.catalog.collection(txn, ns);
    return work(collection, collection?.totals(txn) ?? { rows: 0, bytes: 0 });
  });
}

/** What a dictionary takes: bytes as they are and on disk, and the shape of its tree. */
function treeFigures({ rows, rawBytes, diskBytes, height, leaves, options }: StorageFigures): Document {
  const figures = Document.of({
    rows: BigInt(rows),
    rawBytes: BigInt(rawBytes),
    diskBytes: BigInt(diskBytes),
    compressionRatio: new Double(diskBytes === 0 ? 0 : Math.round((100 * rawBytes) / diskBytes) / 100),
    height,
    leaves,
  });
  return options === undefined ? figures : Document.fromEntries([...figures.fields, ...describeDictionaryOptions(options).fields]);
}

/** The figures of one collection, as collStats and the stage of that name tell them. */
export function collectionFigures(ns: string, collection: Collection | undefined, totals: { rows: number; bytes: number }, scale: number): Reply {
  const scaled = (bytes: number): Value => integer(bytes / scale);
  if (collection === undefined) {
    const none = { size: 0, count: 0, numOrphanDocs: 0, storageSize: 0, totalSize: 0, nindexes: 0, totalIndexSize: 0 };
    return { ns, ...none, indexDetails: Document.empty, indexSizes: Document.empty, scaleFactor: integer(scale) };
  }
  const { documents, indexes, partitions } = collection.storage();
  const sizes = [...indexes].map(([name, figures]): [string, number] => [name, figures.diskBytes]);
  const indexBytes = sizes.reduce((sum, [, bytes]) => sum + bytes, 0);
  const { capped } = collection.options;
  return {
    ns,
    size: scaled(totals.bytes),
    count: integer(totals.rows),
    avgObjSize: totals.rows === 0 ? undefined : integer(totals.bytes / totals.rows),
    numOrphanDocs: 0,
    storageSize: scaled(documents.diskBytes),
    freeStorageSize: 0,
    capped: capped !== undefined,
    max: capped?.documentsMax === undefined ? undefined : integer(capped.documentsMax),
    maxSize: capped === undefined ? undefined : scaled(capped.sizeBytes),
    nindexes: collection.indexes.length,
    indexBuilds: BsonArray.empty,
    indexDetails: Document.fromEntries([...indexes].map(([name, figures]) => [name, treeFigures(figures)])),
    frond: treeFigures(documents),
    totalIndexSize: scaled(indexBytes),
    totalSize: scaled(documents.diskBytes + indexBytes),
    indexSizes: Document.fromEntries(sizes.map(([name, bytes]) => [name, scaled(bytes)])),
    scaleFactor: integer(scale),
    partitioned: partitions === undefined ? undefined : true,
    partitions: partitions === undefined ? undefined : BsonArray.of(partitions.map((part) => partitionFigures(part, scaled))),
  };
}

/** The trees level by level, by index: the fronts, the nodes from the root down, the leaves. */
function levelFigures(levels: ReadonlyMap<string, readonly TreeLevel[]>): Document {
  const level = ({ kind, height, nodes, messages, runs, rawBytes, diskBytes, fill }: TreeLevel): Document =>
    Document.of({ kind, height, nodes, messages: BigInt(messages), runs, rawBytes: BigInt(rawBytes), diskBytes: BigInt(diskBytes), fill: fill === undefined ? null : new Double(Math.round(1000 * fill) / 1000) });
  return Document.fromEntries([...levels].map(([name, list]) => [name, BsonArray.of(list.map(level))]));
}

/** The figures of one part of a partitioned collection. */
function partitionFigures({ id, documents, indexes }: NonNullable<CollectionStorage['partitions']>[number], scaled: (bytes: number) => Value): Document {
  const indexBytes = [...indexes.values()].reduce((sum, { diskBytes }) => sum + diskBytes, 0);
  return Document.of({
    _id: BigInt(id),
    count: integer(documents.rows),
    size: scaled(documents.bytes),
    storageSize: scaled(documents.diskBytes),
    totalIndexSize: scaled(indexBytes),
    indexDetails: Document.fromEntries([...indexes].map(([name, figures]) => [name, treeFigures(figures)])),
    frond: treeFigures(documents),
  });
}

const collStats: Command = defineCommand({
  name: 'collStats',
  aliases: ['collstats'],
  access: 'read',
  about: 'counts and sizes of a collection',
  fields: { collStats: collectionField, scale: numberField, verbose: boolField, waitForLock: boolField, numericOnly: boolField },
  run: (context, { collStats: name, scale, verbose }) => {
    const factor = checkScale(scale, [51024, 'Location51024']);
    return withCollection(context, name, async (collection, totals): Promise<Reply> => {
      const figures = collectionFigures(`${context.db}.${name}`, collection, totals, factor);
      return verbose === true && collection !== undefined ? { ...figures, frondLevels: levelFigures(await collection.levels()) } : figures;
    });
  },
});

interface DatabaseFigures {
  collections: number;
  views: number;
  objects: number;
  dataBytes: number;
  storageBytes: number;
  indexes: number;
  indexBytes: number;
}

function addCollection(figures: DatabaseFigures, collection: Collection, totals: { rows: number; bytes: number }): void {
  const { documents, indexes } = collection.storage();
  figures.collections += 1;
  figures.objects += totals.rows;
  figures.dataBytes += totals.bytes;
  figures.storageBytes += documents.diskBytes;
  figures.indexes += collection.indexes.length;
  for (const index of indexes.values()) figures.indexBytes += index.diskBytes;
}

async function databaseFigures(context: CommandContext): Promise<DatabaseFigures> {
  const figures = { collections: 0, views: 0, objects: 0, dataBytes: 0, storageBytes: 0, indexes: 0, indexBytes: 0 };
  await reading(context, async (txn) => {
    for (const entry of await context.server.catalog.collections(txn, context.db)) {
      if (entry.kind === 'view') figures.views += 1;
      else addCollection(figures, entry, entry.totals(txn));
    }
    // The definitions of views read as a collection.
    if (figures.views > 0) figures.collections += 1;
  });
  return figures;
}

/** Undefined where the file system does not say: statistics are given all the same. */
async function spaceAt({ files }: Env, path: string): Promise<DiskSpace | undefined> {
  try {
    return await files.space(path);
  } catch (error) {
    if (error instanceof EngineError && error.code === 'io') return undefined;
    throw error;
  }
}

const dbStats: Command = defineCommand({
  name: 'dbStats',
  aliases: ['dbstats'],
  access: 'read',
  about: 'counts and sizes of a database',
  fields: { dbStats: anyField, scale: numberField, freeStorage: boolField },
  run: async (context, { scale }) => {
    const factor = checkScale(scale, [2, 'BadValue']);
    const figures = await databaseFigures(context);
    const scaled = (bytes: number): Double => new Double(bytes / factor);
    const { dbPath } = context.server.options;
    const disk = await spaceAt(context.server.env, dbPath);
    return {
      db: context.db,
      collections: BigInt(figures.collections),
      views: BigInt(figures.views),
      objects: BigInt(figures.objects),
      avgObjSize: new Double(figures.objects === 0 ? 0 : figures.dataBytes / figures.objects),
      dataSize: scaled(figures.dataBytes),
      storageSize: scaled(figures.storageBytes),
      indexes: BigInt(figures.indexes),
      indexSize: scaled(figures.indexBytes),
      totalSize: scaled(figures.storageBytes + figures.indexBytes),
      scaleFactor: BigInt(factor),
      fsUsedSize: disk === undefined ? new Double(-1) : scaled(disk.totalBytes - disk.freeBytes),
      fsTotalSize: disk === undefined ? new Double(-1) : scaled(disk.totalBytes),
    };
  },
});

const validate: Command = defineCommand({
  name: 'validate',
  access: 'admin',
  about: 'checks that documents and index entries agree',
  fields: {
    validate: collectionField,
    full: truthyField,
    repair: truthyField,
    metadata: truthyField,
    background: truthyField,
    checkBSONConformance: truthyField,
    fixMultikey: truthyField,
    // Drivers of old servers still send it; it means nothing.
    scandata: truthyField,
  },
  run: (context, { validate: name, metadata, full, repair, background }) => {
    if (metadata === true && (full === true || repair === true || background === true)) {
      throw new CommandError(72, 'InvalidOptions', 'Running the validate command with metadata validation is not supported with any other options.');
    }
    const ns = namespaceOf(context.db, name);
    return reading(context, async (txn) => {
      const collection = await context.server.catalog.collection(txn, ns);
      if (collection === undefined) return await validateViews(context, txn, ns);
      const head = { ns: ns.text, uuid: collection.uuid };
      if (metadata === true) return { ...head, nIndexes: collection.indexes.length, ...findings(collection, []) };
      const check = await collection.check(txn, () => context.operation.turn());
      return {
        ...head,
        nInvalidDocuments: 0,
        nNonCompliantDocuments: 0,
        nrecords: integer(check.documents),
        nIndexes: collection.indexes.length,
        keysPerIndex: Document.fromEntries([...check.entries].map(([index, count]) => [index, integer(count)])),
        ...findings(collection, check.problems),
      };
    });
  },
});

/** The definitions of views are made of the catalog and have no entries that could disagree; no other collection is without a dictionary. */
async function validateViews(context: CommandContext, txn: CatalogTransaction, ns: Namespace): Promise<Reply> {
  const rows = namesViews(ns) ? await viewDefinitions(context, txn, ns.db) : undefined;
  if (rows === undefined) throw new CommandError(26, 'NamespaceNotFound', `Collection '${ns.text}' does not exist to validate.`);
  const records = integer(rows.length);
  const none = { indexes: [{ name: '_id_', spec: VIEWS_INDEX }] };
  return { ns: ns.text, nInvalidDocuments: 0, nNonCompliantDocuments: 0, nrecords: records, nIndexes: 1, keysPerIndex: Document.of({ _id_: records }), ...findings(none, []) };
}

/** What a check has found, in the words of the reply. Nothing is ever repaired in place: an index that is wrong is built anew (reIndex). */
function findings(collection: { readonly indexes: readonly Pick<Index, 'name' | 'spec'>[] }, problems: readonly string[]): Reply {
  const valid = problems.length === 0;
  return {
    indexDetails: Document.fromEntries(collection.indexes.map((index) => [index.name, Document.of({ valid, spec: index.spec })])),
    valid,
    repaired: false,
    repairMode: 'None',
    warnings: BsonArray.empty,
    errors: BsonArray.of([...problems]),
    extraIndexEntries: BsonArray.empty,
    missingIndexEntries: BsonArray.empty,
    corruptRecords: BsonArray.empty,
  };
}

export const STATISTICS_COMMANDS: readonly Command[] = [collStats, dbStats, ...DATA_SIZE_COMMANDS, validate];
