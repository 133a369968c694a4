// TLS for a listener (mongod's modes): a connection that begins with a TLS handshake is made secure, one that does not is let in plain where
// the mode allows it. Until it is known which of the two a connection is, it has a few seconds and nothing else.

import type { Socket } from 'node:net';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import { EngineError } from '../base/errors.ts';

/** How a listener does TLS. */
export interface TlsSettings {
  /** Whether plain connections are refused. */
  readonly required: boolean;
  /** Certificate and private key of the server, PEM. */
  readonly certificateKey: Uint8Array;
  readonly password?: string | undefined;
  /** Certificates of those that sign clients' certificates, PEM; without it no client is asked for one. */
  readonly authority?: Uint8Array | undefined;
  readonly revoked?: Uint8Array | undefined;
  /** Whether a client may come without a certificate although there is an authority. */
  readonly certificateOptional: boolean;
  /** Whether a client's certificate is taken whoever signed it; it then proves nothing. */
  readonly invalidAllowed: boolean;
}

/** The subject of a certificate: names and values in its order. */
export type CertificateSubject = readonly (readonly [string, string])[];

/** Milliseconds for the first byte, and again for the handshake. */
const HANDSHAKE_MS = 10_000;

/** First byte of a TLS handshake (RFC 8446, section 5.1: ContentType handshake). */
const HANDSHAKE_BYTE = 0x16;

/** What becomes of a connection: taken, with the subject of the client's certificate where it showed a valid one. */
export type TakeSocket = (socket: Socket, subject: CertificateSubject | undefined) => void;

/** Makes connections secure. */
export interface TlsAcceptor {
  /** Takes over a new connection; it is handed on when it is known what it is. */
  readonly accept: (socket: Socket) => void;
  /** Ends those that have not been handed on. */
  readonly close: () => void;
}

/** Makes connections secure. Certificates that cannot be used are EngineError `format`. */
export function tlsAcceptor(settings: TlsSettings, take: TakeSocket): TlsAcceptor {
  const secure = secureServer(settings);
  /** Connections of which it is not known yet what they are, and those in their handshake. */
  const pending = new Set<Socket>();
  secure.on('secureConnection', (socket) => {
    if (isWelcome(socket, settings)) take(socket, subjectOf(socket));
    else socket.destroy();
  });
  secure.on('tlsClientError', (_error, socket) => {
    socket.destroy();
  });
  const accept = (socket: Socket): void => {
    const drop = (): void => {
      socket.destroy();
    };
    pending.add(socket);
    socket.once('close', () => pending.delete(socket));
    socket.setTimeout(HANDSHAKE_MS, drop);
    socket.once('error', drop);
    socket.once('end', drop);
    socket.once('data', (first: Uint8Array) => {
      socket.setTimeout(0);
      socket.off('timeout', drop);
      socket.off('end', drop);
      socket.pause();
      socket.unshift(first);
      if (first[0] === HANDSHAKE_BYTE) {
        secure.emit('connection', socket);
        return;
      }
      pending.delete(socket);
      if (settings.required) socket.destroy();
      else {
        take(socket, undefined);
        socket.resume();
      }
    });
  };
  const close = (): void => {
    for (const socket of pending) socket.destroy();
  };
  return { accept, close };
}

function secureServer({ certificateKey, password, authority, revoked }: TlsSettings): Server {
  try {
    const pem = Buffer.from(certificateKey);
    return createServer({
      key: pem,
      cert: pem,
      ...(password === undefined ? {} : { passphrase: password }),
      ...(authority === undefined ? {} : { ca: Buffer.from(authority), requestCert: true }),
      ...(revoked === undefined ? {} : { crl: Buffer.from(revoked) }),
      rejectUnauthorized: false,
      handshakeTimeout: HANDSHAKE_MS,
      minVersion: 'TLSv1.2',
      allowHalfOpen: true,
    });
  } catch (cause) {
    throw new EngineError('format', `the TLS certificates cannot be used: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

function isWelcome(socket: TLSSocket, { authority, certificateOptional, invalidAllowed }: TlsSettings): boolean {
  if (authority === undefined) return true;
  if (socket.getPeerX509Certificate() === undefined) return certificateOptional;
  return socket.authorized || invalidAllowed;
}

/** The subject, only of a certificate that somebody we know has signed. */
function subjectOf(socket: TLSSocket): CertificateSubject | undefined {
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined || !socket.authorized) return undefined;
  return certificate.subject.split('\n').map((line) => {
    const at = line.indexOf('=');
    // Node escapes what RFC 2253 would have escaped; the parts are told plain.
    return [line.slice(0, at), line.slice(at + 1).replace(/\\([,+"\\<>; #])/g, '$1')] as const;
  });
}
