import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openMemoryEnv } from '../../src/env/index.ts';
import { appendSizes, benchAppend } from '../../src/tools/index.ts';

test('the bench of appends has a row and a curve for each writer, and leaves no file', async () => {
  const env = await openMemoryEnv();
  await env.files.makeDirectory('/bench');
  const lines: string[] = [];
  for await (const line of benchAppend(env, { directory: '/bench', count: 8, sizes: [4096, 8185, 8186, 65_536] })) lines.push(line);
  for (const name of ['overwrite-dsync', 'overwrite-fdatasync', 'append-dsync', 'append-fdatasync', 'append-fsync', 'delayed (no sync)']) {
    assert.ok(lines.some((line) => line.startsWith(name) && /\d+ \/ \d+/.test(line)), `${name} has its row`);
    assert.ok(lines.includes(`${name}: median by size`), `${name} has its curve`);
  }
  assert.match(lines.at(-1) ?? '', /^quickest over all sizes: /);
  assert.deepEqual(await env.files.list('/bench'), []);
  for (const size of [4096, 8185, 8186, 65_536]) assert.ok(appendSizes.includes(size));
});
