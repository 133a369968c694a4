// Which documents can be changed without being read, and the writing of it (server.md; fast-update.ts has what becomes of them). An update is written so
// where nobody needs to know its result: no index entry changes, no validator asks, no image of the document is kept, and no log tells of it.

import { Document } from '../bson/index.ts';
import type { Soon } from '../engine/index.ts';
import { unsizedKey } from './entry.ts';
import { isFast, operatorsFunction } from './fast-update.ts';
import { afterSoon } from './soon.ts';
import type { StoredCollection } from './stored-collection.ts';
import type { StoredTransaction } from './transaction.ts';
import type { IndexDefinition, RecordKey } from './types.ts';

/** The paths that an update writes; undefined where it is none that can be written without a read. */
function fastPaths(update: Document): readonly string[] | undefined {
  if (update.isEmpty || !isFast(update)) return undefined;
  const paths = update.fields.flatMap(([, fields]) => (fields instanceof Document ? fields.keys() : []));
  return paths.every((path) => path.split('.').every(isPlainPart) && !overlap(path, '_id')) ? paths : undefined;
}

/** Whether entries of the index are the same whatever is written to these paths. */
function isUntouched(index: IndexDefinition, paths: readonly string[]): boolean {
  if (index.clustering || index.partialFilter !== undefined || index.kind !== 'plain') return false;
  return index.paths.every((indexed) => paths.every((path) => !overlap(indexed, path)));
}

/** A number may name an element of an array, which an index reaches by a shorter path. */
const isPlainPart = (part: string): boolean => part !== '' && !part.startsWith('$') && !/^[0-9]+$/.test(part);

function overlap(a: string, b: string): boolean {
  return a === b || a.startsWith(`${b}.`) || b.startsWith(`${a}.`);
}

/** Whether documents of the collection can be changed so without being looked at. */
export function canUpdateFast(collection: StoredCollection, update: Document, bypassValidation: boolean): boolean {
  const { options, kept, isKeyedById, partitions } = collection;
  if (!isKeyedById || partitions !== undefined || options.capped !== undefined || options.timeSeries !== undefined || options.keepsImages === true) return false;
  if (options.validator !== undefined && !bypassValidation) return false;
  const paths = fastPaths(update);
  return paths !== undefined && kept.every((index) => isUntouched(index, paths));
}

/** Notes that bytes of the collection are not counted exactly from now on: what the update makes of the document's size nobody knows. */
function noteUnsized(txn: StoredTransaction, { state, dictionary, catalogDictionary }: StoredCollection): Soon<void> {
  const { unsized } = state;
  if (unsized.isKnown || txn.hasFlag(unsized, 0)) return undefined;
  txn.addFlag(unsized, 0);
  return txn.engine.putCovered(catalogDictionary, unsizedKey(dictionary), new Uint8Array(0));
}

/** Writes the update with the document's lock, and without a read. */
export function updateFast(txn: StoredTransaction, collection: StoredCollection, key: RecordKey, update: Document): Soon<void> {
  return afterSoon(txn.willWrite(collection), () =>
    afterSoon(txn.engine.update(collection.dictionary, key, operatorsFunction, update.toBytes()), () => noteUnsized(txn, collection)),
  );
}
