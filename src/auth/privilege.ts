// What may be done to what: actions on resources, as MongoDB's manual lists them ("Privilege Actions", "Resource Document"). An empty name
// in a resource stands for every database but `local` and `config`, or every collection that is not a system collection; those are named one by
// one.

/** All actions that a role may name. */
export const ACTIONS = [
  'addShard', 'advanceClusterTime', 'allCollectionStats', 'analyze', 'anyAction', 'appendOplogNote', 'applicationMessage', 'applyOps', 'auditConfigure',
  'authSchemaUpgrade', 'bypassDefaultMaxTimeMS', 'bypassDocumentValidation', 'bypassWriteBlockingMode', 'changeCustomData', 'changeOwnCustomData', 'changeOwnPassword',
  'changePassword', 'changeStream', 'checkFreeMonitoringStatus', 'checkMetadataConsistency', 'cleanupOrphaned', 'clearJumboFlag', 'closeAllDatabases', 'collMod',
  'collStats', 'compact', 'compactStructuredEncryptionData', 'connPoolStats', 'connPoolSync', 'convertToCapped', 'cpuProfiler', 'createCollection', 'createDatabase',
  'createIndex', 'createRole', 'createSearchIndexes', 'createUser', 'dbHash', 'dbStats', 'dropCollection', 'dropConnections', 'dropDatabase', 'dropIndex', 'dropRole',
  'dropSearchIndex', 'dropUser', 'enableProfiler', 'enableSharding', 'exportCollection', 'find', 'flushRouterConfig', 'forceUUID', 'fsync', 'getClusterParameter',
  'getCmdLineOpts', 'getDatabaseVersion', 'getDefaultRWConcern', 'getLog', 'getParameter', 'getShardMap', 'getShardVersion', 'grantRole', 'hostInfo', 'impersonate',
  'importCollection', 'indexStats', 'inprog', 'insert', 'internal', 'invalidateUserCache', 'killAnyCursor', 'killAnySession', 'killCursors', 'killop', 'listCachedAndActiveUsers',
  'listClusterCatalog', 'listCollections', 'listCursors', 'listDatabases', 'listIndexes', 'listSampledQueries', 'listSearchIndexes', 'listSessions', 'listShards', 'logRotate', 'moveChunk', 'netstat',
  'oidReset', 'operationMetrics', 'planCacheIndexFilter', 'planCacheRead', 'planCacheWrite', 'queryStatsRead', 'queryStatsReadTransformed', 'querySettings', 'reIndex', 'refineCollectionShardKey', 'remove',
  'removeShard', 'renameCollection', 'renameCollectionSameDB', 'replSetConfigure', 'replSetGetConfig', 'replSetGetStatus', 'replSetHeartbeat',
  'replSetReconfig', 'replSetResizeOplog', 'replSetStateChange', 'reshardCollection', 'resync', 'revokeRole', 'rotateCertificates', 'serverStatus', 'setAuthenticationRestriction',
  'setClusterParameter', 'setDefaultRWConcern', 'setFeatureCompatibilityVersion', 'setFreeMonitoring', 'setParameter', 'setUserWriteBlockMode', 'shardedDataDistribution', 'shardingState', 'shutdown',
  'splitChunk', 'splitVector', 'storageDetails', 'top', 'touch', 'trafficRecord', 'unlock', 'update', 'updateSearchIndex', 'useUUID', 'validate', 'viewRole', 'viewUser',
] as const;

/** An action. */
export type Action = (typeof ACTIONS)[number];

/** What a privilege is about. */
export type Resource =
  | { readonly kind: 'namespace'; readonly db: string; readonly collection: string }
  | { readonly kind: 'cluster' }
  | { readonly kind: 'any' };

/** Actions allowed on a resource. */
export interface Privilege {
  readonly resource: Resource;
  readonly actions: readonly Action[];
}

/** What something is to be done to: the server, a database as such, or one collection. */
export type Target =
  | { readonly kind: 'cluster' }
  | { readonly kind: 'database'; readonly db: string }
  | { readonly kind: 'collection'; readonly db: string; readonly collection: string };

export const clusterTarget: Target = { kind: 'cluster' };

/** A database as such. */
export function databaseTarget(db: string): Target {
  return { kind: 'database', db };
}

/** One collection. */
export function namespaceTarget(db: string, collection: string): Target {
  return { kind: 'collection', db, collection };
}

/** Collections that no wildcard covers. */
function isSystem(db: string, collection: string): boolean {
  return collection.startsWith('system.') || (db === 'local' && collection.startsWith('replset.'));
}

/** Databases of the server itself: "all databases" does not mean them. */
function isOwn(db: string): boolean {
  return db === 'local' || db === 'config';
}

/** Whether a privilege on `resource` is one on `target`. */
export function covers(resource: Resource, target: Target): boolean {
  if (resource.kind === 'any') return true;
  if (resource.kind === 'cluster' || target.kind === 'cluster') return resource.kind === target.kind;
  const { db, collection } = resource;
  if (db === '' ? isOwn(target.db) : db !== target.db) return false;
  if (target.kind === 'database') return collection === '';
  return collection === '' ? !isSystem(target.db, target.collection) : collection === target.collection;
}
