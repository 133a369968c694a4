// `frond gateway`: the gateway by itself, in front of any MongoDB server that a connection string names.

import { CommandError, EngineError } from '../base/errors.ts';
import { bytesPassed, openHostEnv, watchGarbage } from '../env/index.ts';
import type { Env } from '../env/index.ts';
import type { Caller } from '../gateway/index.ts';
import { FileError, openRemoteStore } from '../gridfs/index.ts';
import type { FileStore, RemoteOptions } from '../gridfs/index.ts';
import { readDirectoryWords } from './directory-words.ts';
import { readAccessSettings, userPlaces } from './gateway-access.ts';
import { openGatewayOver } from './open-gateway.ts';
import { parseWhole } from './option-table.ts';
import { FrondUsage } from './usage.ts';

const ways: RemoteOptions = { connectMs: 5000, passed: bytesPassed };
/** Resident with more, the process has dead arrays looked for: each chunk comes in several, and V8 by itself looks at everything to find them. */
const residentMax = 110_000_000;
/** Each window is two questions to the server behind, which cost more than its bytes. */
const windowBytes = 1024 * 1024;

/** Users that are kept connected. */
const usersMax = 100;
/** A password that was right is asked of the server again after so long: it may have been changed, or the user be gone. */
const trustedMs = 300_000;
/** Connections of those who are not asked any more are kept for what goes on with them. */
const goingMs = 600_000;

interface RemoteUser {
  readonly store: Promise<FileStore>;
  readonly sinceMs: number;
}

/** Users of the server behind: each has connections of their own, so what they may do is that server's to say. */
class RemoteUsers {
  readonly #uri: string;
  readonly #db: string;
  readonly #env: Env;
  readonly #users: Map<string, RemoteUser> = new Map();
  /** Those that were replaced, to be closed. */
  readonly #old: Set<Promise<FileStore>> = new Set();
  readonly #closing: AbortController = new AbortController();

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
    const nowMs = this.#env.clock.monotonicMs();
    let known = this.#users.get(key);
    if (known === undefined || nowMs - known.sinceMs >= trustedMs) {
      this.#forget(key);
      known = { store: openRemoteStore(this.#uri, this.#env, { ...ways, user }), sinceMs: nowMs };
      // At once, so that many questions of a new user are one login.
      this.#users.set(key, known);
      const [oldest] = this.#users.keys();
      if (this.#users.size > usersMax && oldest !== undefined) this.#forget(oldest);
    }
    try {
      return { may: (right) => right !== 'status', store: await known.store };
    } catch (error) {
      if (this.#users.get(key) === known) this.#users.delete(key);
      if (error instanceof CommandError && error.code === 18) return undefined;
      throw error;
    }
  }

  /** Closes what was there for the key when nobody uses it any more. */
  #forget(key: string): void {
    const known = this.#users.get(key);
    if (known === undefined) return;
    this.#users.delete(key);
    this.#old.add(known.store);
    void this.#env.clock.sleep(goingMs, this.#closing.signal).then(() => this.#closeOld(known.store));
  }

  async #closeOld(store: Promise<FileStore>): Promise<void> {
    if (!this.#old.delete(store)) return;
    await store.then((open) => open.close(), () => undefined);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    const open = [...this.#old, ...[...this.#users.values()].map(({ store }) => store)];
    this.#old.clear();
    for (const store of open) await store.then((one) => one.close(), () => undefined);
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
  watchGarbage(residentMax);
  const env = await openHostEnv();
  const users = given.get('login') === 'database' ? new RemoteUsers(uri, place.db, env) : undefined;
  const stop = new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve());
  });
  try {
    const store = await openRemoteStore(uri, env, ways);
    const gateway = await openGatewayOver(store, env, { ...place, logIn: users?.logIn, limits: { windowBytes } }, { onBug: (error, where) => console.error(`frond: internal error in ${where}:`, error), onNotice: (message) => console.error(`frond: ${message}`) });
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
