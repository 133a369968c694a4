// Uploads that are being received now. One client may only have so many, and one resumable upload is received by one request at a time: a client that
// comes back (a page that was loaded anew) takes it from its old connection, which may not have noticed yet that it is dead.

import { HttpError } from '../base/errors.ts';
import type { Exchange } from './exchange.ts';

interface Holder {
  readonly exchange: Exchange;
  readonly left: Promise<unknown>;
}

/** Who is sending what. */
export class ActiveUploads {
  readonly #perClient: Map<string, number> = new Map();
  readonly #holders: Map<string, Holder> = new Map();
  readonly #perClientMax: number;
  #count = 0;

  constructor(perClientMax: number) {
    this.#perClientMax = perClientMax;
  }

  /** Uploads that are being received. */
  get size(): number {
    return this.#count;
  }

  /** Runs the receiving of an upload. HttpError 429 where the client has as many as it may. */
  async receive<T>(exchange: Exchange, work: () => Promise<T>): Promise<T> {
    const client = exchange.request.socket.remoteAddress ?? '';
    const open = this.#perClient.get(client) ?? 0;
    if (open >= this.#perClientMax) throw new HttpError(429, 'too_many_uploads', `a client has at most ${this.#perClientMax} uploads at a time here`);
    this.#perClient.set(client, open + 1);
    this.#count += 1;
    try {
      return await work();
    } finally {
      this.#count -= 1;
      const left = (this.#perClient.get(client) ?? 1) - 1;
      if (left === 0) this.#perClient.delete(client);
      else this.#perClient.set(client, left);
    }
  }

  /** Runs what concerns one resumable upload when nobody else has it: whoever has it is cut off, and has left what came when this begins. */
  async holding<T>(key: string, exchange: Exchange, work: () => Promise<T>): Promise<T> {
    for (let holder = this.#holders.get(key); holder !== undefined; holder = this.#holders.get(key)) {
      holder.exchange.destroy();
      await holder.left;
    }
    const working = work();
    const holder = { exchange, left: working.then(() => undefined, () => undefined) };
    this.#holders.set(key, holder);
    try {
      return await working;
    } finally {
      this.#holders.delete(key);
    }
  }
}
