// The HTTP server over a file store: takes requests, finds who answers, and makes sure that each ends in an answer or a cut connection. Faults of one
// request stay its own. Without accounts it listens at a loopback address only (gateway.md, section 7).

import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { AssertionError, EngineError, HttpError } from '../base/errors.ts';
import { decodeUtf8 } from '../base/text.ts';
import type { Clock, Random } from '../env/index.ts';
import type { FileStore } from '../gridfs/index.ts';
import { allowedMethods, answerTable } from './answer-table.ts';
import type { Answers } from './answer-table.ts';
import { AccessControl } from './access.ts';
import type { AccessRules } from './access.ts';
import { ActiveUploads } from './active-uploads.ts';
import { crossOriginFields, isListedOrigin, preflightFields } from './cross-origin.ts';
import { Exchange } from './exchange.ts';
import type { Patience } from './exchange.ts';
import type { ReadLevels, ServerStatus } from './server-status.ts';
import { Patrol } from './patrol.ts';
import { currentCounters, limitsDefault, randomToken } from './gateway-parts.ts';
import type { GatewayCounters, GatewayEvent, GatewayGauges, GatewayLimits, GatewayParts } from './gateway-parts.ts';
import type { PageFiles } from './page/page-files.ts';
import { PiecePool } from './piece-pool.ts';
import { asHttpError, statusTitle } from './problem.ts';
import { routeOf } from './route.ts';
import type { Route } from './route.ts';
import { tusAbilities } from './tus.ts';
import { Turns } from './turns.ts';
import { isLoopback, requireOwnHost, requireSameOrigin } from './same-origin.ts';

/** What a gateway is made of. */
export interface GatewayOptions {
  /** Without `access`, a loopback address. */
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  readonly store: FileStore;
  /** The database whose buckets are served without saying so in the path. */
  readonly db: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly page: PageFiles;
  /** What the server behind counts; undefined where it is not ours to know. */
  readonly status?: () => Promise<ServerStatus>;
  readonly levels?: ReadLevels;
  /** How callers are known; undefined: everybody may do everything, from this machine. */
  readonly access?: AccessRules;
  /** What addresses are signed with; undefined: something new, so they are valid until the gateway closes. */
  readonly signingKey?: Uint8Array;
  /** Origins whose pages may read files. */
  readonly origins?: readonly string[];
  /** Certificate and key, PEM; undefined: plain HTTP. */
  readonly tls?: { readonly certificateKey: Uint8Array; readonly password?: string | undefined } | undefined;
  readonly limits?: Partial<GatewayLimits>;
  /** Told of faults that an operator should know, and of bugs. */
  readonly onEvent: (event: GatewayEvent) => void;
}

const challenges = ['Basic realm="FrondDB files", charset="UTF-8"', 'Bearer realm="FrondDB files"'];
const headBytesMax = 16 * 1024;
const idleMs = 65_000;
const sweepMs = 600_000;
/** How often it is told that the database does not answer. */
const unavailableMs = 10_000;
const nothing = (): undefined => undefined;
/** A client that is still sending the body of a refused request gets this long to read why. */
const lingerMs = 1000;

/** A gateway that answers. */
export class Gateway {
  readonly #server: Server;
  readonly #parts: GatewayParts;
  /** Resolves who waits for the last open request, when there is none any more. */
  #allEnded: (() => void) | undefined;
  /** Open requests, and the beginning of their ids. */
  readonly #exchanges: Patrol<Exchange>;
  readonly #patience: Patience;
  readonly #idStart: string;
  readonly #closing: AbortController = new AbortController();
  readonly #turns = new Turns();
  #quietUntilMs = 0;
  readonly #told: Set<string> = new Set();
  readonly #address: { readonly host: string; readonly port: number };

  private constructor(server: Server, parts: GatewayParts, address: { readonly host: string; readonly port: number }) {
    this.#server = server;
    this.#parts = parts;
    this.#address = address;
    this.#exchanges = new Patrol(parts.clock, Math.min(1000, Math.max(20, parts.limits.stallMs / 8)));
    this.#patience = { clock: parts.clock, stallMs: parts.limits.stallMs };
    this.#idStart = `${randomToken(parts.random, 6)}-`;
    const take = (expectsContinue: boolean) => (request: IncomingMessage, response: ServerResponse): void => {
      void this.#take(request, response, expectsContinue);
    };
    server.on('request', take(false));
    server.on('checkContinue', take(true));
    // An expectation that is not known cannot be met (RFC 9110, 10.1.1).
    server.on('checkExpectation', take(false));
    server.on('clientError', refuseBytes);
    server.on('connect', (_request, socket) => sendRefusal(501, socket));
    // The size of a head is bounded, the number of its fields is not: none is overlooked.
    server.maxHeadersCount = 0;
    // A client may close its half when it has asked; the answer is written to its end.
    Object.assign(server, { httpAllowHalfOpen: true });
    void this.#sweep();
    // Each answer that waits its turn on a connection listens for its end.
    server.on('connection', (socket) => void socket.setMaxListeners(0));
  }

  /** Listens. EngineError `locked` where the port is in use, `io` where it cannot be had. */
  static async listen(options: GatewayOptions): Promise<Gateway> {
    const { host, port, store, db, clock, random, page, onEvent } = options;
    const access = new AccessControl(options.access ?? {}, clock, options.signingKey ?? random.bytes(32));
    if (access.isOpen && !isLoopback(host)) throw new AssertionError('without accounts a gateway listens at a loopback address only');
    const limits = { ...limitsDefault, ...options.limits };
    const { headMs } = limits;
    const settings = { maxHeaderSize: headBytesMax, headersTimeout: headMs, connectionsCheckingInterval: Math.max(50, headMs / 6), requestTimeout: 0, keepAliveTimeout: idleMs, noDelay: true };
    const server = options.tls === undefined ? createServer(settings) : createTlsServer({ ...settings, ...tlsFields(options.tls) });
    const address = await listenAt(server, host, port);
    const counters: GatewayCounters = { requests: 0, bytesSent: 0, aborts: 0, corruptFiles: 0 };
    return new Gateway(server, { store, dbDefault: db, clock, random, limits, counters, page, access, status: options.status, levels: options.levels, origins: options.origins ?? [], pieces: new PiecePool(), streams: new Patrol(clock, limits.letGoMs), uploads: new ActiveUploads(limits.uploadsPerClientMax), onEvent }, address);
  }

  /** Now and then, resumable uploads that were given up are removed. */
  async #sweep(): Promise<void> {
    const { clock, store, limits } = this.#parts;
    for (;;) {
      await clock.sleep(Math.min(sweepMs, limits.resumableMs), this.#closing.signal);
      if (this.#closing.signal.aborted) return;
      await store.removeExpired().catch((cause: unknown) => {
        this.#parts.onEvent({ message: 'uploads that were given up could not be removed', fields: {}, cause });
      });
    }
  }

  /** Where it listens. */
  get address(): { readonly host: string; readonly port: number } {
    return this.#address;
  }

  /** What was counted so far, and what is going on now. */
  get counters(): Readonly<GatewayCounters & GatewayGauges> {
    return currentCounters(this.#parts);
  }

  /** Takes no more requests, lets answers under way end for a while, cuts the rest, and waits until nobody uses the store any more. */
  async close(): Promise<void> {
    this.#closing.abort();
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    this.#server.closeIdleConnections();
    const timer = new AbortController();
    void closed.then(() => timer.abort());
    await this.#parts.clock.sleep(this.#parts.limits.closeGraceMs, timer.signal);
    this.#server.closeAllConnections();
    await closed;
    if (this.#exchanges.size > 0) await new Promise<void>((resolve) => { this.#allEnded = resolve; });
    this.#exchanges.close();
    this.#parts.streams.close();
  }

  async #take(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): Promise<void> {
    const { counters } = this.#parts;
    counters.requests += 1;
    // A cut connection is seen as `close` of the response; as an error it says nothing more.
    request.on('error', nothing);
    response.on('error', nothing);
    const exchange = new Exchange(request, response, { id: `${this.#idStart}${counters.requests.toString(36)}`, patience: this.#patience, expectsContinue });
    this.#exchanges.add(exchange);
    try {
      const turn = this.#turns.of(request, response);
      if (turn !== undefined) await turn;
      await this.#answer(exchange);
    } catch (error) {
      this.#fail(exchange, error);
    }
    if (exchange.hasUnreadBody && !exchange.isGone) await this.#linger(exchange);
    // The last bytes may still be on their way to a slow client.
    await exchange.ended;
    this.#exchanges.delete(exchange);
    counters.bytesSent += exchange.bytesSent;
    if (exchange.isGone) counters.aborts += 1;
    if (this.#exchanges.size === 0) this.#allEnded?.();
  }

  async #answer(exchange: Exchange): Promise<void> {
    requirePlainRequest(exchange.request);
    const { access, origins } = this.#parts;
    if (origins.length > 0) exchange.addFields(crossOriginFields(exchange.headers, origins));
    if (access.isOpen) requireOwnHost(exchange.headers);
    // The asterisk form asks what the server as a whole can do (RFC 9112, 3.2.4).
    if (exchange.request.url === '*' && exchange.method === 'OPTIONS') {
      exchange.sendEmpty(204, { Allow: 'GET, HEAD, PUT, POST, PATCH, DELETE, OPTIONS' });
      return;
    }
    const route = routeOf(exchange.request.url ?? '/', this.#parts.dbDefault);
    if (route === undefined) throw new HttpError(404, 'not_found', 'there is nothing at this path');
    const answers = answerTable[route.kind];
    const method = methodOf(exchange, route);
    const answer = answers[method === 'HEAD' ? 'GET' : method];
    if (answer === undefined) {
      this.#tellMethods(exchange, route, answers);
      return;
    }
    if (method !== 'GET' && method !== 'HEAD' && !this.#isTrustedPage(exchange)) requireSameOrigin(exchange.headers);
    const caller = access.isOpen ? undefined : await access.admit(route, method, exchange.headers.authorization);
    await answer(caller?.store === undefined ? this.#parts : { ...this.#parts, store: caller.store }, exchange, route);
  }

  /** What may be done with a path: asked for, or instead of what cannot be done. */
  #tellMethods(exchange: Exchange, route: Route, answers: Answers): void {
    const allow = { Allow: allowedMethods(answers), ...(isUpload(route) ? tusAbilities(this.#parts) : {}) };
    if (exchange.method === 'OPTIONS') exchange.sendEmpty(204, { ...allow, ...preflightFields(exchange.headers, this.#parts.origins, allow.Allow) });
    else exchange.sendError(new HttpError(405, 'method_not_allowed', `${exchange.method} is not for this path`), allow);
  }

  /** A page of a listed origin may write with a token of its own; with what a browser sends by itself only where nobody is asked who they are. */
  #isTrustedPage({ headers }: Exchange): boolean {
    const { access, origins } = this.#parts;
    return isListedOrigin(headers, origins) && (access.isOpen || /^bearer /i.test(headers.authorization ?? ''));
  }

  /** Tells the client while that can be done honestly, else cuts the connection; tells the operator what is no fault of the client. */
  #fail(exchange: Exchange, error: unknown): void {
    const known = asHttpError(error);
    const answer = known ?? new HttpError(500, 'internal_error', 'the gateway failed to answer; its log says more under the id of this request');
    if (answer.code === 'corrupt_file') this.#tellCorrupt(exchange, answer);
    else if (answer.status >= 500 && !exchange.isGone) this.#tell(exchange, answer, error);
    if (exchange.isGone) return;
    if (exchange.headSent) exchange.destroy();
    else exchange.sendError(answer, answer.status === 401 ? { 'WWW-Authenticate': challenges } : {});
  }

  #tell(exchange: Exchange, answer: HttpError, cause: unknown): void {
    if (answer.status === 503) {
      this.#tellUnavailable(answer);
      return;
    }
    const fields = { request: exchange.id, method: exchange.method, target: exchange.request.url ?? '', status: answer.status };
    this.#parts.onEvent({ message: answer.message, fields, cause });
  }

  /** That the database does not answer is no fault of this program, and is seen by every request at once. */
  #tellUnavailable({ message }: HttpError): void {
    const nowMs = this.#parts.clock.monotonicMs();
    if (nowMs < this.#quietUntilMs) return;
    this.#quietUntilMs = nowMs + unavailableMs;
    this.#parts.onEvent({ message: `requests are answered 503: ${message}`, fields: {} });
  }

  /** Once for each place, for a player asks for it again and again. */
  #tellCorrupt(exchange: Exchange, { message, members }: HttpError): void {
    const place = `${exchange.request.url?.split('?', 1)[0] ?? ''} ${members['id'] ?? ''} ${members['n'] ?? ''}`;
    if (this.#told.has(place)) return;
    if (this.#told.size >= 1000) this.#told.clear();
    this.#told.add(place);
    this.#parts.counters.corruptFiles += 1;
    this.#parts.onEvent({ message: `corrupt file: ${message}`, fields: { request: exchange.id, target: exchange.request.url ?? '', ...members } });
  }

  /** Reads on for a moment: closing at once would reset the connection, and the client might never see the answer. */
  async #linger(exchange: Exchange): Promise<void> {
    const done = new AbortController();
    const { request } = exchange;
    if (request.socket.destroyed) return;
    const end = (): void => done.abort();
    request.once('end', end);
    request.socket.once('close', end);
    request.resume();
    await this.#parts.clock.sleep(lingerMs, done.signal);
    request.socket.off('close', end);
    if (!request.complete) exchange.destroy();
  }
}

/** PEM as node:https wants it; both are in one file. */
function tlsFields({ certificateKey, password }: NonNullable<GatewayOptions['tls']>): { readonly cert: string; readonly key: string; readonly passphrase?: string } {
  const pem = decodeUtf8(certificateKey, 0, certificateKey.length);
  return { cert: pem, key: pem, ...(password === undefined ? {} : { passphrase: password }) };
}

const isUpload = ({ kind }: Route): boolean => kind === 'uploads' || kind === 'upload';

/** The method, or the one that a client in an environment without it says instead (tus 1.0.0). */
function methodOf({ method, headers }: Exchange, route: Route): string {
  const instead = headers['x-http-method-override'];
  return isUpload(route) && method === 'POST' && typeof instead === 'string' ? instead.toUpperCase() : method;
}

/** HttpError for heads that the parser lets through and RFC 9112 (3.2) and RFC 9110 (10.1.1) do not. */
function requirePlainRequest({ rawHeaders, headers, httpVersionMajor, httpVersion }: IncomingMessage): void {
  if (httpVersionMajor > 1) throw new HttpError(505, 'bad_request', 'HTTP/1.1 is spoken here');
  if (httpVersionMajor < 1) throw new HttpError(400, 'bad_request', `HTTP/${httpVersion} is not spoken any more`);
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) if (rawHeaders[i]?.length === 4 && rawHeaders[i]?.toLowerCase() === 'host') hosts += 1;
  if (hosts > 1) throw new HttpError(400, 'bad_request', 'a request has one Host');
  const { expect } = headers;
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') throw new HttpError(417, 'bad_request', 'this cannot be expected here');
}

/** What the parser found wrong with bytes, where it is not just 400. */
const refusals: Readonly<Record<string, number>> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 };
const requestLine = /^[\w!#$%&'*+.^`|~-]+ \S+ HTTP\/1\.[01]\r?\n/;

interface ParserFault extends Error {
  readonly code?: string;
  readonly rawPacket?: Uint8Array;
}

/** A method that nobody knows is 501 (RFC 9110, 15.6.2), if that is what the bytes are. */
function refusalOf({ code, rawPacket }: ParserFault): number {
  if (code !== 'HPE_INVALID_METHOD') return refusals[code ?? ''] ?? 400;
  const bytes = rawPacket?.subarray(0, 1000) ?? new Uint8Array(0);
  return requestLine.test(decodeUtf8(bytes, 0, bytes.length)) ? 501 : 400;
}

/** An answer to bytes that are no request. */
function refuseBytes(error: ParserFault, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  sendRefusal(refusalOf(error), socket);
}

function sendRefusal(status: number, socket: Duplex): void {
  const title = statusTitle(status);
  const body = `${JSON.stringify({ type: 'about:blank', title, status, code: 'bad_request' })}\n`;
  const head = [`HTTP/1.1 ${status} ${title}`, 'Content-Type: application/problem+json', `Content-Length: ${body.length}`, 'Connection: close'];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function listenAt(server: Server, host: string, port: number): Promise<{ readonly host: string; readonly port: number }> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: Error & { readonly code?: string }) => {
      const place = `${host}:${port}`;
      const inUse = error.code === 'EADDRINUSE';
      reject(new EngineError(inUse ? 'locked' : 'io', inUse ? `address ${place} is in use by another process` : `cannot listen at ${place}: ${error.message}`, { cause: error }));
    });
    server.listen({ host, port, backlog: 1024 }, () => {
      const bound = server.address();
      if (bound === null || typeof bound === 'string') throw new AssertionError('a listening TCP server has an address');
      resolve({ host: bound.address, port: bound.port });
    });
  });
}
