// The public face of authentication and authorization: mechanisms, roles and privileges. Who the users are is told by a store above.

export { Authorization } from './authorization.ts';
export { builtInRoleNames, builtInRole, isBuiltInRole } from './built-in-roles.ts';
export { credentialDocument, digestPassword, makeCredential, passwordMatches, readCredential, userDigest } from './credentials.ts';
export type { ScramCredential, ScramMechanism } from './credentials.ts';
export { distinguishedName } from './distinguished-name.ts';
export { ACTIONS, clusterTarget, databaseTarget, namespaceTarget } from './privilege.ts';
export type { Action, Privilege, Resource, Target } from './privilege.ts';
export { roleKey } from './role.ts';
export type { Role, RoleName } from './role.ts';
export { freshNonce, parseClientFirst, ScramConversation } from './scram.ts';
export type { ClientFirst } from './scram.ts';
export { sha256Hex } from './sha256.ts';
export { saslPrepare } from './saslprep.ts';
