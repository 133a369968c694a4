// What each command needs to be allowed: the column of the command table that access looks at, kept as one page so that it can be read as
// one. `open` may be sent before anybody has logged in; `authenticated` by whoever has. A command without a line here is for `__system` alone;
// a test holds that every command has one. The needs are those of MongoDB's manual ("Privilege Actions", and each command's "Access Control").

import { databaseTarget, namespaceTarget, type Action } from '../../auth/index.ts';
import { BsonArray, Document, type Value } from '../../bson/index.ts';
import type { CommandRequest } from '../../session/index.ts';
import { Asks, type Asker } from './asks.ts';
import { mayRunPipeline } from './pipeline-rules.ts';

/** When a command may be run. */
export type Rule = 'open' | 'authenticated' | ((asks: Asks) => boolean);

/** Actions on the collection that the command names. */
function here(...actions: readonly Action[]): Rule {
  return (asks) => asks.mayHere(...actions);
}

function inDatabase(...actions: readonly Action[]): Rule {
  return (asks) => asks.mayInDatabase(...actions);
}

function onServer(...actions: readonly Action[]): Rule {
  return (asks) => asks.mayOnServer(...actions);
}

function bypass(asks: Asks): readonly Action[] {
  return asks.says('bypassDocumentValidation') ? ['bypassDocumentValidation'] : [];
}

const update: Rule = (asks) => {
  const upserts = asks.documents('updates').some((statement) => isYes(statement.get('upsert')));
  return asks.mayHere('find', 'update', ...(upserts ? (['insert'] as const) : []), ...bypass(asks));
};

const findAndModify: Rule = (asks) => {
  if (asks.says('remove')) return asks.mayHere('find', 'remove');
  return asks.mayHere('find', 'update', ...(asks.says('upsert') ? (['insert'] as const) : []), ...bypass(asks));
};

const bulkWrite: Rule = (asks) => {
  const namespaces = asks.documents('nsInfo').map((info) => info.get('ns'));
  return asks.documents('ops').every((operation) => {
    const [kind, at] = operation.first ?? ['', null];
    const ns = typeof at === 'number' ? namespaces[at] : undefined;
    if (kind === 'insert') return asks.mayOn(ns, 'insert', ...bypass(asks));
    if (kind === 'delete') return asks.mayOn(ns, 'find', 'remove');
    return asks.mayOn(ns, 'find', 'update', ...(isYes(operation.get('upsert')) ? (['insert'] as const) : []), ...bypass(asks));
  });
};

/** What each entry does must be allowed; what an entry defines only the server's own may do. */
const applyOps: Rule = (asks) =>
  asks.mayOnServer('applyOps') &&
  asks.documents('applyOps').every((entry) => {
    const ns = entry.get('ns') ?? null;
    switch (entry.get('op')) {
      case 'i':
      case 'u':
        return asks.mayOn(ns, 'insert', 'update');
      case 'd':
        return asks.mayOn(ns, 'remove');
      case 'c':
        return asks.mayOnServer('internal');
      default:
        return true;
    }
  });

function isYes(value: Value | undefined): boolean {
  return value === true || value === 1;
}

const explain: Rule = (asks) => {
  const inner = asks.body.get('explain');
  if (!(inner instanceof Document)) return true;
  const rule = ruleOf(inner.first?.[0] ?? '');
  return typeof rule === 'string' || rule(asks.inner(inner));
};

const create: Rule = (asks) => {
  const { body } = asks;
  const viewOn = body.get('viewOn');
  if (typeof viewOn === 'string') return asks.mayHere('createCollection') && mayRunPipeline(asks, body.get('pipeline'), viewOn);
  return asks.mayHere('createCollection') || (asks.body.get('capped') !== true && asks.mayHere('insert'));
};

const renameCollection: Rule = (asks) => {
  const [from, to] = [asks.body.first?.[1], asks.body.get('to')];
  if (typeof from !== 'string' || typeof to !== 'string') return true;
  const [fromDb = '', toDb = ''] = [from, to].map((name) => name.split('.')[0]);
  const drops = asks.says('dropTarget') ? (['dropCollection'] as const) : [];
  if (fromDb === toDb && asks.may(databaseTarget(fromDb), 'renameCollectionSameDB')) return drops.length === 0 || asks.mayOn(to, ...drops);
  return asks.mayOn(from, 'find', 'dropCollection') && asks.mayOn(to, 'insert', 'createIndex', ...drops);
};

const listCollections: Rule = (asks) => {
  if (asks.mayInDatabase('listCollections')) return true;
  return asks.says('nameOnly') && asks.says('authorizedCollections') && asks.asker.authorization.touches(asks.db);
};

const collMod: Rule = (asks) => {
  const viewOn = asks.body.get('viewOn');
  if (typeof viewOn === 'string' && !mayRunPipeline(asks, asks.body.get('pipeline'), viewOn)) return false;
  return asks.mayHere('collMod');
};

const profile: Rule = (asks) => {
  const level = asks.body.first?.[1];
  const asksOnly = level === -1 && asks.may(namespaceTarget(asks.db, 'system.profile'), 'find');
  return asksOnly || asks.mayInDatabase('enableProfiler');
};

/** Databases of the roles that a command grants or takes. */
function roleDatabases(asks: Asks, field: string): string[] {
  const roles = asks.body.get(field);
  if (!(roles instanceof BsonArray)) return [];
  return roles.items().map((role) => {
    const db = role instanceof Document ? role.get('db') : undefined;
    return typeof db === 'string' ? db : asks.db;
  });
}

function onRolesOf(field: string, action: 'grantRole' | 'revokeRole'): (asks: Asks) => boolean {
  return (asks) => roleDatabases(asks, field).every((db) => asks.may(databaseTarget(db), action));
}

const grantsRoles = onRolesOf('roles', 'grantRole');

/** Privileges are granted by whoever may grant roles of the database they are about; those beyond a database by those of `admin`. */
function onPrivilegesOf(action: 'grantRole' | 'revokeRole'): (asks: Asks) => boolean {
  return (asks) =>
    asks.documents('privileges').every((privilege) => {
      const resource = privilege.get('resource');
      const db = resource instanceof Document ? resource.get('db') : undefined;
      return asks.may(databaseTarget(typeof db === 'string' && db !== '' ? db : 'admin'), action);
    });
}

const grantsPrivileges = onPrivilegesOf('grantRole');

const updateUser: Rule = (asks) => {
  const { body, asker, db } = asks;
  const own = asks.collection === asker.user && db === asker.db;
  if (body.has('pwd') && !asks.mayInDatabase('changePassword') && !(own && asks.mayInDatabase('changeOwnPassword'))) return false;
  if (body.has('customData') && !asks.mayInDatabase('changeCustomData') && !(own && asks.mayInDatabase('changeOwnCustomData'))) return false;
  if (body.has('authenticationRestrictions') && !asks.mayInDatabase('setAuthenticationRestriction')) return false;
  return !body.has('roles') || (grantsRoles(asks) && asks.mayInDatabase('revokeRole'));
};

/** Whoever is asked about: oneself, or people whose databases one may look into. */
const usersInfo: Rule = (asks) => {
  const { asker, db, body } = asks;
  const wanted = body.first?.[1];
  const named = wanted instanceof BsonArray ? wanted.items() : [wanted ?? null];
  return named.every((item) => {
    if (item instanceof Document && item.get('forAllDBs') === true) return asks.mayOnServer('viewUser') || asks.may(databaseTarget(''), 'viewUser');
    const user = item instanceof Document ? item.get('user') : item;
    const of = item instanceof Document ? item.get('db') : db;
    if (user === asker.user && of === asker.db) return true;
    return asks.may(databaseTarget(typeof of === 'string' ? of : db), 'viewUser');
  });
};

const rolesInfo: Rule = (asks) => {
  const wanted = asks.body.first?.[1];
  const named = wanted instanceof BsonArray ? wanted.items() : [wanted ?? null];
  return named.every((item) => {
    const of = item instanceof Document ? item.get('db') : asks.db;
    return asks.may(databaseTarget(typeof of === 'string' ? of : asks.db), 'viewRole');
  });
};

const RULES: Readonly<Record<string, Rule>> = {
  // Who is there
  hello: 'open', isMaster: 'open', ping: 'open', testVersion2: 'open', buildInfo: 'open', listCommands: 'open', connectionStatus: 'open', whatsmyuri: 'open', features: 'open', isdbgrid: 'open',
  saslStart: 'open', saslContinue: 'open', authenticate: 'open', logout: 'open', getnonce: 'open', endSessions: 'open', getLastError: 'authenticated',
  // Sessions and cursors: each sees its own only
  startSession: 'authenticated', refreshSessions: 'authenticated', killSessions: 'authenticated', getMore: 'authenticated', killCursors: 'authenticated', commitTransaction: 'authenticated',
  abortTransaction: 'authenticated', prepareTransaction: onServer('internal'), killAllSessions: onServer('killAnySession'), killAllSessionsByPattern: onServer('killAnySession'),
  beginTransaction: 'authenticated', rollbackTransaction: 'authenticated',
  // Documents
  find: here('find'),
  count: here('find'),
  distinct: here('find'),
  aggregate: (asks) => mayRunPipeline(asks, asks.body.get('pipeline'), asks.collection),
  insert: (asks) => asks.mayHere('insert', ...bypass(asks)),
  update,
  delete: here('find', 'remove'),
  findAndModify,
  bulkWrite,
  explain,
  mapReduce: here('find'),
  filemd5: (asks) => asks.may(namespaceTarget(asks.db, `${asks.text('root') || 'fs'}.chunks`), 'find'),
  beginLoad: inDatabase('insert', 'createCollection', 'createIndex'), commitLoad: inDatabase('insert'), abortLoad: inDatabase('insert'),
  // Collections and indexes
  create, collMod, renameCollection, listCollections,
  drop: here('dropCollection'),
  dropDatabase: inDatabase('dropDatabase'),
  createIndexes: here('createIndex'), dropIndexes: here('dropIndex'), listIndexes: here('listIndexes'), reIndex: here('reIndex'), setIndexCommitQuorum: here('createIndex'),
  convertToCapped: here('convertToCapped'),
  cloneCollectionAsCapped: (asks) => asks.mayHere('find') && asks.mayOn(`${asks.db}.${asks.text('toCollection')}`, 'insert', 'convertToCapped'),
  createSearchIndexes: here('createSearchIndexes'), dropSearchIndex: here('dropSearchIndex'), updateSearchIndex: here('updateSearchIndex'), listSearchIndexes: here('listSearchIndexes'),
  listDatabases: 'authenticated',
  addPartition: here('createIndex'), convertToPartitioned: here('collMod'), dropPartition: here('remove', 'dropIndex'), getPartitionInfo: here('collStats'),
  // Figures and care of collections
  collStats: here('collStats'), dbStats: inDatabase('dbStats'), dataSize: (asks) => asks.mayOn(asks.body.first?.[1], 'find'), validate: here('validate'), compact: here('compact'), dbHash: inDatabase('dbHash'),
  planCacheClear: here('planCacheWrite'), planCacheClearFilters: here('planCacheIndexFilter'), planCacheListFilters: here('planCacheIndexFilter'), planCacheSetFilter: here('planCacheIndexFilter'),
  profile, validateDBMetadata: (asks) => asks.mayInDatabase('validate') || asks.mayOnServer('listDatabases'),
  // The server
  serverStatus: onServer('serverStatus'), hostInfo: onServer('hostInfo'), getCmdLineOpts: onServer('getCmdLineOpts'), getLog: onServer('getLog'), top: onServer('top'), connPoolStats: onServer('connPoolStats'),
  lockInfo: onServer('serverStatus'), currentOp: (asks) => asks.says('$ownOps') || asks.mayOnServer('inprog'), killOp: 'authenticated',
  getParameter: onServer('getParameter'), setParameter: onServer('setParameter'), getClusterParameter: onServer('getClusterParameter'), setClusterParameter: onServer('setClusterParameter'),
  getDefaultRWConcern: onServer('getDefaultRWConcern'), setDefaultRWConcern: onServer('setDefaultRWConcern'), setFeatureCompatibilityVersion: onServer('setFeatureCompatibilityVersion'),
  fsync: onServer('fsync'), fsyncUnlock: onServer('unlock'), logRotate: onServer('logRotate'), shutdown: onServer('shutdown'), dropConnections: onServer('dropConnections'), autoCompact: onServer('fsync'),
  logApplicationMessage: onServer('applicationMessage'), rotateCertificates: onServer('rotateCertificates'), configureFailPoint: onServer('setParameter'), waitForFailPoint: onServer('setParameter'),
  setUserWriteBlockMode: onServer('setUserWriteBlockMode'), setQuerySettings: onServer('querySettings'), removeQuerySettings: onServer('querySettings'),
  backupStart: onServer('fsync'), backupStatus: onServer('fsync'), verifyData: onServer('serverStatus'), checkpoint: onServer('fsync'), engineStatus: onServer('serverStatus'), showLiveTransactions: onServer('inprog'), showPendingLockRequests: onServer('inprog'), replGetExpireOplog: onServer('replSetGetStatus'),
  // The set
  replSetGetStatus: onServer('replSetGetStatus'), replSetGetConfig: onServer('replSetGetConfig'), replSetGetRBID: onServer('replSetGetStatus'), replSetInitiate: onServer('replSetConfigure'),
  replSetReconfig: onServer('replSetConfigure'), replSetStepDown: onServer('replSetStateChange'), replSetFreeze: onServer('replSetStateChange'), replSetMaintenance: onServer('replSetStateChange'),
  replSetResizeOplog: onServer('replSetResizeOplog'), appendOplogNote: onServer('appendOplogNote'), applyOps,
  // Users and roles
  createUser: (asks) => asks.mayInDatabase('createUser') && grantsRoles(asks), updateUser, usersInfo,
  dropUser: inDatabase('dropUser'), dropAllUsersFromDatabase: inDatabase('dropUser'), grantRolesToUser: grantsRoles, revokeRolesFromUser: onRolesOf('roles', 'revokeRole'),
  createRole: (asks) => asks.mayInDatabase('createRole') && grantsRoles(asks) && grantsPrivileges(asks),
  updateRole: (asks) => asks.mayInDatabase('grantRole', 'revokeRole') && grantsRoles(asks) && grantsPrivileges(asks),
  rolesInfo, dropRole: inDatabase('dropRole'), dropAllRolesFromDatabase: inDatabase('dropRole'), grantRolesToRole: grantsRoles, revokeRolesFromRole: onRolesOf('roles', 'revokeRole'),
  grantPrivilegesToRole: grantsPrivileges, revokePrivilegesFromRole: onPrivilegesOf('revokeRole'), invalidateUserCache: onServer('invalidateUserCache'),
};

const FOR_SYSTEM: Rule = onServer('internal');

/** The rule of a command. */
export function ruleOf(name: string): Rule {
  return Object.hasOwn(RULES, name) ? (RULES[name] ?? FOR_SYSTEM) : FOR_SYSTEM;
}

/** Whether the command has a line here. */
export function hasRule(name: string): boolean {
  return Object.hasOwn(RULES, name);
}

/** The request, for its rule. */
export function asksOf(request: CommandRequest, db: string, asker: Asker): Asks {
  return new Asks(request, db, asker);
}
