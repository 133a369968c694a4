// The bare storage engine: ordered bytes to bytes, transactional, durable. Run it: node examples/engine.mjs [DIRECTORY]
// Keys and values are Uint8Array; what they mean is yours.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dictionaryNamed, Environment } from 'fronddb/engine';

const bytes = (text) => new TextEncoder().encode(text);
const text = (value) => new TextDecoder().decode(value);

const given = process.argv[2];
const directory = given ?? (await mkdtemp(join(tmpdir(), 'frond-engine-')));
const environment = await Environment.open(directory, { cacheBytes: 32 * 1024 * 1024 });
try {
  // A dictionary is one ordered map. A write is seen by others, and safe from any crash, when its commit resolves.
  const setup = environment.begin('snapshot');
  const fruits = await dictionaryNamed(environment, setup, 'fruits', { compression: 'zstd' });
  for (const [name, colour] of [['apple', 'red'], ['banana', 'yellow'], ['cherry', 'red'], ['damson', 'blue']]) {
    await setup.put(fruits, bytes(name), bytes(colour));
  }
  await setup.commit();

  // A transaction reads one state of the data, whatever others do meanwhile.
  const before = environment.begin('read');
  const change = environment.begin('snapshot');
  await change.put(fruits, bytes('banana'), bytes('brown'));
  await change.remove(fruits, bytes('damson'));
  await change.commit();
  console.log('before:', text(await before.get(fruits, bytes('banana'))));
  before.abort();

  // A cursor gives a range in order, batch by batch.
  const reader = environment.begin('read');
  const cursor = reader.cursor(fruits, { from: bytes('b') }, 1);
  for (;;) {
    const batch = await cursor.nextBatch({ rows: 100, bytes: 1 << 20 });
    if (batch.length === 0) break;
    for (let at = 0; at < batch.length; at++) console.log('after:', text(batch.key(at)), text(batch.value(at)));
  }
  cursor.close();
  reader.abort();
} finally {
  await environment.close();
  if (given === undefined) await rm(directory, { recursive: true });
}
