// A walk over one tree from its root: bounds and order of keys, checksums of all basements, filters, counters, large values. What is wrong is noted with its
// place, and the walk goes on beside it. It does not care whether the tree is the one that readers see or the one of a checkpoint that is held.

import { compareBytes } from '../base/bytes.ts';
import { EngineError } from '../base/errors.ts';
import { keyHash } from '../base/hash.ts';
import { readBlob } from './blob/read-blob.ts';
import type { BlockNumber } from './block/block-number.ts';
import { decodeReference } from './run/blob-reference.ts';
import { messageKinds } from './run/message.ts';
import type { RangeDelete } from './run/range-delete.ts';
import type { Filter } from './run/filter.ts';
import type { Run } from './run/run.ts';
import type { EngineState } from './state.ts';
import type { Extent, InternalNode, TreeNode } from './tree/node.ts';
import type { DictionaryId, VerifyProblem } from './types.ts';

interface Bounds {
  readonly from: Uint8Array | undefined;
  readonly to: Uint8Array | undefined;
}

/** A tree that is walked: as it is now, or as a held checkpoint has it. */
export interface TreeView {
  readonly id: DictionaryId;
  readonly root: BlockNumber;
  /** What commits have spilled that is not below its fronts. */
  readonly spilled: readonly Extent[];
  node(number: BlockNumber): Promise<TreeNode>;
  run(extent: Extent, index: number): Promise<Run>;
  /** A filter as it is on the disk. Damage is `corruption`. */
  filter(extent: Extent, index: number): Promise<Filter>;
}

/** A walk over one tree. */
export class TreeCheck {
  readonly problems: VerifyProblem[] = [];
  readonly blocks: Set<BlockNumber> = new Set();
  rows: number = 0;
  leaves: number = 0;
  storedBytes: number = 0;
  /** Bytes of blobs that the tree refers to, by segment. */
  readonly blobs: Map<number, number> = new Map();
  readonly #state: EngineState;
  readonly #tree: TreeView;

  constructor(state: EngineState, tree: TreeView) {
    this.#state = state;
    this.#tree = tree;
  }

  #problem(message: string): void {
    this.problems.push({ message: `dictionary ${this.#tree.id}: ${message}`, dictionary: this.#tree.id });
  }

  #caught(error: unknown): void {
    if (error instanceof EngineError && (error.code === 'corruption' || error.code === 'format' || error.code === 'io')) {
      this.problems.push(problemOf(this.#tree.id, error));
    } else throw error;
  }

  /** The tree, and what commits have spilled that is not below its fronts. */
  async all(): Promise<void> {
    const everything = { from: undefined, to: undefined };
    await this.node(this.#tree.root, undefined, everything);
    for (const extent of this.#tree.spilled) await this.#extent(extent, everything, everyKind);
  }

  async node(number: BlockNumber, height: number | undefined, bounds: Bounds): Promise<void> {
    if (this.blocks.has(number)) this.#problem(`node ${number} is named twice`);
    this.blocks.add(number);
    const node = await this.#read(number);
    if (node === undefined) return;
    const own = node.kind === 'leaf' ? 0 : node.height;
    if (height !== undefined && own !== height) this.#problem(`node ${number} says height ${own} at height ${height}`);
    if (node.kind === 'internal') await this.#children(node, bounds);
    else {
      this.leaves += 1;
      if (node.extent !== undefined) await this.#treeExtent(node.extent, bounds, leafKinds);
    }
  }

  async #read(number: BlockNumber): Promise<TreeNode | undefined> {
    try {
      return await this.#tree.node(number);
    } catch (error) {
      this.#caught(error);
      return undefined;
    }
  }

  async #children(node: InternalNode, bounds: Bounds): Promise<void> {
    for (let child = 0; child < node.children.length; child++) {
      const inside = { from: node.pivots[child - 1] ?? bounds.from, to: node.pivots[child] ?? bounds.to };
      if (inside.from !== undefined && inside.to !== undefined && compareBytes(inside.from, inside.to) >= 0) this.#problem(`pivots of node ${node.number} are out of order`);
      for (const extent of node.buffers[child] ?? []) await this.#treeExtent(extent, inside, everyKind);
      for (const range of node.ranges[child] ?? []) if (isAstray(range, inside)) this.#problem(`node ${node.number}: a range delete beyond its child's bounds`);
      await this.node(node.children[child] as BlockNumber, node.height - 1, inside);
    }
  }

  /** The filters of an extent; none where one is damaged, for without it reads go on. */
  async #filters(extent: Extent): Promise<(Filter | undefined)[]> {
    const filters: (Filter | undefined)[] = [];
    for (let i = 0; i < extent.fences.filters; i++) {
      const filter = this.#tree.filter(extent, i).catch((error: unknown) => {
        this.#caught(error);
        return undefined;
      });
      filters.push(await filter);
    }
    return filters;
  }

  async #treeExtent(extent: Extent, bounds: Bounds, kinds: ReadonlySet<number>): Promise<void> {
    for (const [segment, bytes] of extent.fences.blobs) this.blobs.set(segment, (this.blobs.get(segment) ?? 0) + bytes);
    await this.#extent(extent, bounds, kinds);
  }

  async #extent(extent: Extent, bounds: Bounds, kinds: ReadonlySet<number>): Promise<void> {
    const { fences } = extent;
    if (this.blocks.has(extent.block)) this.#problem(`block ${extent.block} is named twice`);
    this.blocks.add(extent.block);
    this.storedBytes += fences.storedBytes;
    let blobBytes = 0;
    const filters = await this.#filters(extent);
    let last: Uint8Array | undefined;
    for (let i = 0; i < fences.length; i++) {
      try {
        const run = await this.#tree.run(extent, i);
        this.rows += run.count;
        blobBytes += await this.#large(run);
        if (!run.kinds.subarray(0, run.count).every((kind) => kinds.has(kind))) this.#problem(`block ${extent.block}, basement ${i}: a leaf has an update`);
        if (run.firstUnsorted() >= 0) this.#problem(`block ${extent.block}, basement ${i}: keys are out of order`);
        const first = run.key(0);
        if (hidesKey(filters[fences.filterOf(i)], run, fences.continues(i))) this.#problem(`block ${extent.block}, basement ${i}: its filter hides a key`);
        if (compareBytes(first, fences.firstKey(i)) !== 0) this.#problem(`block ${extent.block}, basement ${i}: its first key is not that of its fence`);
        if (last !== undefined && compareBytes(last, first) > 0) this.#problem(`block ${extent.block}, basement ${i}: begins before the one before it ends`);
        last = run.key(run.count - 1).slice();
        if (outside(first, bounds) || outside(last, bounds)) this.#problem(`block ${extent.block}, basement ${i}: keys beyond its node's bounds`);
      } catch (error) {
        this.#caught(error);
      }
      await this.#state.env.tasks.pause();
    }
    if (blobBytes !== fences.blobBytes && this.problems.length === 0) this.#problem(`block ${extent.block}: it refers to ${blobBytes} bytes of large values, not ${fences.blobBytes}`);
  }

  /** Reads the large values of a run; gives their bytes. */
  async #large(run: Run): Promise<number> {
    const { blobs, env } = this.#state;
    let bytes = 0;
    for (let i = 0; i < run.count; i++) {
      if (run.kinds[i] !== messageKinds.reference) continue;
      const place = decodeReference(run.value(i));
      bytes += place.bytes;
      await readBlob(blobs, env, { place, owner: { dictionary: this.#tree.id, key: run.key(i) } }).catch((error: unknown) => this.#caught(error));
    }
    return bytes;
  }
}

/** What may wait for a leaf, and what may be in one: a merge that includes the leaf knows what each update builds on. */
const everyKind: ReadonlySet<number> = new Set(Object.values(messageKinds));
const leafKinds: ReadonlySet<number> = new Set(Object.values(messageKinds).filter((kind) => kind !== messageKinds.update));

/** An error in the words of a problem of a dictionary. */
export function problemOf(id: DictionaryId, { message, place: { file, offset, fromKey, toKey } }: EngineError): VerifyProblem {
  return {
    message, dictionary: id, ...(file === undefined ? {} : { file }), ...(offset === undefined ? {} : { offset }),
    ...(fromKey === undefined ? {} : { fromKey }), ...(toKey === undefined ? {} : { toKey }),
  };
}

/** A range delete that is empty, or has a bound that is not inside its child. */
function isAstray({ from, to }: RangeDelete, bounds: Bounds): boolean {
  if (from !== undefined && to !== undefined && compareBytes(from, to) >= 0) return true;
  if (from !== undefined && outside(from, bounds)) return true;
  return to !== undefined && ((bounds.from !== undefined && compareBytes(to, bounds.from) <= 0) || (bounds.to !== undefined && compareBytes(to, bounds.to) > 0));
}

/** Whether a filter says of a key that is in the run that it is not. A key that began in an earlier basement is known by that one's filter. */
function hidesKey(filter: Filter | undefined, run: Run, continues: boolean): boolean {
  if (filter === undefined) return false;
  const first = continues ? run.upperBound(run.key(0)) : 0;
  for (let i = first; i < run.count; i++) {
    if (!filter.mayHold(keyHash(run.keys, run.keyOffsets[i] as number, run.keyOffsets[i + 1] as number))) return true;
  }
  return false;
}

function outside(key: Uint8Array, { from, to }: Bounds): boolean {
  return (from !== undefined && compareBytes(key, from) < 0) || (to !== undefined && compareBytes(key, to) >= 0);
}
