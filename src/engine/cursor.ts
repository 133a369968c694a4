// A cursor: batches of rows in order. Within a batch it holds runs by reference; between batches it holds its place and nothing else, and
// finds its way anew, so a flush beside it changes nothing it sees and a slow reader pins nothing (law 26).

import { compareBytes, concatBytes } from '../base/bytes.ts';
import { EngineError } from '../base/errors.ts';
import type { EngineParts } from './engine-parts.ts';
import type { Pins } from './reads.ts';
import { JoinedBatch, RowBatch } from './row-batch.ts';
import type { LargeValue } from './row-batch.ts';
import { decodeReference } from './run/blob-reference.ts';
import { messageKinds } from './run/message.ts';
import { applyChain } from './run/update.ts';
import { ScanParts } from './scan-parts.ts';
import { Rows } from './tree/rows.ts';
import { Scan } from './tree/scan.ts';
import type { FillResult } from './tree/scan.ts';
import type { OwnWrites } from './tree/scan-view.ts';
import type { Tree } from './tree/tree.ts';
import type { Batch, BatchLimit, Cursor, KeyRange, Soon } from './types.ts';

/** What a cursor is opened over. */
export interface CursorView {
  readonly transaction: { readonly isOpen: boolean };
  readonly tree: Tree;
  readonly seq: number;
  readonly range: KeyRange;
  readonly forward: boolean;
  /** The transaction's writes, as many as there were when the cursor was opened, where they lie now. */
  readonly own: () => OwnWrites | undefined;
  /** Large values are not fetched: who reads none of them need not wait for them. */
  readonly keysOnly?: boolean;
}

/** A batch that is being filled. */
interface Filling {
  readonly rows: Rows;
  readonly limit: BatchLimit;
  readonly scan: Scan;
  readonly version: number;
  readonly ahead: ScanParts;
}

const zero = Uint8Array.of(0);
const sliceMs = 4;

/** A scan in one transaction. */
export class EngineCursor implements Cursor {
  readonly #parts: EngineParts;
  readonly #view: CursorView;
  #from: Uint8Array | undefined;
  #to: Uint8Array | undefined;
  #ended: boolean = false;
  /** Batches have been given: more will be wanted. */
  #isLong: boolean = false;
  #open: boolean = true;

  constructor(parts: EngineParts, view: CursorView) {
    this.#parts = parts;
    this.#view = view;
    this.#from = view.range.from?.slice();
    this.#to = view.range.to?.slice();
  }

  nextBatch(limit: BatchLimit): Soon<Batch> {
    const batch = this.#nextBatch(limit);
    return batch instanceof Promise ? batch.then((later) => this.#filled(later, limit)) : this.#filled(batch, limit);
  }

  /** A batch that rows have gone from is not full: whoever gets a short one takes it for the last. */
  #filled(batch: RowBatch, limit: BatchLimit): Soon<Batch> {
    if (!batch.hasGone || this.#ended) return batch;
    const room = { rows: limit.rows - batch.length, bytes: limit.bytes - batch.bytes };
    if (room.rows <= 0 || (room.bytes <= 0 && batch.length > 0)) return batch;
    const more = this.nextBatch(room);
    if (batch.length === 0) return more;
    return more instanceof Promise ? more.then((later) => new JoinedBatch(batch, later)) : new JoinedBatch(batch, more);
  }

  #nextBatch(limit: BatchLimit): Soon<RowBatch> {
    if (!this.#open || !this.#view.transaction.isOpen) throw new EngineError('closed', 'the cursor is closed');
    this.#parts.state.checkUsable();
    const rows = new Rows(this.#view.forward);
    if (this.#ended) return new RowBatch(rows);
    const ahead = new ScanParts(this.#parts.state.cache);
    const scan = this.#scan(ahead);
    const { version } = this.#view.tree;
    const result = scan.fill(rows, limit);
    this.#parts.state.noteRead(this.#view.tree);
    if (typeof result === 'object' || result === 'slice') return this.#fillSlowly({ rows, limit, scan, version, ahead }, result);
    this.#keepPlace(scan, result);
    return rows.references === 0 ? new RowBatch(rows) : this.#withValues(rows);
  }

  /** The batch with what its rows refer to. */
  #withValues(rows: Rows): Soon<RowBatch> {
    const large = new Map<number, LargeValue>();
    for (let i = 0; i < rows.length; i++) {
      const value = this.#valueAt(rows, i);
      if (value instanceof Promise) return this.#valuesFrom(rows, { large, at: i, first: value });
      if (value !== undefined) large.set(i, value);
    }
    return new RowBatch(rows, large);
  }

  async #valuesFrom(rows: Rows, from: { readonly large: Map<number, LargeValue>; readonly at: number; readonly first: Promise<LargeValue> }): Promise<RowBatch> {
    const { large, at } = from;
    const ended = this.#parts.state.blobs.beginRead();
    try {
      large.set(at, await from.first);
      for (let i = at + 1; i < rows.length; i++) {
        const value = await this.#valueAt(rows, i);
        if (value !== undefined) large.set(i, value);
      }
    } finally {
      ended();
    }
    return new RowBatch(rows, large);
  }

  /** The value of a row that refers to it; undefined: the row has its value. */
  #valueAt(rows: Rows, index: number): Soon<LargeValue> | undefined {
    const run = rows.runOf(index);
    const at = rows.indexOf(index);
    const updates = rows.updates?.get(index);
    if (run.kinds[at] !== messageKinds.reference || (this.#view.keysOnly === true && updates === undefined)) return undefined;
    const value = this.#parts.reads.large(this.#view.tree.id, run.key(at), decodeReference(run.value(at)));
    if (updates === undefined) return value;
    const made = (base: Uint8Array): LargeValue => applyChain(this.#view.tree.updates, base, updates) ?? 'gone';
    return value instanceof Promise ? value.then(made) : made(value);
  }

  /** A scan from the cursor's place on. */
  #scan(ahead: ScanParts): Scan {
    const { tree, seq, forward, own } = this.#view;
    return new Scan({ tree, cache: ahead, wanted: { rows: 0, isLong: this.#isLong }, seq, forward, own: own() }, { from: this.#from, to: this.#to });
  }

  async #fillSlowly(work: Filling, first: FillResult): Promise<RowBatch> {
    const ended = this.#parts.state.blobs.beginRead();
    try {
      return await this.#gather(work, first);
    } finally {
      ended();
    }
  }

  async #gather(work: Filling, first: FillResult): Promise<RowBatch> {
    const { rows, limit, ahead } = work;
    const { clock, tasks } = this.#parts.state.env;
    const pins: Pins = this.#parts.reads.pins(ahead);
    let { scan, version } = work;
    let result = first;
    let since = clock.monotonicMs();
    try {
      while (typeof result === 'object' || result === 'slice') {
        if (typeof result === 'object') {
          if (!pins.fetchNow(this.#view.tree, result)) await pins.fetch(this.#view.tree, result);
        }
        if (clock.monotonicMs() - since > sliceMs) {
          await tasks.pause();
          since = clock.monotonicMs();
        }
        if (this.#view.tree.version !== version) {
          this.#keepPlace(scan, 'full');
          scan = this.#scan(ahead);
          version = this.#view.tree.version;
        }
        result = scan.fill(rows, limit);
      }
    } finally {
      ahead.end(scan);
      pins.release();
    }
    this.#keepPlace(scan, result);
    return rows.references === 0 ? new RowBatch(rows) : await this.#withValues(rows);
  }

  /** Notes where the next scan begins: behind the last key that was decided on. */
  #keepPlace(scan: Scan, result: 'full' | 'end'): void {
    if (result === 'end') this.#ended = true;
    this.#isLong = true;
    const last = scan.lastKey;
    if (last === undefined) return;
    if (this.#view.forward) this.#from = concatBytes([last, zero]);
    else this.#to = last.slice();
  }

  seek(key: Uint8Array): void {
    const { range, forward } = this.#view;
    this.#ended = false;
    this.#isLong = false;
    this.#from = range.from?.slice();
    this.#to = range.to?.slice();
    if (forward) this.#from = later(this.#from, key.slice());
    else this.#to = earlier(this.#to, concatBytes([key, zero]));
  }

  close(): void {
    this.#open = false;
  }
}

function later(a: Uint8Array | undefined, b: Uint8Array): Uint8Array {
  return a !== undefined && compareBytes(a, b) > 0 ? a : b;
}

function earlier(a: Uint8Array | undefined, b: Uint8Array): Uint8Array {
  return a !== undefined && compareBytes(a, b) < 0 ? a : b;
}
