// `frond gateway`: the gateway by itself, in front of any MongoDB server that a connection string names.

import { CommandError, EngineError } from '../base/errors.ts';
import { openHostEnv } from '../env/index.ts';
import { FileError, openRemoteStore } from '../gridfs/index.ts';
import { readDirectoryWords } from './directory-words.ts';
import { openGatewayOver } from './open-gateway.ts';
import { parseWhole } from './option-table.ts';
import { FrondUsage } from './usage.ts';

const connectMs = 5000;

/** Runs until SIGTERM or SIGINT. */
export async function runGateway(words: readonly string[]): Promise<number> {
  const given = readDirectoryWords(words, ['mongo', 'port', 'bind', 'db']);
  const uri = given.get('mongo');
  if (uri === undefined) throw new FrondUsage('--mongo wants a connection string, as mongodb://127.0.0.1:27017');
  const place = {
    host: given.get('bind') ?? '127.0.0.1',
    port: parseWhole(given.get('port') ?? '8027', '--port', { low: 0, high: 65535 }),
    db: given.get('db') ?? 'test',
  };
  const env = await openHostEnv();
  const stop = new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve());
  });
  try {
    const store = await openRemoteStore(uri, env, { connectMs });
    const gateway = await openGatewayOver(store, env, place, { onBug: (error, where) => console.error(`frond: internal error in ${where}:`, error), onNotice: (message) => console.error(`frond: ${message}`) });
    const { host, port } = gateway.address;
    console.log(`listening on http://${host.includes(':') ? `[${host}]` : host}:${port}/`);
    await stop;
    await gateway.close();
    await store.close();
    return 0;
  } catch (error) {
    if (!(error instanceof FileError || error instanceof CommandError || error instanceof EngineError)) throw error;
    // The connection string may have a password: it is not said again.
    console.error(`frond: ${error.message}`);
    return 1;
  }
}
