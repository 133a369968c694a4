// createUser, updateUser, dropUser and what else changes people: passwords are turned into credentials here and go no further.

import { credentialDocument, digestPassword, makeCredential, roleKey, saslPrepare, type RoleName, type ScramMechanism } from '../../auth/index.ts';
import { CommandError } from '../../base/errors.ts';
import { describeValue, Document, type BsonArray, type Value } from '../../bson/index.ts';
import { defineCommand, type Command, type CommandContext } from '../command.ts';
import { anyField, arrayField, boolField, mappedField, objectField, required, stringField, type Field } from '../fields.ts';
import { randomUuid } from '../random-uuid.ts';
import type { ServerState } from '../server-state.ts';
import { checkRolesExist, namesOf, rolesField } from './role-fields.ts';
import { readUser, rolesArray, userKey } from './stored-user.ts';

const MECHANISMS: readonly ScramMechanism[] = ['SCRAM-SHA-1', 'SCRAM-SHA-256'];

function badValue(text: string): CommandError {
  return new CommandError(2, 'BadValue', text);
}

const mechanismsField: Field<readonly ScramMechanism[]> = mappedField(arrayField, (names) => {
  const known = names.items().map((name) => {
    const mechanism = MECHANISMS.find((candidate) => candidate === name);
    if (mechanism === undefined) throw badValue(`Unknown auth mechanism ${describeValue(name)}`);
    return mechanism;
  });
  if (known.length === 0) throw badValue('mechanisms field must not be empty');
  return known;
});

/** Restrictions by address are not enforced, so none may be stated. */
const restrictionsField: Field<BsonArray> = mappedField(arrayField, (restrictions) => {
  if (restrictions.isEmpty) return restrictions;
  throw new CommandError(238, 'NotImplemented', 'authenticationRestrictions are not implemented');
});

interface Password {
  readonly user: string;
  readonly pwd: string;
  readonly digests: boolean;
  readonly mechanisms: readonly ScramMechanism[];
}

/** What is kept of a password. */
async function credentialsOf(server: ServerState, { user, pwd, digests, mechanisms }: Password): Promise<Document> {
  if (pwd === '') throw badValue('Password cannot be empty');
  const fields: [string, Value][] = [];
  for (const mechanism of mechanisms) {
    if (mechanism === 'SCRAM-SHA-256' && !digests) throw badValue('Use of SCRAM-SHA-256 requires undigested passwords');
    let secret = pwd;
    if (mechanism === 'SCRAM-SHA-256') secret = saslPrepare(pwd);
    else if (digests) secret = digestPassword(user, pwd);
    fields.push([mechanism, credentialDocument(await makeCredential(mechanism, secret, server.env.random))]);
  }
  return Document.fromEntries(fields);
}

function notFound(user: string, db: string): CommandError {
  return new CommandError(11, 'UserNotFound', `User '${user}@${db}' not found`);
}

/** Writes down who changed whom. */
export function auditChange(context: CommandContext, what: string, name: string): void {
  const { server, operation } = context;
  const by = operation.connection.user;
  server.log.write({ severity: 'I', component: 'ACCESS', id: 5286330, message: 'Users or roles changed' }, {
    change: what, name: `${name}@${context.db}`, by: by === '' ? undefined : by, client: operation.connection.remote,
  });
}

const createUser: Command = defineCommand({
  name: 'createUser',
  access: 'admin',
  writeConcern: true,
  about: 'makes a user',
  fields: {
    createUser: required(stringField),
    pwd: stringField,
    customData: objectField,
    roles: required(rolesField),
    digestPassword: boolField,
    mechanisms: mechanismsField,
    authenticationRestrictions: restrictionsField,
  },
  run: async (context, parsed) => {
    const { server, db } = context;
    const { createUser: user, pwd, customData, digestPassword: digests = true, mechanisms = MECHANISMS } = parsed;
    if (user === '') throw badValue("User document needs 'user' field to be non-empty");
    if (db === 'local') throw badValue('Cannot create users in the local database');
    if (pwd === undefined && db !== '$external') throw badValue("Must provide a 'pwd' field for all user documents, except those with '$external' as the user's source db");
    if (pwd !== undefined && db === '$external') throw badValue("Cannot set the password for users defined on the '$external' database");
    const roles = namesOf(parsed.roles, db);
    await checkRolesExist(server.access.store, roles);
    const document = Document.of({
      _id: userKey(user, db),
      userId: randomUuid(server.env.random),
      user,
      db,
      credentials: pwd === undefined ? Document.of({ external: true }) : await credentialsOf(server, { user, pwd, digests, mechanisms }),
      roles: rolesArray(roles),
      customData,
    });
    await server.access.store.insert('users', document, new CommandError(51003, 'Location51003', `User "${user}@${db}" already exists`));
    auditChange(context, 'createUser', user);
    return {};
  },
});

/** The document with some fields in place of those of the same name, or behind. */
function withFields(document: Document, changes: Readonly<Record<string, Value | undefined>>): Document {
  const fields = new Map(document.fields);
  for (const [name, value] of Object.entries(changes)) if (value !== undefined) fields.set(name, value);
  return Document.fromEntries([...fields]);
}

/** Only those of the credentials that are to stay. */
function keptCredentials(before: Document, mechanisms: readonly ScramMechanism[]): Document {
  const { credentials } = readUser(before);
  if (mechanisms.some((name) => !credentials.has(name))) throw badValue('mechanisms field must be a subset of previously set mechanisms');
  return Document.fromEntries(credentials.fields.filter(([name]) => mechanisms.some((kept) => kept === name)));
}

const updateUser: Command = defineCommand({
  name: 'updateUser',
  access: 'admin',
  writeConcern: true,
  about: 'changes a user',
  fields: {
    updateUser: required(stringField),
    pwd: stringField,
    customData: objectField,
    roles: rolesField,
    digestPassword: boolField,
    mechanisms: mechanismsField,
    authenticationRestrictions: restrictionsField,
  },
  run: async (context, parsed) => {
    const { server, db } = context;
    const { updateUser: user, pwd, customData, digestPassword: digests = true, mechanisms } = parsed;
    if (pwd === undefined && customData === undefined && parsed.roles === undefined && mechanisms === undefined && parsed.authenticationRestrictions === undefined) {
      throw badValue('Must specify at least one field to update in updateUser');
    }
    const roles = parsed.roles === undefined ? undefined : namesOf(parsed.roles, db);
    if (roles !== undefined) await checkRolesExist(server.access.store, roles);
    const credentials = pwd === undefined ? undefined : await credentialsOf(server, { user, pwd, digests, mechanisms: mechanisms ?? MECHANISMS });
    const change = (before: Document): Document =>
      withFields(before, {
        credentials: credentials ?? (mechanisms === undefined ? undefined : keptCredentials(before, mechanisms)),
        roles: roles === undefined ? undefined : rolesArray(roles),
        customData,
      });
    await server.access.store.update('users', userKey(user, db), change, notFound(user, db));
    auditChange(context, 'updateUser', user);
    return {};
  },
});

const dropUser: Command = defineCommand({
  name: 'dropUser',
  access: 'admin',
  writeConcern: true,
  about: 'removes a user',
  fields: { dropUser: required(stringField) },
  run: async (context, { dropUser: user }) => {
    const removed = await context.server.access.store.remove('users', userKey(user, context.db));
    if (!removed) throw notFound(user, context.db);
    auditChange(context, 'dropUser', user);
    return {};
  },
});

const dropAllUsersFromDatabase: Command = defineCommand({
  name: 'dropAllUsersFromDatabase',
  access: 'admin',
  writeConcern: true,
  about: 'removes all users of a database',
  fields: { dropAllUsersFromDatabase: anyField },
  run: async (context) => {
    const n = await context.server.access.store.updateAll('users', (user) => (user.get('db') === context.db ? undefined : user));
    auditChange(context, 'dropAllUsersFromDatabase', '');
    return { n };
  },
});

/** The name that stands behind the command's own. */
export function nameIn({ request }: CommandContext): string {
  const value = request.body.first?.[1];
  return typeof value === 'string' ? value : '';
}

/** grantRolesToUser and revokeRolesFromUser. */
function changingRoles(name: string, about: string, change: (has: readonly RoleName[], named: readonly RoleName[]) => readonly RoleName[]): Command {
  return defineCommand({
    name,
    access: 'admin',
    writeConcern: true,
    about,
    fields: { [name]: required(stringField), roles: required(rolesField) },
    run: async (context, parsed) => {
      const { server, db } = context;
      const user = nameIn(context);
       
      const named = namesOf(parsed['roles'], db);
      await checkRolesExist(server.access.store, named);
      const missing = new CommandError(11, 'UserNotFound', `Could not find user "${user}" for db "${db}"`);
      await server.access.store.update('users', userKey(user, db), (before) => withFields(before, { roles: rolesArray(change(readUser(before).roles, named)) }), missing);
      auditChange(context, name, user);
      return {};
    },
  });
}

/** Both, each role once. */
export function rolesWith(has: readonly RoleName[], named: readonly RoleName[]): RoleName[] {
  return [...new Map([...has, ...named].map((role) => [roleKey(role), role])).values()];
}

/** Those that are not named. */
export function rolesWithout(has: readonly RoleName[], named: readonly RoleName[]): RoleName[] {
  const gone = new Set(named.map(roleKey));
  return has.filter((role) => !gone.has(roleKey(role)));
}

const invalidateUserCache: Command = defineCommand({
  name: 'invalidateUserCache',
  access: 'admin',
  about: 'makes out anew what everybody may do',
  fields: { invalidateUserCache: anyField },
  run: ({ server }) => {
    server.access.store.changed();
    return Promise.resolve({});
  },
});

export const USER_COMMANDS: readonly Command[] = [
  createUser,
  updateUser,
  dropUser,
  dropAllUsersFromDatabase,
  changingRoles('grantRolesToUser', 'gives roles to a user', rolesWith),
  changingRoles('revokeRolesFromUser', 'takes roles from a user', rolesWithout),
  invalidateUserCache,
];
