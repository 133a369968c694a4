// The remote FileStore over a server of our own that has the same data as a store for test: what is planted here is read there over the wire.

import { equalBytes } from '../../src/base/bytes.ts';
import { BSON, MongoClient } from 'mongodb';
import type { Document } from '../../src/bson/index.ts';
import { openCommandServer } from '../../src/command/index.ts';
import { openHostNetwork } from '../../src/env/index.ts';
import { openRemoteStore } from '../../src/gridfs/index.ts';
import type { FileStore } from '../../src/gridfs/index.ts';
import { Listener } from '../../src/server/index.ts';
import { ServerCounters, ServerLog } from '../../src/session/index.ts';
import type { StoreForTest } from './file-store.ts';

/** A store and what is behind it. */
export interface RemoteForTest {
  readonly store: FileStore;
  readonly uri: string;
  readonly counters: ServerCounters;
  readonly close: () => Promise<void>;
}

export async function openRemoteFor({ env, engine, catalog }: StoreForTest): Promise<RemoteForTest> {
  const counters = new ServerCounters(1000);
  const bugs: unknown[] = [];
  const onBug = (error: unknown): void => void bugs.push(error);
  const options = { version: '0.0.0', standalone: false, replicaSetName: 'frond', commandLine: ['frond'], dbPath: '/data', port: 0, testCommands: false, authorization: false, slowMs: 100, parsedOptions: new Map() };
  const log = new ServerLog(env.clock);
  const control = { shutdown: () => undefined, rotateLog: () => undefined };
  const dispatcher = await openCommandServer({ catalog, env, engine, counters, log, control, options }, { onBug });
  const listener = await Listener.listen({ address: { host: '127.0.0.1', port: 0 }, network: openHostNetwork(), codecs: env.codecs, clock: env.clock, tasks: env.tasks, dispatcher, counters, onBug });
  const uri = `mongodb://127.0.0.1:${String(listener.address.port)}/?directConnection=true`;
  const store = await openRemoteStore(uri, env, { connectMs: 5000 });
  const close = async (): Promise<void> => {
    await store.close();
    await listener.close();
    await dispatcher.close();
    if (bugs.length > 0) throw bugs[0];
  };
  return { store, uri, counters, close };
}

/** Lets the official driver plant what a test plants in the store from now on; what is given ends that. What a driver cannot write (a date beyond calendars) comes as before. */
export async function plantByDriver(opened: StoreForTest): Promise<() => Promise<void>> {
  const remote = await openRemoteFor(opened);
  const client = await MongoClient.connect(remote.uri);
  const asDriver = (document: Document): BSON.Document => BSON.deserialize(document.toBytes(), { promoteValues: false });
  const canWrite = (document: Document): boolean => equalBytes(BSON.serialize(asDriver(document)), document.toBytes());
  opened.insertThrough = async (collection, documents) => {
    const own = documents.filter(canWrite).map(asDriver);
    if (own.length > 0) await client.db('test').collection(collection).insertMany(own);
    return documents.filter((document) => !canWrite(document));
  };
  return async () => {
    opened.insertThrough = undefined;
    await client.close();
    await remote.close();
  };
}
