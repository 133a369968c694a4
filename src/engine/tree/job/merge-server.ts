// Merges on the worker's side of a conversation: runs the same generator as everywhere, sends what it asks for, and waits for the answer in
// between. One merge at a time in each conversation. Nothing here does I/O.

import { assert, must } from '../../../base/assert.ts';
import type { Codecs, ServedChannel } from '../../../env/index.ts';
import { mergeExtents } from './merge-work.ts';
import type { MergeRequest, MergeStep } from './merge-work.ts';
import type { FromWorker, ToWorker } from './merge-wire.ts';
import { decodeWork, encodeFences } from './merge-wire.ts';

class MergeServer {
  readonly #channel: ServedChannel;
  readonly #codecs: Codecs;
  #merge: MergeStep<void> | undefined;

  constructor(channel: ServedChannel, codecs: Codecs) {
    this.#channel = channel;
    this.#codecs = codecs;
  }

  take(message: ToWorker): void {
    if (message.kind === 'forget') {
      this.#merge = undefined;
      return;
    }
    try {
      if (message.kind === 'begin') {
        assert(this.#merge === undefined, 'one merge at a time');
        this.#merge = mergeExtents(decodeWork(message), this.#codecs);
      }
      this.#goOn(message.kind === 'stored' ? message.bytes : undefined);
    } catch (error) {
      this.#merge = undefined;
      this.#send({ kind: 'failed', message: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  }

  /** Runs to the next request that has an answer. */
  #goOn(answer: Uint8Array | undefined): void {
    const merge = must(this.#merge, 'answers come while a merge is under way');
    for (let step = merge.next(answer); ; step = merge.next()) {
      if (step.done === true) {
        this.#merge = undefined;
        this.#send({ kind: 'end' });
        return;
      }
      const request = step.value;
      if (request.kind === 'pause') continue;
      this.#ask(request);
      return;
    }
  }

  #ask(request: Exclude<MergeRequest, { kind: 'pause' }>): void {
    switch (request.kind) {
      case 'stored':
        this.#send(request);
        break;
      case 'built': {
        const { range, image, fences } = request;
        this.#send({ kind: 'built', range, image, fences: encodeFences(fences) }, [image]);
        break;
      }
      case 'duplicate':
        this.#merge = undefined;
        this.#send(request);
        break;
      case 'damaged': {
        const { source, basement, error } = request;
        this.#merge = undefined;
        this.#send({ kind: 'damaged', source, basement, code: error.code, message: error.message });
        break;
      }
    }
  }

  #send(message: FromWorker, moved: readonly Uint8Array[] = []): void {
    this.#channel.post(message, moved);
  }
}

/** Serves merges to whoever holds the other end of the channel. */
export function serveMerges(channel: ServedChannel, codecs: Codecs): void {
  const server = new MergeServer(channel, codecs);
  channel.onMessage((message) => {
    // eslint-disable-next-line frond/no-unsafe-assertion -- both ends of the channel are this program
    server.take(message as ToWorker);
  });
}
