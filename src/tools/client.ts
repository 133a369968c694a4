// A client of the wire protocol for the tools: one connection, one request at a time, replies by number, errors as CommandError.

import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { CommandError, EngineError } from '../base/errors.ts';
import { Document } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';
import { encodeMessage, MessageReader, parseMessage } from '../wire/index.ts';
import type { SequenceToSend } from '../wire/index.ts';
import type { ServerPlace } from './uri.ts';

interface Waiting {
  readonly resolve: (reply: Document) => void;
  readonly reject: (error: Error) => void;
}

/** A connection to a server. */
export class ToolClient {
  readonly #socket: Socket;
  readonly #reader: MessageReader = new MessageReader();
  readonly #waiting: Waiting[] = [];
  #requestId: number = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Uint8Array) => this.#take(chunk));
    socket.on('error', (error) => this.#fail(new EngineError('io', `the connection broke: ${error.message}`, { cause: error })));
    socket.on('close', () => this.#fail(new EngineError('io', 'the server closed the connection')));
  }

  /** Connects; `io` with a text that names the place when nobody answers there. */
  static async open(place: ServerPlace): Promise<ToolClient> {
    const socket = connect({ host: place.host, port: place.port, noDelay: true });
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', (error) => reject(new EngineError('io', `no server at ${place.host}:${place.port}: ${error.message}`, { cause: error })));
    });
    return new ToolClient(socket);
  }

  #take(chunk: Uint8Array): void {
    this.#reader.push(chunk);
    for (let bytes = this.#reader.next(); bytes !== undefined; bytes = this.#reader.next()) {
      this.#waiting.shift()?.resolve(parseMessage(bytes, []).body);
    }
  }

  #fail(error: Error): void {
    for (const waiting of this.#waiting.splice(0)) waiting.reject(error);
  }

  /** Runs a command; what the server refuses is CommandError with its code and text. Bytes of a sequence must not change until it is answered. */
  async command(db: string, command: Readonly<Record<string, Value>>, sequences: readonly SequenceToSend[] = []): Promise<Document> {
    const body = Document.of({ ...command, $db: db });
    const reply = await new Promise<Document>((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      // In one write: one for each part would cost more than the rest.
      this.#socket.cork();
      for (const part of encodeMessage({ requestId: ++this.#requestId, responseTo: 0 }, body, { sequences })) this.#socket.write(part);
      this.#socket.uncork();
    });
    if (numberOf(reply.get('ok')) !== 1) {
      throw new CommandError(numberOf(reply.get('code')), textOf(reply.get('codeName')), textOf(reply.get('errmsg')), { details: new Map(reply.fields) });
    }
    return reply;
  }

  close(): void {
    this.#socket.destroy();
  }
}

/** A number of a reply, whatever its width. */
export function numberOf(value: Value | undefined): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  return typeof value === 'object' && value !== null && 'value' in value && typeof value.value === 'number' ? value.value : 0;
}

/** A text of a reply. */
export function textOf(value: Value | undefined): string {
  return typeof value === 'string' ? value : '';
}
