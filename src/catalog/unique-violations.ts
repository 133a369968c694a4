// Before an index is made unique: which documents share a key of it. Follows the manual's page "collMod", section "Convert an Existing Index to a
// Unique Index".

import { equalBytes } from '../base/bytes.ts';
import { CommandError } from '../base/errors.ts';
import { BsonArray, Document } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';
import { eachRow } from './rows.ts';
import type { StoredCollection } from './stored-collection.ts';
import type { StoredIndex } from './stored-index.ts';
import type { CatalogTransaction, RecordKey } from './types.ts';

/** Throws 359 with the `_id`s of documents that share a key, where there are any. */
export async function checkConvertible(txn: CatalogTransaction, collection: StoredCollection, index: StoredIndex): Promise<void> {
  const groups: RecordKey[][] = [];
  let [last, keys]: [Uint8Array | undefined, RecordKey[]] = [undefined, []];
  await eachRow(index.scan(txn, {}, 1), (key, value) => {
    const { fields, recordKey } = index.entry(key, value);
    if (last === undefined || !equalBytes(last, fields)) [last, keys] = [fields.slice(), []];
    keys.push(recordKey.slice());
    if (keys.length === 2) groups.push(keys);
  });
  if (groups.length === 0) return;
  const violations: Document[] = [];
  for (const group of groups) {
    const ids: Value[] = [];
    for (const key of group) ids.push((await collection.get(txn, key))?.get('_id') ?? null);
    violations.push(Document.of({ ids: BsonArray.of(ids) }));
  }
  const text = 'Cannot convert the index to unique. Please resolve conflicting documents before running collMod again.';
  throw new CommandError(359, 'CannotConvertIndexToUnique', text, { details: new Map([['violations', BsonArray.of(violations)]]) });
}
