// What the server is doing: currentOp, killOp, top.

import { clusterTarget } from '../../auth/index.ts';
import { CommandError } from '../../base/errors.ts';
import { BsonArray, DateTime, describeValue, Document, isNumber, type Value } from '../../bson/index.ts';
import { compileFilter } from '../../query/index.ts';
import type { OperationContext } from '../../session/index.ts';
import { defineCommand, type Command, type CommandContext } from '../command.ts';
import { anyField, typeText } from '../fields.ts';
import { GENERIC_FIELD_NAMES } from '../generic-field-names.ts';
import { operationName, runningMs, shownCommand } from '../monitor/finished.ts';
import type { TopEntry } from '../monitor/operation-monitor.ts';
import { isIntegral, toInt64Truncated } from '../number-fields.ts';
import type { ServerState } from '../server-state.ts';
import { connectionFields, cursorDescription, idleRows } from './idle.ts';

/** A command beyond this is shown in part, where that is asked for. */
const TRUNCATED_BYTES = 1024;

/** How far an index build has come, for the operation that builds. */
function progressOf(server: ServerState, operation: OperationContext): { msg: string; progress: Document } | undefined {
  if (operation.command !== 'createIndexes') return undefined;
  const build = server.catalog.builds().find(({ ns }) => ns.text === operation.namespace);
  if (build === undefined) return undefined;
  const { documentsDone: done, documentsTotal: total } = build;
  const percent = total === 0 ? 100 : Math.floor((100 * done) / total);
  const text = `Index Build: scanning collection: ${String(done)}/${String(total)} ${String(percent)}%`;
  return { msg: text, progress: Document.of({ done: BigInt(done), total: BigInt(total) }) };
}

/** One row of currentOp. */
export function describeOperation(server: ServerState, operation: OperationContext, truncates = false): Document {
  const ms = runningMs(operation);
  const build = progressOf(server, operation);
  const open = operation.session?.transaction;
  return Document.of({
    type: 'op',
    host: `${server.env.host.hostname}:${String(server.options.port)}`,
    ...connectionFields(operation.connection),
    active: true,
    currentOpTime: new Date(server.env.clock.nowMs()).toISOString().replace('Z', '+00:00'),
    threaded: true,
    opid: operation.id,
    lsid: operation.session?.id,
    transaction: open === undefined ? undefined : Document.of({ parameters: Document.of({ txnNumber: open.txnNumber, autocommit: false }) }),
    secs_running: BigInt(Math.floor(ms / 1000)),
    microsecs_running: BigInt(Math.floor(ms * 1000)),
    op: operationName(operation.command),
    ns: operation.namespace,
    redacted: false,
    command: truncates ? truncated(shownCommand(operation)) : shownCommand(operation),
    cursor: usedCursor(server, operation),
    planSummary: operation.runs.at(-1)?.summary,
    msg: build?.msg,
    progress: build?.progress,
    numYields: 0,
    waitingForLatch: false,
    locks: Document.empty,
    waitingForLock: operation.waitingForLock,
    lockStats: Document.empty,
    waitingForFlowControl: false,
    flowControlStats: Document.empty,
  });
}

/** The cursor that the operation gives the next batch of. */
function usedCursor(server: ServerState, operation: OperationContext): Document | undefined {
  if (operation.command !== 'getMore') return undefined;
  const cursor = server.cursors.all().find(({ usedBy }) => usedBy === operation);
  if (cursor === undefined) return undefined;
  return Document.fromEntries([...cursorDescription(server, cursor).fields, ['operationUsingCursorId', operation.id]]);
}

/** A long command as its first characters, with its comment. */
function truncated(command: Document): Document {
  if (command.byteLength <= TRUNCATED_BYTES) return command;
  return Document.of({ $truncated: describeValue(command).slice(0, TRUNCATED_BYTES), comment: command.get('comment') });
}

/** The operations that whoever asks may see: all, or their own. */
export async function visibleOperations(context: CommandContext, ownOnly: boolean): Promise<readonly OperationContext[]> {
  const { server, operation } = context;
  const limits = await server.access.limits(operation.connection);
  const seesAll = !ownOnly && (limits?.allows(clusterTarget, 'inprog') ?? true);
  const all = [...server.operations.values()];
  return seesAll ? all : all.filter(({ connection }) => connection.user === operation.connection.user);
}

const currentOp: Command = defineCommand({
  name: 'currentOp',
  access: 'admin',
  adminOnly: true,
  about: 'operations that are running',
  fields: { currentOp: anyField },
  lax: true,
  run: async (context) => {
    const { server, request } = context;
    const ownOnly = request.body.get('$ownOps') === true;
    const idle = await idleRows(context, { connections: request.body.get('$all') === true, sessions: true, cursors: false, ownOnly });
    const rows = [...(await visibleOperations(context, ownOnly)).map((operation) => describeOperation(server, operation)), ...idle];
    const conditions = request.body.fields.slice(1).filter(([name]) => !GENERIC_FIELD_NAMES.has(name) && !['$all', '$ownOps', '$truncateOps'].includes(name));
    const filter = compileFilter(Document.fromEntries(conditions), { now: new DateTime(server.env.clock.nowMs()) });
    return { inprog: BsonArray.of(rows.filter((row) => filter.matches(row))) };
  },
});

/** The number of an operation; the codes are those of MongoDB. */
function operationId(value: Value | undefined): number {
  if (value === undefined) throw new CommandError(4, 'NoSuchKey', 'Missing expected field "op"');
  if (!isNumber(value)) throw new CommandError(14, 'TypeMismatch', `Expected field "op" to have numeric type, but found ${typeText(value)}`);
  const id = toInt64Truncated(value);
  const fits = id >= -0x80000000n && id <= 0x7fffffffn;
  if (fits && !isIntegral(value)) throw new CommandError(2, 'BadValue', 'Expected field "op" to have a value exactly representable as a 64-bit integer');
  if (!fits) throw new CommandError(26823, 'Location26823', `invalid op : ${String(id)}`);
  return Number(id);
}

const killOp: Command = defineCommand({
  name: 'killOp',
  access: 'admin',
  adminOnly: true,
  about: 'tells an operation to stop',
  fields: { killOp: anyField, op: anyField },
  lax: true,
  run: async ({ server, operation, request }) => {
    const target = server.operations.get(operationId(request.body.get('op')));
    const limits = await server.access.limits(operation.connection);
    if (target !== undefined && target.connection.user !== operation.connection.user && limits?.allows(clusterTarget, 'killop') === false) {
      throw new CommandError(13, 'Unauthorized', 'not authorized on admin to kill the operation of another user');
    }
    target?.interrupt('killed');
    return { info: 'attempting to kill op' };
  },
});

function usageDocument(entry: TopEntry): Document {
  return Document.fromEntries(Object.entries(entry).map(([name, { time, count }]) => [name, Document.of({ time: BigInt(time), count: BigInt(count) })]));
}

const top: Command = defineCommand({
  name: 'top',
  access: 'admin',
  adminOnly: true,
  about: 'time spent for each collection',
  fields: { top: anyField },
  lax: true,
  run: ({ server }) => {
    const rows = server.monitor.top().map(([namespace, entry]): [string, Value] => [namespace, usageDocument(entry)]);
    return Promise.resolve({ totals: Document.fromEntries([['note', 'all times in microseconds'], ...rows]) });
  },
});

export const OPERATION_COMMANDS: readonly Command[] = [currentOp, killOp, top];
