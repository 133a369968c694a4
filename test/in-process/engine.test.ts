import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { dictionaryNamed, Environment } from '../../src/in-process/engine.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

test('a dictionary is found again by its name after the directory was closed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'frond-engine-'));
  try {
    const first = await Environment.open(folder);
    const writing = first.begin('snapshot');
    await writing.put(await dictionaryNamed(first, writing, 'words', { compression: 'lz4' }), bytes('k'), bytes('v'));
    await writing.commit();
    await first.close();
    const second = await Environment.open(folder);
    const reading = second.begin('snapshot');
    const value = await reading.get(await dictionaryNamed(second, reading, 'words'), bytes('k'));
    assert.deepEqual(value, bytes('v'));
    reading.abort();
    await second.close();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('the example of the engine runs as it stands', () => {
  const example = fileURLToPath(new URL('../../../examples/engine.mjs', import.meta.url));
  const { stdout, stderr, status } = spawnSync(process.execPath, [example], { encoding: 'utf8', timeout: 20_000 });
  assert.equal(status, 0, stderr);
  assert.equal(stdout, 'before: yellow\nafter: banana brown\nafter: cherry red\n');
});
