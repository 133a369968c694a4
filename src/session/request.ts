// What a connection hands to whoever serves commands, and what that one may know of the connection: neither bytes nor sockets. Declared
// here, below both, so that command and router serve requests without knowing the wire (style.md 3.3).

import type { Document } from '../bson/index.ts';

/** One command as a client sent it. The documents share the request's bytes, which nobody writes to. */
export interface CommandRequest {
  /** The command; its first field is its name. */
  readonly body: Document;
  /** Document sequences that came beside the body, by the name of the field they stand for. */
  readonly sequences: ReadonlyMap<string, readonly Document[]>;
  /** Database of a request whose protocol names it outside the body (OP_QUERY). */
  readonly database?: string;
  /** False when the client takes no reply (moreToCome). */
  readonly expectsReply: boolean;
  /** True for OP_QUERY, the protocol of old clients. */
  readonly legacy: boolean;
}

/** What a client said of itself in its first hello. */
export interface ClientMetadata {
  readonly appName: string;
  readonly document: Document | undefined;
}

/** One connection, as commands see it. */
export interface ConnectionContext {
  readonly id: number;
  /** host:port of the client. */
  readonly remote: string;
  /** host:port of this server, as the client called it. */
  readonly local: string;
  /** Set by the first hello. */
  metadata: ClientMetadata | undefined;
  /** Compressors that hello agreed on, by name; the connection accepts no others. */
  compressors: readonly string[];
  /** Aborted when the client has gone or the server is closing. */
  readonly signal: AbortSignal;
}
