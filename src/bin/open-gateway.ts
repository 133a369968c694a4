// A gateway over any store, with what it tells the operator. `frond serve` runs one over its own data, `frond gateway` one in front of another server.

import { readFile } from 'node:fs/promises';
import type { Env } from '../env/index.ts';
import { Gateway, loadPageFiles } from '../gateway/index.ts';
import type { FileStore } from '../gridfs/index.ts';

/** Where a gateway listens and what it serves. */
export interface GatewayPlace {
  readonly host: string;
  readonly port: number;
  readonly db: string;
}

/** What the surroundings of a gateway are told. */
export interface GatewayWords {
  readonly onBug: (error: unknown, where: string) => void;
  readonly onNotice: (message: string) => void;
}

/** Listens. EngineError `locked` where the port is in use. The store stays the caller's. */
export async function openGatewayOver(store: FileStore, env: Env, place: GatewayPlace, words: GatewayWords): Promise<Gateway> {
  return await Gateway.listen({
    ...place,
    store,
    clock: env.clock,
    random: env.random,
    page: await loadPageFiles({ readAll: (path) => readFile(path) }),
    onEvent: ({ message, fields, cause }) => {
      const details = Object.entries(fields).map(([name, value]) => `${name}=${value}`).join(' ');
      if (cause === undefined) words.onNotice(`gateway: ${message} ${details}`);
      else words.onBug(cause, `the gateway (${details})`);
    },
  });
}
