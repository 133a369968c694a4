// Takes connections at one address and serves each. A limit on their number is kept here (reliability.md: 20,000); closing lets the
// requests that are being served finish, for a while.

import type { Clock, Codecs, Network, NetworkAddress, NetworkListener, NetworkPeer, Tasks } from '../env/index.ts';
import type { ServerCounters } from '../session/index.ts';
import { Connection } from './connection.ts';
import type { Dispatcher } from './dispatcher.ts';
import { MessageGate } from './message-gate.ts';
import { Turnstile } from './turnstile.ts';
import { UnsentReplies } from './unsent-replies.ts';

/** What a listener is given. */
export interface ListenerOptions {
  /** Port 0: any free one. */
  readonly address: NetworkAddress;
  readonly network: Network;
  readonly codecs: Codecs;
  readonly clock: Clock;
  readonly tasks: Tasks;
  readonly dispatcher: Dispatcher;
  readonly counters: ServerCounters;
  /** Bytes of large messages that may be under way at a time, and of replies that wait for their clients, over all connections. */
  readonly messageBytesMax?: number;
  /** Told of errors that are bugs of this program. */
  readonly onBug: (error: unknown) => void;
}

const messageBytesDefault = 64 * 1024 * 1024;

/** Milliseconds that requests being served have when the listener closes. */
const CLOSE_GRACE_MS = 5000;

/** An open server address. */
export class Listener {
  readonly #options: ListenerOptions;
  readonly #connections: Map<Connection, Promise<void>> = new Map();
  #listener: NetworkListener | undefined;
  readonly #gate: MessageGate;
  readonly #turnstile: Turnstile;
  readonly #unsent: UnsentReplies;
  #nextId = 1;
  #closed = false;

  private constructor(options: ListenerOptions) {
    this.#options = options;
    const bytesMax = options.messageBytesMax ?? messageBytesDefault;
    this.#gate = new MessageGate(bytesMax, options.clock);
    this.#unsent = new UnsentReplies(bytesMax, options.clock, options.counters);
    this.#turnstile = new Turnstile(options.clock, options.tasks);
  }

  /** Listens. A place that cannot be had rejects with the network's error. */
  static async listen(options: ListenerOptions): Promise<Listener> {
    const listener = new Listener(options);
    listener.#listener = await options.network.listen(options.address, (peer) => {
      listener.#take(peer);
    });
    return listener;
  }

  /** Where it listens, the port as the system gave it. */
  get address(): NetworkAddress {
    return this.#listener?.address ?? this.#options.address;
  }

  /** Takes no more connections, ends the idle ones, waits for the rest a few seconds. */
  async close(): Promise<void> {
    this.#closed = true;
    // Resolves only when the last connection has ended, so it is awaited at the end.
    const stopped = this.#listener?.close();
    for (const connection of this.#connections.keys()) connection.close();
    const stopWaiting = new AbortController();
    const ended = Promise.all(this.#connections.values()).then(() => {
      stopWaiting.abort();
    });
    await Promise.race([ended, this.#options.clock.sleep(CLOSE_GRACE_MS, stopWaiting.signal)]);
    for (const connection of this.#connections.keys()) connection.destroy();
    await Promise.all(this.#connections.values());
    await stopped;
  }

  #take(peer: NetworkPeer): void {
    const { counters } = this.#options;
    if (this.#closed || this.#connections.size >= counters.connectionsMax) {
      counters.connectionsRejected += 1;
      peer.destroy();
      return;
    }
    counters.connectionsCreated += 1;
    counters.connectionsCurrent += 1;
    const connection = new Connection(this.#nextId++, peer, { ...this.#options, gate: this.#gate, unsent: this.#unsent, turnstile: this.#turnstile });
    const running = connection.run().then(() => {
      this.#connections.delete(connection);
      counters.connectionsCurrent -= 1;
    });
    this.#connections.set(connection, running);
  }
}
