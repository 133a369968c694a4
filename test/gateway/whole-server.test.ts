// `frond serve` and `frond gateway` as an administrator starts them: users of the database at the gateway, in front of another server as well; a
// server behind that stops; HTTPS; the status page beside serverStatus.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { request as secureRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { MongoClient } from 'mongodb';
import type { TreeLevel as EngineLevel } from '../../src/engine/index.ts';
import type { TreeLevel } from '../../src/gateway/index.ts';
import { patternBytes } from '../support/file-store.ts';

const program = fileURLToPath(new URL('../../src/bin/frond.js', import.meta.url));
const tlsFile = (name: string): string => fileURLToPath(new URL(`../../../test/server/testdata/tls/${name}.pem`, import.meta.url));
const bytes = patternBytes(700_000);
const running: Program[] = [];

/** A command that runs until it is stopped. */
class Program {
  readonly line: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, line: string) {
    this.#child = child;
    this.line = line;
  }

  static async start(words: readonly string[]): Promise<Program> {
    const child = spawn(process.execPath, [program, ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
    const started = await new Promise<string>((resolve, reject) => {
      let said = '';
      child.stdout.on('data', (data: Buffer) => {
        said += data.toString();
        if (/listening on .*\n/.test(said)) resolve(said);
      });
      child.once('exit', (status) => reject(new Error(`it ended with ${String(status)}: ${said}`)));
    });
    const one = new Program(child, started);
    running.push(one);
    return one;
  }

  get http(): string {
    return /https?:\/\/[^\s/]+/.exec(this.line)![0];
  }

  get mongo(): string {
    return `${/mongodb:\/\/[^\s,/]+/.exec(this.line)![0]}/?directConnection=true`;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    this.#child.kill('SIGTERM');
    await once(this.#child, 'exit');
  }
}

const folders: string[] = [];
async function serve(words: readonly string[] = []): Promise<Program> {
  const folder = await mkdtemp(join(tmpdir(), 'frond-whole-'));
  folders.push(folder);
  return await Program.start(['serve', '--dbpath', folder, '--port', '0', '--gateway-port', '0', ...words]);
}

after(async () => {
  for (const one of running.reverse()) await one.stop();
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

const basic = (user: string, password = 'pw'): { readonly Authorization: string } => ({ Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` });
async function statusOf(url: string, method = 'GET', user?: string, password?: string): Promise<number> {
  const body = method === 'PUT' ? { body: bytes } : {};
  const answer = await fetch(url, { method, ...body, headers: user === undefined ? {} : basic(user, password) });
  await answer.arrayBuffer();
  return answer.status;
}

async function withUsers(server: Program): Promise<void> {
  const first = await MongoClient.connect(server.mongo);
  await first.db('admin').command({ createUser: 'root', pwd: 'pw', roles: ['root'] });
  await first.close();
  const root = await MongoClient.connect(server.mongo, { auth: { username: 'root', password: 'pw' } });
  await root.db('admin').command({ createUser: 'anna', pwd: 'pw', roles: [{ role: 'readWrite', db: 'test' }] });
  await root.db('test').command({ createUser: 'rita', pwd: 'pw', roles: ['read'] });
  await root.db('admin').command({ createUser: 'moni', pwd: 'pw', roles: ['clusterMonitor'] });
  await root.close();
}

test('users of the database may do at the gateway what their roles let them, and so in front of another server', async () => {
  const server = await serve(['--auth']);
  await withUsers(server);
  const front = await Program.start(['gateway', '--mongo', server.mongo, '--login', 'database', '--port', '0']);
  for (const { http } of [server, front]) {
    const film = `${http}/files/film.mp4`;
    assert.deepEqual([await statusOf(film), await statusOf(film, 'GET', 'nobody'), await statusOf(film, 'GET', 'anna', 'wrong')], [401, 401, 401], http);
    assert.equal(await statusOf(film, 'PUT', 'anna'), 201);
    const got = await fetch(film, { headers: { ...basic('rita'), Range: 'bytes=-5' } });
    assert.deepEqual([got.status, new Uint8Array(await got.arrayBuffer())], [206, bytes.subarray(-5)]);
    assert.equal(await statusOf(film, 'GET', 'rita@test'), 200);
    assert.deepEqual([await statusOf(film, 'PUT', 'rita'), await statusOf(`${http}/db/other/files/x`, 'GET', 'rita'), await statusOf(film, 'GET', 'moni')], [403, 403, 403], http);
    assert.equal(await statusOf(`${http}/healthz`), 200);
  }
  assert.deepEqual([await statusOf(`${server.http}/status`, 'GET', 'moni'), await statusOf(`${server.http}/metrics`, 'GET', 'anna'), await statusOf(`${front.http}/status`, 'GET', 'anna')], [200, 403, 403]);
  // Many questions of one new user at once are one login, not one each.
  const at = await Promise.all(Array.from({ length: 8 }, () => statusOf(`${front.http}/b/fs/files`, 'GET', 'root')));
  assert.deepEqual(at, at.map(() => 200));
});

test('when the server behind it stops, a gateway answers 503 with Retry-After, its page files live on, and it goes on when the server is back', async () => {
  const server = await serve();
  const [folder] = folders.slice(-1);
  const front = await Program.start(['gateway', '--mongo', `${server.mongo}&serverSelectionTimeoutMS=500`, '--port', '0']);
  assert.equal(await statusOf(`${front.http}/files/film.mp4`, 'PUT'), 201);
  await server.stop();
  const refused = await fetch(`${front.http}/files/film.mp4`);
  const problem = (await refused.json()) as { readonly code: string; readonly detail: string };
  assert.deepEqual([refused.status, refused.headers.get('retry-after'), problem.code], [503, '5', 'database_unavailable']);
  assert.equal(/mongodb:|127\.0\.0\.1|stack/.test(JSON.stringify(problem)), false);
  assert.deepEqual([await statusOf(`${front.http}/healthz`), await statusOf(`${front.http}/files/x`, 'PUT'), await statusOf(`${front.http}/assets/app.css`)], [503, 503, 200]);
  const port = /:(\d+)\//.exec(server.mongo)![1]!;
  await Program.start(['serve', '--dbpath', folder!, '--port', port, '--gateway-port', '0']);
  for (let i = 0; i < 100 && (await statusOf(`${front.http}/healthz`)) !== 200; i++) await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(await statusOf(`${front.http}/files/film.mp4`), 200);
});

test('where TLS is required the gateway speaks HTTPS, and nothing else', async () => {
  const server = await serve(['--tlsMode', 'requireTLS', '--tlsCertificateKeyFile', tlsFile('server')]);
  assert.match(server.http, /^https:/);
  const ca = await readFile(tlsFile('ca'));
  const answer = await new Promise<{ readonly status: number | undefined; readonly type: string | undefined }>((resolve, reject) => {
    secureRequest(`${server.http}/`, { ca }, (response) => {
      response.resume();
      resolve({ status: response.statusCode, type: response.headers['content-type'] });
    }).on('error', reject).end();
  });
  assert.deepEqual(answer, { status: 200, type: 'text/html; charset=utf-8' });
  await assert.rejects(fetch(server.http.replace('https', 'http')));
});

test('the status page shows what serverStatus and collStats say: the same names, and figures between those before and after', async () => {
  const server = await serve();
  assert.equal(await statusOf(`${server.http}/files/film.mp4`, 'PUT'), 201);
  const client = await MongoClient.connect(server.mongo);
  const db = client.db('test');
  await db.collection('c').insertMany(Array.from({ length: 500 }, (_, i) => ({ _id: i, text: `row ${i}`.repeat(20) } as never)));
  for (let i = 0; i < 20; i++) await db.collection('c').findOne({ text: 'none' });
  await db.admin().command({ fsync: 1 });
  const flatten = (value: unknown, name: string, into: Map<string, number>): Map<string, number> => {
    if (typeof value === 'number') into.set(name, value);
    else if (typeof value === 'object' && value !== null) for (const [inner, one] of Object.entries(value)) flatten(one, `${name}.${inner}`, into);
    return into;
  };
  const sections = ['opcounters', 'opLatencies', 'connections', 'network', 'frond', 'mem', 'transactions'] as const;
  const ask = async (): Promise<Map<string, number>> => {
    const status = await db.admin().command({ serverStatus: 1 });
    const into = new Map<string, number>();
    for (const section of sections) flatten(status[section], section, into);
    return into;
  };
  const before = await ask();
  const shown = (await (await fetch(`${server.http}/status.json`)).json()) as { readonly server: Readonly<Record<string, unknown>>; readonly trees: readonly { readonly ns: string; readonly name: string; readonly rows: number; readonly rawBytes: number; readonly diskBytes: number }[] };
  const after = await ask();
  const now = new Map<string, number>();
  for (const section of sections) flatten(shown.server[section], section, now);
  const growing = ['opcounters.insert', 'opcounters.query', 'opcounters.command', 'opLatencies.reads.ops', 'opLatencies.writes.ops', 'network.bytesIn', 'network.numRequests', 'frond.commits', 'frond.logBytesWritten', 'frond.dataBytesWritten', 'frond.checkpoints'];
  for (const name of growing) {
    const [least, value, most] = [before, now, after].map((one) => one.get(name));
    assert.ok(least! <= value! && value! <= most!, `${name}: ${least}, ${value}, ${most}`);
  }
  assert.deepEqual([...before.keys()].filter((name) => !now.has(name)), []);
  assert.ok(now.get('opcounters.insert')! >= 500 && now.get('opcounters.query')! >= 20);
  for (const name of ['frond.cacheBytesMax', 'frond.lastCheckpointMs']) assert.equal(now.get(name), before.get(name), name);
  // The tree and its levels, beside collStats.
  const stats = await db.command({ collStats: 'c', verbose: true });
  const tree = shown.trees.find(({ ns, name }) => ns === 'test.c' && name === '_id_')!;
  assert.deepEqual([tree.rows, stats['count']], [500, 500]);
  const levels = stats['frondLevels'] as Record<string, { readonly kind: string; readonly nodes: number }[]>;
  const panel = await (await fetch(`${server.http}/status?tree=test.c&index=_id_&fragment=levels`)).text();
  const rows = [...panel.matchAll(/<tr><th class="name" scope="row">[^]*?<\/tr>/g)].map(([row]) => Number(/<td class="size">([\d,]+)<\/td>/.exec(row)?.[1]?.replaceAll(',', '')));
  assert.deepEqual(rows, Object.values(levels)[0]!.map(({ nodes }) => nodes));
  // Without script the same figures stand in the page.
  const page = await (await fetch(`${server.http}/status`)).text();
  for (const name of before.keys()) assert.ok(page.includes(`<td class="name">${name}</td>`), name);
  await client.close();
});

test('a level of a tree has the same shape for the gateway, which does not know the engine, as for the engine', () => {
  // Both ways, so that neither can have a field that the other lacks: this does not compile where they differ.
  const toGateway = (level: EngineLevel): TreeLevel => level;
  const toEngine = (level: TreeLevel): EngineLevel => level;
  const level: EngineLevel = { kind: 'leaves', height: 0, nodes: 1, messages: 0, runs: 0, rawBytes: 5, diskBytes: 4, fill: undefined };
  assert.deepEqual(toEngine(toGateway(level)), level);
});
