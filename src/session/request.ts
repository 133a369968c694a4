// What a connection hands to whoever serves commands, and what that one may know of the connection: neither bytes nor sockets. Declared
// here, below both, so that command and router serve requests without knowing the wire (style.md 3.3).

import type { Document, Documents } from '../bson/index.ts';

/** One command as a client sent it. The documents share the request's bytes, which nobody writes to. */
export interface CommandRequest {
  /** The command; its first field is its name. */
  readonly body: Document;
  /** Document sequences that came beside the body, by the name of the field they stand for. */
  readonly sequences: ReadonlyMap<string, Documents>;
  /** Database of a request whose protocol names it outside the body (OP_QUERY). */
  readonly database?: string;
  /** False when the client takes no reply (moreToCome). */
  readonly expectsReply: boolean;
  /** True for OP_QUERY, the protocol of old clients. */
  readonly legacy: boolean;
  /** Whether the client takes further answers without asking again (exhaustAllowed). */
  readonly exhaustAllowed: boolean;
}

/** What a connection sends for a request. */
export interface CommandAnswer {
  readonly document: Document;
  /** The request that is served next, as if the client had sent it: the answer says that more is to come. Only where the client allowed it. */
  readonly next?: CommandRequest | undefined;
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
  /** Who is logged in, as `user@database`; empty: nobody. Set by the commands that log in and out. */
  user: string;
  /** The subject of the certificate that the client showed, as RFC 2253 writes it; undefined without TLS or certificate. */
  readonly certificateSubject: string | undefined;
  /** Set by the first hello. */
  metadata: ClientMetadata | undefined;
  /** Compressors that hello agreed on, by name; the connection accepts no others. */
  compressors: readonly string[];
  /** Aborted when the client has gone or the server is closing. */
  readonly signal: AbortSignal;
  /** Aborted when no further request will be served: whoever waits for something to happen answers now. */
  readonly stopping: AbortSignal;
}
