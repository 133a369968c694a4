// The seed's experiment on a private MariaDB (Debian's mariadb-server, mariadb-plugin-rocksdb): InnoDB, or MyRocks with its bulk loader. Everything
// is in a directory of its own, reached by a socket, and ended afterwards.

import { execFile, execFileSync, spawn, type ChildProcessByStdio } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { sizeMb, usedBy } from './measured.ts';
import type { Box, SeedFigures } from './seed-run.ts';
import { largeBox, smallBox, timedCount } from './seed-run.ts';

const run = promisify(execFile);

/** Which engine of MariaDB. */
export type MariaEngine = 'InnoDB' | 'MyRocks';

/** Whether the program is installed. */
export function hasMariaDb(): boolean {
  return existsSync('/usr/sbin/mariadbd');
}

function engineWords(engine: MariaEngine, cacheMb: number): string[] {
  const size = `${String(cacheMb)}M`;
  if (engine === 'InnoDB') return [`--innodb-buffer-pool-size=${size}`, '--innodb-flush-log-at-trx-commit=1', '--innodb-log-file-size=128M'];
  return ['--plugin-load-add=ha_rocksdb.so', '--plugin-maturity=unknown', `--rocksdb-block-cache-size=${size}`, '--innodb-buffer-pool-size=8M', '--rocksdb-flush-log-at-trx-commit=1'];
}

/** Runs it in `directory`, which is empty, with a cache of so many MB. */
export async function runMariaDb(engine: MariaEngine, csv: string, directory: string, cacheMb: number): Promise<SeedFigures> {
  const data = join(directory, engine);
  const socket = join(data, 'm.sock');
  await mkdir(data);
  execFileSync('mariadb-install-db', ['--no-defaults', `--datadir=${data}`, '--user=root', '--auth-root-authentication-method=normal', '--skip-test-db'], { stdio: 'ignore' });
  const words = ['--no-defaults', `--datadir=${data}`, `--socket=${socket}`, '--skip-networking', '--user=root', '--local-infile=1', '--skip-log-bin', ...engineWords(engine, cacheMb)];
  const server = spawn('/usr/sbin/mariadbd', words, { stdio: 'ignore' });
  const pid = server.pid ?? 0;
  for (let tries = 0; ; tries++) {
    const isUp = await run('mariadb', ['--no-defaults', `--socket=${socket}`, '-e', 'create database seed']).then(() => true, () => false);
    if (isUp) break;
    if (tries > 100) throw new Error('MariaDB does not start');
    await sleep(200);
  }
  const session = new SqlSession(socket);
  const sql = async (text: string): Promise<string> => await session.ask(text);
  try {
    const kind = engine === 'InnoDB' ? 'InnoDB' : 'ROCKSDB';
    await sql(`create table ranks (id int primary key, rank1 int, rank2 int, log_time datetime, key(rank1), key(rank2), key(log_time)) engine=${kind}`);
    const bulk = engine === 'MyRocks' ? 'set session rocksdb_bulk_load_allow_unsorted=1; set session rocksdb_bulk_load=1; ' : '';
    const before = usedBy(pid);
    const begun = performance.now();
    await sql(`${bulk}load data local infile '${csv}' into table ranks fields terminated by ',' ignore 1 lines (id, rank1, rank2, log_time)${bulk === '' ? '' : '; set session rocksdb_bulk_load=0'}`);
    const loadS = (performance.now() - begun) / 1000;
    const after = usedBy(pid);
    const count = async ({ rank1, rank2 }: Box): Promise<number> => Number(await sql(`select count(*) from ranks where rank1 < ${String(rank1)} and rank2 < ${String(rank2)}`));
    const small = await timedCount(smallBox, count);
    const large = await timedCount(largeBox, count);
    const indexing = performance.now();
    await sql('create index covering on ranks (rank2, rank1)');
    const indexS = (performance.now() - indexing) / 1000;
    const smallThen = await timedCount(smallBox, count);
    const largeThen = await timedCount(largeBox, count);
    const diskMb = engine === 'InnoDB' ? sizeMb(data, ['ranks.ibd']) : sizeMb(data, ['#rocksdb']);
    const { peakMb } = usedBy(pid);
    return { name: `${engine} ${String(cacheMb)} MB`, loadS, loadCpuS: after.cpuS - before.cpuS, writtenMb: after.writtenMb - before.writtenMb, diskMb, peakMb, small, large, indexS, smallThen, largeThen };
  } finally {
    session.close();
    server.kill();
    await new Promise((resolve) => server.once('exit', resolve));
  }
}

/** One client that stays, so that its start is not in the times. Statements one after the other; each answers with its last line. */
class SqlSession {
  readonly #client: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string>;

  constructor(socket: string) {
    this.#client = spawn('mariadb', ['--no-defaults', `--socket=${socket}`, '--local-infile=1', '-N', '-B', '-n', 'seed'], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#lines = createInterface({ input: this.#client.stdout })[Symbol.asyncIterator]();
  }

  /** Runs statements without a semicolon at the end; gives the last line before the mark. */
  async ask(text: string): Promise<string> {
    this.#client.stdin.write(`${text}; select 'answered';\n`);
    let last = '';
    for (;;) {
      const next = await this.#lines.next();
      if (next.done === true) throw new Error(`MariaDB refused: ${text}`);
      if (next.value === 'answered') return last;
      last = next.value;
    }
  }

  close(): void {
    this.#client.stdin.end();
  }
}
