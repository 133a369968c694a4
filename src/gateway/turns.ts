// Requests that come one behind the other on a connection, before the first is answered, may be worked on at once only where all of them only look
// (RFC 9112, 9.3.2): one that changes something waits until it is first, and whatever is behind it waits for it.

import type { IncomingMessage, ServerResponse } from 'node:http';

type Connection = IncomingMessage['socket'];
const looks: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

/** Who is to wait. */
export class Turns {
  /** Requests on a connection that change something and are not answered. */
  readonly #changing: WeakMap<Connection, number> = new WeakMap();

  /** Resolves when the request may be worked on, or the connection is over; undefined: at once. */
  of(request: IncomingMessage, response: ServerResponse): Promise<void> | undefined {
    const { socket } = request;
    const changes = !looks.has(request.method);
    // What is not first on its connection has no socket yet.
    const waits = response.socket === null && (changes || (this.#changing.get(socket) ?? 0) > 0);
    if (changes) this.#count(socket, response);
    return waits && !socket.destroyed ? firstOrGone(socket, response) : undefined;
  }

  #count(socket: Connection, response: ServerResponse): void {
    const add = (change: number): void => void this.#changing.set(socket, (this.#changing.get(socket) ?? 0) + change);
    add(1);
    response.once('close', () => add(-1));
  }
}

function firstOrGone(socket: Connection, response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => {
      response.off('socket', go);
      socket.off('close', go);
      resolve();
    };
    response.once('socket', go);
    socket.once('close', go);
  });
}
