// The options of dictionaries, one object for all that have the same: there may be 50,000 dictionaries, and few kinds of them.

import type { DictionaryOptions } from '../types.ts';

/** More kinds than this have objects of their own. */
const kindsMax = 256;
const kinds = new Map<string, DictionaryOptions>();

/** Equal options, perhaps shared with others. */
export function sharedOptions(options: DictionaryOptions): DictionaryOptions {
  const { compression, pageBytes, readPageBytes, fanout, largeValueBytes } = options;
  const key = [compression, pageBytes, readPageBytes, fanout, largeValueBytes].join();
  const known = kinds.get(key);
  if (known === undefined && kinds.size < kindsMax) kinds.set(key, options);
  return known ?? options;
}
