// `$listClusterCatalog`: the collections and views of a database, or of all of them. Follows the manual's page of the stage.

import { CommandError } from '../../../base/errors.ts';
import { BsonArray, Document, type Value } from '../../../bson/index.ts';
import type { Namespace } from '../../../catalog/index.ts';
import { parseFields, strictBoolField, type FieldTable } from '../../fields.ts';
import type { SystemStage } from './system-stage.ts';

const flag = { ...strictBoolField, nullIsWrong: true };
const FIELDS = { shards: flag, tracked: flag, balancingConfiguration: flag } satisfies FieldTable;

function rowOf({ ns, row }: { ns: Namespace; row: Document }, asked: { readonly shards: boolean; readonly tracked: boolean }): Document {
  const fields: [string, Value][] = [
    ['ns', ns.text],
    ['db', ns.db],
  ];
  for (const name of ['type', 'idIndex', 'options', 'info']) {
    const value = row.get(name);
    if (value !== undefined) fields.push([name, value]);
  }
  fields.push(['sharded', false]);
  if (asked.tracked) fields.push(['tracked', false]);
  if (asked.shards) fields.push(['shards', BsonArray.empty]);
  return Document.fromEntries(fields);
}

export const listClusterCatalog: SystemStage = async ({ context, txn, database, target, specification }) => {
  if (target !== undefined) throw new CommandError(9621301, 'Location9621301', 'The $listClusterCatalog stage must be run on a database with {aggregate: 1}');
  const asked = parseFields('$listClusterCatalog', specification, FIELDS);
  const { catalog } = context.server;
  const rows: Document[] = [];
  for (const name of database === 'admin' ? await catalog.databases(txn) : [database]) {
    for (const entry of await catalog.collections(txn, name)) {
      rows.push(rowOf({ ns: entry.ns, row: entry.describe() }, { shards: asked.shards === true, tracked: asked.tracked === true }));
    }
  }
  return rows;
};
