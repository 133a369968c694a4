// Logical sessions by command: start, refresh, end, kill. `killAllSessions: []` is how test runners clear what earlier tests left open
// (compatibility.md 4.9).

import { Document } from '../../bson/index.ts';
import { SESSION_TIMEOUT_MINUTES, type LogicalSession } from '../../session/index.ts';
import { defineCommand, type Command, type CommandContext } from '../command.ts';
import { anyField, objectsField, parseFields, required, stringField, type FieldTable } from '../fields.ts';
import { parseSessionId, sessionOfUser } from '../generic-fields.ts';
import { randomUuid } from '../random-uuid.ts';

const startSession: Command = defineCommand({
  name: 'startSession',
  access: 'none',
  lax: true,
  about: 'makes a logical session',
  fields: { startSession: anyField },
  run: ({ server, operation }) => {
    const { user } = operation.connection;
    const named = sessionOfUser(parseSessionId(Document.of({ id: randomUuid(server.env.random) })), user);
    server.sessions.use(named, user);
    return Promise.resolve({ id: named.id, timeoutMinutes: SESSION_TIMEOUT_MINUTES });
  },
});

const refreshSessions: Command = defineCommand({
  name: 'refreshSessions',
  access: 'none',
  about: 'keeps sessions alive',
  fields: { refreshSessions: required(objectsField) },
  run: ({ server, operation }, { refreshSessions: sessions }) => {
    const { user } = operation.connection;
    for (const lsid of sessions) server.sessions.use(sessionOfUser(parseSessionId(lsid), user), user);
    return Promise.resolve({});
  },
});

async function endAll(context: CommandContext, sessions: readonly LogicalSession[], forget: boolean): Promise<void> {
  const { server, operation } = context;
  for (const session of sessions) {
    server.cursors.killWhere((cursor) => cursor.options.sessionKey === session.key);
    // The session that this command itself came in is not told to stop.
    session.exit(operation);
    await server.sessions.kill(session, forget);
    if (operation.session === session) session.enter(operation);
  }
}

function named(context: CommandContext, sessions: readonly Document[]): LogicalSession[] {
  return sessions.flatMap((lsid) => context.server.sessions.find(sessionOfUser(parseSessionId(lsid), context.operation.connection.user).key) ?? []);
}

const endSessions: Command = defineCommand({
  name: 'endSessions',
  access: 'none',
  about: 'ends sessions; their open transactions are aborted',
  fields: { endSessions: required(objectsField) },
  run: async (context, { endSessions: sessions }) => {
    await endAll(context, named(context, sessions), true);
    return {};
  },
});

const killSessions: Command = defineCommand({
  name: 'killSessions',
  access: 'none',
  about: 'stops what runs in sessions and aborts their transactions',
  lax: true,
  fields: { killSessions: required(objectsField) },
  run: async (context, { killSessions: sessions }) => {
    await endAll(context, sessions.length === 0 ? context.server.sessions.all() : named(context, sessions), false);
    return {};
  },
});

const USER_FIELDS = { user: required(stringField), db: required(stringField) } satisfies FieldTable;

const killAllSessions: Command = defineCommand({
  name: 'killAllSessions',
  access: 'admin',
  about: 'stops what runs in the sessions of the named users, or of all',
  fields: { killAllSessions: required(objectsField) },
  run: async (context, { killAllSessions: users }) => {
    const wanted = new Set(users.map((user) => parseFields('killAllSessions.KillAllSessionsUser', user, USER_FIELDS).user));
    const sessions = context.server.sessions.all().filter((session) => wanted.size === 0 || wanted.has(session.user));
    await endAll(context, sessions, false);
    return {};
  },
});

const killAllSessionsByPattern: Command = defineCommand({
  name: 'killAllSessionsByPattern',
  access: 'admin',
  about: 'stops what runs in sessions that fit a pattern',
  fields: { killAllSessionsByPattern: required(objectsField) },
  run: async (context, { killAllSessionsByPattern: patterns }) => {
    const lsids = patterns.flatMap((pattern) => {
      const lsid = pattern.get('lsid');
      return lsid instanceof Document ? [lsid] : [];
    });
    await endAll(context, lsids.length === 0 ? context.server.sessions.all() : named(context, lsids), false);
    return {};
  },
});


export const SESSION_COMMANDS: readonly Command[] = [
  startSession,
  refreshSessions,
  endSessions,
  killSessions,
  killAllSessions,
  killAllSessionsByPattern,
];
