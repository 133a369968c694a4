import { test } from 'node:test';
import { openEnvironment } from '../../src/engine/index.ts';
import { runRanges } from './range-history.ts';

const seeds = Number(process.env['FROND_HISTORIES'] ?? '8');
const first = Number(process.env['FROND_SEED'] ?? '1');

void test(`${seeds} histories of range deletes under open snapshots read as a plain map does, from seed ${first} on`, async () => {
  for (let seed = first; seed < first + seeds; seed++) {
    try {
      await runRanges(openEnvironment, seed, 150);
    } catch (error) {
      throw new Error(`seed ${seed}: ${error instanceof Error ? error.stack : String(error)}`, { cause: error });
    }
  }
});
