// create, drop, dropDatabase and renameCollection. What a collection may be told is the catalog's to judge; here the fields are read.

import { CommandError } from '../../base/errors.ts';
import { Document, equalValues } from '../../bson/index.ts';
import { namespaceOf, type Namespace } from '../../catalog/index.ts';
import { defineCommand, type Command, type CommandContext } from '../command.ts';
import {
  anyField,
  arrayField,
  boolField,
  collectionField,
  numberField,
  objectField,
  required,
  stringField,
  wordField,
  type Field,
  type FieldTable,
} from '../fields.ts';
import { GENERIC_FIELD_NAMES } from '../generic-field-names.ts';
import { changing, reading } from '../storage-scope.ts';
import { renameCollection } from './rename.ts';
import { checkViewPipeline } from './view-pipeline.ts';

const boundedSize: Field<number> = numberField;

const CREATE_FIELDS = {
  create: collectionField,
  capped: boolField,
  size: boundedSize,
  max: boundedSize,
  autoIndexId: boolField,
  idIndex: objectField,
  storageEngine: objectField,
  validator: objectField,
  validationLevel: wordField(['off', 'strict', 'moderate']),
  validationAction: wordField(['error', 'warn', 'errorAndLog']),
  indexOptionDefaults: objectField,
  viewOn: stringField,
  pipeline: arrayField,
  collation: objectField,
  timeseries: objectField,
  expireAfterSeconds: anyField,
  clusteredIndex: anyField,
  changeStreamPreAndPostImages: objectField,
  encryptedFields: objectField,
  temp: boolField,
  flags: numberField,
  recordIdsReplicated: boolField,
  primaryKey: anyField,
  partitioned: boolField,
  compression: anyField,
  pageSize: anyField,
  readPageSize: anyField,
  fanout: anyField,
} satisfies FieldTable;

/** What the command says of the collection: its fields but the name, those of every command left out. */
function saidFields(context: CommandContext): Document {
  const said = context.request.body.fields.slice(1).filter(([field, value]) => !GENERIC_FIELD_NAMES.has(field) && (value !== null || field === 'clusteredIndex'));
  return Document.fromEntries(said);
}

const create: Command = defineCommand({
  name: 'create',
  access: 'write',
  inTransaction: 'yes',
  about: 'makes a collection or a view',
  fields: CREATE_FIELDS,
  run: async (context, { create: name, viewOn, pipeline }) => {
    const ns = namespaceOf(context.db, name);
    if (viewOn !== undefined && viewOn !== '') checkViewPipeline(context, pipeline, viewOn);
    const { catalog } = context.server;
    await changing(context, async (txn) => {
      // By itself the command may find what it is to make; in a transaction that is a mistake.
      if (context.transaction !== undefined && (await catalog.lookup(txn, ns)) !== undefined) throw new CommandError(48, 'NamespaceExists', `Collection ${ns.text} already exists.`);
      return catalog.create(txn, ns, saidFields(context));
    });
    return {};
  },
});

const drop: Command = defineCommand({
  name: 'drop',
  access: 'write',
  about: 'drops a collection or a view',
  fields: { drop: collectionField, collectionUUID: anyField },
  run: async (context, { drop: name }) => {
    const ns = namespaceOf(context.db, name);
    try {
      const { nIndexesWas } = await changing(context, (txn) => context.server.catalog.drop(txn, ns));
      context.server.cursors.collectionGone(ns.db, ns.collection);
      context.server.monitor.forget(ns.db, ns.collection);
      return { nIndexesWas: nIndexesWas === 0 ? undefined : nIndexesWas, ns: ns.text };
    } catch (error) {
      // Since MongoDB 7.0 dropping what is not there succeeds.
      if (error instanceof CommandError && error.code === 26) return {};
      throw error;
    }
  },
});

const dropDatabase: Command = defineCommand({
  name: 'dropDatabase',
  access: 'write',
  about: 'drops all collections of a database',
  fields: { dropDatabase: required(numberField) },
  run: async (context, { dropDatabase: one }) => {
    if (one !== 1) throw new CommandError(5255100, 'Location5255100', "Have to pass 1 as 'dropDatabase' parameter");
    const { db, server } = context;
    if (db === 'admin' || db === 'config' || db === 'local') {
      throw new CommandError(20, 'IllegalOperation', `Dropping the '${db}' database is prohibited.`);
    }
    const wasThere = await changing(context, (txn) => server.catalog.dropDatabase(txn, db));
    server.cursors.collectionGone(db, undefined);
    server.monitor.forget(db);
    return { dropped: wasThere ? db : undefined };
  },
});

/** An index that is hidden or shown is counted from nothing again. */
async function forgetUses(context: CommandContext, ns: Namespace, index: Document): Promise<void> {
  const { catalog, monitor } = context.server;
  monitor.plans.clear(ns.text);
  const collection = await reading(context, async (txn) => catalog.collection(txn, ns));
  const pattern = index.get('keyPattern');
  const found = collection?.indexes.find(({ name, key }) => name === index.get('name') || (pattern instanceof Document && equalValues(key, pattern)));
  if (found !== undefined) monitor.forgetIndex(ns.text, found.name);
}

const COLL_MOD_FIELDS = {
  collMod: collectionField,
  index: objectField,
  validator: objectField,
  validationLevel: wordField(['off', 'strict', 'moderate']),
  validationAction: wordField(['error', 'warn', 'errorAndLog']),
  viewOn: stringField,
  pipeline: arrayField,
  changeStreamPreAndPostImages: objectField,
  expireAfterSeconds: anyField,
  timeseries: objectField,
  cappedSize: numberField,
  cappedMax: numberField,
  recordPreImages: boolField,
  dryRun: boolField,
} satisfies FieldTable;

const collMod: Command = defineCommand({
  name: 'collMod',
  access: 'write',
  about: 'changes the options of a collection, a view or an index',
  fields: COLL_MOD_FIELDS,
  run: async (context, { collMod: name, index, viewOn, pipeline }) => {
    const ns = namespaceOf(context.db, name);
    checkViewPipeline(context, pipeline, viewOn ?? name);
    if (viewOn?.startsWith('$') === true) throw new CommandError(73, 'InvalidNamespace', `Invalid namespace specified '${context.db}.${viewOn}'`);
    if (ns.text === 'local.oplog.rs') throw new CommandError(72, 'InvalidOptions', 'the size of the oplog is a setting of the server');
    const { catalog } = context.server;
    const said = saidFields(context);
    const made = await catalog.makeUnique(ns, said, () => context.operation.turn());
    const reply = made ?? (await changing(context, (txn) => catalog.modify(txn, ns, said)));
    if (index !== undefined && reply.has('hidden_new')) await forgetUses(context, ns, index);
    return reply;
  },
});

export const CREATE_COMMANDS: readonly Command[] = [create, drop, dropDatabase, renameCollection, collMod];
