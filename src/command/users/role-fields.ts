// Roles and privileges as commands name them: read, and held against what is there.

import { ACTIONS, isBuiltInRole, roleKey, type Action, type Privilege, type Resource, type RoleName } from '../../auth/index.ts';
import { CommandError } from '../../base/errors.ts';
import { BsonArray, Document, type Value } from '../../bson/index.ts';
import { arrayField, mappedField, objectsField, type Field } from '../fields.ts';
import type { UserStore } from './user-store.ts';

const KNOWN_ACTIONS: ReadonlySet<string> = new Set(ACTIONS);

function badValue(text: string): CommandError {
  return new CommandError(2, 'BadValue', text);
}

/** Roles as they were written: a name alone is one of the command's database. */
export type WrittenRole = (db: string) => RoleName;

function readRole(value: Value): WrittenRole {
  if (typeof value === 'string') return (db) => ({ role: value, db });
  if (!(value instanceof Document)) throw badValue('Role names must be either strings or objects');
  const [role, db] = [value.get('role'), value.get('db')];
  if (typeof role !== 'string' || typeof db !== 'string' || role === '') throw badValue('Role names must have both a role and a db that are strings');
  return () => ({ role, db });
}

/** `roles: ['read', { role: 'readWrite', db: 'shop' }]`. */
export const rolesField: Field<readonly WrittenRole[]> = mappedField(arrayField, (roles) => roles.items().map(readRole));

/** The roles, each once, of a command run on `db`. */
export function namesOf(roles: readonly WrittenRole[], db: string): RoleName[] {
  const named = roles.map((role) => role(db));
  return [...new Map(named.map((name) => [roleKey(name), name])).values()];
}

function failedToParse(text: string): CommandError {
  return new CommandError(9, 'FailedToParse', text);
}

function readResource(value: Value | undefined): Resource {
  if (!(value instanceof Document)) throw failedToParse("missing resource field in privilege");
  if (value.get('anyResource') === true) return { kind: 'any' };
  if (value.get('cluster') === true) return { kind: 'cluster' };
  const [db, collection] = [value.get('db'), value.get('collection')];
  if (typeof db === 'string' && typeof collection === 'string') return { kind: 'namespace', db, collection };
  throw failedToParse("resource must have 'db' and 'collection' that are strings, or 'cluster: true', or 'anyResource: true'");
}

function readPrivilege(document: Document): Privilege {
  const actions = document.get('actions');
  if (!(actions instanceof BsonArray) || actions.isEmpty) throw failedToParse('actions field must be a non-empty array of strings');
  const names = actions.items();
  const unknown = names.filter((name) => typeof name !== 'string' || !KNOWN_ACTIONS.has(name));
  if (unknown.length > 0) throw failedToParse(`Unrecognized action privilege strings: ${unknown.map(String).join(',')}`);
  // eslint-disable-next-line frond/no-unsafe-assertion -- each was looked up in ACTIONS
  return { resource: readResource(document.get('resource')), actions: names as readonly Action[] };
}

/** `privileges: [{ resource: …, actions: […] }]`. */
export const privilegesField: Field<readonly Privilege[]> = mappedField(objectsField, (items) => items.map(readPrivilege));

/** Refuses a role that is not there (31). */
export async function checkRolesExist(store: UserStore, roles: readonly RoleName[]): Promise<void> {
  for (const name of roles) {
    if ((await store.role(name)) === undefined) throw new CommandError(31, 'RoleNotFound', `Could not find role: ${name.role}@${name.db}`);
  }
}

/** A role of a database may hold nothing of another (65); one of `admin` may. */
export function checkRoleContents(db: string, contents: { roles?: readonly RoleName[] | undefined; privileges?: readonly Privilege[] | undefined }): void {
  if (db === 'admin') return;
  if (contents.roles?.some((role) => role.db !== db) === true) {
    throw new CommandError(49, 'InvalidRoleModification', `Roles on the '${db}' database cannot be granted roles from other databases`);
  }
  if (contents.privileges?.some(({ resource }) => resource.kind !== 'namespace' || resource.db !== db) === true) {
    throw new CommandError(49, 'InvalidRoleModification', `Roles on the '${db}' database cannot be granted privileges that target other databases or the cluster`);
  }
}

/** Refuses to change a role that is built in (65). */
export function checkNotBuiltIn({ role, db }: RoleName): void {
  if (isBuiltInRole(role, db)) throw new CommandError(49, 'InvalidRoleModification', `${role}@${db} is a built-in role and cannot be modified`);
}

/** Refuses a role that would come to itself (65). */
export async function checkNoCycle(store: UserStore, holder: RoleName, granted: readonly RoleName[]): Promise<void> {
  const { roles } = await store.expand(granted);
  if (!roles.some((name) => roleKey(name) === roleKey(holder))) return;
  throw new CommandError(49, 'InvalidRoleModification', `Granting these roles to ${holder.role}@${holder.db} would introduce a cycle in the role graph`);
}
