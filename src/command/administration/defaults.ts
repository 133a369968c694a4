// Commands that answer with what this server always does: no connections to others, no locks of the whole server.

import { BsonArray, Document } from '../../bson/index.ts';
import { defineCommand, type Command } from '../command.ts';
import { anyField, boolField } from '../fields.ts';

const connPoolStats: Command = defineCommand({
  name: 'connPoolStats',
  access: 'admin',
  about: 'connections from this server to others: none',
  fields: { connPoolStats: anyField },
  lax: true,
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
  about: 'locks of the whole server: that of fsync is the only one',
  fields: { lockInfo: anyField, includeStorageEngineLockRequests: boolField },
  run: ({ server }) => {
    if (server.gate.locks === 0) return Promise.resolve({ lockInfo: BsonArray.empty });
    const granted = Document.of({ mode: 'S', convertMode: 'NONE', enqueueAtFront: false, compatibleFirst: false, debugInfo: 'fsync' });
    return Promise.resolve({ lockInfo: BsonArray.of([Document.of({ resourceId: '{ Global, 1 }', granted: BsonArray.of([granted]), pending: BsonArray.empty })]) });
  },
});

export const DEFAULT_COMMANDS: readonly Command[] = [connPoolStats, lockInfo];
