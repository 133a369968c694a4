// Keeps logical time from going back over restarts, also when the wall clock does: a time ahead of all that were given is reserved on disk
// now and then, and a server that starts begins behind what was reserved. After a clean stop it begins behind the last time given.

import { EngineError } from '../base/errors.ts';
import { Document, Timestamp } from '../bson/index.ts';
import { namespaceOf, putDocument, type Catalog } from '../catalog/index.ts';

const NAMESPACE = namespaceOf('local', 'clock');

const ID = 'clusterTime';

/** How far ahead a reservation reaches, and how close time may come to its end before the next. */
const RESERVED_SECONDS = 30;
const MARGIN_SECONDS = 15;

/** The reservation. */
export class TimeStore {
  readonly #catalog: Catalog;
  #reservedSeconds = 0;

  constructor(catalog: Catalog) {
    this.#catalog = catalog;
  }

  /** A time that no earlier run has passed. */
  async load(): Promise<Timestamp> {
    const txn = this.#catalog.begin('read');
    try {
      const collection = await this.#catalog.collection(txn, NAMESPACE);
      const stored = await collection?.get(txn, collection.keyOf(ID));
      const time = stored?.get('reserved');
      return time instanceof Timestamp ? time : new Timestamp(0, 0);
    } finally {
      txn.abort();
    }
  }

  /** Reserves further when `now` has come close to the end of what is reserved. */
  async keepAhead(now: Timestamp): Promise<void> {
    if (now.seconds + MARGIN_SECONDS <= this.#reservedSeconds) return;
    const until = now.seconds + RESERVED_SECONDS;
    await this.#write(new Timestamp(until, 0));
    this.#reservedSeconds = until;
  }

  /** The last word of a clean stop. */
  async close(last: Timestamp): Promise<void> {
    try {
      await this.#write(last);
    } catch (error) {
      // An engine that can write no more still has the reservation, which is ahead of `last`.
      if (!(error instanceof EngineError)) throw error;
    }
  }

  async #write(time: Timestamp): Promise<void> {
    const after = Document.of({ _id: ID, reserved: time });
    await this.#catalog.run(async (txn) => {
      await putDocument(txn, await this.#catalog.ensureCollection(txn, NAMESPACE), after);
    });
  }
}
