// Finds the benches: every compiled `bench/**/*.bench.js` exports the list `benches`.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Bench } from './bench.ts';

const compiled = fileURLToPath(new URL('../', import.meta.url));
const sources = compiled.replace(/([\\/])dist([\\/]bench[\\/])$/, '$2');

/** All benches, in the order of their files. */
export async function collectBenches(): Promise<Bench[]> {
  const files = readdirSync(compiled, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.bench.js') && existsSync(join(sources, path.replace(/\.js$/, '.ts'))))
    .sort();
  const found: Bench[] = [];
  for (const path of files) {
    const module = (await import(pathToFileURL(join(compiled, path)).href)) as { benches: readonly Bench[] };
    found.push(...module.benches);
  }
  return found;
}
