// Who is logged in on which connection, and whether they may do what they ask. Logins end with the connection; what somebody may do is made
// out anew when users or roles have changed. Without `--auth` everybody may do everything, and logins are still possible.

import { Authorization, digestPassword, passwordMatches, readCredential, saslPrepare, type RoleName, type ScramCredential } from '../../auth/index.ts';
import { CommandError } from '../../base/errors.ts';
import { Document, describeValue } from '../../bson/index.ts';
import type { CommandRequest, ConnectionContext } from '../../session/index.ts';
import { asksOf, ruleOf } from './command-rules.ts';
import type { StoredUser } from './stored-user.ts';
import type { UserStore } from './user-store.ts';

/** Somebody logged in. */
export interface Login {
  readonly user: string;
  readonly db: string;
  /** Roles as granted, and all that they come to. */
  readonly roles: readonly RoleName[];
  readonly allRoles: readonly RoleName[];
  readonly authorization: Authorization;
  readonly generation: number;
}

/** Commands whose bodies hold secrets. */
const SECRETIVE: ReadonlySet<string> = new Set(['createUser', 'updateUser', 'saslStart', 'saslContinue', 'authenticate']);

/** Most characters of a command in an error text. */
const SHOWN_CHARS_MAX = 2000;

/** Whose password nobody knows. */
const nobody: ScramCredential = { iterationCount: 15_000, salt: new Uint8Array(28), storedKey: new Uint8Array(32), serverKey: new Uint8Array(32) };

/** The guard of all commands. */
export class AccessControl {
  /** Whether what is asked is checked. */
  readonly enabled: boolean;
  readonly store: UserStore;
  readonly #logins: WeakMap<ConnectionContext, Login> = new WeakMap();

  constructor(store: UserStore, enabled: boolean) {
    this.store = store;
    this.enabled = enabled;
  }

  /** Logs a user in on the connection; a login that was there is replaced. */
  async login(connection: ConnectionContext, user: StoredUser): Promise<void> {
    this.#logins.set(connection, await this.#makeOut(user));
    connection.user = `${user.user}@${user.db}`;
  }

  /** What a user with this password may do; undefined where there is none, or another password. An unknown user takes as long as a wrong password. */
  async checkPassword(user: string, db: string, password: string): Promise<Authorization | undefined> {
    const found = await this.store.user(user, db);
    for (const mechanism of ['SCRAM-SHA-256', 'SCRAM-SHA-1'] as const) {
      const stored = found?.credentials.get(mechanism);
      if (found !== undefined && !(stored instanceof Document)) continue;
      const credential = stored instanceof Document ? readCredential(stored) : nobody;
      const form = mechanism === 'SCRAM-SHA-256' ? saslPrepare(password) : digestPassword(user, password);
      const matches = await passwordMatches(mechanism, credential, form);
      return found !== undefined && matches ? (await this.#makeOut(found)).authorization : undefined;
    }
    return undefined;
  }

  logout(connection: ConnectionContext): void {
    this.#logins.delete(connection);
    connection.user = '';
  }

  /** Who is logged in, with their present roles; somebody who was dropped meanwhile is not any more. */
  async current(connection: ConnectionContext): Promise<Login | undefined> {
    const login = this.#logins.get(connection);
    if (login === undefined || login.generation === this.store.generation) return login;
    const user = await this.store.user(login.user, login.db);
    if (user === undefined) {
      this.logout(connection);
      return undefined;
    }
    const renewed = await this.#makeOut(user);
    this.#logins.set(connection, renewed);
    return renewed;
  }

  /** What whoever asks may do; undefined: everything. For commands that show each what is theirs. */
  async limits(connection: ConnectionContext): Promise<Authorization | undefined> {
    if (!this.enabled) return undefined;
    return (await this.current(connection))?.authorization ?? new Authorization([]);
  }

  /** Refuses what the connection's user may not do: 13. */
  async check(connection: ConnectionContext, command: string, request: CommandRequest, db: string): Promise<void> {
    const rule = ruleOf(command);
    if (rule === 'open') return;
    const login = this.#logins.get(connection)?.generation === this.store.generation ? this.#logins.get(connection) : await this.current(connection);
    if (login === undefined) {
      if (await this.#isFirstUser(connection, command, db)) return;
      throw new CommandError(13, 'Unauthorized', `Command ${command} requires authentication`);
    }
    if (rule === 'authenticated') return;
    const asks = asksOf(request, db, login);
    if (rule(asks)) return;
    throw new CommandError(13, 'Unauthorized', `not authorized on ${db} to execute command ${shownCommand(command, request)}`);
  }

  /** The localhost exception: as long as there is nobody, whoever is on this machine may make the first user, or a role for them. */
  async #isFirstUser(connection: ConnectionContext, command: string, db: string): Promise<boolean> {
    if ((command !== 'createUser' && command !== 'createRole') || db !== 'admin') return false;
    const isLocal = connection.remote.startsWith('127.') || connection.remote.startsWith('[::1]:');
    return isLocal && (await this.store.isEmpty());
  }

  async #makeOut({ user, db, roles }: StoredUser): Promise<Login> {
    const { generation } = this.store;
    const tree = await this.store.expand(roles);
    return { user, db, roles, allRoles: tree.roles, authorization: new Authorization(tree.privileges), generation };
  }
}

function shownCommand(command: string, { body }: CommandRequest): string {
  const shown = SECRETIVE.has(command) ? Document.fromEntries([body.first ?? ['', null]]) : body;
  return describeValue(shown).slice(0, SHOWN_CHARS_MAX);
}
