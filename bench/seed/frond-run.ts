// The seed's experiment on `frond serve`, loaded by `frond import`.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { MongoClient } from 'mongodb';
import { sizeMb, usedBy } from './measured.ts';
import type { Box, SeedFigures } from './seed-run.ts';
import { largeBox, smallBox, timedCount } from './seed-run.ts';

const program = fileURLToPath(new URL('../../src/bin/frond.js', import.meta.url));
const run = promisify(execFile);

/** Runs it in `directory`, with a cache of so many MB; `bulk`: through the bulk loader. The tool's processor time is in `loadCpuS` too. */
export async function runFrond(csv: string, directory: string, cacheMb: number, bulk: boolean = false): Promise<SeedFigures> {
  const data = join(directory, bulk ? 'frond-bulk' : 'frond');
  const server = spawn(process.execPath, [program, 'serve', '--dbpath', data, '--port', '0', '--gateway', 'false', '--cache', `${String(cacheMb)}MB`], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(server.stdout, 'data')) as [Buffer];
  const uri = /mongodb:\/\/\S+?(?=,|\s|$)/.exec(line.toString())?.[0] ?? '';
  const pid = server.pid ?? 0;
  const client = await new MongoClient(uri).connect();
  const rows = client.db('seed').collection('ranks');
  for (const key of ['rank1', 'rank2', 'log_time']) await rows.createIndex({ [key]: 1 });
  const before = usedBy(pid);
  const begun = performance.now();
  const { stderr } = await run('bash', ['-c', `TIMEFORMAT='%U %S'; time "$@" >/dev/null 2>&1`, 'bash', process.execPath, program, 'import', '--uri', uri, '--db', 'seed', '--collection', 'ranks', '--type', 'csv', '--headerline', ...(bulk ? ['--bulk'] : []), csv]);
  const loadS = (performance.now() - begun) / 1000;
  const tool = stderr.trim().split(/\s+/).reduce((sum, word) => sum + Number(word), 0);
  const after = usedBy(pid);
  const count = async ({ rank1, rank2 }: Box): Promise<number> => await rows.countDocuments({ rank1: { $lt: rank1 }, rank2: { $lt: rank2 } });
  const small = await timedCount(smallBox, count);
  const large = await timedCount(largeBox, count);
  const indexing = performance.now();
  // By the command itself: the driver passes on the index options that it knows, and no others.
  await client.db('seed').command({ createIndexes: 'ranks', indexes: [{ key: { rank2: 1 }, name: 'clustered', clustering: true }] });
  const indexS = (performance.now() - indexing) / 1000;
  const smallThen = await timedCount(smallBox, count);
  const largeThen = await timedCount(largeBox, count);
  const diskMb = sizeMb(data, ['data.frond', '/blob/']);
  const { peakMb } = usedBy(pid);
  await client.close();
  server.kill();
  await once(server, 'exit');
  return {
    name: `FrondDB ${String(cacheMb)} MB${bulk ? ', `--bulk`' : ''}`, loadS, loadCpuS: after.cpuS - before.cpuS + tool, writtenMb: after.writtenMb - before.writtenMb, diskMb, peakMb, small, large, indexS, smallThen, largeThen,
  };
}
