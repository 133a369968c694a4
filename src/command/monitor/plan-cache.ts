// The plans of queries for which there was more than one way, by collection and shape, as `$planCacheStats` shows them (manual: "Query Plans",
// "$planCacheStats"). No query is planned from here: counting a little of each candidate costs less than a plan that no longer fits, so
// an entry is never active. It tells an administrator which way a shape takes, and has what `planCacheClear` clears.

import { BsonArray, DateTime, Document, type Value } from '../../bson/index.ts';
import type { PlannedQuery, PlanRun } from '../../plan/index.ts';
import type { OperationContext } from '../../session/index.ts';

/** Entries of all collections; the one that was made longest ago goes. */
const entriesMax = 1000;
const bytesMax = 4 * 1024 * 1024;
/** A larger query is not kept. */
const entryBytesMax = 64 * 1024;

interface Entry {
  readonly namespace: string;
  readonly account: PlannedQuery;
  readonly document: Document;
}

/** `sort` and `projection` are shown empty where there are none. */
function createdFrom({ query, sort, projection, collation }: PlannedQuery['from']): Document {
  return Document.of({ query: query ?? Document.empty, sort: sort ?? Document.empty, projection: projection ?? Document.empty, collation });
}

function entryOf(account: PlannedQuery, run: PlanRun, now: DateTime): Document {
  const { keys, documents } = run.examined();
  const execution = Document.of({ totalKeysExamined: BigInt(keys), totalDocsExamined: BigInt(documents) });
  const fields: [string, Value][] = [
    ['version', '1'],
    ['queryHash', account.shapeHash],
    ['planCacheShapeHash', account.shapeHash],
    ['planCacheKey', account.keyHash],
    ['isActive', false],
    ['works', BigInt(Math.max(keys, documents))],
    ['timeOfCreation', now],
    ['createdFromQuery', createdFrom(account.from)],
    ['cachedPlan', account.plan],
    ['creationExecStats', BsonArray.of([execution])],
    ['candidatePlanScores', BsonArray.empty],
    ['indexFilterSet', account.filtered],
  ];
  const bytes = Document.fromEntries(fields).byteLength;
  return Document.fromEntries([...fields, ['estimatedSizeBytes', BigInt(bytes)]]);
}

/** The entries of one server. */
export class PlanCache {
  /** By namespace and shape. */
  readonly #entries: Map<string, Entry> = new Map();
  #bytes = 0;
  /** What runs now. */
  readonly #running: WeakMap<OperationContext, PlanRun[]> = new WeakMap();

  /** An operation begins to run a plan that was chosen over others. */
  began(operation: OperationContext, run: PlanRun): void {
    const runs = this.#running.get(operation);
    if (runs === undefined) this.#running.set(operation, [run]);
    else runs.push(run);
  }

  /** It has ended: what it read is known. */
  ended(operation: OperationContext): void {
    for (const run of this.#running.get(operation) ?? []) this.#add(run, operation.clock.nowMs());
  }

  #add(run: PlanRun, nowMs: number): void {
    const shape = run.shape();
    const key = `${run.namespace}\0${shape}`;
    if (this.#entries.has(key)) return;
    const account = run.account();
    if ((account.from.query?.byteLength ?? 0) > entryBytesMax) return;
    const document = entryOf(account, run, new DateTime(nowMs));
    this.#entries.set(key, { namespace: run.namespace, account, document });
    this.#bytes += document.byteLength;
    while (this.#entries.size > entriesMax || this.#bytes > bytesMax) this.#forget(this.#entries.keys().next().value ?? '');
  }

  #forget(key: string): void {
    this.#bytes -= this.#entries.get(key)?.document.byteLength ?? 0;
    this.#entries.delete(key);
  }

  /** The entries of a collection, the oldest first. */
  list(namespace: string): readonly Document[] {
    return [...this.#entries.values()].filter((entry) => entry.namespace === namespace).map(({ document }) => document);
  }

  /** Forgets the entry of a shape, or all of a collection. */
  clear(namespace: string, shape?: string): void {
    if (shape !== undefined) this.#forget(`${namespace}\0${shape}`);
    else for (const [key, entry] of this.#entries) if (entry.namespace === namespace) this.#forget(key);
  }

  /** Forgets all of a database. */
  clearDatabase(database: string): void {
    for (const [key, entry] of this.#entries) if (entry.namespace.startsWith(`${database}.`)) this.#forget(key);
  }
}
