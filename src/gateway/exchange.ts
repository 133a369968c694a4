// One request and its answer. It knows when the client is gone, so that whoever works for it can stop at once, and it is the only place where
// heads are written. After the head a fault has one honest answer: the connection is cut, so that no client takes a part for the whole.

import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { encodeUtf8 } from '../base/text.ts';
import type { HttpError } from '../base/errors.ts';
import type { Clock } from '../env/index.ts';
import { problemBody } from './problem.ts';

/** How long things may take. */
export interface Patience {
  readonly clock: Clock;
  /** Without a byte moving for so long, the connection is cut; 0: never. */
  readonly stallMs: number;
}

/** A request being answered. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly id: string;
  /** Resolves when the answer has left, or the client. */
  readonly ended: Promise<void>;
  readonly #response: ServerResponse;
  #fields: OutgoingHttpHeaders | undefined;
  readonly #patience: Patience;
  /** Once the head has left, bytes go to the socket by themselves, past the bookkeeping of the response. */
  #isFlowing = false;
  readonly #taken = (error?: Error | null): void => {
    // The socket is closed soon, and says so later.
    if (error !== undefined && error !== null) this.#isGone = true;
    this.#release();
  };
  #isGone = false;
  #wake: (() => void) | undefined;
  #bytesSent = 0;
  #progressMs: number;
  #waitsForContinue: boolean;

  constructor(request: IncomingMessage, response: ServerResponse, options: { readonly id: string; readonly patience: Patience; readonly expectsContinue: boolean }) {
    this.request = request;
    this.#response = response;
    this.id = options.id;
    this.#patience = options.patience;
    this.#waitsForContinue = options.expectsContinue;
    this.#progressMs = options.patience.clock.monotonicMs();
    this.ended = new Promise((resolve) => {
      const { socket } = request;
      // An answer that waits behind others on its connection is not told when the connection closes, so the socket is asked too.
      const isBehind = response.socket === null;
      const end = (): void => {
        if (isBehind) socket.off('close', end);
        if (!response.writableFinished) this.#isGone = true;
        this.#release();
        resolve();
      };
      response.on('close', end);
      if (isBehind) socket.on('close', end);
      if (socket.destroyed) end();
    });
  }

  get method(): string {
    return this.request.method ?? '';
  }

  get headers(): IncomingHttpHeaders {
    return this.request.headers;
  }

  /** Whether more of the request is still to come: a request without a body is whole when its head is. */
  get hasUnreadBody(): boolean {
    const { complete, headers } = this.request;
    return !complete && (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0);
  }

  get headSent(): boolean {
    return this.#response.headersSent;
  }

  /** Whether the client has gone before the answer ended. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** Bytes of bodies handed to the socket. */
  get bytesSent(): number {
    return this.#bytesSent;
  }

  #release(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }

  /** Something moved: a stalled exchange is one of which this is not said. */
  progress(): void {
    this.#progressMs = this.#patience.clock.monotonicMs();
  }

  /** Cuts the connection when nothing has moved for too long. */
  look(nowMs: number): void {
    const { stallMs } = this.#patience;
    if (stallMs > 0 && nowMs - this.#progressMs >= stallMs) this.destroy();
  }

  /** Fields that the answer has, whichever it will be. */
  addFields(fields: OutgoingHttpHeaders): void {
    this.#fields = { ...this.#fields, ...fields };
  }

  /** Sends the head. */
  head(status: number, fields: OutgoingHttpHeaders): void {
    this.#response.writeHead(status, { 'X-Request-Id': this.id, ...this.#fields, ...fields });
  }

  /** Sends a head whose fields are names and values in turn: for answers that are many, cheaper than an object. */
  headInTurn(status: number, fields: string[]): void {
    if (this.#fields !== undefined) for (const [name, value] of Object.entries(this.#fields)) fields.push(name, String(value));
    fields.push('X-Request-Id', this.id);
    this.#response.writeHead(status, fields);
  }

  /** Hands the last bytes of the answer to the socket; as `write`. */
  async finish(bytes: Uint8Array): Promise<boolean> {
    if (this.isGone) return false;
    this.#bytesSent += bytes.length;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      this.#response.end(bytes, this.#taken);
    });
    this.progress();
    return !this.isGone;
  }

  /** Hands bytes to the socket and waits until it has passed them on, or is closed: they are not in use any more. False when the client is gone. */
  async write(bytes: Uint8Array): Promise<boolean> {
    if (this.isGone) return false;
    this.#bytesSent += bytes.length;
    const { socket } = this.#response;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      if (this.#isFlowing && socket !== null) socket.write(bytes, this.#taken);
      else this.#response.write(bytes, this.#taken);
    });
    this.#isFlowing = socket !== null;
    this.progress();
    return !this.isGone;
  }

  /** Ends the answer. */
  end(): void {
    this.#response.end();
  }

  /** A whole answer at once; of a HEAD request the head only. */
  send(status: number, fields: OutgoingHttpHeaders, body: string | Uint8Array): void {
    const bytes = typeof body === 'string' ? encodeUtf8(body) : body;
    this.head(status, { 'Content-Length': bytes.length, 'X-Content-Type-Options': 'nosniff', ...fields });
    if (this.method === 'HEAD') this.#response.end();
    else this.#response.end(bytes);
  }

  /** An answer without a body. */
  sendEmpty(status: number, fields: OutgoingHttpHeaders): void {
    this.head(status, fields);
    this.#response.end();
  }

  sendJson(status: number, fields: OutgoingHttpHeaders, json: string): void {
    this.send(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', ...fields }, `${json}\n`);
  }

  /** Tells an error. If the request still has a body to send, the connection is not used again. */
  sendError(error: HttpError, fields: OutgoingHttpHeaders = {}): void {
    const { type, text } = problemBody(error, this.id, this.headers.accept);
    const rest = this.hasUnreadBody || this.request.httpVersionMajor !== 1 ? { Connection: 'close' } : {};
    const retry = error.status === 503 || error.status === 429 ? { 'Retry-After': '5' } : {};
    this.send(error.status, { 'Content-Type': type, 'Cache-Control': 'no-store', ...rest, ...retry, ...fields }, text);
  }

  /** Lets the client send the body it announced. */
  acceptBody(): void {
    if (!this.#waitsForContinue) return;
    this.#waitsForContinue = false;
    this.#response.writeContinue();
  }

  /** Cuts the connection. */
  destroy(): void {
    this.request.socket.destroy();
  }
}
