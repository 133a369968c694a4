// The import: documents of a file into a collection, several batches under way at a time, every fault with its line.

import { EngineError } from '../../base/errors.ts';
import { BsonArray, Document } from '../../bson/index.ts';
import type { Env } from '../../env/index.ts';
import { numberOf, textOf, ToolClient } from '../client.ts';
import type { ServerPlace } from '../uri.ts';
import type { ImportFault } from './fault.ts';
import { RecordSource } from './record-source.ts';
import type { FormatOptions, ReadBatch } from './record-source.ts';

export interface ImportOptions {
  readonly place: ServerPlace;
  readonly database: string;
  readonly collection: string;
  readonly file: string;
  readonly format: FormatOptions;
  readonly drop: boolean;
  readonly stopOnError: boolean;
  /** Batches under way at a time, each on a connection of its own. */
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

const batchRows = 1000;
const batchBytes = 12 * 1024 * 1024;

interface Batch {
  readonly documents: readonly Document[];
  readonly lines: readonly number[];
}

/** One import. */
class Import {
  readonly #env: Env;
  readonly #options: ImportOptions;
  readonly #watcher: ImportWatcher;
  readonly #source: RecordSource;
  readonly #begunMs: number;
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
    const free = [...clients];
    const busy = new Set<Promise<void>>();
    for (let read = await this.#source.next(); read !== undefined; read = await this.#source.next()) {
      read.faults.forEach((fault) => this.#fault(fault));
      for (const batch of batchesOf(read)) {
        while (free.length === 0) await Promise.race(busy);
        if (this.#stopped) break;
        const client = free.pop();
        if (client === undefined) break;
        const sending = this.#send(client, batch).finally(() => {
          busy.delete(sending);
          free.push(client);
        });
        busy.add(sending);
      }
      this.#watcher.progress({ bytes: this.#source.offset, bytesTotal: this.#source.size, rows: this.inserted, elapsedMs: this.elapsedMs });
      if (this.#stopped) break;
    }
    await Promise.all(busy);
    this.#watcher.progress({ bytes: this.#source.offset, bytesTotal: this.#source.size, rows: this.inserted, elapsedMs: this.elapsedMs });
  }

  get #stopped(): boolean {
    return this.#options.stopOnError && this.faults > 0;
  }

  #fault(fault: ImportFault): void {
    this.faults += 1;
    this.#watcher.fault(fault);
  }

  async #send(client: ToolClient, batch: Batch): Promise<void> {
    const { database, collection, stopOnError } = this.#options;
    const reply = await client.command(database, { insert: collection, ordered: stopOnError }, [{ name: 'documents', documents: batch.documents }]);
    this.inserted += numberOf(reply.get('n'));
    const errors = reply.get('writeErrors');
    for (const error of errors instanceof BsonArray ? errors.items() : []) {
      if (error instanceof Document) this.#fault({ line: batch.lines[numberOf(error.get('index'))] ?? 0, message: textOf(error.get('errmsg')) });
    }
  }
}

function* batchesOf(read: ReadBatch): Generator<Batch> {
  for (let from = 0; from < read.documents.length; ) {
    let bytes = 0;
    let to = from;
    for (; to < read.documents.length && to - from < batchRows && bytes < batchBytes; to++) bytes += read.documents[to]?.byteLength ?? 0;
    yield { documents: read.documents.slice(from, to), lines: read.lines.slice(from, to) };
    from = to;
  }
}

/** Imports a file. Documents with faults are told and left out; what the server refuses as a whole rejects. */
export async function importFile(env: Env, options: ImportOptions, watcher: ImportWatcher): Promise<ImportReport> {
  const source = await RecordSource.open(env, options.file, options.format);
  const clients: ToolClient[] = [];
  try {
    for (let i = 0; i < options.workers; i++) clients.push(await ToolClient.open(options.place));
    const [first] = clients;
    if (first === undefined) throw new EngineError('io', 'an import has a connection');
    if (options.drop) await dropCollection(first, options);
    const work = new Import(env, options, { watcher, source });
    await work.run(clients);
    return { inserted: work.inserted, faults: work.faults, elapsedMs: work.elapsedMs };
  } finally {
    for (const client of clients) client.close();
    await source.close();
  }
}

async function dropCollection(client: ToolClient, { database, collection }: ImportOptions): Promise<void> {
  const listed = await client.command(database, { listCollections: 1, filter: Document.of({ name: collection }), nameOnly: true });
  const cursor = listed.get('cursor');
  const batch = cursor instanceof Document ? cursor.get('firstBatch') : undefined;
  if (batch instanceof BsonArray && batch.length > 0) await client.command(database, { drop: collection });
}
