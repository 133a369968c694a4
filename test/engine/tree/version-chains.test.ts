// Keys with more versions than a basement holds, each of which some snapshot needs: reads and scans find the right one across basements, in
// both directions, wherever the versions lie: front, buffers, leaf.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openEnvironment } from '../../../src/engine/index.ts';
import type { DictionaryId, Transaction } from '../../../src/engine/index.ts';
import { openMemoryEnv } from '../../../src/env/index.ts';

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const decode = (bytes: Uint8Array | undefined): string | undefined => (bytes === undefined ? undefined : new TextDecoder().decode(bytes).trimEnd());

async function scan(read: Transaction, id: DictionaryId, direction: 1 | -1, rows: number): Promise<[string | undefined, string | undefined][]> {
  const cursor = read.cursor(id, {}, direction);
  const found: [string | undefined, string | undefined][] = [];
  for (;;) {
    const batch = await cursor.nextBatch({ rows, bytes: 1_000_000 });
    if (batch.length === 0) return found;
    for (let i = 0; i < batch.length; i++) found.push([decode(batch.key(i)), decode(batch.value(i))]);
  }
}

for (const pageBytes of [1024, 100_000]) {
  test(`each of 60 snapshots sees its own version of every key, with leaves of ${pageBytes} bytes`, async () => {
    const env = await openMemoryEnv();
    const dictionary = { compression: 'lz4' as const, pageBytes, readPageBytes: 512, fanout: 4 };
    const engine = await openEnvironment(env, '/data', { cacheBytes: 2 * 1024 * 1024, frontBytes: 3000, bufferBytes: 4000, dictionary });
    const setup = engine.begin('statement');
    const id = setup.createDictionary();
    await setup.commit();
    const snapshots: { read: Transaction; version: number }[] = [];
    for (let version = 0; version < 60; version++) {
      const write = engine.begin('statement');
      for (const key of ['a', 'b', 'bb', 'c']) {
        if (key === 'bb' && version % 7 === 3) await write.remove(id, encode(key));
        else await write.put(id, encode(key), encode(`${key}${version}`.padEnd(70)));
      }
      await write.commit();
      snapshots.push({ read: engine.begin('read'), version });
      if (version % 20 === 19) await engine.checkpoint();
    }
    for (const { read, version } of snapshots) {
      const expected = ['a', 'b', 'bb', 'c'].filter((key) => key !== 'bb' || version % 7 !== 3).map((key): [string, string] => [key, `${key}${version}`]);
      for (const rows of [1, 100]) {
        assert.deepEqual(await scan(read, id, 1, rows), expected);
        assert.deepEqual(await scan(read, id, -1, rows), [...expected].reverse());
      }
      assert.equal(decode(await read.get(id, encode('b'))), `b${version}`);
      assert.equal(decode(await read.get(id, encode('bb'))), version % 7 === 3 ? undefined : `bb${version}`);
    }
    for (const { read } of snapshots) read.abort();
    assert.deepEqual((await engine.verify()).problems, []);
    await engine.close();
  });
}
