// What was done, added up: time and number of operations by collection (`top`), latencies by kind, commands by name. And single operations
// that deserve a line: slow ones go to the log, those of a profiled database to its `system.profile`. Asked once an operation, so it is quick.

import { chunkedLength } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import type { ServerLog } from '../../session/index.ts';
import { planFigures, returnedBy, runningMs, shownCommand, type Finished } from './finished.ts';
import { PlanCache } from './plan-cache.ts';
import type { Profiler } from './profiler.ts';

/** Kinds of operations as `top` tells them apart. */
export type TopKind = 'queries' | 'getmore' | 'insert' | 'update' | 'remove' | 'commands';

/** Times are microseconds. */
export interface Usage {
  time: number;
  count: number;
}

/** What was done on one collection. */
export type TopEntry = Readonly<Record<TopKind | 'total' | 'readLock' | 'writeLock', Usage>>;

/** Kinds of operations whose latencies are added up. */
export type LatencyKind = 'reads' | 'writes' | 'commands' | 'transactions';

/** The code of a query that settings refuse. */
const QUERY_REJECTED = 411;

/** Collections that `top` tells of at most; the one that was new longest ago goes. */
const NAMESPACES_MAX = 10_000;

const KINDS: ReadonlyMap<string, TopKind> = new Map<string, TopKind>([
  ['insert', 'insert'],
  ['update', 'update'],
  ['findAndModify', 'update'],
  ['bulkWrite', 'update'],
  ['delete', 'remove'],
  ['find', 'queries'],
  ['count', 'queries'],
  ['distinct', 'queries'],
  ['aggregate', 'queries'],
  ['getMore', 'getmore'],
]);

function none(): Usage {
  return { time: 0, count: 0 };
}

function newEntry(): TopEntry {
  return { total: none(), readLock: none(), writeLock: none(), queries: none(), getmore: none(), insert: none(), update: none(), remove: none(), commands: none() };
}

function add(usage: Usage, micros: number): void {
  usage.time += micros;
  usage.count += 1;
}

/** The sums, and the lines. */
export class OperationMonitor {
  readonly profiler: Profiler;
  readonly plans: PlanCache = new PlanCache();
  readonly latencies: Readonly<Record<LatencyKind, Usage>> = { reads: none(), writes: none(), commands: none(), transactions: none() };
  readonly commands: Map<string, { total: number; failed: number; rejected: number }> = new Map();
  readonly #log: ServerLog;
  readonly #top: Map<string, TopEntry> = new Map();
  /** By namespace and index. Dropped collections are forgotten, so it is as large as the catalog at most. */
  readonly #indexUses: Map<string, number> = new Map();
  userErrors = 0;

  constructor(log: ServerLog, profiler: Profiler) {
    this.#log = log;
    this.profiler = profiler;
  }

  /** By namespace, in order of their names. */
  top(): [string, TopEntry][] {
    return [...this.#top].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  /** What was done on one collection; undefined: nothing. */
  usageOf(namespace: string): TopEntry | undefined {
    return this.#top.get(namespace);
  }

  /** Counts one use of each of these indexes. */
  useIndexes(namespace: string, indexes: readonly string[]): void {
    for (const index of indexes) {
      const key = `${namespace}\0${index}`;
      this.#indexUses.set(key, (this.#indexUses.get(key) ?? 0) + 1);
    }
  }

  /** How often an index was used since the server started, or the index was last hidden or shown. */
  usesOf(namespace: string, index: string): number {
    return this.#indexUses.get(`${namespace}\0${index}`) ?? 0;
  }

  /** Counts an index from nothing again: it went out of use, or came into it. */
  forgetIndex(namespace: string, index: string): void {
    this.#indexUses.delete(`${namespace}\0${index}`);
  }

  /** Forgets a collection, or all of a database, that is no more. */
  forget(database: string, collection?: string): void {
    if (collection === undefined) this.plans.clearDatabase(database);
    else this.plans.clear(`${database}.${collection}`);
    const isGone = (namespace: string): boolean => (collection === undefined ? namespace.startsWith(`${database}.`) : namespace === `${database}.${collection}`);
    for (const namespace of this.#top.keys()) if (isGone(namespace)) this.#top.delete(namespace);
    for (const key of this.#indexUses.keys()) if (isGone(key.slice(0, key.indexOf('\0')))) this.#indexUses.delete(key);
  }

  /** Adds an operation up. A promise only where a line has to be written to the database. */
  finished(done: Finished): Promise<void> | undefined {
    const { operation, command, failed } = done;
    const ms = runningMs(operation) - operation.idleMs;
    const micros = Math.max(1, Math.round(ms * 1000));
    this.#count(command.name, failed, failed && done.reply.get('code') === QUERY_REJECTED);
    this.#addToTop(done, micros);
    const isRead = KINDS.get(command.name) === 'queries' || command.name === 'getMore';
    add(this.latencies[isRead ? 'reads' : command.writes ? 'writes' : 'commands'], micros);
    if (operation.runs.length > 0) this.plans.ended(operation);
    if (ms >= this.profiler.slowMs) this.#logSlow(done, ms);
    return this.profiler.wants(operation.database, ms) ? this.profiler.write(done, ms) : undefined;
  }

  /** A query that settings refuse has not failed. */
  #count(name: string, failed: boolean, rejected: boolean): void {
    let counts = this.commands.get(name);
    if (counts === undefined) this.commands.set(name, (counts = { total: 0, failed: 0, rejected: 0 }));
    counts.total += 1;
    if (rejected) counts.rejected += 1;
    if (!failed || rejected) return;
    counts.failed += 1;
    this.userErrors += 1;
  }

  #addToTop({ operation, command }: Finished, micros: number): void {
    const { namespace } = operation;
    // What no collection can be called, and no field of a reply either.
    if (!namespace.includes('.') || namespace.includes('\0')) return;
    let entry = this.#top.get(namespace);
    if (entry === undefined) {
      if (this.#top.size >= NAMESPACES_MAX) this.#top.delete(this.#top.keys().next().value ?? '');
      this.#top.set(namespace, (entry = newEntry()));
    }
    add(entry.total, micros);
    add(command.writes ? entry.writeLock : entry.readLock, micros);
    add(entry[KINDS.get(command.name) ?? 'commands'], micros);
  }

  #logSlow({ operation, reply, failed }: Finished, ms: number): void {
    const { connection } = operation;
    const attributes: Record<string, Value | undefined> = {
      type: 'command',
      ns: operation.namespace,
      appName: connection.metadata?.appName === '' ? undefined : connection.metadata?.appName,
      command: shownCommand(operation),
      ...planFigures(operation),
      nreturned: returnedBy(reply),
      ok: failed ? 0 : undefined,
      errMsg: failed ? (reply.get('errmsg') ?? undefined) : undefined,
      reslen: chunkedLength(reply),
      remote: connection.remote,
      protocol: 'op_msg',
      durationMillis: Math.round(ms),
    };
    this.#log.write({ severity: 'I', component: 'COMMAND', id: 51803, message: 'Slow query' }, attributes, `conn${String(connection.id)}`);
  }
}
