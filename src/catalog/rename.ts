// Renaming a collection: both names are locked, what stood under the new one goes where that was asked for. Follows the manual's page `renameCollection`.

import { CommandError } from '../base/errors.ts';
import { Binary } from '../bson/index.ts';
import { checkUuid } from './definition-check.ts';
import type { NameRows } from './name-rows.ts';
import type { Named } from './name-table.ts';
import type { Namespace } from './namespace.ts';
import { checkCreatable } from './namespace.ts';
import { noteRename } from './oplog/definition-notes.ts';
import { namespaceExists } from './refusal.ts';
import type { StoredTransaction } from './transaction.ts';
import type { Catalog, RenameChoices } from './types.ts';

/** What a renaming works on. */
export interface RenameParts {
  readonly catalog: Pick<Catalog, 'databases'>;
  readonly rows: NameRows;
}

/** What is to be renamed. */
export interface Renaming {
  readonly from: Namespace;
  readonly to: Namespace;
  readonly choices: RenameChoices;
}

/** Whether a rename, of a series only where it was meant, cannot take what stands there. */
function isFixed(named: Named, { series }: RenameChoices): boolean {
  return named.kind === 'view' || (named.options.timeSeries !== undefined && series !== true);
}

/** Renames with the transaction. */
export async function renameCollection({ catalog, rows }: RenameParts, txn: StoredTransaction, { from, to, choices }: Renaming): Promise<void> {
  checkCreatable(to);
  await checkCase(catalog, txn, to.db);
  if (from.text === to.text) throw new CommandError(20, 'IllegalOperation', "Can't rename a collection to itself");
  const source = await rows.lock(txn, from);
  if (source === undefined) throw new CommandError(26, 'NamespaceNotFound', `Source collection ${from.text} does not exist`);
  if (source.kind === 'collection' && source.state.build !== undefined) {
    throw new CommandError(12587, 'BackgroundOperationInProgressForNamespace', `cannot rename ${from.text}: an index build is in progress`);
  }
  if (isFixed(source, choices)) throw new CommandError(166, 'CommandNotSupportedOnView', `cannot rename view or time series: ${from.text}`);
  checkUuid(from, source, choices.uuid);
  const target = await rows.lock(txn, to);
  const { dropTarget } = choices;
  if (dropTarget instanceof Binary) checkUuid(to, target, dropTarget);
  if (target !== undefined) {
    if (isFixed(target, choices)) throw namespaceExists(`a view or time series already exists with that name: ${to.text}`);
    if (dropTarget === false) throw namespaceExists('target namespace exists');
    await rows.remove(txn, to, target, 'by-rename');
  }
  noteRename(txn, source, to, target);
  await rows.forget(txn, from, source);
  await rows.put(txn, to, source, source.entry);
}

/** Two databases may not differ in their case alone (13297). */
async function checkCase(catalog: Pick<Catalog, 'databases'>, txn: StoredTransaction, db: string): Promise<void> {
  const other = (await catalog.databases(txn)).find((name) => name !== db && name.toLowerCase() === db.toLowerCase());
  if (other === undefined) return;
  throw new CommandError(13297, 'DatabaseDifferCase', `db already exists with different case already have: [${other}] trying to create [${db}]`);
}
