// `frond serve`: runs until SIGTERM or SIGINT, prints one line when it is ready, ends with a status other than 0 when it cannot promise
// anything any more.

import { EngineError } from '../base/errors.ts';
import { openHostEnv, watchGarbage } from '../env/index.ts';
import type { NetworkAddress } from '../env/index.ts';
import { openLogEnd } from './log-file.ts';
import { RunningServer } from './running-server.ts';
import { serveOptions } from './server-options.ts';

function shown({ host, port }: NetworkAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** A sentence for what kept the server from starting. */
function describeStart(error: unknown, dbPath: string): string {
  if (!(error instanceof EngineError)) return error instanceof Error ? error.message : String(error);
  if (error.code === 'locked' && error.place.pid !== undefined) return `the data directory ${dbPath} is in use by process ${error.place.pid}`;
  return error.message;
}

/** What the process may be resident with besides its cache before garbage is looked for; 150 MB is the promise. */
const residentBesides = 90_000_000;

function onBug(error: unknown, where: string): void {
  console.error(`frond: internal error in ${where}:`, error);
}

function onNotice(message: string): void {
  console.error(`frond: ${message}`);
}

/** Runs a server; resolves with the exit status. */
export async function serve(words: readonly string[]): Promise<number> {
  const env = await openHostEnv();
  const options = await serveOptions(env, words);
  watchGarbage(options.cacheBytes + residentBesides);
  const stop = new Promise<'stop'>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve('stop'));
  });
  let server: RunningServer;
  try {
    const { sink, rotate } = openLogEnd(options.logPath);
    server = await RunningServer.open(env, options, { onBug, onNotice, onLog: sink, onLogRotate: () => rotate(new Date(env.clock.nowMs()).toISOString().replaceAll(':', '-').slice(0, 19)) });
  } catch (error) {
    console.error(`frond: ${describeStart(error, options.dbPath)}`);
    return 1;
  }
  const gateway = server.gatewayAddress === undefined ? '' : `, ${options.tls?.required === true ? 'https' : 'http'}://${shown(server.gatewayAddress)}/`;
  console.log(`listening on mongodb://${shown(server.address)}/?replicaSet=${options.replSetName}${gateway}`);
  const end = await Promise.race([stop, server.shutdownAsked, server.fatal]);
  if (end === 'stop') {
    await server.close();
    return 0;
  }
  console.error(`frond: ${end.message}${end.cause instanceof Error ? `: ${end.cause.message}` : ''}`);
  return 1;
}
