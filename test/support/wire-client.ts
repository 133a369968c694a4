// A client of the wire protocol and nothing more: what it sends is what the test says, right or wrong.

import { connect, type Socket } from 'node:net';
import { Document, type Value } from '../../src/bson/index.ts';
import { encodeMessage, encodeQuery, MessageReader, parseMessage, type MessageOptions, type WireMessage } from '../../src/wire/index.ts';

export class WireClient {
  readonly #socket: Socket;
  readonly #reader = new MessageReader();
  readonly #waiting: ((message: WireMessage | undefined) => void)[] = [];
  readonly #unread: WireMessage[] = [];
  #ended = false;
  #nextId = 1;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Uint8Array) => {
      this.#reader.push(chunk);
      for (let bytes = this.#reader.next(); bytes !== undefined; bytes = this.#reader.next()) {
        const message = parseMessage(bytes, []);
        const waiting = this.#waiting.shift();
        if (waiting === undefined) this.#unread.push(message);
        else waiting(message);
      }
    });
    const end = (): void => {
      this.#ended = true;
      for (const resolve of this.#waiting.splice(0)) resolve(undefined);
    };
    socket.on('close', end);
    socket.on('end', end);
    socket.on('error', end);
  }

  static open(port: number): Promise<WireClient> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      socket.once('error', reject);
      socket.once('connect', () => {
        resolve(new WireClient(socket));
      });
    });
  }

  get localPort(): number {
    return this.#socket.localPort ?? 0;
  }

  /** Sends bytes as they are. */
  send(...chunks: Uint8Array[]): void {
    // In one write, as drivers do: a server that is measured would have to read them one by one.
    this.#socket.cork();
    for (const chunk of chunks) this.#socket.write(chunk);
    this.#socket.uncork();
  }

  /** The next message; undefined when the server has closed the connection. */
  receive(): Promise<WireMessage | undefined> {
    const message = this.#unread.shift();
    if (message !== undefined || this.#ended) return Promise.resolve(message);
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  /** Sends a command by OP_MSG and gives the reply's body. */
  async command(db: string, command: Readonly<Record<string, Value>>, options: MessageOptions = {}): Promise<Document> {
    const body = Document.of({ ...command, $db: db });
    this.send(...encodeMessage({ requestId: this.#nextId++, responseTo: 0 }, body, options));
    const reply = await this.receive();
    if (reply === undefined) throw new Error('the server closed the connection');
    return reply.body;
  }

  /** Sends a command by OP_QUERY and gives the reply. */
  async query(namespace: string, command: Readonly<Record<string, Value>>): Promise<WireMessage | undefined> {
    this.send(...encodeQuery({ requestId: this.#nextId++, responseTo: 0 }, namespace, Document.of(command)));
    return this.receive();
  }

  close(): void {
    this.#socket.destroy();
  }
}
