// One client's connection: messages in, replies out, one at a time and in order. While a reply has not been taken by the client, or a
// request is being served, nothing more is read: a client that does not listen makes only itself wait. What cannot be understood ends
// this connection and no other.

import { distinguishedName } from '../auth/index.ts';
import { CommandError } from '../base/errors.ts';
import { BsonArray, Document, Double } from '../bson/index.ts';
import { giveBack } from '../env/index.ts';
import type { Codecs, NetworkAddress, NetworkPeer } from '../env/index.ts';
import type { ClientMetadata, CommandAnswer, CommandRequest, ConnectionContext, ServerCounters } from '../session/index.ts';
import { encodeAnswer, expandedLength, MessageReader, parseMessage, requestIdOf, type WireCodec, type WireMessage } from '../wire/index.ts';
import type { Dispatcher } from './dispatcher.ts';
import { largeMessageBytes } from './message-gate.ts';
import type { MessageGate, Sender } from './message-gate.ts';
import type { Turnstile } from './turnstile.ts';
import type { UnsentReplies } from './unsent-replies.ts';

/** What a connection needs from its server. */
export interface ConnectionSurroundings {
  readonly dispatcher: Dispatcher;
  readonly codecs: Codecs;
  readonly counters: ServerCounters;
  /** Large messages pass it. */
  readonly gate: MessageGate;
  readonly unsent: UnsentReplies;
  /** All messages pass it. */
  readonly turnstile: Turnstile;
  /** Told of an error that is a bug of this program; the connection is closed. */
  readonly onBug: (error: unknown) => void;
}

const NO_CODECS: readonly WireCodec[] = [];

/** As much of a request as answering it takes. */
type AnswerTo = Pick<WireMessage, 'kind' | 'requestId' | 'checksumPresent' | 'codec'>;

function addressText(address: NetworkAddress): string {
  const host = address.host.includes(':') ? `[${address.host}]` : address.host;
  return `${host}:${String(address.port)}`;
}

/** A served connection. */
export class Connection {
  readonly id: number;
  readonly #peer: NetworkPeer;
  readonly #surroundings: ConnectionSurroundings;
  readonly #context: ConnectionContext;
  readonly #gone: AbortController = new AbortController();
  readonly #stopping: AbortController = new AbortController();
  readonly #reader: MessageReader = new MessageReader(giveBack);
  #closing = false;
  #serving = false;
  /** Whether the gate holds room for the message that is being read or served. */
  #isGated = false;
  readonly #sender: Sender = {
    gone: this.#gone.signal,
    received: () => (this.#serving ? undefined : this.#reader.pendingBytes),
    expel: () => {
      this.destroy();
    },
  };
  #nextRequestId = 1;

  constructor(id: number, peer: NetworkPeer, surroundings: ConnectionSurroundings) {
    this.id = id;
    this.#peer = peer;
    this.#surroundings = surroundings;
    this.#context = {
      id,
      remote: addressText(peer.remote),
      local: addressText(peer.local),
      user: '',
      certificateSubject: peer.certificate === undefined ? undefined : distinguishedName(peer.certificate),
      metadata: undefined as ClientMetadata | undefined,
      compressors: [],
      signal: this.#gone.signal,
      stopping: this.#stopping.signal,
    };
    peer.onGone(() => {
      this.#gone.abort();
    });
  }

  /** Serves until the client goes, or `close`. Never rejects. */
  async run(): Promise<void> {
    try {
      await this.#serveAll();
    } catch (error) {
      // A CommandError here is a protocol error: the peer's fault, and the end of this connection only.
      if (!(error instanceof CommandError)) this.#surroundings.onBug(error);
    } finally {
      this.#leaveGate();
      this.#gone.abort();
      this.#peer.end();
      this.#surroundings.dispatcher.disconnected(this.#context);
    }
  }

  /** Ends the connection after the request that is being served. */
  close(): void {
    this.#closing = true;
    this.#stopping.abort();
    if (!this.#serving) this.destroy();
  }

  /** Ends the connection now. */
  destroy(): void {
    this.#closing = true;
    this.#peer.destroy();
  }

  async #serveAll(): Promise<void> {
    const { counters, turnstile } = this.#surroundings;
    let isFirst = true;
    let follows = false;
    while (!this.#closing) {
      const message = this.#reader.next();
      if (message !== undefined) {
        this.#serving = true;
        const turn = turnstile.enter({ isFirst, follows }, counters.connectionsCurrent);
        if (turn !== undefined) await turn;
        isFirst = false;
        follows = true;
        const expanded = expandedLength(message);
        if (expanded >= largeMessageBytes) {
          this.#leaveGate();
          await this.#passGate(expanded);
        }
        const served = this.#serve(message);
        if (served !== undefined) await served;
        this.#serving = false;
        this.#leaveGate();
        continue;
      }
      if (!this.#isGated && this.#reader.pendingLength >= largeMessageBytes) await this.#passGate(this.#reader.pendingLength);
      follows = false;
      const chunk = await this.#peer.read();
      if (chunk === undefined) return;
      counters.bytesIn += chunk.length;
      this.#reader.push(chunk);
    }
  }

  /** Before more is read of a large message, or it is made larger, there is room for it. */
  async #passGate(length: number): Promise<void> {
    if (await this.#surroundings.gate.enter(length, this.#sender)) this.#isGated = true;
  }

  #leaveGate(): void {
    if (this.#isGated) this.#surroundings.gate.leave(this.#sender);
    this.#isGated = false;
  }

  #serve(bytes: Uint8Array): Promise<void> | undefined {
    this.#surroundings.counters.requests += 1;
    const codecs = this.#codecs();
    let message: WireMessage;
    try {
      message = parseMessage(bytes, codecs);
    } catch (error) {
      if (!(error instanceof CommandError) || error.code === 17) throw error;
      return this.#answer(unreadable(bytes), { document: errorReply(error) }, codecs);
    }
    return message.kind === 'reply' ? undefined : this.#serveMessage(message, codecs);
  }

  /** One request, and those that follow from it without being sent. */
  #serveMessage(message: WireMessage, codecs: readonly WireCodec[]): Promise<void> | undefined {
    const answer = this.#reply(message);
    if (answer instanceof Promise) return answer.then((later) => this.#take(message, later, codecs));
    return this.#take(message, answer, codecs);
  }

  #take(message: WireMessage, answer: CommandAnswer | undefined, codecs: readonly WireCodec[]): Promise<void> | undefined {
    if (answer === undefined) {
      this.destroy();
      return undefined;
    }
    if (message.moreToCome) return undefined;
    return answer.next === undefined ? this.#answer(message, answer, codecs) : this.#answerAll(message, answer, codecs);
  }

  /** Each of the further answers is one to the answer before. */
  async #answerAll(message: WireMessage, first: CommandAnswer, codecs: readonly WireCodec[]): Promise<void> {
    let answered: AnswerTo = message;
    let answer: CommandAnswer | undefined = first;
    while (answer !== undefined) {
      const requestId = this.#nextRequestId;
      const taken = this.#answer(answered, answer, codecs);
      if (taken !== undefined) await taken;
      if (answer.next === undefined || this.#closing || this.#gone.signal.aborted) return;
      answered = { kind: message.kind, requestId, checksumPresent: message.checksumPresent, codec: message.codec };
      answer = await this.#surroundings.dispatcher.dispatch(this.#context, answer.next);
    }
    this.destroy();
  }

  #reply(message: WireMessage): CommandAnswer | undefined | Promise<CommandAnswer | undefined> {
    const { dispatcher } = this.#surroundings;
    const collection = message.namespace?.slice(message.namespace.indexOf('.') + 1);
    if (message.kind === 'query' && collection !== '$cmd') {
      const text = 'Unsupported OP_QUERY command: find. The client driver may require an upgrade.';
      return { document: errorReply(new CommandError(352, 'UnsupportedOpQueryCommand', text)) };
    }
    const request: CommandRequest = {
      body: message.body,
      sequences: message.sequences,
      expectsReply: !message.moreToCome,
      legacy: message.kind === 'query',
      exhaustAllowed: message.exhaustAllowed,
      ...(message.namespace === undefined ? {} : { database: message.namespace.slice(0, -'.$cmd'.length) }),
    };
    return dispatcher.dispatch(this.#context, request);
  }

  /** Sends an answer under the next number. */
  #answer(request: AnswerTo, answer: CommandAnswer, codecs: readonly WireCodec[]): Promise<void> | undefined {
    const requestId = this.#nextRequestId;
    const chunks = encodeAnswer(request, { requestId, moreToCome: answer.next !== undefined }, answer.document, codecs);
    this.#nextRequestId = (requestId + 1) & 0x7fffffff;
    let bytes = 0;
    for (const chunk of chunks) bytes += chunk.length;
    this.#surroundings.counters.bytesOut += bytes;
    const taken = this.#peer.write(chunks);
    return taken === undefined ? undefined : this.#surroundings.unsent.wait(bytes, taken, () => {
      this.destroy();
    });
  }

  #codecs(): readonly WireCodec[] {
    const names = this.#context.compressors;
    if (names.length === 0) return NO_CODECS;
    return names.flatMap((name) => (name === 'zlib' || name === 'zstd' ? [this.#surroundings.codecs.byName(name)] : []));
  }
}

/** How to answer a message whose documents are not valid. */
function unreadable(bytes: Uint8Array): AnswerTo {
  return { kind: 'message', requestId: requestIdOf(bytes), checksumPresent: false, codec: undefined };
}

function errorReply(error: CommandError): Document {
  return Document.of({
    ok: new Double(0),
    errmsg: error.message,
    code: error.code,
    codeName: error.codeName,
    ...(error.labels.length === 0 ? {} : { errorLabels: BsonArray.of([...error.labels]) }),
  });
}
