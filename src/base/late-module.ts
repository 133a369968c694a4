// Modules that are loaded when they are first wanted, by code that cannot wait: large tables and libraries that most servers never use cost neither their
// start nor memory (docs/decisions/0005-room-for-garbage.md). Node loads ES modules so too, as long as none of them awaits at its top.

import { createRequire } from 'node:module';

/**
 * Gives the module `name` as the file of the URL `from` (its `import.meta.url`) would import it, from the first call on. `M` is the type of the module:
 * `typeof` of a type-only import of it, so that the compiler sees both names side by side.
 */
export function lateModule<M>(from: string, name: string): () => M {
  let loaded: M | undefined;
  // eslint-disable-next-line frond/no-unsafe-assertion -- the caller names the module and its type in one line
  return () => (loaded ??= createRequire(from)(name) as M);
}
