// Does the merges that jobs ask for: small ones inline, in slices, the others in the tree worker. The main thread alone reads, writes and
// allocates. A worker that dies: its thread has ended before what was written for it is given back; the merge runs once more on a new one; a
// second death in the same merge poisons (law 19).

import { must } from '../base/assert.ts';
import { AssertionError, EngineError } from '../base/errors.ts';
import type { WorkerChannel } from '../env/index.ts';
import { readValue } from './blob/read-blob.ts';
import type { BlockNumber } from './block/block-number.ts';
import type { Parts } from './parts.ts';
import { decodeReference } from './run/blob-reference.ts';
import type { EngineState } from './state.ts';
import { mergeExtents } from './tree/job/merge-work.ts';
import { basementsOf, batchOf } from './tree/job/merge-request.ts';
import type { DuplicateRow, LargeRequest, MergeWork, StoredRequest } from './tree/job/merge-request.ts';
import type { FromWorker, Region } from './tree/job/merge-wire.ts';
import { decodeFences, encodeWork, frontIn, regionsOf, storedBytes } from './tree/job/merge-wire.ts';
import type { MergedExtents } from './tree/job/request.ts';
import type { Extent } from './tree/node.ts';
import type { Tree } from './tree/tree.ts';

/** With the step that comes after it a slice holds the event loop for three milliseconds or so, beside what clients want done in the same turn. */
const sliceMs = 2;
/** Bytes of a front that are copied between two turns of the event loop. */
const copyBytes = 1024 * 1024;
/** How often one merge is begun before its deaths are taken for its own fault. */
const attemptsMax = 2;

/** Least memory shared with the worker. */
const slabBytesMin = 256 * 1024;

const workerModule: URL = new URL('./job-worker.js', import.meta.url);

/** A merge, whose it is, and the blocks that were written for it. */
interface Merging {
  readonly tree: Tree;
  readonly work: MergeWork;
  readonly written: BlockNumber[];
}

/** A merge that is with the worker. */
interface Conversing extends Merging {
  readonly extents: (Extent | undefined)[];
  readonly slab: SharedArrayBuffer;
  readonly regions: readonly Region[];
}

/** Runs merges, one at a time. */
export class MergeRunner {
  readonly #state: EngineState;
  readonly #parts: Parts;
  #channel: WorkerChannel | undefined;
  #slab: SharedArrayBuffer | undefined;
  #merges: number = 0;

  constructor(state: EngineState, parts: Parts) {
    this.#state = state;
    this.#parts = parts;
  }

  /** The extents of a merge, written. The numbers of all blocks that were written for it are in `written`, also when it fails. */
  async run(tree: Tree, work: MergeWork, written: BlockNumber[]): Promise<MergedExtents> {
    const merging: Merging = { tree, work, written };
    const { env, options } = this.#state;
    const isSent = options.treeWorker && (options.updates === undefined || options.updates.module !== undefined);
    return isSent && env.tasks.isWorthSending(bytesOf(work)) ? await this.#send(merging) : await this.#runInline(merging);
  }

  /** Lets the worker go. */
  close(): void {
    this.#channel?.close();
    this.#channel = undefined;
    this.#keepSlab(undefined);
  }

  async #runInline(merging: Merging): Promise<MergedExtents> {
    const { clock, tasks, codecs } = this.#state.env;
    const extents: (Extent | undefined)[] = [];
    const merge = mergeExtents(merging.work, { codecs, updates: { functions: this.#state.updates } });
    let since = clock.monotonicMs();
    let answer: Uint8Array | undefined;
    for (;;) {
      const step = merge.next(answer);
      if (step.done === true) return extents;
      const request = step.value;
      answer = undefined;
      if (request.kind === 'stored') answer = await this.#stored(merging, request);
      else if (request.kind === 'large') answer = await this.#large(merging, request);
      else if (request.kind === 'built') await this.#keep(merging, extents, request);
      else if (request.kind === 'duplicate') throw duplicateRow(merging.tree, request);
      else if (request.kind === 'damaged') throw this.#damaged(merging, request.source, request.basement, request.error);
      else if (clock.monotonicMs() - since > sliceMs) {
        await tasks.pause();
        this.#state.checkUsable();
        since = clock.monotonicMs();
      }
    }
  }

  async #send(merging: Merging): Promise<MergedExtents> {
    const { counters, store } = this.#state;
    counters.sentJobs += 1;
    const before = merging.written.length;
    for (let attempt = 1; ; attempt++) {
      const channel = (this.#channel ??= this.#state.env.tasks.connect(workerModule));
      const extents = await this.#converse(channel, merging);
      if (extents !== undefined) return extents;
      // The thread has ended, and what it had made was written by this one: the leases are free.
      this.#channel = undefined;
      for (const number of merging.written.splice(before)) store.abandon(number);
      counters.workerDeaths += 1;
      this.#state.checkUsable();
      if (attempt === attemptsMax) throw new EngineError('poisoned', 'the tree worker died twice in the same job', { cause: channel.cause });
    }
  }

  /** One attempt; undefined when the worker died. */
  async #converse(channel: WorkerChannel, merging: Merging): Promise<MergedExtents | undefined> {
    const { regions, bytes } = regionsOf(merging.work);
    const slab = this.#slabOf(bytes);
    await Promise.all(regions.map((region, index) => this.#fill(merging, slab, region, index)));
    const merge = ++this.#merges;
    const updates = this.#state.options.updates?.module;
    channel.post(encodeWork(merging.work, { merge, slab, regions, ...(updates === undefined ? {} : { updates }) }));
    const extents: (Extent | undefined)[] = [];
    try {
      for (;;) {
        // eslint-disable-next-line frond/no-unsafe-assertion -- both ends of the channel are this program
        const message = (await channel.receive()) as FromWorker | undefined;
        if (message === undefined) return undefined;
        if (message.merge !== merge) continue;
        if (message.kind === 'end') return extents;
        await this.#answer(channel, { ...merging, extents, slab, regions }, message);
      }
    } catch (error) {
      channel.post({ kind: 'forget' });
      // Until it hears that, the worker may look into the slab.
      this.#keepSlab(undefined);
      throw error;
    }
  }

  async #answer(channel: WorkerChannel, merging: Conversing, message: Exclude<FromWorker, { readonly kind: 'end' }>): Promise<void> {
    switch (message.kind) {
      case 'stored': {
        const { source } = message;
        const bytes = await this.#read(merging, merging.slab, merging.regions[source], message);
        channel.post({ kind: 'stored', source, bytes });
        break;
      }
      case 'built':
        await this.#keep(merging, merging.extents, { ...message, fences: decodeFences(message.fences) });
        channel.post({ kind: 'taken' });
        break;
      case 'large':
        channel.post({ kind: 'value', value: (await this.#large(merging, message)).slice() });
        break;
      case 'duplicate':
        throw duplicateRow(merging.tree, message);
      case 'damaged':
        throw this.#damaged(merging, message.source, message.basement, new EngineError(message.code, message.message));
      case 'failed':
        throw new AssertionError(`in the tree worker: ${message.message}`);
    }
    this.#state.checkUsable();
  }

  async #stored(merging: Merging, request: StoredRequest): Promise<Uint8Array> {
    const { fences } = extentOf(merging.work, request.source);
    const target = new Uint8Array(storedBytes(fences, request));
    await this.#readStored(merging, request, target);
    return target;
  }

  /** Reads basements; those that the disk does not give are damaged. */
  async #readStored(merging: Merging, { source, from }: StoredRequest, target: Uint8Array): Promise<void> {
    const { block, fences } = extentOf(merging.work, source);
    try {
      await this.#state.store.readInto(block, fences.storedOffset(from), target);
    } catch (error) {
      throw error instanceof EngineError && error.code === 'io' ? this.#damaged(merging, source, from, new EngineError('corruption', error.message, { cause: error })) : error;
    }
  }

  /** A large value that updates build on. */
  async #large({ tree }: Merging, { key, reference }: LargeRequest): Promise<Uint8Array> {
    const { blobs, env } = this.#state;
    return await readValue(blobs, env, { place: decodeReference(reference), owner: { dictionary: tree.id, key } });
  }

  async #keep({ written }: Merging, extents: (Extent | undefined)[], built: { range: number; image: Uint8Array; fences: Extent['fences'] }): Promise<void> {
    const block = await this.#state.store.writeData(built.image, this.#state.isFull);
    written.push(block);
    this.#parts.keepFilters({ block, fences: built.fences }, built.image);
    while (extents.length < built.range) extents.push(undefined);
    extents[built.range] = { block, fences: built.fences };
  }

  #damaged({ tree, work }: Merging, source: number, basement: number, error: EngineError): unknown {
    const extent = extentOf(work, source);
    return this.#parts.placed(error, tree, { kind: 'miss', block: extent.block, part: { kind: 'basement', index: basement, extent } });
  }

  /** Memory that both threads see, as long as nothing larger is wanted; what a rare large merge wanted is not kept. */
  #slabOf(bytes: number): SharedArrayBuffer {
    const kept = this.#slab;
    if (kept !== undefined && kept.byteLength >= bytes) return kept;
    const slab = new SharedArrayBuffer(Math.max(slabBytesMin, bytes + (bytes >>> 3)));
    if (slab.byteLength <= this.#state.options.frontBytes * 3) this.#keepSlab(slab);
    return slab;
  }

  /** Keeps another slab, or none; what is kept counts against the budget. */
  #keepSlab(slab: SharedArrayBuffer | undefined): void {
    this.#state.budget.change('jobs', (slab?.byteLength ?? 0) - (this.#slab?.byteLength ?? 0));
    this.#slab = slab;
  }

  /** What goes along with a source: a copy of a front, which stays where it is for readers, or the first bytes of an extent. */
  async #fill(merging: Merging, slab: SharedArrayBuffer, region: Region, index: number): Promise<void> {
    const source = must(merging.work.sources[index], 'a source of this merge');
    if (source.kind === 'front' && region.kind === 'front') {
      const { arena, rows } = source.front.image();
      const copy = frontIn(slab, region);
      await this.#copy(arena, copy.arena, copyBytes);
      await this.#copy(rows, copy.rows, copyBytes / 4);
    } else if (source.kind === 'extent') {
      const { from, to } = basementsOf(source);
      // Those that follow in a chain come to lie where the first one does: they are asked for.
      if (from < to && region.kind === 'extent' && region.firstBytes > 0) await this.#read(merging, slab, region, batchOf(source.extent.fences, index, from, to));
    }
  }

  /** Reads a batch into its source's region; its bytes. */
  async #read(merging: Merging, slab: SharedArrayBuffer, region: Region | undefined, request: StoredRequest): Promise<number> {
    const { fences } = extentOf(merging.work, request.source);
    if (region?.kind !== 'extent') throw new AssertionError('an extent has a region');
    const target = new Uint8Array(slab, region.at, storedBytes(fences, request));
    await this.#readStored(merging, request, target);
    return target.length;
  }

  async #copy<T extends Uint8Array | Uint32Array>(source: T, target: T, step: number): Promise<void> {
    for (let at = 0; at < source.length; at += step) {
      if (at > 0) await this.#state.env.tasks.pause();
      target.set(source.subarray(at, at + step), at);
    }
  }
}

function duplicateRow(tree: Tree, { key, value }: DuplicateRow): EngineError {
  return new EngineError('duplicate', 'two rows of a load have one key', { place: { dictionary: tree.id, fromKey: key, value } });
}

function extentOf(work: MergeWork, index: number): Extent {
  const source = work.sources[index];
  if (source?.kind !== 'extent') throw new AssertionError('only extents have stored bytes');
  return source.extent;
}

/** Plain bytes that a merge reads, at most. */
function bytesOf(work: MergeWork): number {
  let bytes = 0;
  for (const source of work.sources) bytes += source.kind === 'front' ? source.front.messageBytes : source.extent.fences.rawBytes;
  return bytes;
}
