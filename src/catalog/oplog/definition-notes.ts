// Changes of the catalog as MongoDB's oplog tells them: commands on `db.$cmd` whose document names the collection without its database.

import { equalBytes } from '../../base/bytes.ts';
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

const sameDocument = (a: Document, b: Document): boolean => equalBytes(a.toBytes(), b.toBytes());

/** Options or indexes of a collection, or what a view shows, are changed. */
export function noteDefinition(txn: StoredTransaction, before: Named, entry: NameEntry): void {
  const { db, collection } = before.ns;
  if (!txn.logs(db)) return;
  if (before.kind === 'view' || entry.kind === 'view') {
    note(txn, { db }, [['collMod', collection], ...entry.options.fields]);
    return;
  }
  const place = { db, uuid: before.uuid };
  const old = before.entry;
  if (!sameDocument(old.options, entry.options)) {
    note(txn, place, [['collMod', collection], ...changedOptions(old.options, entry.options)], Document.of({ collectionOptions_old: old.options }));
  }
  const whole = (rows: Rows): Rows => rows.filter(({ building }) => !building);
  noteIndexes(txn, place, collection, { before: whole(old.indexes), after: whole(entry.indexes) });
}

function changedOptions(before: Document, after: Document): [string, Value][] {
  const same = (name: string): boolean => {
    const [left, right] = [before.get(name), after.get(name)];
    return left !== undefined && right !== undefined && sameDocument(Document.of({ v: left }), Document.of({ v: right }));
  };
  return after.fields.filter(([name]) => !same(name)).map(([name, value]) => [name, value]);
}

type Rows = Extract<NameEntry, { readonly kind: 'collection' }>['indexes'];

function noteIndexes(
  txn: StoredTransaction,
  place: { readonly db: string; readonly uuid: Binary },
  collection: string,
  { before, after }: { readonly before: Rows; readonly after: Rows },
): void {
  const nameOf = (spec: Document): Value => spec.get('name') ?? '';
  for (const { spec, dictionary } of after) {
    const old = before.find((row) => row.dictionary === dictionary);
    if (old === undefined) note(txn, place, [['createIndexes', collection], ...spec.fields.map(([name, value]): [string, Value] => [name, value])]);
    else if (!sameDocument(old.spec, spec)) {
      const changed = changedOptions(old.spec, spec).map(([name, value]): [string, Value] => [name, value]);
      note(txn, place, [['collMod', collection], ['index', Document.fromEntries([['name', nameOf(spec)], ...changed])]]);
    }
  }
  for (const { spec, dictionary } of before) {
    if (after.some((row) => row.dictionary === dictionary)) continue;
    note(txn, place, [['dropIndexes', collection], ['index', nameOf(spec)]], spec);
  }
}
