// The package as npm makes it, unpacked into an empty project with its dependencies beside it, as `npm install` would leave it; only the
// registry is not asked.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));

interface Manifest {
  readonly version: string;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
}

const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall', 'prepare'];

let project = '';

async function manifestOf(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest;
}

/** Copies a package and what it depends on. */
async function bring(name: string): Promise<void> {
  const target = join(project, 'node_modules', name);
  if (await stat(target).catch(() => undefined)) return;
  await cp(join(root, 'node_modules', name), target, { recursive: true });
  for (const dependency of Object.keys((await manifestOf(target)).dependencies ?? {})) await bring(dependency);
}

function run(words: readonly string[]): string {
  const { stdout, stderr, status } = spawnSync(process.execPath, words, { cwd: project, encoding: 'utf8', timeout: 30_000 });
  assert.equal(status, 0, stderr);
  return stdout;
}

before(async () => {
  project = await mkdtemp(join(tmpdir(), 'frond-package-'));
  await writeFile(join(project, 'package.json'), '{ "name": "project", "private": true }');
  const packed = spawnSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', project], { cwd: root, encoding: 'utf8' });
  assert.equal(packed.status, 0, packed.stderr);
  const folder = join(project, 'node_modules', 'fronddb');
  await mkdir(folder, { recursive: true });
  const unpacked = spawnSync('tar', ['-xzf', join(project, packed.stdout.trim()), '-C', folder, '--strip-components=1']);
  assert.equal(unpacked.status, 0);
  for (const name of Object.keys((await manifestOf(folder)).dependencies ?? {})) await bring(name);
});

after(async () => {
  await rm(project, { recursive: true, force: true });
});

test('an installation is under 15 MB, has no native code, and runs no script', async () => {
  let bytes = 0;
  for (const entry of await readdir(join(project, 'node_modules'), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    bytes += (await stat(path)).size;
    assert.doesNotMatch(entry.name, /\.(node|so|gyp)$/, path);
    if (entry.name !== 'package.json') continue;
    const { scripts = {} } = await manifestOf(entry.parentPath).catch((): Manifest => ({ version: '' }));
    // `prepare` runs for a checkout only, never for a package from the registry.
    const run = INSTALL_SCRIPTS.filter((name) => name !== 'prepare' && Object.hasOwn(scripts, name));
    assert.deepEqual(run, [], path);
  }
  assert.ok(bytes < 15_000_000, `${String(bytes)} bytes`);
});

test('the package is imported, required, and run', async () => {
  await writeFile(join(project, 'imports.mjs'), "import { start } from 'fronddb'; const server = await start({ memory: true }); console.log(server.uri.slice(0, 20)); await server.stop();\n");
  await writeFile(join(project, 'requires.cjs'), "const { MongoMemoryServer } = require('fronddb'); MongoMemoryServer.create().then(async (server) => { console.log(server.state); await server.stop(); });\n");
  await writeFile(join(project, 'engine.mjs'), "import { Environment } from 'fronddb/engine'; const environment = await Environment.openInMemory(); console.log(environment.visible >= 0); await environment.close();\n");
  assert.equal(run(['imports.mjs']), 'mongodb://127.0.0.1:\n');
  assert.equal(run(['requires.cjs']), 'running\n');
  assert.equal(run(['engine.mjs']), 'true\n');
});

test('frond serve runs from the installation and stops at a signal', async () => {
  const frond = join(project, 'node_modules', 'fronddb', 'bin', 'frond');
  const server = spawn(process.execPath, [frond, 'serve', '--port', '0', '--gateway-port', '0', '--dbpath', join(project, 'data')], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(server.stdout, 'data')) as [Buffer];
  assert.match(line.toString(), /listening on mongodb:\/\/127\.0\.0\.1:\d+/);
  server.kill('SIGTERM');
  assert.deepEqual(await once(server, 'exit'), [0, null]);
});
