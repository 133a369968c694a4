// Which indexes `dropIndexes` means: `*`, a name, several names, or a key pattern (manual: "dropIndexes").

import { describeValue, Document } from '../bson/index.ts';
import { CommandError } from '../base/errors.ts';
import { equalKeys } from './index-spec.ts';
import { indexNotFound, invalidOptions } from './refusal.ts';
import type { StoredCollection } from './stored-collection.ts';
import type { StoredIndex } from './stored-index.ts';
import type { IndexChoice } from './types.ts';

const noPrimary = (): CommandError => invalidOptions('cannot drop _id index');

/** Whether an index is part of what the collection is: that on `_id`, and the primary key. */
const isOwn = (index: StoredIndex): boolean => index.name === '_id_' || index.isPrimary;

function droppable(index: StoredIndex): StoredIndex {
  if (index.name === '_id_') throw noPrimary();
  if (index.isPrimary) throw invalidOptions('cannot drop the primary key');
  return index;
}

/** The secondary indexes to drop; 27 where there is none of that name or key, 72 for the `_id` index. */
export function chooseIndexes(collection: StoredCollection, which: IndexChoice): readonly StoredIndex[] {
  if (which === '*') return collection.indexes.filter((index) => !isOwn(index));
  if (typeof which === 'string') return [byName(collection, which)];
  if (which instanceof Document) return [byKey(collection, which)];
  if (new Set(which).size < which.length) throw indexNotFound(`index not found with name [${which.find((name, i) => which.indexOf(name) < i) ?? ''}]`);
  return which.map((name) => byName(collection, name));
}

function byName(collection: StoredCollection, name: string): StoredIndex {
  const found = collection.indexes.find((index) => index.name === name);
  if (found === undefined) throw indexNotFound(`index not found with name [${name}]`);
  return droppable(found);
}

function byKey(collection: StoredCollection, key: Document): StoredIndex {
  const found = collection.indexes.filter((index) => equalKeys(index.key, key));
  const [first] = found;
  if (first === undefined) throw indexNotFound(`can't find index with key: ${describeValue(key)}`);
  if (found.length > 1) {
    throw new CommandError(
      181,
      'AmbiguousIndexKeyPattern',
      `${found.length} indexes found for key: ${describeValue(key)}, identify by name instead. Conflicting indexes: ${found.map((index) => describeValue(index.spec)).join(', ')}`,
    );
  }
  return droppable(first);
}
