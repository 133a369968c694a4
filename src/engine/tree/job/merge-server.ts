// Merges on the worker's side of a conversation: runs the same generator as everywhere, sends what it asks for, and waits for the answer in
// between. One merge at a time in each conversation. Nothing here does I/O.

import { assert, must } from '../../../base/assert.ts';
import type { Codecs, ServedChannel } from '../../../env/index.ts';
import type { UpdateSource } from '../../run/update.ts';
import type { Soon, UpdateFunctions } from '../../types.ts';
import { mergeExtents } from './merge-work.ts';
import type { MergeRequest, MergeStep } from './merge-request.ts';
import type { FromWorker, Region, ToWorker, WorkerWord } from './merge-wire.ts';
import { decodeWork, encodeFences } from './merge-wire.ts';

/** Gives the functions that a module exports. */
export type LoadUpdates = (module: string) => Soon<UpdateFunctions>;

/** Extents that may wait to be written while the merge goes on. */
const untakenMax = 2;

/** Least memory for an image, and the most that is kept for the next one. */
const slotBytesMin = 64 * 1024;
const slotBytesMax = 2 * 1024 * 1024;

class MergeServer {
  readonly #channel: ServedChannel;
  readonly #codecs: Codecs;
  readonly #load: LoadUpdates;
  /** Functions of updates, and the module they come from. */
  readonly #updates: UpdateSource = { functions: undefined };
  #module: string = '';
  #merge: MergeStep<void> | undefined;
  #number: number = 0;
  /** What the main thread fills, its parts, and for each source the bytes of the batch that is there and was not asked for. */
  #slab: SharedArrayBuffer = new SharedArrayBuffer(0);
  #regions: readonly Region[] = [];
  #there: number[] = [];
  /** Memory for images, given in turn: one is taken before its turn comes again. */
  readonly #slots: SharedArrayBuffer[] = [];
  #slot: number = 0;
  /** Extents that were sent and not taken yet. */
  #untaken: number = 0;
  /** The merge waits until one of them is. */
  #isFull: boolean = false;

  constructor(channel: ServedChannel, codecs: Codecs, load: LoadUpdates) {
    this.#load = load;
    this.#channel = channel;
    this.#codecs = codecs;
  }

  take(message: ToWorker): void {
    try {
      this.#take(message);
    } catch (error) {
      this.#fail(error);
    }
  }

  #take(message: ToWorker): void {
    switch (message.kind) {
      case 'begin':
        assert(this.#merge === undefined, 'one merge at a time');
        this.#merge = mergeExtents(decodeWork(message), { codecs: this.#codecs, updates: this.#updates, allocate: (bytes) => this.#allocate(bytes) });
        this.#module = message.updates ?? '';
        this.#number = message.merge;
        this.#slab = message.slab;
        this.#regions = message.regions;
        this.#there = message.regions.map((region) => (region.kind === 'extent' ? region.firstBytes : 0));
        this.#untaken = 0;
        this.#isFull = false;
        this.#goOn(undefined);
        break;
      case 'stored':
        this.#there[message.source] = message.bytes;
        this.#goOn(this.#batch(message.source));
        break;
      case 'taken':
        this.#untaken -= 1;
        if (this.#isFull) {
          this.#isFull = false;
          this.#goOn(undefined);
        }
        break;
      case 'value':
        this.#goOn(message.value);
        break;
      case 'forget':
        this.#merge = undefined;
        this.#isFull = false;
        break;
    }
  }

  /** Runs until something must be waited for. */
  #goOn(first: Uint8Array | undefined): void {
    const merge = must(this.#merge, 'answers come while a merge is under way');
    let answer = first;
    for (;;) {
      const step = merge.next(answer);
      answer = undefined;
      if (step.done === true) {
        this.#merge = undefined;
        this.#send({ kind: 'end' });
        return;
      }
      const request = step.value;
      if (request.kind === 'pause') continue;
      if (request.kind === 'functions') {
        if (this.#fetchFunctions(merge)) continue;
        return;
      }
      if (request.kind === 'stored') answer = this.#batch(request.source);
      if (answer === undefined && !this.#ask(request)) return;
    }
  }

  /** Loads the functions of updates; whether they are there at once. Else the merge goes on when they are, if nobody has given it up. */
  #fetchFunctions(merge: MergeStep<void>): boolean {
    const loaded = this.#load(this.#module);
    if (!(loaded instanceof Promise)) {
      this.#updates.functions = loaded;
      return true;
    }
    const goOn = (functions: UpdateFunctions): void => {
      this.#updates.functions = functions;
      if (this.#merge === merge) this.#goOn(undefined);
    };
    loaded.then(goOn).catch((error: unknown) => {
      if (this.#merge === merge) this.#fail(error);
    });
    return false;
  }

  #fail(error: unknown): void {
    this.#merge = undefined;
    this.#send({ kind: 'failed', message: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }

  /** The batch of a source that is there, once. */
  #batch(source: number): Uint8Array | undefined {
    const region = this.#regions[source];
    const bytes = this.#there[source] ?? 0;
    this.#there[source] = 0;
    return bytes === 0 || region?.kind !== 'extent' ? undefined : new Uint8Array(this.#slab, region.at, bytes);
  }

  #allocate(bytes: number): Uint8Array {
    this.#slot = (this.#slot + 1) % untakenMax;
    let slot = this.#slots[this.#slot];
    if (slot === undefined || slot.byteLength < bytes || slot.byteLength > Math.max(bytes, slotBytesMax)) {
      slot = new SharedArrayBuffer(Math.max(slotBytesMin, bytes + (bytes >>> 2)));
      this.#slots[this.#slot] = slot;
    }
    return new Uint8Array(slot, 0, bytes);
  }

  /** Sends a request; whether the merge goes on at once. */
  #ask(request: Exclude<MergeRequest, { kind: 'pause' | 'functions' }>): boolean {
    switch (request.kind) {
      case 'stored':
      case 'large':
        this.#send(request);
        return false;
      case 'built': {
        const { range, image, fences } = request;
        this.#send({ kind: 'built', range, image, fences: encodeFences(fences) });
        this.#untaken += 1;
        this.#isFull = this.#untaken >= untakenMax;
        return !this.#isFull;
      }
      case 'duplicate':
        this.#merge = undefined;
        this.#send(request);
        return false;
      case 'damaged': {
        const { source, basement, error } = request;
        this.#merge = undefined;
        this.#send({ kind: 'damaged', source, basement, code: error.code, message: error.message });
        return false;
      }
    }
  }

  #send(word: WorkerWord): void {
    const message: FromWorker = { ...word, merge: this.#number };
    this.#channel.post(message);
  }
}

/** Serves merges to whoever holds the other end of the channel. */
export function serveMerges(channel: ServedChannel, codecs: Codecs, load: LoadUpdates): void {
  const server = new MergeServer(channel, codecs, load);
  channel.onMessage((message) => {
    // eslint-disable-next-line frond/no-unsafe-assertion -- both ends of the channel are this program
    server.take(message as ToWorker);
  });
}
