// What the server is doing: currentOp, killOp, top, getLog, and the forced checkpoint that MongoDB calls fsync.

import { CommandError } from '../../base/errors.ts';
import { BsonArray, Document } from '../../bson/index.ts';
import type { OperationContext } from '../../session/index.ts';
import { defineCommand, type Command } from '../command.ts';
import { anyField, numberField, required, stringField, boolField } from '../fields.ts';

/** One row of currentOp. */
export function describeOperation(operation: OperationContext): Document {
  const { connection } = operation;
  const runningMs = operation.clock.monotonicMs() - operation.startedMs;
  return Document.of({
    type: 'op',
    desc: `conn${String(connection.id)}`,
    connectionId: connection.id,
    client: connection.remote,
    appName: connection.metadata?.appName,
    active: true,
    opid: operation.id,
    secs_running: BigInt(Math.floor(runningMs / 1000)),
    microsecs_running: BigInt(Math.floor(runningMs * 1000)),
    op: 'command',
    ns: operation.namespace,
    command: Document.fromEntries([[operation.command, 1]]),
    waitingForLock: false,
    lsid: operation.session?.id,
  });
}

const currentOp: Command = defineCommand({
  name: 'currentOp',
  access: 'admin',
  adminOnly: true,
  about: 'operations that are running',
  fields: { currentOp: anyField },
  lax: true,
  run: ({ server }) => Promise.resolve({ inprog: BsonArray.of([...server.operations.values()].map(describeOperation)) }),
});

const killOp: Command = defineCommand({
  name: 'killOp',
  access: 'admin',
  adminOnly: true,
  about: 'tells an operation to stop',
  fields: { killOp: anyField, op: required(numberField) },
  run: ({ server }, { op }) => {
    server.operations.get(op)?.interrupt('killed');
    return Promise.resolve({ info: 'attempting to kill op' });
  },
});

const top: Command = defineCommand({
  name: 'top',
  access: 'admin',
  adminOnly: true,
  about: 'time spent for each collection',
  fields: { top: anyField },
  run: () => Promise.resolve({ totals: Document.of({ note: 'all times in microseconds' }) }),
});

const LOGS: readonly string[] = ['global', 'startupWarnings'];

const getLog: Command = defineCommand({
  name: 'getLog',
  access: 'admin',
  adminOnly: true,
  about: 'the last lines of the log',
  fields: { getLog: required(stringField) },
  run: (_context, { getLog: name }) => {
    if (name === '*') return Promise.resolve({ names: BsonArray.of([...LOGS]) });
    if (!LOGS.includes(name)) throw new CommandError(96, 'OperationFailed', `No log named '${name}'`);
    return Promise.resolve({ totalLinesWritten: 0, log: BsonArray.empty });
  },
});

const fsync: Command = defineCommand({
  name: 'fsync',
  access: 'admin',
  adminOnly: true,
  about: 'writes a checkpoint; what was acknowledged is on disk without it',
  fields: { fsync: anyField, lock: boolField },
  run: async ({ server }, { lock }) => {
    if (lock === true) throw new CommandError(115, 'CommandNotSupported', 'fsync with lock is not supported');
    await server.engine.checkpoint();
    return { numFiles: 1 };
  },
});

export const OPERATION_COMMANDS: readonly Command[] = [currentOp, killOp, top, getLog, fsync];
