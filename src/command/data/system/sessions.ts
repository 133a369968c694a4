// `$listLocalSessions` and `$listSessions`: the sessions that this server knows, all or those of some users.
// Follows the manual's pages of both.

import { userDigest } from '../../../auth/index.ts';
import { CommandError } from '../../../base/errors.ts';
import { Binary, DateTime, Document } from '../../../bson/index.ts';
import { objectsField, parseFields, required, strictBoolField, stringField, type FieldTable } from '../../fields.ts';
import { refuseTarget, type SystemStage, type SystemStageInput } from './system-stage.ts';

const FIELDS = { allUsers: strictBoolField, users: objectsField } satisfies FieldTable;
const USER_FIELDS = { user: required(stringField), db: required(stringField) } satisfies FieldTable;

/** The users asked for, as `user@db`; undefined: all. */
function usersOf(input: SystemStageInput, name: string): ReadonlySet<string> | undefined {
  const { allUsers, users } = parseFields(name, input.specification, FIELDS);
  const names = (users ?? []).map((one) => {
    const { user, db } = parseFields(`${name}.users`, one, USER_FIELDS);
    return `${user}@${db}`;
  });
  if (allUsers === true && names.length > 0) {
    throw new CommandError(12, 'UnsupportedFormat', `${name} cannot specify both allUsers and a list of users`);
  }
  return names.length === 0 ? undefined : new Set(names);
}

/** The name of a session as it is stored: with its user, whoever that is. */
function withUser(id: Document, user: string): Document {
  return id.has('uid') ? id : Document.fromEntries([...id.fields, ['uid', new Binary(userDigest(user), 0)]]);
}

function rowsOf(input: SystemStageInput, name: string): readonly Document[] {
  const users = usersOf(input, name);
  const { sessions, env } = input.context.server;
  const idleSince = env.clock.nowMs() - env.clock.monotonicMs();
  return sessions
    .all()
    .filter((session) => users === undefined || users.has(session.user))
    .map((session) => Document.of({ _id: withUser(session.id, session.user), lastUse: new DateTime(Math.floor(idleSince + session.lastUsedMs)) }));
}

export const listLocalSessions: SystemStage = (input) => {
  refuseTarget(input, '$listLocalSessions');
  return rowsOf(input, '$listLocalSessions');
};

/** It reads the collection of sessions, and only that. */
export const listSessions: SystemStage = (input) => {
  if (input.target?.ns.text !== 'config.system.sessions') {
    throw new CommandError(73, 'InvalidNamespace', '$listSessions must be run on config.system.sessions');
  }
  return rowsOf(input, '$listSessions');
};
