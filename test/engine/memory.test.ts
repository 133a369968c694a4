// The budget as the system sees it: resident memory, garbage included, stays within the cache and a constant, whatever is written and read.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const MiB = 1024 * 1024;

void test('a process that loads and scans eight times its cache is resident with no more than the cache and 100 MB', { skip: !existsSync('/proc/self/status') }, async (t) => {
  const cacheBytes = 4 * MiB;
  const [rows, valueBytes] = [80_000, 400];
  const child = fileURLToPath(new URL('memory-child.js', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [child, String(cacheBytes), String(rows), String(valueBytes)]);
  const { found, beyond } = JSON.parse(stdout) as { found: number; beyond: number };
  t.diagnostic(`${(beyond / 1e6).toFixed(0)} MB with a cache of ${(cacheBytes / 1e6).toFixed(0)} MB`);
  assert.equal(found, rows);
  assert.ok(beyond < cacheBytes + 100e6, `${beyond} bytes`);
});
