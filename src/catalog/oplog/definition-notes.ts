// Changes of the catalog as MongoDB's oplog tells them: commands on `db.$cmd` whose document names the collection without its database.

import { Document } from '../../bson/index.ts';
import type { Binary, Value } from '../../bson/index.ts';
import type { NameEntry } from '../entry.ts';
import { primarySpec } from '../index-spec.ts';
import type { Namespace } from '../namespace.ts';
import type { Named } from '../name-table.ts';
import type { StoredTransaction } from '../transaction.ts';

function note(txn: StoredTransaction, { db, uuid }: { readonly db: string; readonly uuid?: Binary | undefined }, o: readonly (readonly [string, Value])[], o2?: Document): void {
  txn.note({ kind: 'command', space: { ns: `${db}.$cmd`, uuid }, o: Document.fromEntries(o), o2 });
}

const uuidOf = (named: Named): Binary | undefined => (named.kind === 'collection' ? named.uuid : undefined);

/** A collection or view comes into being. */
export function noteCreate(txn: StoredTransaction, { db, collection }: Namespace, entry: NameEntry): void {
  if (!txn.logs(db)) return;
  const fields: (readonly [string, Value])[] = [['create', collection], ...entry.options.fields];
  if (entry.kind === 'collection') fields.push(['idIndex', primarySpec]);
  note(txn, { db, uuid: entry.kind === 'collection' ? entry.uuid : undefined }, fields);
}

/** A collection or view is dropped. */
export function noteDrop(txn: StoredTransaction, named: Named): void {
  const { db, collection } = named.ns;
  if (txn.logs(db)) note(txn, { db, uuid: uuidOf(named) }, [['drop', collection]]);
}

/** A whole database is dropped; its collections were before. */
export function noteDropDatabase(txn: StoredTransaction, db: string): void {
  if (txn.logs(db)) note(txn, { db }, [['dropDatabase', 1]]);
}

/** A collection takes another name, and with it the place of `target`. */
export function noteRename(txn: StoredTransaction, source: Named, to: Namespace, target: Named | undefined): void {
  const { db, text } = source.ns;
  if (!txn.logs(db)) return;
  const fields: [string, Value][] = [['renameCollection', text], ['to', to.text], ['stayTemp', false]];
  const dropped = target === undefined ? undefined : uuidOf(target);
  if (dropped !== undefined) fields.push(['dropTarget', dropped]);
  note(txn, { db, uuid: uuidOf(source) }, fields);
}

/** A collection or view is changed by `collMod`, which says `changes`; also where it says nothing new. */
export function noteModify(txn: StoredTransaction, before: Named, changes: Document): void {
  const { db, collection } = before.ns;
  if (!txn.logs(db)) return;
  const { entry } = before;
  note(txn, { db, uuid: uuidOf(before) }, [['collMod', collection], ...changes.fields], Document.of({ collectionOptions_old: entry.options }));
}

/** A part of a partitioned collection comes or goes. */
export function notePartitions(txn: StoredTransaction, { ns, uuid }: { readonly ns: Namespace; readonly uuid: Binary }, command: Document): void {
  if (txn.logs(ns.db)) note(txn, { db: ns.db, uuid }, command.fields);
}

/** Indexes of a collection come or go. */
export function noteIndexes(txn: StoredTransaction, before: Named, entry: NameEntry): void {
  const { db, collection } = before.ns;
  if (!txn.logs(db) || before.kind === 'view' || entry.kind === 'view') return;
  const place = { db, uuid: before.uuid };
  const whole = (rows: Rows): Rows => rows.filter(({ building }) => !building);
  const [old, fresh] = [whole(before.entry.indexes), whole(entry.indexes)];
  const isIn = (rows: Rows, { dictionary }: Rows[number]): boolean => rows.some((row) => row.dictionary === dictionary);
  for (const row of fresh) if (!isIn(old, row)) note(txn, place, [['createIndexes', collection], ...row.spec.fields]);
  for (const row of old) if (!isIn(fresh, row)) note(txn, place, [['dropIndexes', collection], ['index', row.spec.get('name') ?? '']], row.spec);
}

type Rows = Extract<NameEntry, { readonly kind: 'collection' }>['indexes'];
