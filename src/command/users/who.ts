// usersInfo, rolesInfo and connectionStatus: who there is, what they may do, and who is logged in here.

import { Authorization, builtInRole, builtInRoleNames, roleKey, type Role, type RoleName } from '../../auth/index.ts';
import { CommandError } from '../../base/errors.ts';
import { BsonArray, DateTime, Document, type Value } from '../../bson/index.ts';
import { compileFilter } from '../../query/index.ts';
import { defineCommand, type Command, type CommandContext } from '../command.ts';
import { anyField, boolField, objectField, required } from '../fields.ts';
import { readRole, privilegesArray, readUser, rolesArray, type StoredUser } from './stored-user.ts';

function badValue(text: string): CommandError {
  return new CommandError(2, 'BadValue', text);
}

interface UserDetails {
  readonly credentials: boolean;
  readonly customData: boolean;
  readonly privileges: boolean;
}

async function describeUser(context: CommandContext, user: StoredUser, show: UserDetails): Promise<Document> {
  const tree = show.privileges ? await context.server.access.store.expand(user.roles) : undefined;
  const mechanisms = user.db === '$external' ? ['external'] : user.credentials.keys();
  return Document.of({
    _id: user.document.get('_id'),
    userId: user.document.get('userId'),
    user: user.user,
    db: user.db,
    credentials: show.credentials ? user.credentials : undefined,
    customData: show.customData ? user.document.get('customData') : undefined,
    roles: rolesArray(user.roles),
    mechanisms: BsonArray.of(mechanisms),
    inheritedRoles: tree === undefined ? undefined : rolesArray(tree.roles),
    inheritedPrivileges: tree === undefined ? undefined : privilegesArray(new Authorization(tree.privileges).privileges()),
    authenticationRestrictions: show.privileges ? BsonArray.empty : undefined,
    inheritedAuthenticationRestrictions: show.privileges ? BsonArray.empty : undefined,
  });
}

/** Names in a field as `'name'`, `{ user: 'name', db: 'db' }`, or an array of either. */
function namesIn(value: Value, field: 'user' | 'role', db: string): { name: string; db: string }[] {
  const items = value instanceof BsonArray ? value.items() : [value];
  return items.map((item) => {
    if (typeof item === 'string') return { name: item, db };
    const name = item instanceof Document ? item.get(field) : undefined;
    const of = item instanceof Document ? item.get('db') : undefined;
    if (typeof name === 'string' && typeof of === 'string') return { name, db: of };
    throw badValue(`${field === 'user' ? 'User' : 'Role'} names must be either strings or objects`);
  });
}

async function wantedUsers(context: CommandContext, wanted: Value): Promise<{ users: StoredUser[]; named: boolean }> {
  const { store } = context.server.access;
  const everywhere = wanted instanceof Document && wanted.get('forAllDBs') === true;
  if (everywhere || wanted === 1 || (typeof wanted === 'object' && wanted !== null && 'value' in wanted)) {
    const users = (await store.all('users')).map(readUser);
    return { users: everywhere ? users : users.filter((user) => user.db === context.db), named: false };
  }
  const users: StoredUser[] = [];
  for (const { name, db } of namesIn(wanted, 'user', context.db)) {
    const user = await store.user(name, db);
    if (user !== undefined) users.push(user);
  }
  return { users, named: true };
}

const usersInfo: Command = defineCommand({
  name: 'usersInfo',
  access: 'admin',
  about: 'users and their roles',
  fields: {
    usersInfo: required(anyField),
    showCredentials: boolField,
    showCustomData: boolField,
    showPrivileges: boolField,
    showAuthenticationRestrictions: boolField,
    filter: objectField,
  },
  run: async (context, parsed) => {
    const { users, named } = await wantedUsers(context, parsed.usersInfo);
    const show: UserDetails = { credentials: parsed.showCredentials === true, customData: parsed.showCustomData !== false, privileges: parsed.showPrivileges === true };
    if (show.privileges && !named) throw new CommandError(20, 'IllegalOperation', 'Privilege or restriction details require exact-match usersInfo queries');
    const filter = parsed.filter === undefined ? undefined : compileFilter(parsed.filter, { now: new DateTime(context.server.env.clock.nowMs()) });
    const shown: Document[] = [];
    for (const user of users) {
      const row = await describeUser(context, user, show);
      if (filter?.matches(row) !== false) shown.push(row);
    }
    return { users: BsonArray.of(shown) };
  },
});

async function describeRole(context: CommandContext, role: Role, privileges: boolean): Promise<Document> {
  const inherited = await context.server.access.store.expand(role.roles);
  const all = new Authorization([...role.privileges, ...inherited.privileges]);
  return Document.of({
    _id: roleKey(role),
    role: role.role,
    db: role.db,
    roles: rolesArray(role.roles),
    privileges: privileges ? privilegesArray(role.privileges) : undefined,
    inheritedRoles: rolesArray(inherited.roles),
    inheritedPrivileges: privileges ? privilegesArray(all.privileges()) : undefined,
    isBuiltin: role.isBuiltIn,
  });
}

async function wantedRoles(context: CommandContext, wanted: Value, showBuiltIn: boolean): Promise<Role[]> {
  const { store } = context.server.access;
  const { db } = context;
  if (wanted === 1 || (typeof wanted === 'object' && wanted !== null && 'value' in wanted)) {
    const made = (await store.all('roles')).map(readRole).filter((role) => role.db === db);
    const builtIn = showBuiltIn ? builtInRoleNames(db).flatMap((name) => builtInRole(name, db) ?? []) : [];
    return [...made.map((role): Role => ({ ...role, isBuiltIn: false })), ...builtIn];
  }
  const roles: Role[] = [];
  for (const { name, db: of } of namesIn(wanted, 'role', db)) {
    const role = await store.role({ role: name, db: of });
    if (role !== undefined) roles.push(role);
  }
  return roles;
}

const rolesInfo: Command = defineCommand({
  name: 'rolesInfo',
  access: 'admin',
  about: 'roles and their privileges',
  fields: { rolesInfo: required(anyField), showPrivileges: boolField, showBuiltinRoles: boolField, showAuthenticationRestrictions: boolField },
  run: async (context, { rolesInfo: wanted, showPrivileges, showBuiltinRoles }) => {
    const roles = await wantedRoles(context, wanted, showBuiltinRoles === true);
    const shown: Document[] = [];
    for (const role of roles) shown.push(await describeRole(context, role, showPrivileges === true));
    return { roles: BsonArray.of(shown) };
  },
});

const connectionStatus: Command = defineCommand({
  name: 'connectionStatus',
  access: 'none',
  about: 'who is authenticated on this connection',
  fields: { connectionStatus: anyField, showPrivileges: boolField },
  run: async ({ server, operation }, { showPrivileges }) => {
    const login = await server.access.current(operation.connection);
    const users = login === undefined ? [] : [Document.of({ user: login.user, db: login.db })];
    const roles: readonly RoleName[] = login?.allRoles ?? [];
    const privileges = login?.authorization.privileges() ?? [];
    return {
      authInfo: Document.of({
        authenticatedUsers: BsonArray.of(users),
        authenticatedUserRoles: rolesArray(roles),
        authenticatedUserPrivileges: showPrivileges === true ? privilegesArray(privileges) : undefined,
      }),
    };
  },
});

export const WHO_COMMANDS: readonly Command[] = [usersInfo, rolesInfo, connectionStatus];
