// Tailable cursors (manual: "Tailable Cursors"): documents of a capped collection, or of the oplog, in the order of their insertion, and those
// that come later. Each batch is read in a snapshot of its own, behind the last document that was looked at; between batches nothing is held.

import { CommandError } from '../../base/errors.ts';
import { Document } from '../../bson/index.ts';
import type { CatalogTransaction, Collection, RecordKey } from '../../catalog/index.ts';
import { logRange } from '../../plan/index.ts';
import type { Filter, Projection } from '../../query/index.ts';
import type { BatchSource, OperationContext, Tail } from '../../session/index.ts';
import type { CommandContext } from '../command.ts';
import { resolveTarget } from '../query-target.ts';

const BATCH = { rows: 256, bytes: 1 << 20 };

/** How often a collection is looked at whose writes are not logged. */
const POLL_MS = 50;

/** What is read. */
export interface TailRequest {
  readonly collection: Collection;
  readonly filter: Filter;
  readonly projection: Projection | undefined;
  /** Documents that match and are passed over first. */
  readonly skip: number;
  /** Most documents that are given, now and later; the cursor stays also when it has given them. */
  readonly limit: number;
  /** Whether getMore waits for more. */
  readonly waits: boolean;
}

/** The source and the tail of one cursor. */
export class TailSource implements BatchSource, Tail {
  readonly #context: CommandContext;
  readonly #request: TailRequest;
  #last: RecordKey | undefined;
  #seen = -1;
  #closed = false;
  #skip: number;
  #left: number;
  isAtEnd = false;
  readonly wait: Tail['wait'];

  constructor(context: CommandContext, request: TailRequest) {
    this.#context = context;
    this.#request = request;
    this.#skip = request.skip;
    this.#left = request.limit;
    this.wait = request.waits ? (operation, ms) => this.#await(operation, ms) : undefined;
  }

  get #isLog(): boolean {
    return this.#request.collection === this.#context.server.catalog.oplog.collection;
  }

  async next(operation: OperationContext): Promise<readonly Document[] | undefined> {
    operation.checkInterrupt();
    if (this.#closed) return undefined;
    this.isAtEnd = this.#left === 0;
    if (this.isAtEnd) return [];
    const { catalog } = this.#context.server;
    this.#seen = catalog.oplog.version;
    const txn = catalog.begin('read');
    try {
      const collection = await this.#collection(txn);
      await this.#checkPlace(txn, collection);
      return await this.#read(txn, collection);
    } finally {
      txn.abort();
    }
  }

  /** The collection, if it is still the one that the cursor was opened on. */
  async #collection(txn: CatalogTransaction): Promise<Collection> {
    const asked = this.#request.collection;
    const { collection } = await resolveTarget(this.#context, txn, asked.ns);
    if (collection?.uuid.bytes.every((byte, index) => byte === asked.uuid.bytes[index]) === true) return collection;
    throw new CommandError(175, 'QueryPlanKilled', 'collection dropped or renamed while a cursor was open on it');
  }

  /** What the cursor stands on must be there: else nobody knows what was missed. */
  async #checkPlace(txn: CatalogTransaction, collection: Collection): Promise<void> {
    const last = this.#last;
    if (last === undefined || this.#isLog || (await collection.peek(txn, last)) !== undefined) return;
    throw new CommandError(136, 'CappedPositionLost', 'CollectionScan died due to position in capped collection being deleted.');
  }

  async #read(txn: CatalogTransaction, collection: Collection): Promise<Document[]> {
    const { filter, projection } = this.#request;
    const last = this.#last;
    // The next key: eight bytes, of which no longer one is the beginning.
    const cursor = collection.scan(txn, last === undefined ? logRange(collection, filter) : { from: Uint8Array.of(...last, 0) }, 1);
    try {
      const batch = await cursor.nextBatch(BATCH);
      const found: Document[] = [];
      for (let i = 0; i < batch.length && this.#left > 0; i++) {
        const document = Document.fromBytes(batch.value(i).slice());
        if (!filter.matches(document) || this.#skip-- > 0) continue;
        found.push(projection?.apply(document) ?? document);
        this.#left -= 1;
      }
      if (batch.length > 0) this.#last = batch.key(batch.length - 1).slice();
      this.isAtEnd = batch.length === 0;
      return found;
    } finally {
      cursor.close();
    }
  }

  async #await(operation: OperationContext, ms: number): Promise<void> {
    const { oplog } = this.#context.server.catalog;
    if (oplog.isOn && oplog.version !== this.#seen) return;
    const logged = oplog.isOn && (this.#isLog || oplog.logs(this.#request.collection.ns.db));
    await operation.idle(logged ? ms : Math.min(ms, POLL_MS), (wake) => oplog.subscribe(wake));
  }

  close(): void {
    this.#closed = true;
  }
}
