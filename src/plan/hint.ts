// Which index a hint means: a name, a key pattern, or the collection itself (`$natural`). Texts as MongoDB's.

import { CommandError } from '../base/errors.ts';
import { Document, equalValues, isNumber } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';
import { equalKeys } from '../catalog/index.ts';
import type { Collection, Direction, Index } from '../catalog/index.ts';

export type Hinted = { readonly kind: 'index'; readonly index: Index } | { readonly kind: 'natural'; readonly direction: Direction };

/** What the hint means; undefined where there is none (an empty document is none). 2 for one that means no index. */
export function hintedIndex(collection: Collection, hint: Value | undefined): Hinted | undefined {
  if (hint === undefined || (hint instanceof Document && hint.isEmpty)) return undefined;
  if (typeof hint === 'string') return found(collection.indexes.find((index) => index.name === hint));
  if (!(hint instanceof Document)) throw new CommandError(9, 'FailedToParse', 'hint must be either a string or nested object');
  const natural = hint.get('$natural');
  if (natural !== undefined && hint.fields.length > 1) throw new CommandError(2, 'BadValue', '$natural hint cannot be combined with other fields');
  if (natural !== undefined) return { kind: 'natural', direction: naturalDirection(natural) };
  return found(collection.indexes.find((index) => equalKeys(index.key, hint)));
}

function naturalDirection(value: Value): Direction {
  if (isNumber(value) && equalValues(value, 1)) return 1;
  if (isNumber(value) && equalValues(value, -1)) return -1;
  throw new CommandError(2, 'BadValue', '$natural hint may only accept 1 or -1');
}

function found(index: Index | undefined): Hinted {
  if (index === undefined || index.hidden) throw badHint('hint provided does not correspond to an existing index');
  return { kind: 'index', index };
}

/** The refusal of a hint. */
export function badHint(reason: string): CommandError {
  return new CommandError(2, 'BadValue', `error processing query: planner returned error :: caused by :: ${reason}`);
}
