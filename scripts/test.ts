// Runs the compiled tests in one process: `npm test -- [substring ...]` takes the files whose path has one of the substrings.
// One process because starting one a file costs more than the tests; files that need processes of their own start them.
// `--test-name-pattern=REGEX` takes tests by name. `--rewrite` lets data-driven tests write what they got (see test/support/datadriven.ts).

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('../../', import.meta.url));
const compiled = join(root, 'dist', 'test');

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { 'test-name-pattern': { type: 'string', multiple: true }, rewrite: { type: 'boolean' } },
});
const patterns = values['test-name-pattern'] ?? [];
const nodeTakesPatterns = process.execArgv.some((argument) => argument.startsWith('--test-name-pattern'));
if (patterns.length > 0 && !nodeTakesPatterns) againWithPatterns();
else await runFiles();

/** The runner takes the pattern from Node's own options only, so this process starts itself again with them. */
function againWithPatterns(): void {
  const options = patterns.map((pattern) => `--test-name-pattern=${pattern}`);
  const again = spawnSync(process.execPath, [...options, ...process.argv.slice(1)], { stdio: 'inherit' });
  process.exitCode = again.status ?? 1;
}

async function runFiles(): Promise<void> {
  const files = testFiles();
  if (files.length === 0) {
    console.error(`no test file matches ${positionals.join(' ')}`);
    process.exitCode = 1;
  }
  process.setSourceMapsEnabled(true);
  for (const file of files) await import(pathToFileURL(file).href);
}

/** A compiled file whose source is gone is left from an older build and is no test. */
function testFiles(): string[] {
  return readdirSync(compiled, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.test.js'))
    .map((entry) => relative(compiled, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((path) => existsSync(join(root, 'test', path.replace(/\.js$/, '.ts'))))
    .filter((path) => positionals.length === 0 || positionals.some((filter) => path.includes(filter)))
    .sort()
    .map((path) => join(compiled, path));
}
