// One dictionary of a damaged directory, row by row: a walk from the root down that merges, for each leaf, everything that waits above it
// with what the log has newer. What cannot be read is stepped over and reported with the keys it costs: a leaf's basement loses its rows, a
// waiting run loses newer changes (so older states of its keys come back), a node loses what is below it. In the place of what is lost come the
// large values that name its keys: what is newer above, or in the log, holds for them as it did for the rows.

import { compareBytes } from '../../base/bytes.ts';
import type { Codecs, Tasks } from '../../env/index.ts';
import type { BlockNumber } from '../block/block-number.ts';
import { decodeReference } from '../run/blob-reference.ts';
import { Merge } from '../run/merge.ts';
import { messageKinds } from '../run/message.ts';
import type { RangeDelete } from '../run/range-delete.ts';
import { RunBuilder } from '../run/run-builder.ts';
import { decodeBasement } from '../run/extent.ts';
import { Run, withSeq } from '../run/run.ts';
import { Front } from '../tree/front.ts';
import type { MergeWindow } from '../tree/job/merge-input.ts';
import type { Extent, InternalNode, TreeNode } from '../tree/node.ts';
import { decodeNode } from '../tree/node.ts';
import { FrontSource } from '../tree/scan-source.ts';
import type { ScanRange } from '../tree/scan-source.ts';
import type { TreeRecord } from '../tree/tree.ts';
import { damageOf, isDamage } from './damage.ts';
import type { DamageSink } from './damage.ts';
import type { FoundBlobs } from './found-blobs.ts';
import type { FoundStore } from './found-store.ts';
import type { UpdateFunctions } from '../types.ts';

/** One row that could be read; the bytes are the caller's. */
export interface FoundRow {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/** What a tree reader needs of the directory. */
export interface TreeSources {
  readonly store: FoundStore;
  readonly blobs: FoundBlobs;
  readonly codecs: Codecs;
  readonly tasks: Tasks;
  readonly report: DamageSink;
  /** Functions of updates. */
  readonly updates: UpdateFunctions;
}

/** What waits above a part of the tree, newest first. */
interface Waiting {
  readonly extents: readonly Extent[];
  readonly ranges: readonly RangeDelete[];
}

/** What the log has of a dictionary: messages in memory, or what one commit spilled. */
export type LoggedLayer = Front | { readonly extents: readonly Extent[]; readonly seq: number };

/** Gives the windows of one input of the merge. */
type Pull = () => Promise<MergeWindow | undefined>;

const stepMessages = 2000;
/** Large values that are given at once. */
const batchBytes = 4 * 1024 * 1024;
/** Everything is visible to somebody who comes after the last commit. */
const newest = Float64Array.of(Number.MAX_SAFE_INTEGER);
const nothing = new RunBuilder().finish();

/** A row, or what refers to its value. */
interface MergedRow extends FoundRow {
  readonly isReference: boolean;
}

/** The rows of a merge at a leaf: puts only, the newest of each key. */
class RowSink {
  rows: MergedRow[] = [];

  append(source: Run, index: number): void {
    const kind = source.kinds[index];
    if (kind !== messageKinds.remove) this.rows.push({ key: source.key(index).slice(), value: source.value(index).slice(), isReference: kind === messageKinds.reference });
  }

  take(): MergedRow[] {
    const { rows } = this;
    this.rows = [];
    return rows;
  }
}

/** Reads one tree. */
export class TreeReader {
  readonly #sources: TreeSources;
  readonly #record: Pick<TreeRecord, 'id' | 'root'>;
  /** What the log has for this dictionary that the tree has not. */
  readonly #logged: readonly LoggedLayer[];

  constructor(sources: TreeSources, record: Pick<TreeRecord, 'id' | 'root'>, logged: readonly LoggedLayer[]) {
    this.#sources = sources;
    this.#record = record;
    this.#logged = logged;
  }

  /** All rows in order of keys, in batches. A dictionary that only the log knows has no tree (`root` 0). */
  async *rows(): AsyncGenerator<readonly FoundRow[]> {
    const everything = { from: undefined, to: undefined };
    const above: Waiting = { extents: [], ranges: this.#logged.flatMap((layer) => (layer instanceof Front ? layer.ranges : [])) };
    if (this.#record.root === 0) yield* this.#merge(above, everything);
    else yield* this.#subtree(this.#record.root, above, everything);
  }

  async *#subtree(number: BlockNumber, above: Waiting, range: ScanRange): AsyncGenerator<readonly FoundRow[]> {
    const node = await this.#node(number, range);
    if (node instanceof Run) yield* this.#merge(above, range, node);
    else if (node.kind === 'internal') yield* this.#children(node, above, range);
    else yield* this.#merge(node.extent === undefined ? above : { ...above, extents: [...above.extents, node.extent] }, range);
  }

  async *#children(node: InternalNode, above: Waiting, range: ScanRange): AsyncGenerator<readonly FoundRow[]> {
    for (const [index, child] of node.children.entries()) {
      const inside = { from: node.pivots[index - 1] ?? range.from, to: node.pivots[index] ?? range.to };
      const waiting = { extents: [...above.extents, ...(node.buffers[index] ?? [])], ranges: [...above.ranges, ...(node.ranges[index] ?? [])] };
      yield* this.#subtree(child, waiting, inside);
    }
  }

  /** A node, or, where it is lost, the large values of its keys: these, and what waits above it, are all there is of them. */
  async #node(number: BlockNumber, range: ScanRange): Promise<TreeNode | Run> {
    const { store, blobs, report } = this.#sources;
    const { id } = this.#record;
    try {
      return decodeNode(number, await store.readMeta(number));
    } catch (error) {
      if (!isDamage(error)) throw error;
      const found = await blobs.referencesTo(id, range, 0);
      report(damageOf(error, { dictionary: id, ...bounds(range.from, range.to), message: `a node is lost, and all below it${besides(found)}` }));
      return found;
    }
  }

  /** `beneath`: what is found in the place of a lost node. */
  async *#merge({ extents, ranges }: Waiting, range: ScanRange, beneath?: Run): AsyncGenerator<readonly FoundRow[]> {
    const inputs: Pull[] = extents.map((extent, index) => this.#extent(extent, range, { isLeaf: beneath === undefined && index === extents.length - 1, seq: undefined }));
    if (beneath !== undefined) inputs.push(fromRun(beneath));
    for (const layer of this.#logged) {
      if (layer instanceof Front) inputs.unshift(fromFront(layer, range));
      else inputs.unshift(...layer.extents.map((extent) => this.#extent(extent, range, { isLeaf: false, seq: layer.seq })));
    }
    if (inputs.length === 0) return;
    const merge = new Merge(inputs.length, { snapshots: newest, atLeaf: true, ranges, updates: { functions: this.#sources.updates } });
    const sink = new RowSink();
    for (;;) {
      const end = merge.step(sink, { messages: stepMessages });
      if (end === 'input') {
        const window = await inputs[merge.needs]?.();
        merge.feed(merge.needs, window?.run, window?.start, window?.end);
        continue;
      }
      if (end === 'value') {
        merge.give(await this.#large(merge.wanted.key, merge.wanted.reference));
        continue;
      }
      if (sink.rows.length > 0) yield* this.#withValues(sink.take());
      if (end === 'end') return;
      await this.#sources.tasks.pause();
    }
  }

  /** Rows with their large values, a few at a time; one whose value is lost is reported and left out. */
  async *#withValues(merged: readonly MergedRow[]): AsyncGenerator<readonly FoundRow[]> {
    let rows: FoundRow[] = [];
    let bytes = 0;
    for (const { key, value, isReference } of merged) {
      const found = isReference ? await this.#large(key, value) : value;
      if (found === undefined) continue;
      rows.push({ key, value: found });
      bytes += found.length;
      if (bytes < batchBytes) continue;
      yield rows;
      [rows, bytes] = [[], 0];
    }
    if (rows.length > 0) yield rows;
  }

  async #large(key: Uint8Array, reference: Uint8Array): Promise<Uint8Array | undefined> {
    const { blobs, report } = this.#sources;
    try {
      return await blobs.value({ place: decodeReference(reference), owner: { dictionary: this.#record.id, key } });
    } catch (error) {
      if (!isDamage(error)) throw error;
      report(damageOf(error, { dictionary: this.#record.id, fromKey: key, toKey: key, message: 'a large value is lost' }));
      return undefined;
    }
  }

  #extent(extent: Extent, { from, to }: ScanRange, { isLeaf, seq }: { isLeaf: boolean; seq: number | undefined }): Pull {
    const { fences } = extent;
    let index = from === undefined ? 0 : fences.firstFor(from);
    return async () => {
      while (index < fences.length && (to === undefined || compareBytes(fences.firstKey(index), to) < 0)) {
        const read = await this.#basement(extent, index++, isLeaf);
        const run = seq === undefined || read.count === 0 ? read : withSeq(read, seq);
        const start = from === undefined ? 0 : run.lowerBound(from);
        const end = to === undefined ? run.count : run.lowerBound(to);
        if (start < end) return { run, start, end };
      }
      return undefined;
    };
  }

  async #basement(extent: Extent, index: number, isLeaf: boolean): Promise<Run> {
    const { store, blobs, codecs, report } = this.#sources;
    const { fences } = extent;
    try {
      return decodeBasement(await store.readData(extent.block, fences.storedOffset(index), fences.storedLength(index)), fences, index, codecs);
    } catch (error) {
      if (!isDamage(error)) throw error;
      const keys = bounds(fences.firstKey(index), index + 1 < fences.length ? fences.firstKey(index + 1) : fences.lastKey);
      const place = { file: store.path, offset: (store.offsetOf(extent.block) ?? 0) + fences.storedOffset(index) };
      const isLast = index + 1 === fences.length;
      const lost = { from: fences.firstKey(index), to: isLast ? fences.lastKey : fences.firstKey(index + 1), withTo: isLast, segments: new Set(fences.blobs.keys()) };
      const found = fences.blobs.size === 0 ? nothing : await blobs.referencesTo(this.#record.id, lost, isLeaf ? 0 : fences.maxSeq);
      const message = isLeaf ? `${String(fences.rows(index))} rows are lost` : `${String(fences.rows(index))} changes are lost, older states of their keys are given`;
      report(damageOf(error, { dictionary: this.#record.id, ...place, ...keys, message: `${message}${besides(found)}` }));
      return found;
    }
  }
}

function fromFront(front: Front, range: ScanRange): Pull {
  const source = new FrontSource(front, Number.MAX_SAFE_INTEGER, range, true);
  return async () => {
    const window = source.next();
    return await Promise.resolve(window === 'end' ? undefined : window);
  };
}

function fromRun(run: Run): Pull {
  let isGiven = false;
  return async () => {
    if (isGiven) { await Promise.resolve(undefined); return; }
    isGiven = true;
    return run.count === 0 ? undefined : { run, start: 0, end: run.count };
  };
}

/** What is given in the place of what is lost, in words. */
function besides({ count }: Run): string {
  return count === 0 ? '' : `, but for ${String(count)} large values that name such keys: the last that were written, also where they were removed or never committed`;
}

function bounds(from: Uint8Array | undefined, to: Uint8Array | undefined): { readonly fromKey?: Uint8Array; readonly toKey?: Uint8Array } {
  return { ...(from === undefined ? {} : { fromKey: from.slice() }), ...(to === undefined ? {} : { toKey: to.slice() }) };
}
