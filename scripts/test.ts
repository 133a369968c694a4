// Runs the compiled tests: `npm test -- [substring ...]` takes the files whose path has one of the substrings. All of them are dealt out to batches, as
// many at once as there are processors, for a process a file would cost more than the tests; those that were asked for run in this process.
// `--test-name-pattern=REGEX` takes tests by name. `--rewrite` lets data-driven tests write what they got (see test/support/datadriven.ts).

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { run } from 'node:test';
import { spec, tap } from 'node:test/reporters';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('../../', import.meta.url));
const compiled = join(root, 'dist', 'test');
/** Enough that the last ones end together, few enough that starting them is nothing. */
const batchCount = 16;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { 'test-name-pattern': { type: 'string', multiple: true }, rewrite: { type: 'boolean' } },
});
const patterns = values['test-name-pattern'] ?? [];
const nodeTakesPatterns = process.execArgv.some((argument) => argument.startsWith('--test-name-pattern'));
if (patterns.length > 0 && !nodeTakesPatterns) againWithPatterns();
else if (positionals.length > 0 || nodeTakesPatterns || values.rewrite === true) await runFiles(testFiles());
else runBatches(testFiles());

/** The runner takes the pattern from Node's own options only, so this process starts itself again with them. */
function againWithPatterns(): void {
  const options = patterns.map((pattern) => `--test-name-pattern=${pattern}`);
  const again = spawnSync(process.execPath, [...options, ...process.argv.slice(1)], { stdio: 'inherit' });
  process.exitCode = again.status ?? 1;
}

async function runFiles(files: readonly string[]): Promise<void> {
  if (files.length === 0) {
    console.error(`no test file matches ${positionals.join(' ')}`);
    process.exitCode = 1;
  }
  process.setSourceMapsEnabled(true);
  for (const file of files) await import(pathToFileURL(file).href);
}

/** Deals the files out like cards, so that a folder of long tests is not one batch. */
function runBatches(files: readonly string[]): void {
  const folder = mkdtempSync(join(tmpdir(), 'frond-tests-'));
  process.once('exit', () => {
    rmSync(folder, { recursive: true, force: true });
  });
  const batches = Array.from({ length: batchCount }, (_, batch) => {
    const imports = files.filter((_file, place) => place % batchCount === batch).map((file) => `await import(${JSON.stringify(pathToFileURL(file).href)});\n`);
    const entry = join(folder, `batch-${batch}.mjs`);
    writeFileSync(entry, `process.setSourceMapsEnabled(true);\n${imports.join('')}`);
    return entry;
  });
  const results = run({ files: batches, concurrency: availableParallelism() });
  results.on('test:fail', () => {
    process.exitCode = 1;
  });
  results.compose<NodeJS.ReadableStream>(process.stdout.isTTY ? new spec() : tap).pipe(process.stdout);
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
