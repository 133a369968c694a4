// The part of a connection string that the tools need: one server, and the database behind the slash.

import { CommandError } from '../base/errors.ts';

/** Where a server is. */
export interface ServerPlace {
  readonly host: string;
  readonly port: number;
  /** The database named in the connection string. */
  readonly database: string | undefined;
}

const defaultPort = 27017;

/** Reads mongodb://host:port/database; of several hosts the first. What is not one is CommandError 9. */
export function parseUri(uri: string): ServerPlace {
  const match = /^mongodb:\/\/(?:[^@/]*@)?(?<host>\[[^\]]+\]|[^:,/?]+)(?::(?<port>\d+))?(?:,[^/?]*)?(?:\/(?<database>[^?]*))?(?:\?.*)?$/.exec(uri);
  const { host, port, database } = match?.groups ?? {};
  if (host === undefined) throw new CommandError(9, 'FailedToParse', `${uri} is not a connection string like mongodb://127.0.0.1:27017`);
  return {
    host: host.startsWith('[') ? host.slice(1, -1) : host,
    port: port === undefined ? defaultPort : Number(port),
    database: database === undefined || database === '' ? undefined : decodeURIComponent(database),
  };
}
