// All commands, by name. A name that is not here is 59 CommandNotFound; listCommands is made from the same table.

import { CommandError } from '../base/errors.ts';
import { BsonArray, Document } from '../bson/index.ts';
import type { CommandRequest } from '../session/index.ts';
import { BACKUP_COMMANDS } from './administration/backup.ts';
import { verifyData } from './administration/verify-data.ts';
import { DEFAULT_COMMANDS } from './administration/defaults.ts';
import { configureFailPoint } from './administration/fail-point.ts';
import { testVersion2 } from './administration/test-commands.ts';
import { hello, isMaster } from './administration/hello.ts';
import { IDENTITY_COMMANDS } from './administration/identity.ts';
import { OPERATION_COMMANDS } from './administration/operations.ts';
import { CLUSTER_PARAMETER_COMMANDS } from './administration/cluster-parameters.ts';
import { DEFAULT_CONCERN_COMMANDS } from './administration/default-concerns.ts';
import { FSYNC_COMMANDS } from './administration/fsync.ts';
import { LOG_COMMANDS } from './administration/log-commands.ts';
import { MAINTENANCE_COMMANDS } from './administration/maintenance.ts';
import { PROFILE_COMMANDS } from './administration/profile.ts';
import { TOKU_COMMANDS } from './administration/toku.ts';
import { INDEX_FILTER_COMMANDS } from './schema/index-filters.ts';
import { REPLICA_SET_COMMANDS } from './administration/replica-set.ts';
import { COMPACT_COMMANDS } from './schema/compact.ts';
import { HASH_COMMANDS } from './schema/db-hash.ts';
import { PARAMETER_COMMANDS } from './administration/parameters.ts';
import { QUERY_SETTINGS_COMMANDS } from './query-settings/commands.ts';
import { serverStatus } from './administration/server-status.ts';
import { SESSION_COMMANDS } from './administration/sessions.ts';
import { defineCommand, type Command } from './command.ts';
import { aggregate } from './data/aggregate.ts';
import { bulkWrite } from './data/bulk-write.ts';
import { COUNT_COMMANDS } from './data/count.ts';
import { deleteCommand } from './data/delete.ts';
import { explain } from './data/explain.ts';
import { fileMd5 } from './data/file-md5.ts';
import { find } from './data/find.ts';
import { findAndModify } from './data/find-and-modify.ts';
import { insert } from './data/insert.ts';
import { update } from './data/update.ts';
import { CURSOR_COMMANDS } from './data/get-more.ts';
import { TRANSACTION_COMMANDS } from './data/transaction-end.ts';
import { anyField } from './fields.ts';
import { isStable } from './generic-fields.ts';
import { CAPPED_COMMANDS } from './schema/capped.ts';
import { APPLY_COMMANDS } from './data/apply-ops.ts';
import { CREATE_COMMANDS } from './schema/create.ts';
import { LOAD_COMMANDS } from './schema/load.ts';
import { PARTITION_COMMANDS } from './schema/partitions.ts';
import { INDEX_COMMANDS } from './schema/indexes.ts';
import { SEARCH_INDEX_COMMANDS } from './schema/search-indexes.ts';
import { LIST_COMMANDS } from './schema/list.ts';
import { METADATA_COMMANDS } from './schema/validate-metadata.ts';
import { STATISTICS_COMMANDS } from './schema/statistics.ts';
import { ROLE_COMMANDS } from './users/role-commands.ts';
import { SASL_COMMANDS } from './users/sasl.ts';
import { USER_COMMANDS } from './users/user-commands.ts';
import { WHO_COMMANDS } from './users/who.ts';

const listCommands: Command = defineCommand({
  name: 'listCommands',
  access: 'none',
  about: 'the commands of this server',
  fields: { listCommands: anyField },
  lax: true,
  run: ({ server }) => {
    const known = ALL.filter((command) => server.options.testCommands || !command.testOnly);
    const rows = known.map((command): [string, Document] => [
      command.name,
      Document.of({
        help: command.about,
        requiresAuth: command.access !== 'none',
        secondaryOk: !command.writes,
        adminOnly: command.adminOnly,
        apiVersions: BsonArray.of(isStable(command.name) ? ['1'] : []),
        deprecatedApiVersions: BsonArray.empty,
      }),
    ]);
    rows.sort(([a], [b]) => (a < b ? -1 : 1));
    return Promise.resolve({ commands: Document.fromEntries(rows) });
  },
});

const ALL: readonly Command[] = [
  hello,
  isMaster,
  serverStatus,
  configureFailPoint,
  testVersion2,
  listCommands,
  insert,
  update,
  deleteCommand,
  bulkWrite,
  findAndModify,
  find,
  aggregate,
  explain,
  fileMd5,
  ...COUNT_COMMANDS,
  ...BACKUP_COMMANDS,
  verifyData,
  ...DEFAULT_COMMANDS,
  ...IDENTITY_COMMANDS,
  ...OPERATION_COMMANDS,
  ...PARAMETER_COMMANDS,
  ...CLUSTER_PARAMETER_COMMANDS,
  ...DEFAULT_CONCERN_COMMANDS,
  ...FSYNC_COMMANDS,
  ...LOG_COMMANDS,
  ...MAINTENANCE_COMMANDS,
  ...PROFILE_COMMANDS,
  ...HASH_COMMANDS,
  ...COMPACT_COMMANDS,
  ...REPLICA_SET_COMMANDS,
  ...INDEX_FILTER_COMMANDS,
  ...QUERY_SETTINGS_COMMANDS,
  ...METADATA_COMMANDS,
  ...TOKU_COMMANDS,
  ...SESSION_COMMANDS,
  ...CURSOR_COMMANDS,
  ...TRANSACTION_COMMANDS,
  ...CREATE_COMMANDS,
  ...APPLY_COMMANDS,
  ...PARTITION_COMMANDS,
  ...LOAD_COMMANDS,
  ...CAPPED_COMMANDS,
  ...INDEX_COMMANDS,
  ...LIST_COMMANDS,
  ...SEARCH_INDEX_COMMANDS,
  ...STATISTICS_COMMANDS,
  ...SASL_COMMANDS,
  ...USER_COMMANDS,
  ...ROLE_COMMANDS,
  ...WHO_COMMANDS,
];

const BY_NAME: ReadonlyMap<string, Command> = new Map(
  ALL.flatMap((command) => [command.name, ...command.aliases].map((name) => [name, command] as const)),
);

/** The command that a request names; those for tests only where they are allowed. */
export function findCommand(request: CommandRequest, testCommands: boolean): Command {
  const name = request.body.first?.[0] ?? '';
  const command = BY_NAME.get(name);
  if (command === undefined || (command.testOnly && !testCommands)) throw new CommandError(59, 'CommandNotFound', `no such command: '${name}'`);
  return command;
}

/** Names of all commands, aliases left out. */
export function commandNames(): readonly string[] {
  return ALL.map((command) => command.name);
}
