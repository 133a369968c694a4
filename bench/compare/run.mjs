// FrondDB's engine beside others in one run: `node bench/compare/run.mjs EXPERIMENT [--rows N] [--cache MB] [--with a,b]` after `npm install` in this
// folder and a build of the product. EXPERIMENT is puts, iibench, purchases, mixed or groups (experiments.mjs). The same cache, and each commit on the disk before
// the next, for all. Each store runs in a process of its own, and one that is not installed says so. FROND_BENCH_DIR is where the data goes.

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { experiments } from './experiments.mjs';
import { peakMb } from './measured.mjs';
import { openFrond } from './stores/frond.mjs';
import { openClassicLevel, openNextRocks, openRocks } from './stores/level.mjs';
import { openLmdb } from './stores/lmdb.mjs';
import { openInnoDb, openMyRocks } from './stores/mariadb.mjs';
import { openSqlite } from './stores/sqlite.mjs';

const stores = {
  fronddb: openFrond,
  'classic-level': openClassicLevel,
  '@nxtedition/rocksdb': openNextRocks,
  rocksdb: openRocks,
  'better-sqlite3': openSqlite,
  lmdb: openLmdb,
  InnoDB: openInnoDb,
  MyRocks: openMyRocks,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rows: { type: 'string', default: '1000000' }, cache: { type: 'string', default: '64' }, with: { type: 'string', default: Object.keys(stores).join(',') }, child: { type: 'string' } },
});
const [name] = positionals;
const experiment = experiments[name];
if (experiment === undefined) {
  console.error(`Which experiment? One of ${Object.keys(experiments).join(', ')}.`);
  process.exit(2);
}

async function runOne(storeName) {
  const directory = mkdtempSync(join(process.env.FROND_BENCH_DIR ?? tmpdir(), 'frond-compare-'));
  try {
    const store = await stores[storeName](directory, Number(values.cache) << 20);
    try {
      const figures = await experiment.run(store, Number(values.rows));
      const peak = peakMb(store.pid);
      await store.close();
      const diskBytes = (Number(execFileSync('du', ['-sk', directory], { encoding: 'utf8' }).split('\t')[0]) * 1024) / Number(values.rows);
      console.log(JSON.stringify({ ...figures, diskBytes, peakMb: peak }));
    } catch (error) {
      await store.close();
      throw error;
    }
  } finally {
    rmSync(directory, { recursive: true });
  }
}

if (values.child !== undefined) {
  await runOne(values.child);
  process.exit(0);
}
console.log(`${name}: ${values.rows} rows, cache ${values.cache} MB, machine's load ${loadavg()[0].toFixed(1)}\n`);
console.log(`| store | ${experiment.columns.map(([title]) => title).join(' | ')} |\n|${'---|'.repeat(experiment.columns.length + 1)}`);
for (const storeName of values.with.split(',')) {
  const { stdout, stderr, status } = spawnSync(process.execPath, [fileURLToPath(import.meta.url), ...process.argv.slice(2), '--child', storeName], { encoding: 'utf8' });
  const figures = status === 0 ? JSON.parse(stdout.trim().split('\n').at(-1)) : undefined;
  const cells = figures === undefined ? [stderr.split('\n').find((line) => line.includes('Error')) ?? 'failed'] : experiment.columns.map(([, cell]) => cell(figures));
  console.log(`| ${[storeName, ...cells].join(' | ')} |`);
}
