// The whole server put together: engine, catalog, commands, listener. `frond serve` runs one; so does a program that wants one in itself.

import { openCatalog } from '../catalog/index.ts';
import { openCommandServer } from '../command/index.ts';
import type { CommandDispatcher } from '../command/index.ts';
import { openEnvironment } from '../engine/index.ts';
import type { Environment } from '../engine/index.ts';
import type { Env, NetworkAddress } from '../env/index.ts';
import { openHostNetwork } from '../env/index.ts';
import { Listener } from '../server/index.ts';
import { ServerCounters } from '../session/index.ts';
import type { ServeOptions } from './server-options.ts';

/** What the surroundings of a server are told. */
export interface ServerEvents {
  /** A bug of this program came to light; the client was told of an internal error. */
  readonly onBug: (error: unknown, where: string) => void;
}

/** Most client connections at a time (reliability.md). */
const connectionsMax = 20_000;

/** A server that answers. */
export class RunningServer {
  readonly engine: Environment;
  readonly #dispatcher: CommandDispatcher;
  readonly #listener: Listener;

  private constructor(engine: Environment, dispatcher: CommandDispatcher, listener: Listener) {
    this.engine = engine;
    this.#dispatcher = dispatcher;
    this.#listener = listener;
  }

  /** Opens the data and listens. What fails is undone: no port, no lock is kept. */
  static async open(env: Env, options: ServeOptions, events: ServerEvents): Promise<RunningServer> {
    const { delayedCommitsMs } = options;
    const engine = await openEnvironment(env, options.dbPath, {
      cacheBytes: options.cacheBytes,
      checkpointPeriodMs: options.checkpointPeriodMs,
      durability: delayedCommitsMs === undefined ? 'sync' : { delayedMs: delayedCommitsMs },
    });
    try {
      const counters = new ServerCounters(connectionsMax);
      const dispatcher = await openDispatcher(env, engine, { options, events, counters });
      const network = openHostNetwork();
      const address = { host: options.bindIp, port: options.port };
      const onBug = (error: unknown): void => events.onBug(error, 'connection');
      const listener = await Listener.listen({ address, network, codecs: env.codecs, clock: env.clock, dispatcher, counters, onBug });
      return new RunningServer(engine, dispatcher, listener);
    } catch (error) {
      await engine.close();
      throw error;
    }
  }

  /** Where MongoDB clients find it. */
  get address(): NetworkAddress {
    return this.#listener.address;
  }

  /** Resolves when the engine can promise nothing more. */
  get fatal(): Promise<Error> {
    return this.engine.fatal;
  }

  /** Lets what is being served finish, then closes the data. */
  async close(): Promise<void> {
    await this.#listener.close();
    await this.#dispatcher.close();
    await this.engine.close();
  }
}

interface Surroundings {
  readonly options: ServeOptions;
  readonly events: ServerEvents;
  readonly counters: ServerCounters;
}

async function openDispatcher(env: Env, engine: Environment, { options, events, counters }: Surroundings): Promise<CommandDispatcher> {
  const catalog = await openCatalog(engine, env);
  return await openCommandServer(
    {
      catalog, env, engine, counters,
      options: { version: '0.1.0', standalone: options.standalone, replicaSetName: options.replSetName, commandLine: ['frond', 'serve'], dbPath: options.dbPath, port: options.port },
    },
    { onBug: events.onBug },
  );
}
