// TokuMX's commands for partitioned collections: getPartitionInfo, addPartition, convertToPartitioned and dropPartition, with its error codes.

import { BsonArray, Document } from '../../bson/index.ts';
import { CommandError } from '../../base/errors.ts';
import { namespaceOf } from '../../catalog/index.ts';
import { defineCommand, type Command } from '../command.ts';
import { anyField, collectionField, numberField, objectField, required } from '../fields.ts';
import { changing, reading } from '../storage-scope.ts';
import { noteWrite } from '../note-write.ts';

const getPartitionInfo: Command = defineCommand({
  name: 'getPartitionInfo',
  access: 'read',
  inTransaction: 'yes',
  about: 'the partitions of a partitioned collection',
  fields: { getPartitionInfo: collectionField },
  run: (context, { getPartitionInfo: name }) => {
    const ns = namespaceOf(context.db, name);
    return reading(context, async (txn) => {
      const collection = await context.server.catalog.collection(txn, ns);
      if (collection === undefined) throw new CommandError(17297, 'Location17297', 'getPartitionInfo no such collection');
      const partitions = collection.partitionInfo();
      if (partitions === undefined) throw new CommandError(17298, 'Location17298', 'collection must be partitioned');
      const shown = partitions.map(({ id, max, created }) => Document.of({ _id: BigInt(id), createTime: created, max }));
      return { numPartitions: BigInt(shown.length), partitions: BsonArray.of(shown) };
    });
  },
});

const addPartition: Command = defineCommand({
  name: 'addPartition',
  access: 'write',
  inTransaction: 'yes',
  about: 'ends the last partition of a collection and adds one behind it',
  fields: { addPartition: collectionField, newMax: objectField, force: anyField, info: anyField },
  run: async (context, { addPartition: name, newMax }) => {
    const { server, transaction } = context;
    await server.catalog.addPartition(namespaceOf(context.db, name), newMax, transaction?.storage);
    if (transaction === undefined) noteWrite(server);
    return {};
  },
});

const convertToPartitioned: Command = defineCommand({
  name: 'convertToPartitioned',
  access: 'write',
  inTransaction: 'yes',
  about: 'makes a collection a partitioned one, whose documents are its first partition',
  fields: { convertToPartitioned: collectionField },
  run: async (context, { convertToPartitioned: name }) => {
    const { server, transaction } = context;
    const ns = namespaceOf(context.db, name);
    await server.catalog.convertToPartitioned(ns, transaction?.storage);
    if (transaction === undefined) noteWrite(server);
    server.cursors.collectionGone(ns.db, ns.collection);
    return {};
  },
});

const dropPartition: Command = defineCommand({
  name: 'dropPartition',
  access: 'write',
  inTransaction: 'yes',
  about: 'drops a partition with all its documents',
  fields: { dropPartition: collectionField, id: required(numberField), force: anyField },
  run: async (context, { dropPartition: name, id }) => {
    await changing(context, (txn) => context.server.catalog.dropPartition(txn, namespaceOf(context.db, name), id));
    return {};
  },
});

export const PARTITION_COMMANDS: readonly Command[] = [getPartitionInfo, addPartition, convertToPartitioned, dropPartition];
