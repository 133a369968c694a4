// The n-th I/O of every way to write fails in every way. FROND_NTH_STRIDE=1 takes every n.

import { test } from 'node:test';
import { openEnvironment } from '../../src/engine/index.ts';
import { deaths, faults, paths, prepare, runPath } from './nth-paths.ts';

const stride = Number(process.env['FROND_NTH_STRIDE'] ?? 41);
let begins = 0;

for (const [name, path] of Object.entries(paths)) {
  test(`${name}: whole or not at all at any fault, and nothing else is touched`, async (t) => {
    const prepared = await prepare(openEnvironment, path);
    let runs = 0;
    for (const fault of [...Object.keys(faults), ...deaths]) {
      for (let n = 1 + (begins++ * 7) % stride; ; n += stride) {
        try {
          if (!(await runPath(openEnvironment, prepared, path, { name: fault, n }))) break;
          runs += 1;
        } catch (cause) {
          throw new Error(`${fault} at I/O ${String(n)}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
        }
      }
    }
    t.diagnostic(`${String(runs)} faults`);
  });
}
