// Fetching what a synchronous walk missed: nodes and basements, from the block store into the cache of parts. Two who miss the same part
// wait for one read. What was fetched stays pinned until the walk that wanted it has used it, so every walk gets on (law 26).

import { EngineError } from '../base/errors.ts';
import { basementKey, nodeKey } from './cache/part-cache.ts';
import type { PartKey } from './cache/part-cache.ts';
import { decodeBasement } from './run/extent.ts';
import { Run } from './run/run.ts';
import type { EngineState } from './state.ts';
import type { Extent, TreeNode } from './tree/node.ts';
import { decodeNode, nodeBytes } from './tree/node.ts';
import type { Miss, Part, Tree } from './tree/tree.ts';
import type { BlockNumber } from './block/block-number.ts';

/** Reads parts of blocks. */
export class Parts {
  readonly #state: EngineState;
  readonly #inFlight: Map<PartKey, Promise<Part>> = new Map();

  constructor(state: EngineState) {
    this.#state = state;
  }

  /** Brings the missed part into the cache, pinned; returns its key for `unpin`. */
  async fetch(tree: Tree, miss: Miss): Promise<PartKey> {
    const key = miss.basement === undefined ? nodeKey(miss.block) : basementKey(miss.block, miss.basement.index);
    let reading = this.#inFlight.get(key);
    if (reading === undefined) {
      reading = (miss.basement === undefined ? this.#readNode(miss.block) : this.#readRun(miss.basement.extent, miss.basement.index)).finally(() => {
        this.#inFlight.delete(key);
      });
      this.#inFlight.set(key, reading);
    }
    const part = await reading.catch((error: unknown) => {
      throw this.placed(error, tree, miss);
    });
    this.#state.cache.put(key, part, part instanceof Run ? part.byteSize : nodeBytes(part), true);
    return key;
  }

  /** A node for a job. */
  async node(tree: Tree, number: BlockNumber): Promise<TreeNode> {
    return tree.node(number) ?? (await this.#readNode(number).catch((error: unknown) => {
      throw this.placed(error, tree, { kind: 'miss', block: number });
    }));
  }

  /** A basement for `verify`; it does not displace what readers use. */
  async run(tree: Tree, extent: Extent, index: number): Promise<Run> {
    const part = this.#state.cache.get(basementKey(extent.block, index));
    if (part instanceof Run) return part;
    return await this.#readRun(extent, index).catch((error: unknown) => {
      throw this.placed(error, tree, { kind: 'miss', block: extent.block, basement: { index, extent } });
    });
  }

  async #readNode(number: BlockNumber): Promise<TreeNode> {
    return decodeNode(number, await this.#state.store.readMeta(number));
  }

  async #readRun(extent: Extent, index: number): Promise<Run> {
    const { fences } = extent;
    const stored = await this.#state.store.readData(extent.block, fences.storedOffset(index), fences.storedLength(index));
    return decodeBasement(stored, fences, index, this.#state.env.codecs);
  }

  /** An error with its place in words: dictionary, file, offset, and the range of keys that is lost. */
  placed(error: unknown, tree: Tree, miss: Miss): unknown {
    if (!(error instanceof EngineError) || (error.code !== 'corruption' && error.code !== 'format')) return error;
    const { fences } = miss.basement?.extent ?? {};
    const index = miss.basement?.index ?? 0;
    const from = fences?.firstKey(index);
    const to = fences === undefined ? undefined : index + 1 < fences.length ? fences.firstKey(index + 1) : fences.lastKey;
    const { file, offset } = this.#state.store.placeOf(miss.block) ?? { file: 'data.frond', offset: 0 };
    const place = {
      file,
      offset: offset + (fences === undefined ? 0 : fences.storedOffset(index)),
      ...error.place,
      dictionary: tree.id,
      ...(from === undefined ? {} : { fromKey: from.slice() }),
      ...(to === undefined ? {} : { toKey: to.slice() }),
    };
    return new EngineError(error.code, `${file}: dictionary ${tree.id}, block ${miss.block}: ${error.message}`, { cause: error, place });
  }
}
