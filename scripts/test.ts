// Runs the compiled tests in one process: `node dist/scripts/test.js [substring ...]` takes the files whose path has one of the substrings.
// One process because starting one a file costs more than the tests; files that need processes of their own start them.

import { readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('../test/', import.meta.url));
const filters = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));

const files = readdirSync(root, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.test.js'))
  .map((entry) => join(entry.parentPath, entry.name))
  .filter((file) => {
    const path = relative(root, file).split(sep).join('/');
    return filters.length === 0 || filters.some((filter) => path.includes(filter));
  })
  .sort();

if (files.length === 0) {
  console.error(`no test file matches ${filters.join(' ')}`);
  process.exitCode = 1;
}
for (const file of files) await import(pathToFileURL(file).href);
