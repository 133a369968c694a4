// A second thread of this process, for long synchronous work. One thread serves all who name the same program; it starts when the first of
// them comes, and ends when the last one goes. Each conversation has a port of its own. A thread that dies ends all its conversations, after
// it is seen to have ended: from then on it touches nothing (engine.md, law 19).

import { MessageChannel, parentPort, Worker } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';
import { AssertionError } from '../base/errors.ts';

/** One conversation with a thread, seen from the main thread. */
export interface WorkerChannel {
  /** Sends plain data; memory that is shared stays so, the rest is copied. */
  post(message: unknown): void;
  /** The next message, in the order of sending; undefined when the thread has ended, which is for ever. One call at a time. */
  receive(): Promise<unknown>;
  /** Why the thread ended, if it said so. */
  readonly cause: unknown;
  /** Ends the conversation; who waits in `receive` gets undefined. */
  close(): void;
}

/** The same conversation, seen from the thread. */
export interface ServedChannel {
  post(message: unknown): void;
  /** Calls `listener` for each message. */
  onMessage(listener: (message: unknown) => void): void;
}

/** Memory for short-lived objects: what such a thread works on lies in arrays. */
const youngMb = 4;

/** A running thread and those who talk to it. */
class HostThread {
  readonly #worker: Worker;
  readonly #channels = new Set<HostChannel>();
  #cause: unknown;
  #hasEnded = false;
  #waiting = 0;

  constructor(module: URL) {
    this.#worker = new Worker(module, { name: 'frond worker', resourceLimits: { maxYoungGenerationSizeMb: youngMb } });
    this.#worker.unref();
    this.#worker.on('error', (error: unknown) => {
      this.#cause = error;
    });
    this.#worker.on('exit', () => {
      this.#hasEnded = true;
      for (const channel of this.#channels) channel.end(this.#cause);
    });
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  connect(): WorkerChannel {
    const { port1, port2 } = new MessageChannel();
    const channel = new HostChannel(port1, {
      waits: (change) => {
        this.#hold(change);
      },
      closed: () => {
        this.#channels.delete(channel);
        if (this.#channels.size === 0) void this.#worker.terminate();
      },
    });
    this.#channels.add(channel);
    this.#worker.postMessage(port2, [port2]);
    return channel;
  }

  /** The thread keeps the process alive while somebody waits for it, to its end if it dies. */
  #hold(change: 1 | -1): void {
    this.#waiting += change;
    if (this.#waiting > 0) this.#worker.ref();
    else this.#worker.unref();
  }

  get isUsed(): boolean {
    return this.#channels.size > 0;
  }
}

/** What a channel tells its thread. */
interface ThreadOfChannel {
  /** Somebody begins (1) or ceases (-1) to wait for a message. */
  waits(change: 1 | -1): void;
  closed(): void;
}

class HostChannel implements WorkerChannel {
  readonly #port: MessagePort;
  readonly #thread: ThreadOfChannel;
  readonly #unread: unknown[] = [];
  #reader: ((message: unknown) => void) | undefined;
  #hasEnded = false;
  #cause: unknown;

  constructor(port: MessagePort, thread: ThreadOfChannel) {
    this.#port = port;
    this.#thread = thread;
    port.on('message', (message: unknown) => {
      const reader = this.#reader;
      if (reader === undefined) this.#unread.push(message);
      else this.#give(reader, message);
    });
    port.unref();
  }

  get cause(): unknown {
    return this.#cause;
  }

  post(message: unknown): void {
    if (!this.#hasEnded) this.#port.postMessage(message);
  }

  receive(): Promise<unknown> {
    if (this.#unread.length > 0) return Promise.resolve(this.#unread.shift());
    if (this.#hasEnded) return Promise.resolve(undefined);
    this.#thread.waits(1);
    return new Promise((resolve) => {
      this.#reader = resolve;
    });
  }

  close(): void {
    this.end(undefined);
    this.#thread.closed();
  }

  end(cause: unknown): void {
    this.#hasEnded = true;
    this.#cause = cause;
    const reader = this.#reader;
    if (reader !== undefined) this.#give(reader, undefined);
    this.#port.close();
  }

  #give(reader: (message: unknown) => void, message: unknown): void {
    this.#reader = undefined;
    this.#thread.waits(-1);
    reader(message);
  }
}

/** The threads of this process by program. */
const threads = new Map<string, HostThread>();

/** A conversation with the thread that runs `module`, which is started if there is none. */
export function connectThread(module: URL): WorkerChannel {
  let thread = threads.get(module.href);
  if (thread === undefined || thread.hasEnded || !thread.isUsed) {
    thread = new HostThread(module);
    threads.set(module.href, thread);
  }
  return thread.connect();
}

/** For the program of a thread: calls `serve` for each conversation that begins. */
export function serveChannels(serve: (channel: ServedChannel) => void): void {
  if (parentPort === null) throw new AssertionError('this program runs as a thread of another');
  parentPort.on('message', (port: MessagePort) => {
    serve({
      post: (message) => {
        port.postMessage(message);
      },
      onMessage: (listener) => {
        port.on('message', listener);
      },
    });
  });
}
