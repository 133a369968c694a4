// A gateway over the real engine in memory, and a client that speaks to it over a bare socket: bytes as they are on the wire, nothing that a
// client library would mend.

import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { concatBytes } from '../../src/base/bytes.ts';
import { openHostEnv } from '../../src/env/index.ts';
import { Gateway, loadPageFiles } from '../../src/gateway/index.ts';
import type { GatewayEvent, GatewayLimits, GatewayOptions } from '../../src/gateway/index.ts';
import { StoreForTest } from '../support/file-store.ts';
import { openRemoteFor } from '../support/remote-store.ts';
import type { RemoteForTest } from '../support/remote-store.ts';

/** One answer, taken apart. */
export interface RawAnswer {
  readonly status: number;
  /** Names in small letters; a field that came twice is joined with a comma. */
  readonly fields: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
  /** Whether the body had all the bytes that the head promised. */
  readonly whole: boolean;
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

/** A connection that is read by hand. */
export class RawClient {
  readonly socket: Socket;
  #pieces: Uint8Array[] = [];
  #length = 0;
  #ended = false;
  #wake: (() => void) | undefined;

  constructor(port: number) {
    this.socket = connect({ host: '127.0.0.1', port });
    const wake = (): void => {
      const waiting = this.#wake;
      this.#wake = undefined;
      waiting?.();
    };
    this.socket.on('data', (bytes: Uint8Array) => {
      this.#pieces.push(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length));
      this.#length += bytes.length;
      wake();
    });
    for (const event of ['end', 'close', 'error']) {
      this.socket.on(event, () => {
        this.#ended = true;
        wake();
      });
    }
  }

  /** What came and was not taken by `answer`. */
  get received(): Uint8Array {
    if (this.#pieces.length > 1) this.#pieces = [concatBytes(this.#pieces)];
    return this.#pieces[0] ?? new Uint8Array(0);
  }

  #take(length: number): Uint8Array {
    const { received } = this;
    this.#pieces = [received.slice(length)];
    this.#length = received.length - length;
    return received.slice(0, length);
  }

  get ended(): boolean {
    return this.#ended;
  }

  send(head: string, body: Uint8Array = new Uint8Array(0)): void {
    this.socket.write(Buffer.from(head, 'latin1'));
    if (body.length > 0) this.socket.write(body);
  }

  /** Waits until `found` gives something, or the connection ends: then undefined. */
  async #until<T>(found: () => T | undefined): Promise<T | undefined> {
    for (;;) {
      const result = found();
      if (result !== undefined || this.#ended) return result;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Waits for as many bytes; false when the connection ends before. */
  async has(bytes: number): Promise<boolean> {
    return (await this.#until(() => (this.#length >= bytes ? true : undefined))) === true;
  }

  /** The next answer. `toHead`: a HEAD request, so that no body follows. Status 0: the connection ended without one. */
  async answer({ toHead = false }: { readonly toHead?: boolean } = {}): Promise<RawAnswer> {
    const headEnd = await this.#until(() => {
      const at = text(this.received.subarray(0, 65536)).indexOf('\r\n\r\n');
      return at < 0 ? undefined : at;
    });
    if (headEnd === undefined) return { status: 0, fields: {}, body: new Uint8Array(0), whole: false };
    const [line = '', ...lines] = text(this.received.subarray(0, headEnd)).split('\r\n');
    const fields: Record<string, string> = {};
    for (const one of lines) {
      const name = one.slice(0, one.indexOf(':')).toLowerCase();
      const value = one.slice(one.indexOf(':') + 1).trim();
      fields[name] = name in fields ? `${fields[name]}, ${value}` : value;
    }
    this.#take(headEnd + 4);
    const status = Number(line.split(' ')[1]);
    if (status === 100) return await this.answer({ toHead });
    const length = toHead || status === 304 || status === 204 ? 0 : Number(fields['content-length'] ?? 0);
    const whole = await this.has(length);
    return { status, fields, body: this.#take(Math.min(length, this.#length)), whole };
  }

  /** Waits until the other side has closed. */
  async closed(): Promise<void> {
    await this.#until(() => undefined);
  }

  destroy(): void {
    this.socket.destroy();
  }
}

/** Header fields of a request. */
export type Fields = Readonly<Record<string, string>>;

/** One gateway for a test. */
export class GatewayForTest {
  readonly opened: StoreForTest;
  readonly gateway: Gateway;
  readonly events: GatewayEvent[];
  readonly remote: RemoteForTest | undefined;

  constructor(opened: StoreForTest, gateway: Gateway, { events, remote }: { readonly events: GatewayEvent[]; readonly remote: RemoteForTest | undefined }) {
    this.opened = opened;
    this.gateway = gateway;
    this.events = events;
    this.remote = remote;
  }

  /** `remote`: the gateway is in front of a server that has the data. */
  static async open(limits: Partial<GatewayLimits> = {}, over: 'embedded' | 'remote' = 'embedded', options: Pick<Partial<GatewayOptions>, 'access' | 'origins'> = {}): Promise<GatewayForTest> {
    const page = await loadPageFiles((await openHostEnv()).files);
    const opened = await StoreForTest.open();
    const remote = over === 'remote' ? await openRemoteFor(opened) : undefined;
    const events: GatewayEvent[] = [];
    const { clock, random } = opened.env;
    const gateway = await Gateway.listen({
      ...options, host: '127.0.0.1', port: 0, store: remote?.store ?? opened.store, db: 'test', clock, random, page, limits: { closeGraceMs: 0, ...limits }, onEvent: (event) => events.push(event),
    });
    return new GatewayForTest(opened, gateway, { events, remote });
  }

  get port(): number {
    return this.gateway.address.port;
  }

  client(): RawClient {
    return new RawClient(this.port);
  }

  /** One request on a connection of its own. */
  async ask(method: string, target: string, fields: Fields = {}, body: Uint8Array = new Uint8Array(0)): Promise<RawAnswer> {
    const client = this.client();
    client.send(requestHead(method, target, { ...(body.length > 0 ? { 'Content-Length': String(body.length) } : {}), ...fields, Connection: 'close' }), body);
    const answer = await client.answer({ toHead: method === 'HEAD' });
    client.destroy();
    return answer;
  }

  async close(): Promise<void> {
    await this.gateway.close();
    await this.remote?.close();
    await this.opened.close();
  }
}

/** The head of a request. */
export function requestHead(method: string, target: string, fields: Fields = {}): string {
  const lines = Object.entries({ Host: 'localhost', ...fields }).map(([name, value]) => `${name}: ${value}`);
  return `${method} ${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
}

/** Runs a test with a gateway of its own. */
export async function withGateway(work: (opened: GatewayForTest) => Promise<void>, limits: Partial<GatewayLimits> = {}, over: 'embedded' | 'remote' = 'embedded'): Promise<void> {
  const opened = await GatewayForTest.open(limits, over);
  try {
    await work(opened);
  } finally {
    await opened.close();
  }
}

/** The body of an answer as JSON. */
export function jsonOf({ body }: RawAnswer): Record<string, unknown> {
  return JSON.parse(Buffer.from(body).toString('utf8')) as Record<string, unknown>;
}
