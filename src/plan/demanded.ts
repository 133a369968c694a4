// Conditions that demand an index of their kind: searches of texts and the nearest of places. Everything else may be answered by a scan.

import { CommandError } from '../base/errors.ts';
import type { Collection } from '../catalog/index.ts';
import { collectionAccess } from './access.ts';
import type { Access, Wanted } from './access.ts';
import type { Conditions } from './conditions.ts';
import { nearAccess, nearNodeOf } from './geo-near.ts';
import type { Hinted } from './hint.ts';
import { bindAlternatives, searchOf, textAccess } from './text.ts';

/** What is asked: by which conditions, for what, with which hint, and whether for few rows. */
export interface Demand {
  readonly conditions: Conditions;
  readonly wanted: Wanted;
  readonly hinted: Hinted | undefined;
  readonly few: boolean;
}

/** The only way to what such conditions ask for; undefined where there are none. */
export function demandedAccess(collection: Collection, { conditions, wanted, hinted, few }: Demand): Access | undefined {
  const search = searchOf(conditions);
  if (search !== undefined) {
    if (hinted !== undefined) throw new CommandError(2, 'BadValue', 'text and hint not allowed in same query');
    return textAccess(collection, search, conditions, wanted);
  }
  if (bindAlternatives(collection, conditions)) return collectionAccess(collection, conditions, 1);
  const near = nearNodeOf(conditions);
  if (near === undefined) return undefined;
  const indexes = hinted?.kind === 'index' ? [hinted.index] : collection.indexes.filter((index) => !index.hidden);
  return nearAccess(collection, conditions, near, { indexes, wanted, few });
}
