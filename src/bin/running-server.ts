// The whole server put together: engine, catalog, commands, listener, gateway. `frond serve` runs one; so does a program that wants one in itself.

import { EngineError } from '../base/errors.ts';
import type { Document } from '../bson/index.ts';
import { openCatalog, updateTable } from '../catalog/index.ts';
import type { Catalog } from '../catalog/index.ts';
import { openCommandServer } from '../command/index.ts';
import type { CommandDispatcher } from '../command/index.ts';
import { openEnvironment } from '../engine/index.ts';
import type { Environment } from '../engine/index.ts';
import type { Env, NetworkAddress } from '../env/index.ts';
import { openHostNetwork } from '../env/index.ts';
import { openFileStore } from '../gridfs/index.ts';
import { isLoopback } from '../gateway/index.ts';
import type { Caller, Gateway, ReadLevels, ServerStatus } from '../gateway/index.ts';
import { Listener } from '../server/index.ts';
import { BATCH_BYTES_MAX, ServerCounters, ServerLog, type LogSink } from '../session/index.ts';
import { callerWith, readAccessSettings, userPlaces } from './gateway-access.ts';
import { openGatewayOver } from './open-gateway.ts';
import { readServerStatus, readTreeLevels } from './server-status.ts';
import type { ServeOptions } from './server-options.ts';

/** What the surroundings of a server are told. */
export interface ServerEvents {
  /** A bug of this program came to light; the client was told of an internal error. */
  readonly onBug: (error: unknown, where: string) => void;
  /** Something that an operator should know. */
  readonly onNotice: (message: string) => void;
  /** A line of the log. */
  readonly onLog?: LogSink;
  /** Somebody asked for a new file of the log. */
  readonly onLogRotate?: () => void;
}

/** Below this the engine merges on the main thread. */
const workerCacheBytesMin = 128 * 1024 * 1024;

/** Replies of a cursor take this share of the cache, within limits: many clients may read at a time. */
const batchShare = 32;
const batchBytesMin = 1024 * 1024;
const batchBytes = (cacheBytes: number): number => Math.min(BATCH_BYTES_MAX, Math.max(batchBytesMin, Math.floor(cacheBytes / batchShare)));

/** Sorts and groups of all operations hold a quarter of the cache in memory together, within limits. */
const workShare = 4;
const workBytesMin = 8 * 1024 * 1024;
const workBytesMax = 512 * 1024 * 1024;
const workBytes = (cacheBytes: number): number => Math.min(workBytesMax, Math.max(workBytesMin, Math.floor(cacheBytes / workShare)));

/** Large messages under way at a time: an eighth of the cache, and always one of the largest document. */
const messageShare = 8;
const messageBytesMin = 17 * 1024 * 1024;
const messageBytes = (cacheBytes: number): number => Math.max(messageBytesMin, Math.floor(cacheBytes / messageShare));

/** Most client connections at a time (reliability.md). */
const connectionsMax = 20_000;

/** A server that answers. */
export class RunningServer {
  readonly engine: Environment;
  readonly #listener: Listener;
  readonly #gateway: Gateway | undefined;
  readonly #dispatcher: CommandDispatcher;
  /** Resolves when a client has asked, with the right to, that the server stops. */
  readonly shutdownAsked: Promise<'stop'>;
  readonly #undo: Undo;

  private constructor(parts: { engine: Environment; shutdownAsked: Promise<'stop'>; dispatcher: CommandDispatcher; listener: Listener; gateway: Gateway | undefined }, undo: Undo) {
    this.engine = parts.engine;
    this.shutdownAsked = parts.shutdownAsked;
    this.#dispatcher = parts.dispatcher;
    this.#listener = parts.listener;
    this.#gateway = parts.gateway;
    this.#undo = undo;
  }

  /** Opens the data and listens. What fails is undone: no port, no lock is kept. */
  static async open(env: Env, options: ServeOptions, events: ServerEvents): Promise<RunningServer> {
    const { delayedCommitsMs } = options;
    checkReach(options);
    const undo = new Undo();
    try {
      const engine = await openEnvironment(env, options.dbPath, {
        cacheBytes: options.cacheBytes,
        updates: updateTable,
        checkpointPeriodMs: options.checkpointPeriodMs,
        // A command that waits longer tries again, and looks at its own time limit meanwhile.
        lockWaitMs: 1000,
        // A small cache is a promise of little memory, and the worker has more of its own than that.
        treeWorker: options.cacheBytes >= workerCacheBytesMin,
        durability: delayedCommitsMs === undefined ? 'sync' : { delayedMs: delayedCommitsMs },
      });
      undo.add(() => engine.close());
      const counters = new ServerCounters(connectionsMax);
      let askShutdown = (): void => undefined;
      const shutdownAsked = new Promise<'stop'>((resolve) => {
        askShutdown = () => {
          resolve('stop');
        };
      });
      const surroundings = { env, options, events, counters, askShutdown };
      const catalog = await openCatalog(engine, env, { oplogBytes: options.oplogBytes });
      const dispatcher = await openDispatcher(engine, catalog, surroundings);
      undo.add(() => dispatcher.close());
      const address = { host: options.bindIp, port: options.port };
      const onBug = (error: unknown): void => events.onBug(error, 'connection');
      const listener = await Listener.listen({ address, network: openHostNetwork(options.tls), codecs: env.codecs, clock: env.clock, tasks: env.tasks, dispatcher, counters, messageBytesMax: messageBytes(options.cacheBytes), onBug });
      undo.add(() => listener.close());
      const gateway = await openGateway({ engine, catalog, dispatcher }, surroundings, undo);
      return new RunningServer({ engine, shutdownAsked, dispatcher, listener, gateway }, undo);
    } catch (error) {
      await undo.run();
      throw error;
    }
  }

  /** Where MongoDB clients find it. */
  get address(): NetworkAddress {
    return this.#listener.address;
  }

  /** Where browsers find it; undefined where it has no gateway. */
  get gatewayAddress(): NetworkAddress | undefined {
    return this.#gateway?.address;
  }

  /** Runs a command with all rights, for whoever has this server in their process. An error is thrown. */
  run(db: string, command: Document): Promise<Document> {
    return this.#dispatcher.runInternal(db, command);
  }

  /** Resolves when the engine can promise nothing more. */
  get fatal(): Promise<Error> {
    return this.engine.fatal;
  }

  /** Lets what is being served finish, then closes the data. */
  async close(): Promise<void> {
    await this.#undo.run();
  }
}

/** A server that others can reach has users, or does not start. */
function checkReach({ bindIp, authorization }: ServeOptions): void {
  if (authorization || isLoopback(bindIp)) return;
  throw new EngineError(
    'format',
    `${bindIp} can be reached from other machines, so users must log in there: start with --auth (security.authorization: enabled), and make the first user from this machine; or listen at 127.0.0.1`,
  );
}

/** What was opened, closed from the last to the first. */
class Undo {
  readonly #steps: (() => Promise<void>)[] = [];

  add(step: () => Promise<void>): void {
    this.#steps.push(step);
  }

  async run(): Promise<void> {
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) await step();
  }
}

interface Surroundings {
  readonly env: Env;
  readonly options: ServeOptions;
  readonly events: ServerEvents;
  readonly counters: ServerCounters;
  readonly askShutdown: () => void;
}

async function openDispatcher(engine: Environment, catalog: Catalog, { env, options, events, counters, askShutdown }: Surroundings): Promise<CommandDispatcher> {
  return await openCommandServer(
    {
      catalog, env, engine, counters,
      log: new ServerLog(env.clock, events.onLog),
      control: { shutdown: askShutdown, rotateLog: () => events.onLogRotate?.() },
      options: { version: '0.1.0', standalone: options.standalone, replicaSetName: options.replSetName, dbPath: options.dbPath, port: options.port, testCommands: options.testCommands, authorization: options.authorization, slowMs: options.slowMs, batchBytesMax: batchBytes(options.cacheBytes), unsentBytesMax: messageBytes(options.cacheBytes), workBytesMax: workBytes(options.cacheBytes), largeBytesMax: messageBytes(options.cacheBytes), commandLine: options.commandLine, parsedOptions: options.parsed },
    },
    { onBug: events.onBug },
  );
}

/** Without accounts the gateway is for this machine only, wherever the server itself listens. */
async function openGateway(parts: { readonly engine: Environment; readonly catalog: Catalog; readonly dispatcher: CommandDispatcher }, { env, options, events }: Surroundings, undo: Undo): Promise<Gateway | undefined> {
  const { gatewayPort: port, gatewayDb: db, bindIp, tls } = options;
  if (port === undefined) return undefined;
  const { engine, catalog, dispatcher } = parts;
  const access = await readAccessSettings(options.gatewayAccess);
  const store = await openFileStore(catalog, env);
  undo.add(() => store.close());
  const logIn = async (user: string, password: string): Promise<Caller | undefined> => {
    for (const [name, place] of userPlaces(user, db)) {
      const authorization = await dispatcher.checkPassword(name, place, password);
      if (authorization !== undefined) return callerWith(authorization);
    }
    return undefined;
  };
  const status = (): Promise<ServerStatus> => readServerStatus({ engine, catalog, run: (where, command) => dispatcher.runInternal(where, command) });
  const levels: ReadLevels = (ns, index) => readTreeLevels({ catalog }, ns, index);
  const host = options.authorization || isLoopback(bindIp) ? bindIp : '127.0.0.1';
  const place = { host, port, db, access, status, levels, ...(options.authorization ? { logIn } : {}), ...(tls?.required === true ? { tls } : {}) };
  const gateway = await openGatewayOver(store, env, place, events);
  undo.add(() => gateway.close());
  return gateway;
}
