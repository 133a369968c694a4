// Directories of every format that was released open for ever, with all that was in them.

import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { MongoClient } from 'mongodb';
import { openEnvironment } from '../../src/engine/index.ts';
import type { EngineOptions } from '../../src/engine/index.ts';
import { openHostEnv } from '../../src/env/index.ts';
import { start } from '../../src/index.ts';
import { unpackDirectory } from './directory-text.ts';
import { expectedRows, frozenOptions } from './engine-content.ts';
import { expectedLargeRows, largeOptions } from './large-content.ts';
import { askServer, rightAnswers } from './server-content.ts';

const texts = fileURLToPath(new URL('../../../test/frozen/', import.meta.url));

/** Unpacks each frozen directory of a kind and gives it to `work`. */
async function eachFrozen(kind: string, work: (directory: string) => Promise<void>): Promise<void> {
  const names = (await readdir(texts)).filter((name) => name.startsWith(`${kind}-format-`));
  assert.ok(names.length > 0, 'something is frozen');
  for (const name of names) {
    const directory = await mkdtemp(join(tmpdir(), 'frond-frozen-'));
    await unpackDirectory(await readFile(join(texts, name), 'utf8'), directory);
    await work(directory);
    await rm(directory, { recursive: true });
  }
}

async function assertRows(kind: string, options: Partial<EngineOptions>, rows: ReturnType<typeof expectedRows>): Promise<void> {
  const decoder = new TextDecoder();
  await eachFrozen(kind, async (directory) => {
    const engine = await openEnvironment(await openHostEnv(), directory, options);
    assert.deepEqual((await engine.verify()).problems, []);
    const txn = engine.begin('read');
    for (const [id, expected] of rows) {
      const found: (readonly [string, string])[] = [];
      const cursor = txn.cursor(id, {}, 1);
      for (let batch = await cursor.nextBatch({ rows: 100, bytes: 1e6 }); batch.length > 0; batch = await cursor.nextBatch({ rows: 100, bytes: 1e6 })) {
        for (let i = 0; i < batch.length; i++) found.push([decoder.decode(batch.key(i)), decoder.decode(batch.value(i))]);
      }
      assert.deepEqual(found, expected);
    }
    txn.abort();
    await engine.close();
  });
}

test('frozen directories of the engine open with every row', async () => {
  await assertRows('engine', frozenOptions, expectedRows());
});

test('frozen directories with large values open with every row', async () => {
  await assertRows('large', largeOptions, expectedLargeRows());
});

test('frozen directories of a server open with every document, index, view, file and user', async () => {
  await eachFrozen('server', async (directory) => {
    const server = await start({ path: directory });
    const client = await new MongoClient(server.uri).connect();
    try {
      const { types, ...answers } = await askServer(client);
      const valid = Object.entries(answers).filter(([name]) => name.startsWith('valid '));
      assert.ok(valid.length > 5 && valid.every(([, answer]) => answer === true), 'every collection is valid');
      assert.deepEqual(Object.fromEntries(Object.entries(answers).filter(([name]) => !name.startsWith('valid '))), rightAnswers);
      assert.match(String(types), /"text":"Grüße"/);
    } finally {
      await client.close();
      await server.stop();
    }
  });
});
