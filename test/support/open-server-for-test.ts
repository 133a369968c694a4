// A whole server in this process: commands over the catalog over the engine, files in memory, a free port. Closing it checks that nothing
// is left open.

import { connect, type Socket } from 'node:net';
import { MongoClient, type MongoClientOptions } from 'mongodb';
import { openCatalog, updateTable } from '../../src/catalog/index.ts';
import { openCommandServer } from '../../src/command/index.ts';
import { openEnvironment } from '../../src/engine/index.ts';
import { openHostNetwork, openMemoryEnv, type Env, type TlsSettings } from '../../src/env/index.ts';
import { Listener } from '../../src/server/index.ts';
import { ServerCounters, ServerLog } from '../../src/session/index.ts';
import { WireClient } from './wire-client.ts';

export interface ServerForTest {
  readonly env: Env;
  readonly port: number;
  readonly uri: string;
  readonly counters: ServerCounters;
  readonly log: ServerLog;
  /** Errors that were bugs; a test that expects none checks that it is empty on close. */
  readonly bugs: unknown[];
  wire(): Promise<WireClient>;
  /** A connection whose client never reads. */
  deaf(): Promise<Socket>;
  /** An official driver, closed with the server. */
  driver(options?: MongoClientOptions): Promise<MongoClient>;
  /** Drops of the oplog what is more than is kept. */
  trimOplog(): Promise<void>;
  close(): Promise<void>;
}

export interface ServerForTestOptions {
  /** Another server's env, to open what that one left. */
  readonly env?: Env;
  readonly standalone?: boolean;
  readonly testCommands?: boolean;
  readonly oplogBytes?: number;
  readonly cacheBytes?: number;
  readonly authorization?: boolean;
  readonly tls?: TlsSettings;
}

export async function openServerForTest(options: ServerForTestOptions = {}): Promise<ServerForTest> {
  const env = options.env ?? (await openMemoryEnv());
  const engine = await openEnvironment(env, '/data', { cacheBytes: options.cacheBytes ?? 64 * 1024 * 1024, updates: updateTable });
  const catalog = await openCatalog(engine, env, { oplogBytes: options.oplogBytes ?? 16 * 1024 * 1024 });
  const counters = new ServerCounters(1000);
  const log = new ServerLog(env.clock);
  const bugs: unknown[] = [];
  const onBug = (error: unknown): void => {
    bugs.push(error);
  };
  const dispatcher = await openCommandServer(
    {
      catalog,
      env,
      engine,
      counters,
      log,
      control: { shutdown: () => undefined, rotateLog: () => undefined },
      options: { version: '0.0.0', standalone: options.standalone ?? false, replicaSetName: 'frond', commandLine: ['frond'], dbPath: '/data', port: 0, authorization: options.authorization ?? false, slowMs: 100, parsedOptions: new Map(), testCommands: options.testCommands ?? false },
    },
    { onBug },
  );
  const listener = await Listener.listen({
    address: { host: '127.0.0.1', port: 0 },
    network: openHostNetwork(options.tls),
    codecs: env.codecs,
    clock: env.clock,
    tasks: env.tasks,
    dispatcher,
    counters,
    onBug,
  });
  const { port } = listener.address;
  const uri = `mongodb://127.0.0.1:${String(port)}/`;
  const clients: MongoClient[] = [];
  const wires: WireClient[] = [];
  return {
    env,
    port,
    uri,
    counters,
    log,
    bugs,
    async wire() {
      const client = await WireClient.open(port);
      wires.push(client);
      return client;
    },
    deaf() {
      return new Promise((resolve) => {
        const socket = connect({ port, host: '127.0.0.1' }, () => {
          socket.pause();
          resolve(socket);
        });
      });
    },
    async driver(clientOptions = {}) {
      const client = new MongoClient(uri, { serverSelectionTimeoutMS: 5000, ...clientOptions });
      clients.push(client);
      return client.connect();
    },
    trimOplog: () => catalog.oplog.trim(),
    async close() {
      for (const client of clients) await client.close();
      for (const wire of wires) wire.close();
      await listener.close();
      await dispatcher.close();
      await engine.close();
      if (bugs.length > 0) throw bugs[0];
    },
  };
}
