// What a transaction has written beyond its share of memory (law 7): sorted runs in free space of the data file, which a crash leaves free. Its
// own reads and scans see them, a mark takes back what came after it there too. At commit all runs of a dictionary become one, of the newest
// message of each key; checkpoints know it from before the commit is logged until it is below the fronts.

import type { BlockNumber } from './block/block-number.ts';
import type { EngineParts } from './engine-parts.ts';
import type { Front } from './tree/front.ts';
import { Front as NewFront } from './tree/front.ts';
import type { MergeCut, MergeSource } from './tree/job/merge-request.ts';
import type { Extent } from './tree/node.ts';
import { searchChain } from './tree/search-chain.ts';
import type { Chain, Spill, TakenBack } from './tree/spilled.ts';
import type { Tree } from './tree/tree.ts';
import type { DictionaryId } from './types.ts';
import type { WriteSet } from './txn/write-set.ts';

/** Plain bytes of one extent. */
const extentBytes = 1024 * 1024;
const backupWaitMs = 100;
/** So many runs of one level become one of the next. */
const runsOfLevel = 8;

/** What a transaction has said last of a key. An update holds all it has said since it last said what the value is. */
export interface OwnMessage {
  readonly kind: number;
  readonly value: Uint8Array;
}

/** A sorted run, and how often what is in it was merged. */
interface Run {
  readonly chain: Chain;
  readonly level: number;
}

const noRuns: readonly Run[] = [];

/** The spilled part of one write set. */
export class SpilledWrites {
  readonly #parts: EngineParts;
  /** For each dictionary its runs, newest first. */
  readonly #runs: Map<DictionaryId, readonly Run[]> = new Map();
  readonly #blocks: Set<BlockNumber> = new Set();
  #takenBack: readonly TakenBack[] = [];
  #fenceBytes: number = 0;
  /** What was made known to checkpoints and is not committed yet. */
  #announced: Spill[] = [];

  constructor(parts: EngineParts) {
    this.#parts = parts;
  }

  get takenBack(): readonly TakenBack[] {
    return this.#takenBack;
  }

  /** Memory held. */
  get byteSize(): number {
    return this.#fenceBytes;
  }

  runsOf(id: DictionaryId): readonly Chain[] {
    return (this.#runs.get(id) ?? noRuns).map(({ chain }) => chain);
  }

  /** Moves all messages of the write set into the data file; what stays in memory is empty fronts with their range deletes. */
  async spill(writes: WriteSet, treeOf: (id: DictionaryId) => Tree): Promise<void> {
    for (const [id, front] of [...writes.fronts]) {
      if (front.count === 0) continue;
      const chain = await this.#write(treeOf(id), [{ kind: 'front', front }], { kind: 'load', bytes: extentBytes, isLast: false });
      this.#runs.set(id, [{ chain, level: 0 }, ...(this.#runs.get(id) ?? [])]);
      await this.#joinLevels(treeOf(id));
      const next = new NewFront();
      for (const range of front.ranges.toReversed()) next.appendRange(range);
      writes.replaceFront(id, next);
    }
  }

  /** Makes one run of the newest ones of one level, as long as there are enough, with all operations: a mark may take some back. */
  async #joinLevels(tree: Tree): Promise<void> {
    for (;;) {
      const runs = this.#runs.get(tree.id) ?? [];
      const level = runs[0]?.level ?? 0;
      const like = runs.findIndex((run) => run.level !== level);
      const count = like < 0 ? runs.length : like;
      if (count < runsOfLevel) return;
      const some = runs.slice(0, count).map(({ chain }) => chain);
      const chain = await this.#write(tree, some.flatMap(chainSources), { kind: 'load', bytes: extentBytes, isLast: false });
      this.#runs.set(tree.id, [{ chain, level: level + 1 }, ...runs.slice(count)]);
      this.#giveBack(some.flat());
    }
  }

  #giveBack(extents: readonly Extent[]): void {
    for (const { block, fences } of extents) {
      this.#fenceBytes -= fences.byteSize;
      if (this.#blocks.delete(block)) this.#parts.state.store.abandon(block);
    }
  }

  async #write(tree: Tree, sources: readonly MergeSource[], cut: MergeCut, ranges: Front['ranges'] = []): Promise<Chain> {
    const { state, spillGate, spillRunner } = this.#parts;
    const written: BlockNumber[] = [];
    const work = { sources, ranges, cut, snapshots: Float64Array.of(0), codec: 'lz4' as const, readPageBytes: tree.options.readPageBytes };
    try {
      const extents = (await spillGate.alone(() => state.fileGate.pass(() => spillRunner.run(tree, work, written)))).filter((extent) => extent !== undefined);
      for (const { fences } of extents) this.#fenceBytes += fences.byteSize;
      return extents;
    } finally {
      for (const number of written) this.#blocks.add(number);
    }
  }

  /** The newest message of a key in the runs, and its operation; undefined: none is here. */
  async find(tree: Tree, key: Uint8Array): Promise<(OwnMessage & { readonly operation: number }) | undefined> {
    const { state, reads } = this.#parts;
    const pins = reads.pins();
    try {
      for (const chain of this.runsOf(tree.id)) {
        let found = searchChain(state.cache, chain, key, { seqMax: Infinity, takenBack: this.#takenBack });
        while (found !== undefined && 'block' in found) {
          await pins.fetch(tree, found);
          found = searchChain(state.cache, chain, key, { seqMax: Infinity, takenBack: this.#takenBack });
        }
        if (found === undefined) continue;
        const { run, index } = found;
        return { operation: run.seq(index), kind: run.kind(index), value: run.value(index).slice() };
      }
      return undefined;
    } finally {
      pins.release();
    }
  }

  /** What came after the operation `mark`, up to `last`, is no more. */
  takeBack(mark: number, last: number): void {
    if (this.#runs.size > 0 && last > mark) this.#takenBack = [...this.#takenBack, { after: mark, upTo: last }];
  }

  /** One run for each dictionary, the newest message of each key, in a durable checkpoint; what is left in memory of these dictionaries is in it. */
  async announce(writes: WriteSet, treeOf: (id: DictionaryId) => Tree): Promise<readonly Spill[]> {
    const { state } = this.#parts;
    const merged: { dictionary: DictionaryId; extents: Chain }[] = [];
    for (const [dictionary, runs] of this.#runs) {
      const front = writes.fronts.get(dictionary);
      const sources: MergeSource[] = [...(front === undefined || front.count === 0 ? [] : [{ kind: 'front', front } as const]), ...runs.flatMap(({ chain }) => chainSources(chain))];
      const cut = { kind: 'spill', bytes: extentBytes, takenBack: this.#takenBack } as const;
      merged.push({ dictionary, extents: await this.#write(treeOf(dictionary), sources, cut, front?.ranges) });
    }
    // A backup has its checkpoint and copies the log behind it: it would not know what the record names.
    while (state.isBackingUp) await state.env.clock.sleep(backupWaitMs);
    state.checkUsable();
    this.#announced = merged.map(({ dictionary, extents }) => ({ number: state.nextDictionary++, dictionary, extents }));
    for (const spill of this.#announced) {
      state.spills.set(spill.number, spill);
      for (const { block } of spill.extents) {
        state.store.adopt(block);
        this.#blocks.delete(block);
      }
    }
    await this.#parts.checkpoint();
    return this.#announced;
  }

  /** The record that names what was announced is in the log. */
  logged(): void {
    this.#announced = [];
  }

  /** Gives everything back that is not committed. */
  release(): void {
    const { state } = this.#parts;
    for (const block of this.#blocks) state.store.abandon(block);
    for (const { number, extents } of this.#announced) {
      state.spills.delete(number);
      for (const { block } of extents) state.store.drop(block);
    }
    this.#blocks.clear();
    this.#announced = [];
    this.#runs.clear();
    this.#fenceBytes = 0;
  }
}

function chainSources(chain: Chain): MergeSource[] {
  return chain.map((extent: Extent, i) => (i === 0 ? { kind: 'extent', extent } : { kind: 'extent', extent, follows: true }));
}
