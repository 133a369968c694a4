// renameCollection. Names of the server's own collections are refused in both places; what else stands against it is the catalog's to say.
// Follows the manual's page "renameCollection".

import { CommandError } from '../../base/errors.ts';
import { utf8Length } from '../../base/text.ts';
import { Binary, type Value } from '../../bson/index.ts';
import { parseNamespace, type Namespace } from '../../catalog/index.ts';
import { defineCommand, type Command } from '../command.ts';
import { required, strictBoolField, stringField, typeText, uuidField, type Field } from '../fields.ts';
import { changing } from '../storage-scope.ts';

/** Whether a collection of the new name may be taken away: yes, no, or only the one of this UUID. */
const dropTargetField: Field<boolean | Binary> = {
  types: ['bool', 'binData'],
  required: false,
  nullIsWrong: true,
  read: (value: Value, at: string) => {
    if (typeof value === 'boolean') return value;
    if (!(value instanceof Binary)) throw new CommandError(14, 'TypeMismatch', `BSON field '${at}' is the wrong type '${typeText(value)}', expected types '[bool, binData]'`);
    if (value.subtype === 4 && value.bytes.length === 16) return value;
    throw new CommandError(207, 'InvalidUUID', 'uuid must be a 16-byte binary field with UUID (4) subtype');
  },
};

function illegal(text: string): CommandError {
  return new CommandError(20, 'IllegalOperation', text);
}

function namespaceField(text: string, role: string): Namespace {
  if (text.includes('$')) throw illegal(`${role} namespace must not contain '$': ${text}`);
  const ns = parseNamespace(text);
  if (ns.isSystem) throw illegal(`error with ${role} namespace: renaming system collections is not allowed: ${text}`);
  if (ns.db === 'local' && ns.collection.startsWith('oplog.')) throw illegal(`can't rename ${role} ${text}: it is an oplog`);
  return ns;
}

const NAMESPACE_BYTES_MAX = 255;

export const renameCollection: Command = defineCommand({
  name: 'renameCollection',
  access: 'write',
  adminOnly: true,
  about: 'gives a collection another name',
  fields: {
    renameCollection: required(stringField),
    to: required(stringField),
    dropTarget: dropTargetField,
    stayTemp: strictBoolField,
    collectionUUID: uuidField,
  },
  run: async (context, { renameCollection: from, to, dropTarget, collectionUUID: uuid }) => {
    const source = namespaceField(from, 'source');
    const target = namespaceField(to, 'target');
    if (utf8Length(target.text) > NAMESPACE_BYTES_MAX) throw illegal(`collection name is too long: ${target.text}`);
    await changing(context, (txn) => context.server.catalog.rename(txn, source, target, { dropTarget: dropTarget ?? false, uuid }));
    for (const ns of [source, target]) {
      context.server.cursors.collectionGone(ns.db, ns.collection);
      context.server.monitor.plans.clear(ns.text);
    }
    return {};
  },
});
