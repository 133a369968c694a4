// The engine with write sets that spill as soon as they hold a few hundred bytes.

import type { OpenEnvironment } from './history.ts';

/** Opens as `open` does, with so small a share of memory for each write set. */
export function spilling(open: OpenEnvironment): OpenEnvironment {
  return (env, path, options) => open(env, path, { ...options, spillBytes: 5000 });
}
