// A server in memory with the face of `MongoMemoryServer` of mongodb-memory-server, so that a test suite changes one import and downloads
// nothing. Options that choose or fetch a binary mean nothing here and are passed over. The server is a replica set of one member whatever
// the class is called, so transactions and change streams work without more.

import { EventEmitter } from 'node:events';
import { CommandError, EngineError } from '../base/errors.ts';
import { start, type InProcessServer } from './start.ts';

/** How one server is to be; names as in mongodb-memory-server. */
export interface MemoryInstance {
  readonly port?: number;
  readonly ip?: string;
  /** Directory of the data; in memory when not said. */
  readonly dbPath?: string;
  /** Database that `getUri` names when it is given none and this was said. */
  readonly dbName?: string;
  readonly replSet?: string;
  /** Passed over: there is one engine. */
  readonly storageEngine?: string;
  /** Passed over: words for mongod. */
  readonly args?: readonly string[];
  readonly [other: string]: unknown;
}

/** The users of a server, as mongodb-memory-server makes them; `enable` makes users log in. */
export interface MemoryAuth {
  readonly enable?: boolean;
  readonly disable?: boolean;
  /** `mongodb-memory-server-root` when not said. */
  readonly customRootName?: string;
  /** `rootuser` when not said. */
  readonly customRootPwd?: string;
  readonly extraUsers?: readonly MemoryUser[];
}

/** A user besides the root user. */
export interface MemoryUser {
  readonly createUser: string;
  readonly pwd: string;
  readonly roles: readonly unknown[];
  readonly database?: string;
  readonly customData?: unknown;
}

/** Options of a server. */
export interface MemoryServerOptions {
  readonly instance?: MemoryInstance;
  readonly auth?: MemoryAuth;
  /** Passed over: nothing is downloaded. */
  readonly binary?: unknown;
  /** Passed over: no process is made. */
  readonly spawn?: unknown;
  readonly [other: string]: unknown;
}

/** How a server stands. */
export type MemoryServerState = 'new' | 'starting' | 'running' | 'stopped';

/** What is known of a running server. */
export interface MemoryInstanceInfo {
  readonly port: number;
  readonly ip: string;
  readonly dbName: string;
  readonly dbPath: string;
  readonly storageEngine: string;
  readonly replSet: string | undefined;
  readonly instance: InProcessServer;
}

/** A server in memory. */
export class MongoMemoryServer {
  readonly opts: MemoryServerOptions;
  readonly #events = new EventEmitter();
  #state: MemoryServerState = 'new';
  #running: InProcessServer | undefined;
  #lastPort: number | undefined;

  constructor(opts: MemoryServerOptions = {}) {
    this.opts = opts;
  }

  /** A server that answers. */
  static async create(opts: MemoryServerOptions = {}): Promise<MongoMemoryServer> {
    const server = new MongoMemoryServer(opts);
    await server.start();
    return server;
  }

  get state(): MemoryServerState {
    return this.#state;
  }

  /** Undefined unless it runs. */
  get instanceInfo(): MemoryInstanceInfo | undefined {
    const running = this.#running;
    if (running === undefined) return undefined;
    const { dbName, dbPath } = this.opts.instance ?? {};
    return {
      port: running.port,
      ip: running.host,
      dbName: dbName ?? '',
      dbPath: dbPath ?? '',
      storageEngine: 'frond',
      replSet: running.replicaSet,
      instance: running,
    };
  }

  /** Starts it, also again after `stop`. With `forceSamePort` it comes back at the port it had. */
  async start(forceSamePort = false): Promise<void> {
    if (this.#state === 'starting' || this.#state === 'running') throw wrongState(this.#state, 'new, stopped');
    const { port, ip, dbPath, replSet } = this.opts.instance ?? {};
    this.#become('starting');
    try {
      const { auth } = this;
      const running = await start({
        authorization: auth !== undefined,
        ...(dbPath === undefined || dbPath === '' ? { memory: true } : { path: dbPath }),
        host: ip ?? '127.0.0.1',
        port: (forceSamePort ? this.#lastPort : undefined) ?? port ?? 0,
        ...(replSet === undefined || replSet === '' ? {} : { replicaSet: replSet }),
      });
      if (auth !== undefined) await makeUsers(running, auth);
      this.#running = running;
    } catch (error) {
      this.#become('stopped');
      throw error;
    }
    this.#lastPort = this.#running.port;
    this.#become('running');
  }

  /** Whether users log in, and who is made; undefined: nobody has to. */
  get auth(): MemoryAuth | undefined {
    const { auth } = this.opts;
    return auth === undefined || auth.disable === true || auth.enable === false ? undefined : auth;
  }

  /** What is known of the server, which is started if it is new. */
  async ensureInstance(): Promise<MemoryInstanceInfo> {
    if (this.#state === 'new') await this.start();
    const info = this.instanceInfo;
    if (info === undefined) throw wrongState(this.#state, 'running');
    return info;
  }

  /** Stops it, and with it its data; true, as every test suite expects. */
  readonly stop: (cleanup?: unknown) => Promise<boolean> = async () => {
    const running = this.#running;
    this.#running = undefined;
    await running?.stop();
    if (this.#state !== 'new') this.#become('stopped');
    return true;
  };

  /** Nothing is left to clean: data in memory goes with `stop`, a directory that was named is its owner's. */
  readonly cleanup: (options?: unknown) => Promise<void> = () => Promise.resolve();

  /** Connection string. The name of a database, and another address by which this machine is reached, are put in where given. */
  getUri(otherDb?: string, otherIp?: string): string {
    const running = this.#running;
    if (running === undefined) throw wrongState(this.#state, 'running');
    const host = otherIp ?? running.host;
    const named = host.includes(':') ? `[${host}]` : host;
    const { replSet, dbName } = this.opts.instance ?? {};
    const query = replSet === undefined || replSet === '' ? '' : `?replicaSet=${encodeURIComponent(replSet)}`;
    return `mongodb://${named}:${String(running.port)}/${otherDb ?? dbName ?? ''}${query}`;
  }

  /** `stateChange` is told with the new state. */
  on(event: 'stateChange', listener: (state: MemoryServerState) => void): this {
    this.#events.on(event, listener);
    return this;
  }

  once(event: 'stateChange', listener: (state: MemoryServerState) => void): this {
    this.#events.once(event, listener);
    return this;
  }

  off(event: 'stateChange', listener: (state: MemoryServerState) => void): this {
    this.#events.off(event, listener);
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #become(state: MemoryServerState): void {
    this.#state = state;
    this.#events.emit('stateChange', state);
  }
}

/** Makes the root user and the others, unless they are there from an earlier run. */
async function makeUsers(server: InProcessServer, auth: MemoryAuth): Promise<void> {
  const root: MemoryUser = { createUser: auth.customRootName ?? 'mongodb-memory-server-root', pwd: auth.customRootPwd ?? 'rootuser', roles: ['root'] };
  for (const { database = 'admin', ...user } of [root, ...(auth.extraUsers ?? [])]) {
    try {
      await server.run(database, JSON.stringify(user));
    } catch (error) {
      if (!(error instanceof CommandError) || error.code !== userExists) throw error;
    }
  }
}

/** Code of `createUser` for a name that is taken. */
const userExists = 51003;

/** The error of a call that a server in this state does not take. */
export function wrongState(state: string, wanted: string): EngineError {
  return new EngineError('closed', `Incorrect State for operation: "${state}", allowed States: "[${wanted}]"`);
}
