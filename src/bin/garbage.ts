// How much garbage the server lets lie (decision 5): room for it is not in the cache's budget, so the collector of V8 gets little. The settings hold from
// the moment they are made, so they are made before the program is loaded: loading would let the nursery grow to its largest size, 48 MB of memory that
// a server under load never gives back.

import { setFlagsFromString } from 'node:v8';

/**
 * The nursery stays at its first size while the program is loaded (`watchGarbage` makes it what it shall be), and the heap grows by as much as it is, or by 20 MiB (`watchGarbage` goes on from here), before the collector looks
 * at everything: most of what a server makes is dead after one request. Measured in docs/benchmarks.md.
 */
export function keepGarbageSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  // A small nursery is looked through in a tenth of a millisecond; other threads would have to be woken and waited for, long where the machine is busy.
  setFlagsFromString('--no-parallel-scavenge');
  setFlagsFromString('--heap-growing-percent=100');
}
