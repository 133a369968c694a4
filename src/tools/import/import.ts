// The import: documents of a file into a collection, several batches under way at a time, every fault with its line.

import { EngineError } from '../../base/errors.ts';
import { BsonArray, Document } from '../../bson/index.ts';
import type { Env } from '../../env/index.ts';
import { numberOf, textOf, ToolClient } from '../client.ts';
import type { ServerPlace } from '../uri.ts';
import { BulkLoading } from './bulk-load.ts';
import { DocumentBatch } from './document-batch.ts';
import { withDuplicateLines } from './duplicate-lines.ts';
import type { ImportFault } from './fault.ts';
import { RecordSource } from './record-source.ts';
import type { FormatOptions } from './record-source.ts';

export interface ImportOptions {
  readonly place: ServerPlace;
  readonly database: string;
  readonly collection: string;
  readonly file: string;
  readonly format: FormatOptions;
  readonly drop: boolean;
  readonly stopOnError: boolean;
  /** Through the bulk loader (bulk-load.ts): all or nothing. */
  readonly bulk: boolean;
  /** Batches under way at a time, each on a connection of its own, but for a bulk load. */
  readonly workers: number;
}

/** How far an import is. */
export interface ImportProgress {
  readonly bytes: number;
  readonly bytesTotal: number;
  readonly rows: number;
  readonly elapsedMs: number;
}

/** Told while an import goes on. */
export interface ImportWatcher {
  progress(progress: ImportProgress): void;
  fault(fault: ImportFault): void;
}

/** What came of it. */
export interface ImportReport {
  readonly inserted: number;
  readonly faults: number;
  readonly elapsedMs: number;
}

const batchLimits = { documents: 1000, bytes: 12 * 1024 * 1024 };

/** A connection, and the batch that it sends. */
interface Lane {
  readonly client: ToolClient;
  readonly batch: DocumentBatch;
}

/** One import. */
class Import {
  readonly #env: Env;
  readonly #options: ImportOptions;
  readonly #watcher: ImportWatcher;
  readonly #source: RecordSource;
  readonly #begunMs: number;
  /** Batches that the server refused as a whole, or that did not reach it. */
  readonly #failures: unknown[] = [];
  inserted: number = 0;
  faults: number = 0;

  constructor(env: Env, options: ImportOptions, work: { watcher: ImportWatcher; source: RecordSource }) {
    this.#env = env;
    this.#options = options;
    this.#watcher = work.watcher;
    this.#source = work.source;
    this.#begunMs = env.clock.monotonicMs();
  }

  get elapsedMs(): number {
    return this.#env.clock.monotonicMs() - this.#begunMs;
  }

  async run(clients: readonly ToolClient[]): Promise<void> {
    const free: Lane[] = clients.map((client) => ({ client, batch: new DocumentBatch(batchLimits) }));
    const busy = new Set<Promise<void>>();
    while (!this.isStopped()) {
      const lane = free.pop();
      if (lane === undefined) {
        await Promise.race(busy);
        continue;
      }
      lane.batch.empty();
      if (!(await this.#source.fill(lane.batch))) break;
      lane.batch.faults.forEach((fault) => this.#fault(fault));
      if (this.isStopped()) break;
      const sending = this.#send(lane)
        .catch((error: unknown) => {
          this.#failures.push(error);
        })
        .finally(() => {
          busy.delete(sending);
          free.push(lane);
        });
      busy.add(sending);
      this.#tell();
    }
    await Promise.all(busy);
    if (this.#failures.length > 0) throw this.#failures[0];
    this.#tell();
  }

  #tell(): void {
    this.#watcher.progress({ bytes: this.#source.offset, bytesTotal: this.#source.size, rows: this.inserted, elapsedMs: this.elapsedMs });
  }

  /** Whether a fault has ended it before the end of the file. */
  isStopped(): boolean {
    return this.#failures.length > 0 || (this.#options.stopOnError && this.faults > 0);
  }

  #fault(fault: ImportFault): void {
    this.faults += 1;
    this.#watcher.fault(fault);
  }

  async #send({ client, batch }: Lane): Promise<void> {
    if (batch.count === 0) return;
    const { database, collection, stopOnError } = this.#options;
    const reply = await client.command(database, { insert: collection, ordered: stopOnError }, [{ name: 'documents', documents: batch.content() }]);
    this.inserted += numberOf(reply.get('n'));
    const errors = reply.get('writeErrors');
    for (const error of errors instanceof BsonArray ? errors.items() : []) {
      if (error instanceof Document) this.#fault({ line: batch.line(numberOf(error.get('index'))), message: textOf(error.get('errmsg')) });
    }
  }
}

/** Imports a file. Documents with faults are told and left out; what the server refuses as a whole rejects. */
export async function importFile(env: Env, options: ImportOptions, watcher: ImportWatcher): Promise<ImportReport> {
  const source = await RecordSource.open(env, options.file, options.format);
  const clients: ToolClient[] = [];
  try {
    const connections = options.bulk ? 1 : options.workers;
    for (let i = 0; i < connections; i++) clients.push(await ToolClient.open(options.place));
    const [first] = clients;
    if (first === undefined) throw new EngineError('io', 'an import has a connection');
    if (options.drop && !options.bulk) await dropCollection(first, options);
    const work = new Import(env, options, { watcher, source });
    if (options.bulk) await loadAll(work, first, options).catch(async (error: unknown) => { throw await withDuplicateLines(env, options, error); });
    else await work.run(clients);
    return { inserted: work.inserted, faults: work.faults, elapsedMs: work.elapsedMs };
  } finally {
    for (const client of clients) client.close();
    await source.close();
  }
}

/** The whole file as one bulk load: several batches are under way over its connection. */
async function loadAll(work: Import, client: ToolClient, options: ImportOptions): Promise<void> {
  const loading = await BulkLoading.begin(client, options);
  await work.run(Array.from({ length: options.workers }, () => client));
  if (!work.isStopped()) {
    await loading.commit();
    return;
  }
  await loading.abort();
  work.inserted = 0;
}

async function dropCollection(client: ToolClient, { database, collection }: ImportOptions): Promise<void> {
  const listed = await client.command(database, { listCollections: 1, filter: Document.of({ name: collection }), nameOnly: true });
  const cursor = listed.get('cursor');
  const batch = cursor instanceof Document ? cursor.get('firstBatch') : undefined;
  if (batch instanceof BsonArray && batch.length > 0) await client.command(database, { drop: collection });
}
