// A gateway over any store, with what it tells the operator. `frond serve` runs one over its own data, `frond gateway` one in front of another server.

import { readFile } from 'node:fs/promises';
import type { Env } from '../env/index.ts';
import { Gateway, loadPageFiles } from '../gateway/index.ts';
import type { Caller, GatewayOptions, ReadLevels, ServerStatus } from '../gateway/index.ts';
import type { FileStore } from '../gridfs/index.ts';
import type { AccessSettings } from './gateway-access.ts';

/** Where a gateway listens and what it serves. */
export interface GatewayPlace {
  readonly host: string;
  readonly port: number;
  readonly db: string;
  readonly access: AccessSettings;
  /** The user with this password; undefined: nobody is asked who they are. */
  readonly logIn?: ((user: string, password: string) => Promise<Caller | undefined>) | undefined;
  readonly status?: () => Promise<ServerStatus>;
  readonly levels?: ReadLevels;
  readonly tls?: GatewayOptions['tls'];
  readonly limits?: NonNullable<GatewayOptions['limits']>;
}

/** What the surroundings of a gateway are told. */
export interface GatewayWords {
  readonly onBug: (error: unknown, where: string) => void;
  readonly onNotice: (message: string) => void;
}

/** Listens. EngineError `locked` where the port is in use. The store stays the caller's. */
export async function openGatewayOver(store: FileStore, env: Env, place: GatewayPlace, words: GatewayWords): Promise<Gateway> {
  const { access: { tokens, signingKey, origins }, logIn, ...where } = place;
  const access = { ...(logIn === undefined ? {} : { logIn }), ...(tokens === undefined ? {} : { tokens }) };
  return await Gateway.listen({
    ...where,
    access,
    origins,
    ...(signingKey === undefined ? {} : { signingKey }),
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
