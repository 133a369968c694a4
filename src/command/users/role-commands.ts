// createRole, updateRole, dropRole and what else changes roles. A role that is dropped goes from everybody who had it.

import { Authorization, roleKey, type Privilege, type RoleName } from '../../auth/index.ts';
import { CommandError } from '../../base/errors.ts';
import { Document, type Value } from '../../bson/index.ts';
import { defineCommand, type Command, type CommandContext } from '../command.ts';
import { anyField, arrayField, required, stringField } from '../fields.ts';
import { checkNoCycle, checkNotBuiltIn, checkRoleContents, checkRolesExist, namesOf, privilegesField, rolesField, type WrittenRole } from './role-fields.ts';
import { privilegesArray, readRole, rolesArray } from './stored-user.ts';
import { auditChange, nameIn, rolesWith, rolesWithout } from './user-commands.ts';

function notFound(name: RoleName): CommandError {
  return new CommandError(31, 'RoleNotFound', `Role "${name.role}@${name.db}" not found`);
}

/** Privileges put together: each resource once. */
function merged(privileges: readonly Privilege[]): readonly Privilege[] {
  return new Authorization(privileges).privileges();
}

/** What is left of privileges when others are taken away. */
function without(has: readonly Privilege[], taken: readonly Privilege[]): readonly Privilege[] {
  const key = ({ resource }: Privilege): string => (resource.kind === 'namespace' ? `${resource.db}\0${resource.collection}` : resource.kind);
  return has
    .map((privilege) => {
      const gone = new Set(taken.filter((other) => key(other) === key(privilege)).flatMap(({ actions }) => actions));
      return { resource: privilege.resource, actions: privilege.actions.filter((action) => !gone.has(action)) };
    })
    .filter(({ actions }) => actions.length > 0);
}

const createRole: Command = defineCommand({
  name: 'createRole',
  access: 'admin',
  writeConcern: true,
  about: 'makes a role',
  fields: { createRole: required(stringField), privileges: required(privilegesField), roles: required(rolesField), authenticationRestrictions: arrayField },
  run: async (context, parsed) => {
    const { server, db } = context;
    const { createRole: role, privileges } = parsed;
    const name: RoleName = { role, db };
    if (role === '') throw new CommandError(2, 'BadValue', 'Role name must be non-empty');
    if (db === 'local') throw new CommandError(2, 'BadValue', 'Cannot create roles in the local database');
    if (db === '$external') throw new CommandError(2, 'BadValue', 'Cannot create roles in the $external database');
    if (parsed.authenticationRestrictions?.isEmpty === false) throw new CommandError(238, 'NotImplemented', 'authenticationRestrictions are not implemented');
    const roles = namesOf(parsed.roles, db);
    checkRoleContents(db, { roles, privileges });
    if ((await server.access.store.role(name))?.isBuiltIn === true) throw new CommandError(2, 'BadValue', 'Cannot create roles with the same name as a built-in role');
    await checkRolesExist(server.access.store, roles);
    const document = Document.of({ _id: roleKey(name), role, db, privileges: privilegesArray(merged(privileges)), roles: rolesArray(roles) });
    await server.access.store.insert('roles', document, new CommandError(51002, 'Location51002', `Role "${role}@${db}" already exists`));
    auditChange(context, 'createRole', role);
    return {};
  },
});

interface RoleContents {
  readonly privileges: readonly Privilege[];
  readonly roles: readonly RoleName[];
}

interface RoleChange {
  readonly privileges?: readonly Privilege[] | undefined;
  readonly roles?: readonly RoleName[] | undefined;
}

/** Changes a stored role, looking at what it is now. */
async function changeRole(context: CommandContext, role: string, change: (now: RoleContents) => RoleChange): Promise<void> {
  const name: RoleName = { role, db: context.db };
  checkNotBuiltIn(name);
  const apply = (before: Document): Document => {
    const now = readRole(before);
    const { privileges = now.privileges, roles = now.roles } = change(now);
    const fields: [string, Value][] = before.fields.map(([field, value]) => {
      if (field === 'privileges') return [field, privilegesArray(merged(privileges))];
      return field === 'roles' ? [field, rolesArray(roles)] : [field, value];
    });
    return Document.fromEntries(fields);
  };
  await context.server.access.store.update('roles', roleKey(name), apply, notFound(name));
}

const updateRole: Command = defineCommand({
  name: 'updateRole',
  access: 'admin',
  writeConcern: true,
  about: 'changes a role',
  fields: { updateRole: required(stringField), privileges: privilegesField, roles: rolesField, authenticationRestrictions: arrayField },
  run: async (context, parsed) => {
    const { server, db } = context;
    const { updateRole: role, privileges } = parsed;
    if (privileges === undefined && parsed.roles === undefined) {
      throw new CommandError(2, 'BadValue', 'updateRole command has no fields to update');
    }
    const roles = parsed.roles === undefined ? undefined : namesOf(parsed.roles, db);
    checkRoleContents(db, { roles, privileges });
    await checkRolesExist(server.access.store, roles ?? []);
    await checkNoCycle(server.access.store, { role, db }, roles ?? []);
    await changeRole(context, role, () => ({ privileges, roles }));
    auditChange(context, 'updateRole', role);
    return {};
  },
});

/** Takes dropped roles from all users and roles. */
async function forgetRoles(context: CommandContext, gone: (name: RoleName) => boolean): Promise<void> {
  const { store } = context.server.access;
  const cleaned = (document: Document): Document => {
    const { roles } = readRole(document);
    if (!roles.some(gone)) return document;
    return Document.fromEntries(document.fields.map(([field, value]) => (field === 'roles' ? [field, rolesArray(roles.filter((role) => !gone(role)))] : [field, value])));
  };
  await store.updateAll('users', cleaned);
  await store.updateAll('roles', cleaned);
}

const dropRole: Command = defineCommand({
  name: 'dropRole',
  access: 'admin',
  writeConcern: true,
  about: 'removes a role',
  fields: { dropRole: required(stringField) },
  run: async (context, { dropRole: role }) => {
    const name: RoleName = { role, db: context.db };
    checkNotBuiltIn(name);
    if ((await context.server.access.store.storedRole(name)) === undefined) throw notFound(name);
    // Nobody may keep the name of a role that somebody could make again with more in it: it goes from its holders first.
    await forgetRoles(context, (held) => roleKey(held) === roleKey(name));
    await context.server.access.store.remove('roles', roleKey(name));
    auditChange(context, 'dropRole', role);
    return {};
  },
});

const dropAllRolesFromDatabase: Command = defineCommand({
  name: 'dropAllRolesFromDatabase',
  access: 'admin',
  writeConcern: true,
  about: 'removes all roles of a database that were made',
  fields: { dropAllRolesFromDatabase: anyField },
  run: async (context) => {
    const { store } = context.server.access;
    const dropped = new Set((await store.all('roles')).filter((role) => role.get('db') === context.db).map((role) => role.get('_id')));
    await forgetRoles(context, (held) => dropped.has(roleKey(held)));
    const n = await store.updateAll('roles', (role) => (dropped.has(role.get('_id')) ? undefined : role));
    auditChange(context, 'dropAllRolesFromDatabase', '');
    return { n };
  },
});

/** A command that names a role and changes what it holds. */
function changing<F extends 'roles' | 'privileges'>(
  name: string,
  options: { field: F; about: string; change: (context: CommandContext, role: string, given: { roles: readonly RoleName[]; privileges: readonly Privilege[] }) => Promise<void> },
): Command {
  return defineCommand({
    name,
    access: 'admin',
    writeConcern: true,
    about: options.about,
    fields: options.field === 'roles' ? { [name]: required(stringField), roles: required(rolesField) } : { [name]: required(stringField), privileges: required(privilegesField) },
    run: async (context, parsed) => {
      const role = nameIn(context);
      const fields: Readonly<Record<string, unknown>> = parsed;
       
      const given = fields as { roles?: readonly WrittenRole[]; privileges?: readonly Privilege[] };
      await options.change(context, role, { roles: namesOf(given.roles ?? [], context.db), privileges: given.privileges ?? [] });
      auditChange(context, name, role);
      return {};
    },
  });
}

const grantRolesToRole = changing('grantRolesToRole', {
  field: 'roles',
  about: 'gives roles to a role',
  change: async (context, role, { roles }) => {
    const { store } = context.server.access;
    checkRoleContents(context.db, { roles });
    await checkRolesExist(store, roles);
    await checkNoCycle(store, { role, db: context.db }, roles);
    await changeRole(context, role, (now) => ({ roles: rolesWith(now.roles, roles) }));
  },
});

const revokeRolesFromRole = changing('revokeRolesFromRole', {
  field: 'roles',
  about: 'takes roles from a role',
  change: (context, role, { roles }) => changeRole(context, role, (now) => ({ roles: rolesWithout(now.roles, roles) })),
});

const grantPrivilegesToRole = changing('grantPrivilegesToRole', {
  field: 'privileges',
  about: 'gives privileges to a role',
  change: async (context, role, { privileges }) => {
    checkRoleContents(context.db, { privileges });
    await changeRole(context, role, (now) => ({ privileges: [...now.privileges, ...privileges] }));
  },
});

const revokePrivilegesFromRole = changing('revokePrivilegesFromRole', {
  field: 'privileges',
  about: 'takes privileges from a role',
  change: (context, role, { privileges }) => changeRole(context, role, (now) => ({ privileges: without(now.privileges, privileges) })),
});

export const ROLE_COMMANDS: readonly Command[] = [
  createRole,
  updateRole,
  dropRole,
  dropAllRolesFromDatabase,
  grantRolesToRole,
  revokeRolesFromRole,
  grantPrivilegesToRole,
  revokePrivilegesFromRole,
];
