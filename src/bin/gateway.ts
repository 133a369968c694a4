// `frond gateway`: the gateway by itself, in front of any MongoDB server that a connection string names.

import { CommandError, EngineError } from '../base/errors.ts';
import { openHostEnv } from '../env/index.ts';
import type { Env } from '../env/index.ts';
import type { Caller } from '../gateway/index.ts';
import { FileError, openRemoteStore } from '../gridfs/index.ts';
import type { FileStore, RemoteOptions } from '../gridfs/index.ts';
import { readDirectoryWords } from './directory-words.ts';
import { readAccessSettings, userPlaces } from './gateway-access.ts';
import { openGatewayOver } from './open-gateway.ts';
import { parseWhole } from './option-table.ts';
import { FrondUsage } from './usage.ts';

const connectMs = 5000;

/** Users that are kept connected. */
const usersMax = 100;

/** Users of the server behind: each has connections of their own, so what they may do is that server's to say. */
class RemoteUsers {
  readonly #uri: string;
  readonly #db: string;
  readonly #env: Env;
  readonly #stores: Map<string, Promise<FileStore>> = new Map();

  constructor(uri: string, db: string, env: Env) {
    this.#uri = uri;
    this.#db = db;
    this.#env = env;
  }

  readonly logIn = async (text: string, password: string): Promise<Caller | undefined> => {
    for (const [name, db] of userPlaces(text, this.#db)) {
      const caller = await this.#logInAt({ name, db, password });
      if (caller !== undefined) return caller;
    }
    return undefined;
  };

  async #logInAt(user: NonNullable<RemoteOptions['user']>): Promise<Caller | undefined> {
    const key = JSON.stringify([user.name, user.db, user.password]);
    const known = this.#stores.get(key) ?? openRemoteStore(this.#uri, this.#env, { connectMs, user });
    this.#stores.delete(key);
    try {
      const store = await known;
      this.#stores.set(key, known);
      await this.#closeOldest();
      return { may: (right) => right !== 'status', store };
    } catch (error) {
      if (error instanceof CommandError && error.code === 18) return undefined;
      throw error;
    }
  }

  async #closeOldest(): Promise<void> {
    const [oldest] = this.#stores;
    if (this.#stores.size <= usersMax || oldest === undefined) return;
    this.#stores.delete(oldest[0]);
    await (await oldest[1]).close();
  }

  async close(): Promise<void> {
    for (const store of this.#stores.values()) await (await store).close();
  }
}

/** Runs until SIGTERM or SIGINT. */
export async function runGateway(words: readonly string[]): Promise<number> {
  const given = readDirectoryWords(words, ['mongo', 'port', 'bind', 'db', 'login', 'tokens', 'signing-key', 'origins']);
  const uri = given.get('mongo');
  if (uri === undefined) throw new FrondUsage('--mongo wants a connection string, as mongodb://127.0.0.1:27017');
  const place = {
    host: given.get('bind') ?? '127.0.0.1',
    port: parseWhole(given.get('port') ?? '8027', '--port', { low: 0, high: 65535 }),
    db: given.get('db') ?? 'test',
    access: await readAccessSettings({ tokensFile: given.get('tokens'), signingKeyFile: given.get('signing-key'), origins: given.get('origins') }),
  };
  const env = await openHostEnv();
  const users = given.get('login') === 'database' ? new RemoteUsers(uri, place.db, env) : undefined;
  const stop = new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve());
  });
  try {
    const store = await openRemoteStore(uri, env, { connectMs });
    const gateway = await openGatewayOver(store, env, { ...place, logIn: users?.logIn }, { onBug: (error, where) => console.error(`frond: internal error in ${where}:`, error), onNotice: (message) => console.error(`frond: ${message}`) });
    const { host, port } = gateway.address;
    console.log(`listening on http://${host.includes(':') ? `[${host}]` : host}:${port}/`);
    await stop;
    await gateway.close();
    await users?.close();
    await store.close();
    return 0;
  } catch (error) {
    if (!(error instanceof FileError || error instanceof CommandError || error instanceof EngineError)) throw error;
    // The connection string may have a password: it is not said again.
    console.error(`frond: ${error.message}`);
    return 1;
  }
}
