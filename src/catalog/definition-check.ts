// What a definition is refused for whatever command it comes with: another collection than was meant, a validator where none may be.

import { CommandError } from '../base/errors.ts';
import { equalBytes } from '../base/bytes.ts';
import { DateTime, Document, Timestamp } from '../bson/index.ts';
import type { Binary } from '../bson/index.ts';
import { compileFilter } from '../query/index.ts';
import type { FilterNode } from '../query/index.ts';
import type { Namespace } from './namespace.ts';
import type { Named } from './name-table.ts';
import { badValue, invalidOptions } from './refusal.ts';

/** Refuses another collection than the one that was meant (361). */
export function checkUuid(ns: Namespace, named: Named | undefined, expected: Binary | undefined): void {
  if (expected === undefined) return;
  const uuid = named?.kind === 'collection' ? named.uuid : undefined;
  if (uuid !== undefined && equalBytes(uuid.bytes, expected.bytes)) return;
  const details = new Map<string, unknown>([['db', ns.db], ['collectionUUID', expected], ['expectedCollection', ns.collection], ['actualCollection', null]]);
  throw new CommandError(361, 'CollectionUUIDMismatch', 'Collection UUID does not match that specified', { details });
}

/** Whether a text search stands anywhere in a filter. */
function asksForText(node: FilterNode): boolean {
  if (node.kind === 'text') return true;
  if (node.kind === 'not') return asksForText(node.child);
  return (node.kind === 'and' || node.kind === 'or') && node.children.some(asksForText);
}

const unvalidated: ReadonlySet<string> = new Set(['admin', 'local', 'config']);

/** Refuses a validator of the server's own collections (72), and one that is no filter. */
export function checkValidated(ns: Namespace, options: Document): void {
  if (!options.has('validator')) return;
  if (unvalidated.has(ns.db)) throw invalidOptions(`Document validators are not allowed on collections in the ${ns.db} database`);
  if (ns.collection.startsWith('system.')) throw invalidOptions(`Document validators not allowed on system collection ${ns.text}`);
  const validator = options.get('validator');
  if (!(validator instanceof Document)) return;
  const { shape } = compileFilter(validator, { now: new DateTime(0), clusterTime: new Timestamp(0, 0), collation: undefined }, 'match');
  if (asksForText(shape)) throw badValue('$text is not allowed in this context');
}
