// Makes a checkout ready to run: installs what the lock file names when it is not there, compiles when a source is newer than the last good build,
// copies what is not TypeScript (the gateway's page) beside the compiled files, and removes outputs whose source is gone. Nothing to do costs some milliseconds.
// Plain JavaScript, since it runs before anything is built. All it says goes to stderr: stdout belongs to the command that follows.

import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const sourceFolders = ['src', 'test', 'bench', 'scripts'];
/** A package of its own, with dependencies of its own. */
const apart = join(root, 'bench', 'compare');
const outputFolder = join(root, 'dist');
/** Written after a build without errors: tsc writes its outputs also when it found some. */
const stamp = join(outputFolder, '.built');

/** Installs and builds what is needed; false when that failed, which has been said by then. */
export function bootstrap() {
  return nodeIsNewEnough() && install() && build();
}

/** npm warns only, and what follows would fail in a way that says nothing. */
function nodeIsNewEnough() {
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const [major, minor] = engines.node.match(/\d+/g).map(Number);
  const [ourMajor, ourMinor] = process.versions.node.split('.').map(Number);
  if (ourMajor > major || (ourMajor === major && ourMinor >= minor)) return true;
  console.error(`frond: Node ${engines.node} is needed, this is ${process.versions.node}`);
  return false;
}

function install() {
  if (lstatSync(join(root, 'node_modules'), { throwIfNoEntry: false })?.isSymbolicLink()) return true; // somebody else's folder
  if (installedIsWhatTheLockSays()) return true;
  return run('installing dependencies', 'npm', ['ci', '--ignore-scripts', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error']);
}

/** Compares versions, not times: a checkout of another branch touches files without changing them. */
function installedIsWhatTheLockSays() {
  const installedFile = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(installedFile)) return false;
  const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  const installed = JSON.parse(readFileSync(installedFile, 'utf8')).packages;
  return Object.entries(wanted).every(
    ([path, entry]) => path === '' || entry.optional === true || installed[path]?.version === entry.version,
  );
}

function build() {
  const sources = sourceFolders.flatMap((folder) => filesUnder(join(root, folder))).filter((file) => !file.startsWith(apart));
  const inputs = [...sources, join(root, 'tsconfig.json'), join(root, 'package-lock.json')];
  const stale = outputsWithoutSource(sources);
  const builtMs = statSync(stamp, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (stale.length === 0 && inputs.every((file) => statSync(file).mtimeMs < builtMs)) return true;
  const startedMs = Date.now();
  for (const file of stale) rmSync(file, { force: true });
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  // A compiler state without its outputs would make tsc believe that they are there.
  if (!existsSync(join(outputFolder, 'scripts'))) rmSync(join(outputFolder, '.tsbuildinfo'), { force: true });
  if (!run('compiling', process.execPath, [compiler, '-p', 'tsconfig.json'])) return false;
  for (const file of sources) if (isAsset(file)) copyAsset(file);
  writeFileSync(stamp, '');
  utimesSync(stamp, startedMs / 1000, startedMs / 1000); // a file saved while the compiler ran is compiled by the next build
  return true;
}

/** Files that the product reads at run time; a test reads its data where it is. */
function isAsset(file) {
  return relative(root, file).startsWith('src') && !/\.(ts|md)$/.test(file);
}

function copyAsset(file) {
  const target = join(outputFolder, relative(root, file));
  mkdirSync(dirname(target), { recursive: true });
  copyFileSync(file, target);
}

function outputsWithoutSource(sources) {
  const known = new Set(sources.map((file) => relative(root, file)));
  return sourceFolders
    .flatMap((folder) => filesUnder(join(outputFolder, folder)))
    .filter((file) => {
      const path = relative(outputFolder, file);
      return !known.has(path) && !known.has(path.replace(/(\.d\.ts|\.js\.map|\.js)$/, '.ts'));
    });
}

function filesUnder(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

function run(what, command, parameters) {
  console.error(`frond: ${what} ...`);
  const result = spawnSync(command, parameters, { cwd: root, stdio: ['ignore', 2, 2] });
  if (result.status === 0) return true;
  console.error(`frond: ${what} failed: ${result.error?.message ?? `${command} ended with ${result.status ?? result.signal}`}`);
  return false;
}

if (process.argv[1] === fileURLToPath(import.meta.url) && !bootstrap()) process.exitCode = 1;
