// Users and roles as `admin.system.users` and `admin.system.roles` have them: the documents of MongoDB, so that a dump of either goes both
// ways.

import type { Action, Privilege, Resource, RoleName } from '../../auth/index.ts';
import { BsonArray, Document, type Value } from '../../bson/index.ts';

/** A user. */
export interface StoredUser {
  readonly user: string;
  readonly db: string;
  readonly roles: readonly RoleName[];
  /** By mechanism; of an external user `external: true`. */
  readonly credentials: Document;
  readonly document: Document;
}

/** A role that somebody made. */
export interface StoredRole extends RoleName {
  readonly privileges: readonly Privilege[];
  readonly roles: readonly RoleName[];
  readonly document: Document;
}

/** A user's place and name as one text, the `_id` of the document. */
export function userKey(user: string, db: string): string {
  return `${db}.${user}`;
}

function text(value: Value | undefined): string {
  return typeof value === 'string' ? value : '';
}

function documents(value: Value | undefined): Document[] {
  return value instanceof BsonArray ? value.items().filter((item): item is Document => item instanceof Document) : [];
}

function readRoles(value: Value | undefined): RoleName[] {
  return documents(value).map((item) => ({ role: text(item.get('role')), db: text(item.get('db')) }));
}

function readResource(resource: Document): Resource {
  if (resource.get('anyResource') === true) return { kind: 'any' };
  if (resource.get('cluster') === true) return { kind: 'cluster' };
  return { kind: 'namespace', db: text(resource.get('db')), collection: text(resource.get('collection')) };
}

function readPrivileges(value: Value | undefined): Privilege[] {
  return documents(value).map((item) => {
    const resource = item.get('resource');
    const actions = item.get('actions');
    return {
      resource: readResource(resource instanceof Document ? resource : Document.empty),
      // eslint-disable-next-line frond/no-unsafe-assertion -- only known actions are stored; an unknown one would match nothing
      actions: (actions instanceof BsonArray ? actions.items() : []) as readonly Action[],
    };
  });
}

/** Reads a document of system.users. */
export function readUser(document: Document): StoredUser {
  const credentials = document.get('credentials');
  return {
    user: text(document.get('user')),
    db: text(document.get('db')),
    roles: readRoles(document.get('roles')),
    credentials: credentials instanceof Document ? credentials : Document.empty,
    document,
  };
}

/** Reads a document of system.roles. */
export function readRole(document: Document): StoredRole {
  return {
    role: text(document.get('role')),
    db: text(document.get('db')),
    privileges: readPrivileges(document.get('privileges')),
    roles: readRoles(document.get('roles')),
    document,
  };
}

/** Roles as replies and documents have them. */
export function rolesArray(roles: readonly RoleName[]): BsonArray {
  return BsonArray.of(roles.map(({ role, db }) => Document.of({ role, db })));
}

function resourceDocument(resource: Resource): Document {
  if (resource.kind === 'any') return Document.of({ anyResource: true });
  if (resource.kind === 'cluster') return Document.of({ cluster: true });
  return Document.of({ db: resource.db, collection: resource.collection });
}

/** Privileges as replies and documents have them. */
export function privilegesArray(privileges: readonly Privilege[]): BsonArray {
  return BsonArray.of(privileges.map(({ resource, actions }) => Document.of({ resource: resourceDocument(resource), actions: BsonArray.of([...actions]) })));
}
