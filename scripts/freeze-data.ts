// `node dist/scripts/freeze-data.js [WHAT]`: writes directories of the present format as texts into test/frozen/, once for each format that was released,
// and, named WHAT, where something has been added to a format. What is there already is not written again: an old directory is what the test is for.

import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MongoClient } from 'mongodb';
import { openEnvironment } from '../src/engine/index.ts';
import { openHostEnv } from '../src/env/index.ts';
import { start } from '../src/index.ts';
import { packDirectory } from '../test/frozen/directory-text.ts';
import { fillEngine, frozenOptions } from '../test/frozen/engine-content.ts';
import { fillLarge, largeOptions } from '../test/frozen/large-content.ts';
import { fillServer } from '../test/frozen/server-content.ts';

const target = fileURLToPath(new URL('../../test/frozen/', import.meta.url));
const directory = await mkdtemp(join(tmpdir(), 'frond-freeze-'));

const addition = process.argv[2] === undefined ? '' : `-${process.argv[2]}`;

/** Idle time in which large values are moved. */
const idleMs = 6000;

const isData = (path: string): boolean => !path.includes('LOCK');

async function keep(kind: string, source: string): Promise<void> {
  const version = (await readFile(join(source, 'data.frond'))).readUInt32LE(8);
  const path = join(target, `${kind}-format-${String(version)}${addition}.json`);
  if (existsSync(path)) console.log(`${path} is there already`);
  else {
    const text = await packDirectory(source);
    await writeFile(path, text);
    console.log(`${path}: ${String(text.length)} bytes`);
  }
}

try {
  const engine = await openEnvironment(await openHostEnv(), join(directory, 'engine'), frozenOptions);
  await fillEngine(engine);
  // Copied while it is open: what opens is what a crash leaves.
  await cp(join(directory, 'engine'), join(directory, 'engine-copy'), { recursive: true, filter: isData });
  await engine.close();
  await keep('engine', join(directory, 'engine-copy'));
  const large = await openEnvironment(await openHostEnv(), join(directory, 'large'), largeOptions);
  await fillLarge(large, () => new Promise((resolve) => setTimeout(resolve, idleMs)));
  await cp(join(directory, 'large'), join(directory, 'large-copy'), { recursive: true, filter: isData });
  await large.close();
  await keep('large', join(directory, 'large-copy'));
  const server = await start({ path: join(directory, 'server') });
  const client = await new MongoClient(server.uri).connect();
  await fillServer(client);
  await cp(join(directory, 'server'), join(directory, 'server-copy'), { recursive: true, filter: isData });
  await client.close();
  await server.stop();
  await keep('server', join(directory, 'server-copy'));
} finally {
  await rm(directory, { recursive: true });
}
