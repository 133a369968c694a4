// `frond bench gridfs` as a person runs it, small: it ends well, and shows a row for each chunk size.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

test('the experiment with chunk sizes writes, reads every byte back, and shows a table', () => {
  const program = fileURLToPath(new URL('../../src/bin/frond.js', import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'bench', 'gridfs', '--files', '1', '--size', '1MB', '--rounds', '2'], { encoding: 'utf8', timeout: 30_000 });
  assert.equal(status, 0, stderr);
  for (const size of ['256 KiB', '512 KiB', '1 MiB', '2 MiB', '4 MiB', '8 MiB']) assert.match(stdout, new RegExp(`^${size} +\\d+ / \\d+ `, 'm'));
});
