// How an index of a kind other than the plain one makes its entries.

import type { IndexDefinition } from '../types.ts';
import { GeoKeys } from './geo-keys.ts';
import { HashedKeys } from './hashed-keys.ts';
import type { SpecialKeys } from './special-keys.ts';
import { TextKeys } from './text-keys.ts';
import { WildcardKeys, wildcardShapeOf } from './wildcard-keys.ts';

/** Undefined for a plain index. */
export function specialKeysOf(definition: IndexDefinition): SpecialKeys | undefined {
  const { key, kind, wildcardProjection } = definition;
  if (kind === 'hashed') return new HashedKeys(key, definition);
  if (kind === 'wildcard') return new WildcardKeys(key, wildcardShapeOf(key, wildcardProjection), definition);
  if (kind === '2d' || kind === '2dsphere') return new GeoKeys(definition);
  if (kind === 'text') return new TextKeys(definition);
  return undefined;
}
