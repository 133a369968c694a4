// The profiler of databases (`profile`): which operations of a database are written to its capped collection `system.profile`, and how.
// Settings live as long as the server, as MongoDB's do.

import { BsonArray, chunkedLength, DateTime, Document, type Value } from '../../bson/index.ts';
import { namespaceOf, type Catalog } from '../../catalog/index.ts';
import type { Env } from '../../env/index.ts';
import { compileFilter, type Filter } from '../../query/index.ts';
import type { ServerLog } from '../../session/index.ts';
import { operationName, planExecuted, planFigures, returnedBy, shownCommand, type Finished } from './finished.ts';

/** Settings of one database. */
export interface ProfileSettings {
  /** 0: off; 1: slow operations; 2: all. */
  readonly level: number;
  readonly slowMs: number;
  /** Share of slow operations that are written. */
  readonly sampleRate: number;
  readonly filter: Document | undefined;
}

/** Bytes of the collection, as MongoDB makes it. */
const COLLECTION_BYTES = 1024 * 1024;

/** The profiler of all databases. */
export class Profiler {
  readonly #catalog: Catalog;
  readonly #env: Env;
  readonly #log: ServerLog;
  readonly #levels: Map<string, number> = new Map();
  #settings: Omit<ProfileSettings, 'level'>;
  #filter: Filter | undefined;

  constructor(catalog: Catalog, env: Env, { log, slowMs }: { log: ServerLog; slowMs: number }) {
    this.#catalog = catalog;
    this.#env = env;
    this.#log = log;
    this.#settings = { slowMs, sampleRate: 1, filter: undefined };
  }

  settings(database: string): ProfileSettings {
    return { level: this.#levels.get(database) ?? 0, ...this.#settings };
  }

  /** Level of one database; the rest is of the whole server, as MongoDB has it. */
  set(database: string, { level, ...settings }: ProfileSettings): void {
    this.#levels.set(database, level);
    this.#settings = settings;
    this.#filter = settings.filter === undefined ? undefined : compileFilter(settings.filter, { now: new DateTime(this.#env.clock.nowMs()) });
  }

  /** Milliseconds from which an operation is slow. */
  get slowMs(): number {
    return this.#settings.slowMs;
  }

  /** Whether an operation that took so long is to be written. */
  wants(database: string, ms: number): boolean {
    const level = this.#levels.get(database) ?? 0;
    if (level === 0) return false;
    if (level === 2 || this.#filter !== undefined) return true;
    return ms >= this.#settings.slowMs && this.#env.random.uint32() < this.#settings.sampleRate * 2 ** 32;
  }

  /** Writes an operation down; one that does not fit the filter is left out. What fails is logged, and the operation does not fail for it. */
  async write(done: Finished, ms: number): Promise<void> {
    if (done.command.access === 'none' || done.command.name === 'profile') return;
    const entry = this.#entry(done, ms);
    if (this.#filter?.matches(entry) === false) return;
    const ns = namespaceOf(done.operation.database, 'system.profile');
    try {
      await this.#catalog.run(async (txn) => {
        let collection = await this.#catalog.collection(txn, ns);
        if (collection === undefined) {
          await this.#catalog.create(txn, ns, Document.of({ capped: true, size: COLLECTION_BYTES }));
          collection = await this.#catalog.ensureCollection(txn, ns);
        }
        await collection.insert(txn, collection.prepare(entry));
      });
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      this.#log.write({ severity: 'W', component: 'COMMAND', id: 20703, message: 'Failed to write to the profile' }, { ns: ns.text, error: text });
    }
  }

  #entry({ operation, command, reply, failed }: Finished, ms: number): Document {
    const { connection } = operation;
    const { execStats, ...executed } = planExecuted(operation) ?? {};
    const user = connection.user;
    const at = user.lastIndexOf('@');
    const users = user === '' ? [] : [Document.of({ user: user.slice(0, at), db: user.slice(at + 1) })];
    return Document.of({
      op: operationName(command.name),
      ns: operation.namespace,
      command: shownCommand(operation),
      ...planFigures(operation),
      ...cursorFigures(reply),
      numYield: 0,
      nreturned: returnedBy(reply),
      ...(command.name === 'update' ? updateFigures(reply) : {}),
      ninserted: command.name === 'insert' ? reply.get('n') : undefined,
      ndeleted: command.name === 'delete' ? reply.get('n') : undefined,
      errMsg: failed ? reply.get('errmsg') : undefined,
      errCode: failed ? reply.get('code') : undefined,
      responseLength: chunkedLength(reply),
      protocol: 'op_msg',
      queryFramework: operation.runs.length === 0 ? undefined : 'classic',
      millis: Math.round(ms),
      ts: new DateTime(this.#env.clock.nowMs()),
      ...executed,
      execStats,
      client: connection.remote.replace(/:\d+$/, ''),
      appName: connection.metadata?.appName === '' ? undefined : connection.metadata?.appName,
      allUsers: BsonArray.of(users),
      user,
    });
  }
}

function cursorFigures(reply: Document): { cursorid?: Value; cursorExhausted?: true } {
  const cursor = reply.get('cursor');
  const id = cursor instanceof Document ? cursor.get('id') : undefined;
  if (id === undefined) return {};
  return id === 0n ? { cursorExhausted: true } : { cursorid: id };
}

/** Documents that matched, that were changed, and whether one was inserted instead. */
function updateFigures(reply: Document): Record<string, Value | undefined> {
  const [n, upserted] = [reply.get('n'), reply.get('upserted')];
  const inserted = upserted instanceof BsonArray ? upserted.items().length : 0;
  return { nMatched: typeof n === 'number' ? n - inserted : undefined, nModified: reply.get('nModified'), nUpserted: inserted === 0 ? undefined : inserted, upsert: inserted === 0 ? undefined : true };
}
