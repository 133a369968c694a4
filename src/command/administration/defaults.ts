// Commands that answer with what this server always does: default concerns, the profiler that is off, caches that keep nothing.

import { CommandError } from '../../base/errors.ts';
import { BsonArray, DateTime, Document, Double } from '../../bson/index.ts';
import { defineCommand, type Command } from '../command.ts';
import { anyField, boolField, collectionField, numberField, objectField, required } from '../fields.ts';

const getDefaultRWConcern: Command = defineCommand({
  name: 'getDefaultRWConcern',
  access: 'admin',
  adminOnly: true,
  about: 'the read and write concern of those who name none',
  fields: { getDefaultRWConcern: anyField, inMemory: boolField },
  run: ({ server }) =>
    Promise.resolve({
      defaultReadConcern: Document.of({ level: 'local' }),
      defaultWriteConcern: Document.of({ w: 'majority', wtimeout: 0 }),
      defaultWriteConcernSource: 'implicit',
      defaultReadConcernSource: 'implicit',
      localUpdateWallClockTime: new DateTime(server.startedMs),
    }),
});

const profile: Command = defineCommand({
  name: 'profile',
  access: 'admin',
  about: 'the level of the profiler: 0, off, is the only one',
  fields: { profile: required(numberField), slowms: numberField, sampleRate: anyField, filter: anyField },
  run: (_context, { profile: level }) => {
    if (level > 0) throw new CommandError(238, 'NotImplemented', 'the profiler is not implemented');
    return Promise.resolve({ was: 0, slowms: 100, sampleRate: new Double(1) });
  },
});

const connPoolStats: Command = defineCommand({
  name: 'connPoolStats',
  access: 'admin',
  about: 'connections from this server to others: none',
  fields: { connPoolStats: anyField },
  run: () =>
    Promise.resolve({
      numClientConnections: 0,
      numAScopedConnections: 0,
      totalInUse: 0,
      totalAvailable: 0,
      totalLeased: 0,
      totalCreated: 0,
      totalRefreshing: 0,
      replicaSets: Document.empty,
      pools: Document.empty,
      hosts: Document.empty,
    }),
});

const lockInfo: Command = defineCommand({
  name: 'lockInfo',
  access: 'admin',
  adminOnly: true,
  about: 'locks of the whole server: there are none',
  fields: { lockInfo: anyField, includeStorageEngineLockRequests: boolField },
  run: () => Promise.resolve({ lockInfo: BsonArray.empty }),
});

const planCacheClear: Command = defineCommand({
  name: 'planCacheClear',
  access: 'write',
  about: 'forgets cached plans of a collection: none are kept',
  fields: { planCacheClear: collectionField, query: objectField, sort: objectField, projection: objectField },
  run: () => Promise.resolve({}),
});

export const DEFAULT_COMMANDS: readonly Command[] = [getDefaultRWConcern, profile, connPoolStats, lockInfo, planCacheClear];
