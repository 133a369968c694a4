// Streams of bytes between this process and its clients. A peer is pulled, never pushed: nobody who does not ask is given bytes, so a
// reader that stops asking makes the other side wait, and a writer waits until the peer has taken most of what it was given
// (reliability.md: "pause reading a socket whose replies are not drained"). Errors of a peer end that peer and nothing else.

import type { Socket as NodeSocket, Server } from 'node:net';
import { createServer } from 'node:net';
import { AssertionError, EngineError } from '../base/errors.ts';
import { bytesPassed } from './garbage.ts';
import { tlsAcceptor, type CertificateSubject, type TlsAcceptor, type TlsSettings } from './tls.ts';

/** One end of a connection, as text. */
export interface NetworkAddress {
  readonly host: string;
  readonly port: number;
}

/** A connection to one peer. */
export interface NetworkPeer {
  /** The address of this process that the peer called. */
  readonly local: NetworkAddress;
  readonly remote: NetworkAddress;
  /** Of the client's certificate, where it showed one that is valid. */
  readonly certificate: CertificateSubject | undefined;
  /** The next bytes; undefined when the peer has ended, failed, or was destroyed. One call at a time. */
  read(): Promise<Uint8Array | undefined>;
  /** Hands over the chunks, in order; undefined where the peer can take more, else what resolves when it can, or is gone. The chunks must not change afterwards. */
  write(chunks: readonly Uint8Array[]): Promise<void> | undefined;
  /** Calls `listener` once, when the peer has ended or failed, whether or not anybody reads. */
  onGone(listener: () => void): void;
  /** Ends the connection after what was written. */
  end(): void;
  /** Ends the connection now. */
  destroy(): void;
}

/** A place where peers call. */
export interface NetworkListener {
  readonly address: NetworkAddress;
  /** Takes no more peers; those connected stay. */
  close(): Promise<void>;
}

/** The network of a process. */
export interface Network {
  /** Listens at `host`:`port` (0: any free one). A place that cannot be had is EngineError `locked` (in use) or `io`, with a text that names it. */
  listen(address: NetworkAddress, onPeer: (peer: NetworkPeer) => void): Promise<NetworkListener>;
}

/** Bytes kept for a reader that has not asked before the socket is paused: of one, and where all together keep many, any. */
const UNREAD_BYTES_MAX = 256 * 1024;
const UNREAD_OF_ALL_MAX = 4 * 1024 * 1024;
let unreadOfAll = 0;

class HostPeer implements NetworkPeer {
  readonly local: NetworkAddress;
  readonly remote: NetworkAddress;
  readonly certificate: CertificateSubject | undefined;
  readonly #socket: NodeSocket;
  readonly #unread: Uint8Array[] = [];
  #unreadBytes = 0;
  #isForgotten = false;
  #ended = false;
  #goneListener: (() => void) | undefined;
  #reader: ((bytes: Uint8Array | undefined) => void) | undefined;
  #writer: (() => void) | undefined;

  constructor(socket: NodeSocket, certificate?: CertificateSubject) {
    this.#socket = socket;
    this.certificate = certificate;
    this.local = { host: plainAddress(socket.localAddress), port: socket.localPort ?? 0 };
    this.remote = { host: plainAddress(socket.remoteAddress), port: socket.remotePort ?? 0 };
    socket.setNoDelay(true);
    socket.setKeepAlive(true, 300_000);
    socket.on('data', (bytes: Uint8Array) => {
      bytesPassed(bytes.length);
      this.#take(bytes);
    });
    socket.on('drain', () => {
      this.#release();
    });
    const finish = (): void => {
      this.#finish();
    };
    socket.on('end', finish);
    socket.on('close', finish);
    socket.on('error', finish);
  }

  read(): Promise<Uint8Array | undefined> {
    const bytes = this.#unread.shift();
    if (bytes !== undefined) {
      this.#unreadBytes -= bytes.length;
      unreadOfAll -= bytes.length;
      if (this.#unreadBytes < UNREAD_BYTES_MAX && this.#socket.isPaused()) this.#socket.resume();
      return Promise.resolve(bytes);
    }
    if (this.#ended) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#reader = resolve;
    });
  }

  write(chunks: readonly Uint8Array[]): Promise<void> | undefined {
    if (this.#socket.destroyed || !this.#socket.writable) return undefined;
    let roomy = true;
    if (chunks.length > 1) this.#socket.cork();
    for (const chunk of chunks) {
      bytesPassed(chunk.length);
      roomy = this.#socket.write(chunk);
    }
    if (chunks.length > 1) this.#socket.uncork();
    if (roomy) return undefined;
    return new Promise((resolve) => {
      this.#writer = resolve;
    });
  }

  onGone(listener: () => void): void {
    if (this.#ended) listener();
    else this.#goneListener = listener;
  }

  end(): void {
    this.#forget();
    this.#socket.end();
  }

  destroy(): void {
    this.#forget();
    this.#socket.destroy();
    this.#finish();
  }

  #take(bytes: Uint8Array): void {
    const reader = this.#reader;
    if (reader !== undefined) {
      this.#reader = undefined;
      reader(bytes);
      return;
    }
    if (this.#isForgotten) return;
    this.#unread.push(bytes);
    this.#unreadBytes += bytes.length;
    unreadOfAll += bytes.length;
    if (this.#unreadBytes >= UNREAD_BYTES_MAX || unreadOfAll >= UNREAD_OF_ALL_MAX) this.#socket.pause();
  }

  /** Nobody reads any more: what comes is dropped. */
  #forget(): void {
    this.#isForgotten = true;
    if (this.#socket.isPaused()) this.#socket.resume();
    unreadOfAll -= this.#unreadBytes;
    this.#unreadBytes = 0;
    this.#unread.length = 0;
  }

  #release(): void {
    const writer = this.#writer;
    this.#writer = undefined;
    writer?.();
  }

  #finish(): void {
    this.#ended = true;
    const reader = this.#reader;
    this.#reader = undefined;
    reader?.(undefined);
    this.#release();
    const listener = this.#goneListener;
    this.#goneListener = undefined;
    listener?.();
  }
}

/** IPv4 addresses that arrive mapped into IPv6 are told as IPv4. */
function plainAddress(address: string | undefined): string {
  if (address === undefined) return '';
  return address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
}

function listenError(error: NodeJS.ErrnoException, address: NetworkAddress): EngineError {
  const place = `${address.host}:${String(address.port)}`;
  const inUse = error.code === 'EADDRINUSE';
  const text = inUse ? `address ${place} is in use by another process` : `cannot listen at ${place}: ${error.message}`;
  return new EngineError(inUse ? 'locked' : 'io', text, { cause: error });
}

function closeServer(server: Server, acceptor: TlsAcceptor | undefined): Promise<void> {
  acceptor?.close();
  return new Promise((resolve) => {
    server.close(() => {
      resolve();
    });
  });
}

/** The network of this machine: TCP, with TLS where that is said. */
export function openHostNetwork(tls?: TlsSettings): Network {
  return {
    listen(address, onPeer) {
      return new Promise((resolve, reject) => {
        const take = (socket: NodeSocket, certificate?: CertificateSubject): void => {
          onPeer(new HostPeer(socket, certificate));
        };
        const acceptor = tls === undefined ? undefined : tlsAcceptor(tls, take);
        const server = createServer({ allowHalfOpen: true, noDelay: true }, acceptor?.accept ?? take);
        server.once('error', (error) => {
          reject(listenError(error, address));
        });
        server.listen({ host: address.host, port: address.port, backlog: 1024 }, () => {
          const bound = server.address();
          if (bound === null || typeof bound === 'string') throw new AssertionError('a listening TCP server has an address');
          resolve({ address: { host: bound.address, port: bound.port }, close: () => closeServer(server, acceptor) });
        });
      });
    },
  };
}
