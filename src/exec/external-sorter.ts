// A sort of more than memory holds: runs are sorted in memory, written to a scratch place when all work of the server holds too much, and merged as
// they are read. Beyond 100 MB it refuses where disk may not be used. Follows the manual's page "$sort (aggregation)", section "Memory Restrictions".

import { BinaryHeap } from '../base/binary-heap.ts';
import { compareBytes } from '../base/bytes.ts';
import { BATCH_DOCUMENTS_MAX } from './batches.ts';
import { MEMORY_BYTES_MAX } from './memory.ts';
import type { Scratch, ScratchPlace, Workspace } from './scratch.ts';
import type { WorkHold } from './work-memory.ts';

/** What is sorted: by its key, then by its order of arrival. */
export interface Sortable {
  readonly key: Uint8Array;
  readonly order: number;
}

/** How what is sorted becomes bytes and comes back; key and order are kept beside them. */
export interface SortCodec<E extends Sortable> {
  pack(entry: E): Uint8Array;
  unpack(place: Sortable, packed: Uint8Array): E;
}

const RUN_ENTRIES = 2048;
const FRAME_BYTES = 64 * 1024;
const ENTRY_BYTES = 64;

const compare = (left: Sortable, right: Sortable): number => compareBytes(left.key, right.key) || left.order - right.order;

/** A run as it is merged: what is at hand of it, and how more of it comes. */
interface Run<E> {
  entries: readonly E[];
  at: number;
  more: ScratchPlace[];
}

/** Sorts what is added. `relieve` is to be awaited from time to time: it writes out what is too much. */
export class ExternalSorter<E extends Sortable> {
  readonly #codec: SortCodec<E>;
  readonly #workspace: Workspace | undefined;
  readonly #hold: WorkHold | undefined;
  readonly #refusal: () => Error;
  readonly #bytesMax: number;
  #scratch: Scratch | undefined;
  readonly #written: ScratchPlace[][] = [];
  #runs: E[][] = [];
  #open: E[] = [];
  #bytes = 0;
  /** What was written out. */
  #bytesAside = 0;

  /** `refusal`: what is thrown beyond `bytesMax` where disk may not be used. */
  constructor(codec: SortCodec<E>, workspace: Workspace | undefined, refusal: () => Error, bytesMax: number = MEMORY_BYTES_MAX) {
    this.#codec = codec;
    this.#workspace = workspace;
    this.#hold = workspace?.memory.open();
    this.#refusal = refusal;
    this.#bytesMax = bytesMax;
  }

  /** How often it wrote out. */
  get spills(): number {
    return this.#written.length;
  }

  /** `bytes`: what the entry holds besides its key. */
  add(entry: E, bytes: number): void {
    this.#open.push(entry);
    this.#bytes += entry.key.length + bytes + ENTRY_BYTES;
    if (this.#open.length >= RUN_ENTRIES) this.#closeRun();
  }

  /** Writes all that is in memory out, if that is too much; refuses beyond the limit where disk may not be used. */
  async relieve(): Promise<void> {
    const exceeds = this.#bytes + this.#bytesAside > this.#bytesMax;
    if (exceeds && this.#workspace?.mayExceed !== true) throw this.#refusal();
    const mustGiveWay = this.#hold?.holds(this.#bytes) === true;
    if (this.#workspace === undefined || (!mustGiveWay && this.#bytes <= this.#bytesMax)) return;
    this.#scratch ??= await this.#workspace.openScratch();
    const places: ScratchPlace[] = [];
    for await (const batch of this.#merged(this.#memoryRuns())) places.push(...(await this.#write(this.#scratch, batch)));
    this.#written.push(places);
    this.#runs = [];
    this.#bytesAside += this.#bytes;
    this.#bytes = 0;
    this.#hold?.holds(0);
  }

  /** All of it in order, or the first `limit`. Runs once; afterwards it is to be closed. */
  async *results(limit: number): AsyncGenerator<readonly E[], void> {
    const written = this.#written.map((more): Run<E> => ({ entries: [], at: 0, more }));
    let left = limit;
    for await (const batch of this.#merged([...written, ...this.#memoryRuns()])) {
      yield batch.length <= left ? batch : batch.slice(0, left);
      left -= batch.length;
      if (left <= 0) return;
    }
  }

  close(): void {
    this.#runs = [];
    this.#open = [];
    this.#scratch?.close();
    this.#scratch = undefined;
    this.#hold?.close();
  }

  #closeRun(): void {
    if (this.#open.length > 0) this.#runs.push(this.#open.sort(compare));
    this.#open = [];
  }

  #memoryRuns(): Run<E>[] {
    this.#closeRun();
    return this.#runs.map((entries) => ({ entries, at: 0, more: [] }));
  }

  async *#merged(runs: readonly Run<E>[]): AsyncGenerator<readonly E[], void> {
    const heap = new BinaryHeap<{ run: Run<E>; entry: E }>((left, right) => compare(left.entry, right.entry));
    for (const run of runs) await this.#advance(run, heap);
    let batch: E[] = [];
    for (let least = heap.pop(); least !== undefined; least = heap.pop()) {
      batch.push(least.entry);
      const { run } = least;
      const next = run.entries[run.at];
      if (next === undefined) await this.#advance(run, heap);
      else {
        run.at += 1;
        heap.push({ run, entry: next });
      }
      if (batch.length < BATCH_DOCUMENTS_MAX) continue;
      yield batch;
      batch = [];
    }
    if (batch.length > 0) yield batch;
  }

  /** Puts the next entry of a run on the heap, reading more of it where that is due. */
  async #advance(run: Run<E>, heap: BinaryHeap<{ run: Run<E>; entry: E }>): Promise<void> {
    if (run.at >= run.entries.length) {
      const place = run.more.shift();
      if (place === undefined || this.#scratch === undefined) return;
      run.entries = this.#read(await this.#scratch.read(place));
      run.at = 0;
    }
    const entry = run.entries[run.at];
    run.at += 1;
    if (entry !== undefined) heap.push({ run, entry });
  }

  /** Writes entries in frames of bounded size. */
  async #write(scratch: Scratch, entries: readonly E[]): Promise<ScratchPlace[]> {
    const places: ScratchPlace[] = [];
    let packed: { entry: E; bytes: Uint8Array }[] = [];
    let size = 0;
    const flush = async (): Promise<void> => {
      if (packed.length > 0) places.push(await scratch.append(frameOf(packed, size)));
      packed = [];
      size = 0;
    };
    for (const entry of entries) {
      const bytes = this.#codec.pack(entry);
      packed.push({ entry, bytes });
      size += 16 + entry.key.length + bytes.length;
      if (size >= FRAME_BYTES) await flush();
    }
    await flush();
    return places;
  }

  #read(frame: Uint8Array): E[] {
    const view = new DataView(frame.buffer, frame.byteOffset, frame.length);
    const entries: E[] = [];
    for (let at = 0; at < frame.length; ) {
      const keyEnd = at + 16 + view.getUint32(at);
      const end = keyEnd + view.getUint32(at + 4);
      const place = { key: frame.subarray(at + 16, keyEnd), order: view.getFloat64(at + 8) };
      entries.push(this.#codec.unpack(place, frame.subarray(keyEnd, end)));
      at = end;
    }
    return entries;
  }
}

/** Length of the key, length of the rest, the order, then both. */
function frameOf(packed: readonly { readonly entry: Sortable; readonly bytes: Uint8Array }[], size: number): Uint8Array {
  const frame = new Uint8Array(size);
  const view = new DataView(frame.buffer);
  let at = 0;
  for (const { entry, bytes } of packed) {
    view.setUint32(at, entry.key.length);
    view.setUint32(at + 4, bytes.length);
    view.setFloat64(at + 8, entry.order);
    frame.set(entry.key, at + 16);
    frame.set(bytes, at + 16 + entry.key.length);
    at += 16 + entry.key.length + bytes.length;
  }
  return frame;
}
