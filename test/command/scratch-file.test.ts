import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';

import { workspaceOf } from '../../src/command/data/scratch-file.ts';
import { openMemoryEnv } from '../../src/env/index.ts';
import { WorkMemory } from '../../src/exec/index.ts';

test('scratch files lie beside the data of their server, and what an earlier process left is removed first', async () => {
  const env = await openMemoryEnv();
  const servers = ['/one', '/two'].map((dbPath) => ({ env, options: { dbPath }, workMemory: new WorkMemory(1 << 20) }));
  for (const server of servers) {
    const directory = `${server.options.dbPath}/tmp`;
    await env.files.makeDirectory(directory);
    await (await env.files.open(`${directory}/left`, 'create')).close();
    const workspace = workspaceOf(server, true);
    const [first, second] = [await workspace.openScratch(), await workspace.openScratch()];
    assert.equal((await env.files.list(directory)).length, 2);
    const place = await first.append(Uint8Array.of(1, 2, 3));
    await second.append(Uint8Array.of(9));
    assert.deepEqual(await first.read(await first.append(Uint8Array.of(4))), Uint8Array.of(4));
    assert.deepEqual(await first.read(place), Uint8Array.of(1, 2, 3));
    first.close();
    second.close();
    for (let turn = 0; turn < 100 && (await env.files.list(directory)).length > 0; turn++) await setImmediate();
    assert.deepEqual(await env.files.list(directory), []);
  }
});
