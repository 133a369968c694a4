// Who answers commands: implemented above by the commands or the router, wired at start.

import type { CommandAnswer, CommandRequest, ConnectionContext } from '../session/index.ts';

/** Serves the requests of all connections. */
export interface Dispatcher {
  /**
   * Does what the request asks and gives the reply; undefined: the connection is to be closed without one. Never rejects for what a client
   * can cause: errors are replies. What needs no wait is answered at once. Requests of one connection come one at a time, in order.
   */
  dispatch(connection: ConnectionContext, request: CommandRequest): CommandAnswer | undefined | Promise<CommandAnswer | undefined>;
  /** The connection has ended: what belonged to it alone is given up. */
  disconnected(connection: ConnectionContext): void;
}
