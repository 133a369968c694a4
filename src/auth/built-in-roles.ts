// The roles that are there without being made, as MongoDB's manual describes them ("Built-In Roles"). Those of a database are in each;
// those of the cluster, and those over all databases, are in `admin` only.

import type { Action, Privilege, Resource } from './privilege.ts';
import type { Role } from './role.ts';

const READ: readonly Action[] = ['changeStream', 'collStats', 'dbHash', 'dbStats', 'find', 'killCursors', 'listCollections', 'listIndexes', 'listSearchIndexes', 'planCacheRead'];

const WRITE: readonly Action[] = [
  'convertToCapped', 'createCollection', 'createIndex', 'createSearchIndexes', 'dropCollection', 'dropIndex', 'dropSearchIndex', 'insert', 'remove', 'renameCollectionSameDB', 'update',
  'updateSearchIndex',
];

const USER_ADMIN: readonly Action[] = [
  'changeCustomData', 'changePassword', 'createRole', 'createUser', 'dropRole', 'dropUser', 'grantRole', 'revokeRole', 'setAuthenticationRestriction', 'viewRole', 'viewUser',
];

const DB_ADMIN: readonly Action[] = [
  'analyze', 'bypassDocumentValidation', 'collMod', 'collStats', 'compact', 'convertToCapped', 'createCollection', 'createIndex', 'createSearchIndexes', 'dbStats', 'dropCollection',
  'dropDatabase', 'dropIndex', 'dropSearchIndex', 'enableProfiler', 'indexStats', 'listCollections', 'listIndexes', 'listSearchIndexes', 'planCacheIndexFilter', 'planCacheRead',
  'planCacheWrite', 'reIndex', 'renameCollectionSameDB', 'storageDetails', 'updateSearchIndex', 'validate',
];

const PROFILE_ADMIN: readonly Action[] = [...READ, 'convertToCapped', 'createCollection', 'dropCollection'];

const MONITOR_CLUSTER: readonly Action[] = [
  'checkFreeMonitoringStatus', 'connPoolStats', 'getClusterParameter', 'getCmdLineOpts', 'getDefaultRWConcern', 'getLog', 'getParameter', 'getShardMap', 'hostInfo', 'inprog', 'listDatabases',
  'listSampledQueries', 'listSessions', 'listShards', 'netstat', 'queryStatsRead', 'queryStatsReadTransformed', 'replSetGetConfig', 'replSetGetStatus', 'serverStatus', 'shardingState', 'top',
];

const MANAGE_CLUSTER: readonly Action[] = [
  'addShard', 'appendOplogNote', 'applicationMessage', 'checkMetadataConsistency', 'cleanupOrphaned', 'flushRouterConfig', 'getClusterParameter', 'getDefaultRWConcern', 'listClusterCatalog',
  'listSessions', 'listShards', 'querySettings', 'removeShard', 'replSetConfigure', 'replSetGetConfig', 'replSetGetStatus', 'replSetReconfig', 'replSetResizeOplog', 'replSetStateChange', 'resync',
  'setClusterParameter', 'setDefaultRWConcern', 'setFeatureCompatibilityVersion', 'setFreeMonitoring', 'setUserWriteBlockMode',
];

const MANAGE_HOST: readonly Action[] = [
  'applicationMessage', 'auditConfigure', 'closeAllDatabases', 'connPoolSync', 'dropConnections', 'flushRouterConfig', 'fsync', 'invalidateUserCache', 'killAnyCursor', 'killAnySession', 'killop',
  'logRotate', 'oidReset', 'resync', 'rotateCertificates', 'setParameter', 'shutdown', 'touch', 'trafficRecord', 'unlock',
];

const cluster: Resource = { kind: 'cluster' };
const everything: Resource = { kind: 'any' };

function on(db: string, collection = ''): Resource {
  return { kind: 'namespace', db, collection };
}

type Grants = (db: string) => readonly Privilege[];

const read: Grants = (db) => [
  { resource: on(db), actions: READ },
  { resource: on(db, 'system.js'), actions: READ },
];

const readWrite: Grants = (db) => [
  { resource: on(db), actions: [...READ, ...WRITE] },
  { resource: on(db, 'system.js'), actions: [...READ, ...WRITE] },
];

const userAdmin: Grants = (db) => [{ resource: on(db), actions: USER_ADMIN }];

const dbAdmin: Grants = (db) => [
  { resource: on(db), actions: DB_ADMIN },
  { resource: on(db, 'system.profile'), actions: PROFILE_ADMIN },
];

const DATABASE_ROLES: ReadonlyMap<string, Grants> = new Map<string, Grants>([
  ['read', read],
  ['readWrite', readWrite],
  ['userAdmin', userAdmin],
  ['dbAdmin', dbAdmin],
  ['dbOwner', (db) => [...readWrite(db), ...userAdmin(db), ...dbAdmin(db)]],
  ['enableSharding', (db) => [{ resource: on(db), actions: ['enableSharding', 'refineCollectionShardKey', 'reshardCollection'] }]],
]);

function overAll(grants: Grants, actions: readonly Action[]): readonly Privilege[] {
  return [...grants(''), { resource: cluster, actions }];
}

const readAny = overAll(read, ['listDatabases']);
const readWriteAny = overAll(readWrite, ['listDatabases']);
const dbAdminAny = overAll(dbAdmin, ['applyOps', 'listDatabases']);
const userAdminAny: readonly Privilege[] = [
  ...userAdmin(''),
  { resource: cluster, actions: ['authSchemaUpgrade', 'invalidateUserCache', 'listDatabases'] },
  { resource: on('admin', 'system.users'), actions: [...READ, 'createIndex', 'dropIndex'] },
  { resource: on('admin', 'system.roles'), actions: [...READ, 'createIndex', 'dropIndex'] },
];

const clusterMonitor: readonly Privilege[] = [
  { resource: cluster, actions: MONITOR_CLUSTER },
  { resource: on(''), actions: ['collStats', 'dbStats', 'getDatabaseVersion', 'getShardVersion', 'indexStats', 'useUUID'] },
  { resource: on('config'), actions: READ },
  { resource: on('local'), actions: READ },
  { resource: on('', 'system.profile'), actions: ['find'] },
];

const clusterManager: readonly Privilege[] = [
  { resource: cluster, actions: MANAGE_CLUSTER },
  { resource: on(''), actions: ['clearJumboFlag', 'enableSharding', 'moveChunk', 'refineCollectionShardKey', 'reshardCollection', 'splitChunk', 'splitVector'] },
  { resource: on('config'), actions: [...READ, ...WRITE] },
  { resource: on('local'), actions: READ },
];

const hostManager: readonly Privilege[] = [
  { resource: cluster, actions: MANAGE_HOST },
  { resource: on(''), actions: ['killCursors'] },
];

const clusterAdmin: readonly Privilege[] = [
  ...clusterMonitor,
  ...clusterManager,
  ...hostManager,
  { resource: on(''), actions: ['dropDatabase'] },
];

const backup: readonly Privilege[] = [
  { resource: everything, actions: ['collStats', 'find', 'listCollections', 'listIndexes', 'listSearchIndexes'] },
  { resource: cluster, actions: ['appendOplogNote', 'getParameter', 'listDatabases', 'serverStatus', 'setUserWriteBlockMode'] },
  { resource: on('config', 'settings'), actions: ['insert', 'update'] },
  { resource: on(''), actions: READ },
];

const RESTORED: readonly Action[] = [
  'bypassDocumentValidation', 'changeCustomData', 'changePassword', 'collMod', 'convertToCapped', 'createCollection', 'createIndex', 'createRole', 'createSearchIndexes', 'createUser', 'dropCollection',
  'dropRole', 'dropUser', 'grantRole', 'insert', 'revokeRole', 'viewRole', 'viewUser',
];

const restore: readonly Privilege[] = [
  { resource: on(''), actions: RESTORED },
  { resource: everything, actions: ['listCollections'] },
  { resource: cluster, actions: ['bypassWriteBlockingMode', 'forceUUID', 'getParameter', 'setUserWriteBlockMode', 'useUUID'] },
  { resource: on('', 'system.js'), actions: ['bypassDocumentValidation', 'createCollection', 'insert', 'update'] },
  ...['system.users', 'system.roles', 'system.version'].map((name): Privilege => ({ resource: on('admin', name), actions: ['find', 'insert', 'remove', 'update', 'createCollection', 'createIndex', 'dropCollection'] })),
];

const ADMIN_ROLES: ReadonlyMap<string, readonly Privilege[]> = new Map<string, readonly Privilege[]>([
  ['readAnyDatabase', readAny],
  ['readWriteAnyDatabase', readWriteAny],
  ['dbAdminAnyDatabase', dbAdminAny],
  ['userAdminAnyDatabase', userAdminAny],
  ['clusterMonitor', clusterMonitor],
  ['clusterManager', clusterManager],
  ['hostManager', hostManager],
  ['clusterAdmin', clusterAdmin],
  ['backup', backup],
  ['restore', restore],
  ['root', [...readWriteAny, ...dbAdminAny, ...userAdminAny, ...clusterAdmin, ...backup, ...restore, { resource: everything, actions: ['validate'] }]],
  ['__system', [{ resource: everything, actions: ['anyAction'] }]],
]);

/** Names of the built-in roles of a database. */
export function builtInRoleNames(db: string): string[] {
  const names = [...DATABASE_ROLES.keys()];
  return db === 'admin' ? [...names, ...ADMIN_ROLES.keys()] : names;
}

/** Whether the name is that of a built-in role of the database. */
export function isBuiltInRole(role: string, db: string): boolean {
  return DATABASE_ROLES.has(role) || (db === 'admin' && ADMIN_ROLES.has(role));
}

/** The built-in role; undefined if there is none of this name in this database. */
export function builtInRole(role: string, db: string): Role | undefined {
  const privileges = DATABASE_ROLES.get(role)?.(db) ?? (db === 'admin' ? ADMIN_ROLES.get(role) : undefined);
  return privileges === undefined ? undefined : { role, db, privileges, roles: [], isBuiltIn: true };
}
