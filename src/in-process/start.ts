// A whole server in this process: for tests and for products that carry their database with them. It has a port, so every driver connects to
// it as to any other server; it makes no process, and with `memory` no file. Whatever it opened is closed by `stop`.

import { EngineError } from '../base/errors.ts';
import { RunningServer } from '../bin/index.ts';
import { Document, fromExtendedJson, toExtendedJson } from '../bson/index.ts';
import { openHostEnv, openMemoryEnv, type Env } from '../env/index.ts';

/** How a server in this process is started. Exactly one of `memory` and `path` says where the data is. */
export interface StartOptions {
  /** Nothing is written to disk; the data goes with `stop`, or with the process. */
  readonly memory?: boolean;
  /** Directory of the data, made when it is not there. One server at a time has it, of this process or of another. */
  readonly path?: string;
  /** 0, the default, takes any free port. */
  readonly port?: number;
  /** Address to listen at; this machine alone (127.0.0.1) when not said. */
  readonly host?: string;
  /** Memory for caches and buffers, in bytes; 64 MiB when not said. */
  readonly cacheBytes?: number;
  /** Name of the replica set of one member that drivers see; `frond` when not said. */
  readonly replicaSet?: string;
  /** Presents a standalone server instead, for tools that want one. Drivers then refuse transactions and change streams. */
  readonly standalone?: boolean;
  /** Lets clients make commands fail on purpose (`configureFailPoint`). */
  readonly testCommands?: boolean;
  /** Whether users must log in; needed for a host that others can reach. The first user is made from this machine. */
  readonly authorization?: boolean;
  /** Port of the HTTP gateway to GridFS; it does not run when not said. */
  readonly gatewayPort?: number;
  /** Database whose buckets the gateway serves; `test` when not said. */
  readonly gatewayDb?: string;
  /** Told of errors that are bugs of this product; written to stderr when not said. */
  readonly onBug?: (error: unknown, where: string) => void;
}

/** A server that answers. */
export interface InProcessServer {
  /** Connection string for drivers, without a database. */
  readonly uri: string;
  readonly host: string;
  readonly port: number;
  readonly replicaSet: string | undefined;
  /** Address of the gateway, where it runs. */
  readonly gatewayUrl: string | undefined;
  /** Resolves, once, when a disk failed and nothing more will be acknowledged. */
  readonly fatal: Promise<Error>;
  /** Runs a command with all rights, without a connection. The command is extended JSON, as is the answer; an error is thrown. */
  run(database: string, command: string): Promise<string>;
  /** Connection string for drivers that names a database. */
  getUri(database?: string): string;
  /** Ends connections, closes the data, frees the port. Calling it again waits for the same end. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const MEMORY_PATH = '/data';
const DEFAULT_CACHE_BYTES = 64 * 1024 * 1024;

/** Where the data is: a file system in memory, or a directory. */
async function place({ memory, path }: StartOptions): Promise<{ env: Env; dbPath: string }> {
  if (memory === true && path === undefined) return { env: await openMemoryEnv(), dbPath: MEMORY_PATH };
  if (memory !== true && path !== undefined && path !== '') return { env: await openHostEnv(), dbPath: path };
  throw new EngineError('format', 'start wants either { memory: true } or { path: DIRECTORY }');
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

function reportBug(error: unknown, where: string): void {
  console.error(`frond: internal error in ${where}:`, error);
}

/** Bytes of the log that change streams read: such a server is small, and short-lived. */
const OPLOG_BYTES = 32 * 1024 * 1024;

/** Starts a server in this process; resolves when it answers. What it could not open is EngineError, and then nothing stays open. */
export async function start(options: StartOptions): Promise<InProcessServer> {
  const { env, dbPath } = await place(options);
  const replicaSet = options.replicaSet ?? 'frond';
  const server = await RunningServer.open(
    env,
    {
      dbPath,
      cacheBytes: options.cacheBytes ?? DEFAULT_CACHE_BYTES,
      checkpointPeriodMs: 60_000,
      delayedCommitsMs: undefined,
      port: options.port ?? 0,
      bindIp: options.host ?? '127.0.0.1',
      gatewayPort: options.gatewayPort,
      gatewayDb: options.gatewayDb ?? 'test',
      gatewayAccess: { tokensFile: undefined, signingKeyFile: undefined, origins: undefined },
      replSetName: replicaSet,
      standalone: options.standalone ?? false,
      oplogBytes: OPLOG_BYTES,
      testCommands: options.testCommands ?? false,
      authorization: options.authorization ?? false,
      tls: undefined,
      logPath: undefined,
      slowMs: 100,
      commandLine: ['frond'],
      parsed: new Map(),
    },
    { onBug: options.onBug ?? reportBug, onNotice: () => undefined },
  );
  return new StartedServer(server, options.standalone === true ? undefined : replicaSet);
}

class StartedServer implements InProcessServer {
  readonly host: string;
  readonly port: number;
  readonly replicaSet: string | undefined;
  readonly gatewayUrl: string | undefined;
  readonly #server: RunningServer;
  #stopped: Promise<void> | undefined;

  constructor(server: RunningServer, replicaSet: string | undefined) {
    this.#server = server;
    this.host = server.address.host;
    this.port = server.address.port;
    this.replicaSet = replicaSet;
    const gateway = server.gatewayAddress;
    this.gatewayUrl = gateway === undefined ? undefined : `http://${bracketed(gateway.host)}:${String(gateway.port)}/`;
  }

  get uri(): string {
    return this.getUri();
  }

  get fatal(): Promise<Error> {
    return this.#server.fatal;
  }

  getUri(database = ''): string {
    const query = this.replicaSet === undefined ? '' : `?replicaSet=${encodeURIComponent(this.replicaSet)}`;
    return `mongodb://${bracketed(this.host)}:${String(this.port)}/${database}${query}`;
  }

  async run(database: string, command: string): Promise<string> {
    const parsed = fromExtendedJson(command);
    if (!(parsed instanceof Document)) throw new EngineError('format', 'a command is a document');
    return toExtendedJson(await this.#server.run(database, parsed), 'relaxed');
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#server.close();
    return this.#stopped;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
