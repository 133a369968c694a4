// InnoDB and MyRocks in a private MariaDB (Debian's mariadb-server and mariadb-plugin-rocksdb), reached by a socket. What is measured is the server's
// processor time and bytes, not the client's. Rows are a table with three indexes, as anybody would make it.

import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { shapes } from '../rows.mjs';

const program = '/usr/sbin/mariadbd';

const wordsOf = {
  InnoDB: (mb) => [`--innodb-buffer-pool-size=${mb}M`, '--innodb-flush-log-at-trx-commit=1', '--innodb-log-file-size=128M', '--innodb-change-buffering=all'],
  ROCKSDB: (mb) => ['--plugin-load-add=ha_rocksdb.so', '--plugin-maturity=unknown', '--innodb-buffer-pool-size=8M', `--rocksdb-block-cache-size=${mb / 2}M`, `--rocksdb-db-write-buffer-size=${mb / 2}M`, '--rocksdb-flush-log-at-trx-commit=1'],
};

/** The tables of rows with three indexes: the columns of each index, and what the first of them is at a place. */
const rowTables = new Map([
  [shapes.randomColumns, {
    name: 'rowset', columns: 'id bigint unsigned primary key, c0 binary(20), c1 binary(20), c2 binary(20), rest varbinary(90)',
    indexes: [['c0'], ['c1'], ['c2']], firstOf: (place) => buffer(place),
  }],
  [shapes.purchases, {
    name: 'purchases',
    columns: `transactionid bigint unsigned primary key, dateandtime datetime(3), cashregisterid int unsigned not null, customerid int unsigned not null,
      productid int unsigned not null, price float not null, data varchar(4000)`,
    indexes: [['price', 'customerid'], ['cashregisterid', 'price', 'customerid'], ['price', 'dateandtime', 'customerid']],
    firstOf: (place, index) => (index === 1 ? buffer(place).readUInt32BE() : buffer(place).readFloatBE()),
  }],
]);

const buffer = (bytes) => Buffer.from(bytes);
const keysOf = ({ indexes }) => indexes.map((columns, i) => `key k${i} (${columns})`);

async function connected(mysql, socketPath) {
  for (let tries = 0; ; tries++) {
    try {
      return await mysql.createConnection({ socketPath, user: 'root', multipleStatements: true });
    } catch (error) {
      if (tries > 150) throw error;
      await sleep(200);
    }
  }
}

async function openMaria(kind, directory, cacheBytes) {
  if (!existsSync(program)) throw new Error('Error: mariadb-server is not installed');
  const mysql = await import('mysql2/promise');
  const data = join(directory, 'maria');
  const socketPath = join(data, 'm.sock');
  mkdirSync(data);
  execFileSync('mariadb-install-db', ['--no-defaults', `--datadir=${data}`, '--user=root', '--auth-root-authentication-method=normal', '--skip-test-db'], { stdio: 'ignore' });
  const server = spawn(program, ['--no-defaults', `--datadir=${data}`, `--socket=${socketPath}`, '--skip-networking', '--user=root', '--skip-log-bin', '--max-connections=400', ...wordsOf[kind](cacheBytes >> 20)], { stdio: 'ignore' });
  const main = await connected(mysql, socketPath);
  await main.query(`create database bench; use bench;
    create table pairs (k binary(16) primary key, v varbinary(100)) engine=${kind} charset=binary;
    ${[...rowTables.values()].map((table) => `create table ${table.name} (${[table.columns, ...keysOf(table)]}) engine=${kind} charset=binary`).join('; ')}`);
  const connect = async () => {
    const connection = await connected(mysql, socketPath);
    await connection.query('use bench');
    return connection;
  };
  const idle = [await connect()];
  const run = async (statement, values) => {
    const connection = idle.pop() ?? (await connect());
    const [rows] = await connection.query(statement, values);
    idle.push(connection);
    return rows;
  };
  let table;
  const range = async (what, index, place, limit) => {
    const columns = table.indexes[index];
    const selected = `select ${what === '*' ? '*' : columns} from ${table.name} force index (k${index})`;
    return (await run(`${selected} where ${columns[0]} >= ? order by ${columns} limit ?`, [table.firstOf(place, index), limit])).length;
  };
  return {
    pid: server.pid,
    makeEntries(rows, shape) {
      table = rowTables.get(shape);
      return [`insert into ${table.name} values ?`, rows.map(({ key, columns }) => [buffer(key).readBigUInt64BE(), ...columns().map((value) => (value instanceof Uint8Array ? buffer(value) : value))])];
    },
    makePairs: (pairs) => ['replace into pairs values ?', pairs.map(([key, value]) => [buffer(key), buffer(value)])],
    write: ([statement, values]) => run(statement, [values]),
    async get(keys) {
      let found = 0;
      for (const key of keys) found += (await run('select v from pairs where k = ?', [buffer(key)])).length;
      return found;
    },
    scan: async () => (await run('select count(*) n, max(length(v)) from pairs'))[0].n,
    indexRange: (index, place, limit) => range('index', index, place, limit),
    fetchRange: (index, place, limit) => range('*', index, place, limit),
    async close() {
      for (const connection of [...idle, main]) connection.destroy();
      server.kill();
      await new Promise((resolve) => server.once('exit', resolve));
    },
  };
}

export const openInnoDb = (directory, cacheBytes) => openMaria('InnoDB', directory, cacheBytes);
export const openMyRocks = (directory, cacheBytes) => openMaria('ROCKSDB', directory, cacheBytes);
