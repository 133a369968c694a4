// `node dist/scripts/seed-compare.js [--cache 32] [--innodb 128] [--with frond,bulk,myrocks,innodb]`: the seed's experiment (955,527 rows, three indexes there
// before the load, two counts, a covering or clustering index, the counts again) on FrondDB, inserted and by its bulk loader, and, where Debian's mariadb-server and
// mariadb-plugin-rocksdb are installed, on MyRocks with its bulk loader and on InnoDB, one after the other in one run. InnoDB under 32 MB takes minutes.

import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runFrond } from '../bench/seed/frond-run.ts';
import { hasMariaDb, runMariaDb } from '../bench/seed/mariadb-run.ts';
import type { Counted, SeedFigures } from '../bench/seed/seed-run.ts';

const { values } = parseArgs({ options: { cache: { type: 'string', default: '32' }, innodb: { type: 'string', default: '128' }, with: { type: 'string', default: 'frond,bulk,myrocks,innodb' } } });
const cacheMb = Number(values.cache);
const directory = await mkdtemp(join(tmpdir(), 'frond-seed-'));
const csv = join(directory, 'seed.csv');
execFileSync(process.execPath, [fileURLToPath(new URL('seed-csv.js', import.meta.url)), csv]);

const counted = ({ ms }: Counted): string => ms.toFixed(1);

function line(figures: SeedFigures): string {
  const { name, loadS, loadCpuS, writtenMb, diskMb, peakMb, small, large, indexS, smallThen, largeThen } = figures;
  return `| ${name} | ${loadS.toFixed(1)} | ${loadCpuS.toFixed(1)} | ${Math.round(writtenMb)} | ${Math.round(diskMb)} | ${Math.round(peakMb)} | ${counted(small)} / ${counted(large)} | ${indexS.toFixed(1)} | ${counted(smallThen)} / ${counted(largeThen)} |`;
}

console.log('| server | load s | load CPU s | MB written | MB on disk | peak MB | 49 / 5,759 rows, ms | add index s | then, ms |\n|---|---|---|---|---|---|---|---|---|');
try {
  const wanted = values.with.split(',');
  if (wanted.includes('frond')) console.log(line(await runFrond(csv, directory, cacheMb)));
  if (wanted.includes('bulk')) console.log(line(await runFrond(csv, directory, cacheMb, true)));
  if (!hasMariaDb()) console.log('MariaDB is not installed: nothing to compare with');
  else {
    if (wanted.includes('myrocks')) console.log(line(await runMariaDb('MyRocks', csv, directory, cacheMb)));
    if (wanted.includes('innodb')) console.log(line(await runMariaDb('InnoDB', csv, directory, Number(values.innodb))));
  }
} finally {
  await rm(directory, { recursive: true });
}
