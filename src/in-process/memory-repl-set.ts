// A replica set in memory with the face of `MongoMemoryReplSet` of mongodb-memory-server. It has one member, whatever `count` says: one
// member gives transactions, change streams and `w: "majority"`, which is what test suites start a set for.

import { EventEmitter } from 'node:events';
import { MongoMemoryServer, wrongState, type MemoryAuth, type MemoryInstance } from './memory-server.ts';

/** How the set is to be; names as in mongodb-memory-server. */
export interface MemoryReplSetStorage {
  readonly name?: string;
  /** Passed over: there is one member. */
  readonly count?: number;
  readonly dbName?: string;
  readonly ip?: string;
  readonly auth?: MemoryAuth;
  readonly [other: string]: unknown;
}

/** Options of a set. */
export interface MemoryReplSetOptions {
  readonly replSet?: MemoryReplSetStorage;
  /** Of the member. */
  readonly instanceOpts?: readonly MemoryInstance[];
  /** Passed over: nothing is downloaded. */
  readonly binary?: unknown;
  readonly [other: string]: unknown;
}

/** How a set stands. */
type MemoryReplSetState = 'init' | 'running' | 'stopped';

/** A replica set in memory. */
export class MongoMemoryReplSet {
  /** Its members, while it runs. */
  servers: MongoMemoryServer[] = [];
  readonly opts: MemoryReplSetOptions;
  readonly #events = new EventEmitter();
  #state: MemoryReplSetState = 'stopped';

  constructor(opts: MemoryReplSetOptions = {}) {
    this.opts = opts;
  }

  /** A set with a primary. */
  static async create(opts: MemoryReplSetOptions = {}): Promise<MongoMemoryReplSet> {
    const set = new MongoMemoryReplSet(opts);
    await set.start();
    return set;
  }

  get state(): MemoryReplSetState {
    return this.#state;
  }

  get replSetOpts(): MemoryReplSetStorage {
    return { ...this.opts.replSet, name: this.#name };
  }

  get instanceOpts(): readonly MemoryInstance[] {
    return this.opts.instanceOpts ?? [];
  }

  async start(): Promise<void> {
    if (this.#state !== 'stopped') throw wrongState(this.#state, 'stopped');
    this.#become('init');
    const { ip, dbName, auth } = this.opts.replSet ?? {};
    const instance: MemoryInstance = {
      ...this.instanceOpts[0],
      replSet: this.#name,
      ...(ip === undefined ? {} : { ip }),
      ...(dbName === undefined ? {} : { dbName }),
    };
    try {
      this.servers = [await MongoMemoryServer.create({ instance, ...(auth === undefined ? {} : { auth }) })];
    } catch (error) {
      this.#become('stopped');
      throw error;
    }
    this.#become('running');
  }

  /** Resolves when the set has a primary. */
  async waitUntilRunning(): Promise<void> {
    if (this.#state === 'running') return;
    if (this.#state === 'stopped') throw wrongState(this.#state, 'running, init');
    await new Promise<void>((resolve, reject) => {
      this.#events.once('stateChange', (state: MemoryReplSetState) => {
        if (state === 'running') resolve();
        else reject(wrongState(state, 'running'));
      });
    });
  }

  /** Connection string with the members and the name of the set. */
  getUri(otherDb?: string, otherIp?: string): string {
    const [server] = this.servers;
    if (server === undefined || this.#state !== 'running') throw wrongState(this.#state, 'running');
    return server.getUri(otherDb, otherIp);
  }

  /** Stops the set, and with it its data; true, as every test suite expects. */
  readonly stop: (cleanup?: unknown) => Promise<boolean> = async () => {
    const servers = this.servers;
    this.servers = [];
    for (const server of servers) await server.stop();
    if (this.#state !== 'stopped') this.#become('stopped');
    return true;
  };

  /** Nothing is left to clean. */
  readonly cleanup: (options?: unknown) => Promise<void> = () => Promise.resolve();

  /** `stateChange` is told with the new state. */
  on(event: 'stateChange', listener: (state: MemoryReplSetState) => void): this {
    this.#events.on(event, listener);
    return this;
  }

  once(event: 'stateChange', listener: (state: MemoryReplSetState) => void): this {
    this.#events.once(event, listener);
    return this;
  }

  off(event: 'stateChange', listener: (state: MemoryReplSetState) => void): this {
    this.#events.off(event, listener);
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  get #name(): string {
    const name = this.opts.replSet?.name;
    return name === undefined || name === '' ? 'testset' : name;
  }

  #become(state: MemoryReplSetState): void {
    this.#state = state;
    this.#events.emit('stateChange', state);
  }
}
