// collStats, dbStats, dataSize and validate: exact counts and sizes, which the catalog keeps with every commit.

import { CommandError } from '../../base/errors.ts';
import { BsonArray, Document, Double, type Value } from '../../bson/index.ts';
import { namespaceOf, parseNamespace, type Collection } from '../../catalog/index.ts';
import { defineCommand, type Command, type CommandContext, type Reply } from '../command.ts';
import { anyField, boolField, collectionField, numberField, objectField, required, stringField, truthyField } from '../fields.ts';
import { reading } from '../storage-scope.ts';

/** A count as MongoDB's replies have it: an int32 where it fits, else an int64. */
function integer(value: number): Value {
  const whole = Math.floor(value);
  return Math.abs(whole) < 0x80000000 ? whole : BigInt(whole);
}

function checkScale(scale: number | undefined): number {
  if (scale === undefined) return 1;
  if (scale >= 1) return scale;
  throw new CommandError(51024, 'Location51024', `BSON field 'scale' value must be >= 1, actual value '${String(scale)}'`);
}

function withCollection<T>(
  context: CommandContext,
  name: string,
  work: (collection: Collection | undefined, totals: { rows: number; bytes: number }) => T,
): Promise<T> {
  const ns = namespaceOf(context.db, name);
  return reading(context, async (txn) => {
    const collection = await context.server.catalog.collection(txn, ns);
    return work(collection, collection?.totals(txn) ?? { rows: 0, bytes: 0 });
  });
}

/** The figures of one collection, as collStats and the stage of that name tell them. */
export function collectionFigures(ns: string, collection: Collection | undefined, totals: { rows: number; bytes: number }, scale: number): Reply {
  const scaled = (bytes: number): Value => integer(bytes / scale);
  if (collection === undefined) {
    const none = { size: 0, count: 0, numOrphanDocs: 0, storageSize: 0, totalSize: 0, nindexes: 0, totalIndexSize: 0 };
    return { ns, ...none, indexDetails: Document.empty, indexSizes: Document.empty, scaleFactor: integer(scale) };
  }
  const { documents, indexes } = collection.storage();
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
    indexDetails: Document.empty,
    totalIndexSize: scaled(indexBytes),
    totalSize: scaled(documents.diskBytes + indexBytes),
    indexSizes: Document.fromEntries(sizes.map(([name, bytes]) => [name, scaled(bytes)])),
    scaleFactor: integer(scale),
  };
}

const collStats: Command = defineCommand({
  name: 'collStats',
  aliases: ['collstats'],
  access: 'read',
  about: 'counts and sizes of a collection',
  fields: { collStats: collectionField, scale: numberField, verbose: boolField, waitForLock: boolField, numericOnly: boolField },
  run: (context, { collStats: name, scale }) => {
    const factor = checkScale(scale);
    return withCollection(context, name, (collection, totals) =>
      collectionFigures(`${context.db}.${name}`, collection, totals, factor),
    );
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
  });
  return figures;
}

const dbStats: Command = defineCommand({
  name: 'dbStats',
  aliases: ['dbstats'],
  access: 'read',
  about: 'counts and sizes of a database',
  fields: { dbStats: anyField, scale: numberField, freeStorage: numberField },
  run: async (context, { scale }) => {
    const factor = checkScale(scale);
    const figures = await databaseFigures(context);
    const scaled = (bytes: number): Double => new Double(bytes / factor);
    const { dbPath } = context.server.options;
    const free = await context.server.env.files.freeBytes(dbPath).catch(() => 0);
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
      fsUsedSize: scaled(figures.storageBytes + figures.indexBytes),
      fsTotalSize: scaled(free + figures.storageBytes + figures.indexBytes),
    };
  },
});

const dataSize: Command = defineCommand({
  name: 'dataSize',
  aliases: ['datasize'],
  access: 'read',
  about: 'bytes of the documents of a collection',
  fields: { dataSize: required(stringField), keyPattern: objectField, min: objectField, max: objectField, estimate: boolField },
  run: (context, { dataSize: text }) => {
    const ns = parseNamespace(text);
    return reading(context, async (txn) => {
      const collection = await context.server.catalog.collection(txn, ns);
      const { rows, bytes } = collection?.totals(txn) ?? { rows: 0, bytes: 0 };
      return { estimate: false, size: BigInt(bytes), numObjects: BigInt(rows), millis: 0n };
    });
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
  },
  run: (context, { validate: name, metadata, full, repair }) => {
    if (metadata === true && (full === true || repair === true)) {
      throw new CommandError(72, 'InvalidOptions', 'Running the validate command with metadata validation is not supported with any other options.');
    }
    const ns = namespaceOf(context.db, name);
    return reading(context, async (txn) => {
      const collection = await context.server.catalog.collection(txn, ns);
      if (collection === undefined) {
        throw new CommandError(26, 'NamespaceNotFound', `Collection '${ns.text}' does not exist to validate.`);
      }
      const check = await collection.check(txn, () => {
        context.operation.checkInterrupt();
      });
      const valid = check.problems.length === 0;
      return {
        ns: ns.text,
        uuid: collection.uuid,
        nInvalidDocuments: 0,
        nNonCompliantDocuments: 0,
        nrecords: integer(check.documents),
        nIndexes: collection.indexes.length,
        keysPerIndex: Document.fromEntries([...check.entries].map(([index, count]) => [index, integer(count)])),
        indexDetails: Document.fromEntries(collection.indexes.map((index) => [index.name, Document.of({ valid })])),
        valid,
        repaired: false,
        warnings: BsonArray.empty,
        errors: BsonArray.of([...check.problems]),
        extraIndexEntries: BsonArray.empty,
        missingIndexEntries: BsonArray.empty,
        corruptRecords: BsonArray.empty,
      };
    });
  },
});

export const STATISTICS_COMMANDS: readonly Command[] = [collStats, dbStats, dataSize, validate];
