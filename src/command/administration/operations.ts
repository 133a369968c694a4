// What the server is doing: currentOp, killOp, top.

import { clusterTarget } from '../../auth/index.ts';
import { CommandError } from '../../base/errors.ts';
import { BsonArray, DateTime, Document, isNumber, type Value } from '../../bson/index.ts';
import { compileFilter } from '../../query/index.ts';
import type { OperationContext } from '../../session/index.ts';
import { defineCommand, type Command, type CommandContext } from '../command.ts';
import { anyField, typeText } from '../fields.ts';
import { GENERIC_FIELD_NAMES } from '../generic-field-names.ts';
import { operationName, runningMs, shownCommand } from '../monitor/finished.ts';
import type { TopEntry } from '../monitor/operation-monitor.ts';
import { isIntegral, toInt64Truncated } from '../number-fields.ts';
import type { ServerState } from '../server-state.ts';

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
export function describeOperation(server: ServerState, operation: OperationContext): Document {
  const { connection } = operation;
  const ms = runningMs(operation);
  const at = connection.user.lastIndexOf('@');
  const users = connection.user === '' ? [] : [Document.of({ user: connection.user.slice(0, at), db: connection.user.slice(at + 1) })];
  const build = progressOf(server, operation);
  const open = operation.session?.transaction;
  return Document.of({
    type: 'op',
    host: `${server.env.host.hostname}:${String(server.options.port)}`,
    desc: `conn${String(connection.id)}`,
    connectionId: connection.id,
    client: connection.remote,
    appName: connection.metadata?.appName === '' ? undefined : connection.metadata?.appName,
    clientMetadata: connection.metadata?.document,
    active: true,
    currentOpTime: new Date(server.env.clock.nowMs()).toISOString().replace('Z', '+00:00'),
    effectiveUsers: BsonArray.of(users),
    threaded: true,
    opid: operation.id,
    lsid: operation.session?.id,
    transaction: open === undefined ? undefined : Document.of({ parameters: Document.of({ txnNumber: open.txnNumber, autocommit: false }) }),
    secs_running: BigInt(Math.floor(ms / 1000)),
    microsecs_running: BigInt(Math.floor(ms * 1000)),
    op: operationName(operation.command),
    ns: operation.namespace,
    redacted: false,
    command: shownCommand(operation),
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
    const rows = (await visibleOperations(context, request.body.get('$ownOps') === true)).map((operation) => describeOperation(server, operation));
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
