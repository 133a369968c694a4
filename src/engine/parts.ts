// Fetching what a synchronous walk missed: nodes, filters and basements, from the block store into the cache of parts. Two who miss the same
// part wait for one read. What was fetched stays pinned until the walk that wanted it has used it, so every walk gets on (law 26). What the
// system has in memory is read at once, without a promise.

import { must } from '../base/assert.ts';
import { EngineError } from '../base/errors.ts';
import { basementKey, filterKey, nodeKey } from './cache/part-cache.ts';
import type { PartKey } from './cache/part-cache.ts';
import { decodeBasement, decodeFilter } from './run/extent.ts';
import { Filter } from './run/filter.ts';
import { Run } from './run/run.ts';
import type { ScanParts } from './scan-parts.ts';
import type { EngineState } from './state.ts';
import type { Extent, TreeNode } from './tree/node.ts';
import { decodeNode, nodeBytes } from './tree/node.ts';
import type { Miss, Part, Tree } from './tree/tree.ts';
import type { BlockNumber } from './block/block-number.ts';

type ExtentPart = NonNullable<Miss['part']>;

/** Reads parts of blocks. */
export class Parts {
  readonly #state: EngineState;
  /** What is being read, and the version of its tree when that began: of a node an edit may make another one meanwhile. */
  readonly #inFlight: Map<PartKey, { readonly version: number; readonly reading: Promise<Part> }> = new Map();

  constructor(state: EngineState) {
    this.#state = state;
  }

  /**
   * Brings the missed part into the cache, pinned; returns its key for `unpin`. Undefined, and nothing kept, where the tree was changed while a node was
   * read: what was read may be what the node was before, and whoever walks finds the way anew.
   */
  async fetch(tree: Tree, miss: Miss): Promise<PartKey | undefined> {
    const key = keyOf(miss);
    const { version } = tree;
    const isStale = (): boolean => miss.part === undefined && tree.version !== version;
    let part: Part;
    try {
      part = await this.#reading(key, miss, version);
    } catch (error) {
      if (isStale()) return undefined;
      throw this.placed(error, tree, miss);
    }
    if (isStale()) return undefined;
    this.#keep(key, part);
    return key;
  }

  /** The read of a part that is under way, or one that begins now. */
  #reading(key: PartKey, miss: Miss, version: number): Promise<Part> {
    const known = this.#inFlight.get(key);
    if (known !== undefined && (miss.part !== undefined || known.version === version)) return known.reading;
    const reading: Promise<Part> = (miss.part === undefined ? this.#readNode(miss.block) : this.#readPart(miss.part)).finally(() => {
      if (this.#inFlight.get(key)?.reading === reading) this.#inFlight.delete(key);
    });
    this.#inFlight.set(key, { version, reading });
    return reading;
  }

  /** Reads a basement and those ahead of it for one reader, if that can be done at once; whether it could. */
  readAheadNow(tree: Tree, miss: Miss, into: ScanParts): boolean {
    const part = must(miss.part, 'a basement');
    const { offset, length } = rangeOf(part);
    const stored = this.#state.store.readDataNow(part.extent.block, offset, length);
    if (stored === undefined) return false;
    this.#decodeAhead(tree, miss, stored, into);
    return true;
  }

  /** Reads a basement and those ahead of it for one reader. */
  async readAhead(tree: Tree, miss: Miss, into: ScanParts): Promise<void> {
    const stored = await this.#readStored(must(miss.part, 'a basement')).catch((error: unknown) => {
      throw this.placed(error, tree, miss);
    });
    this.#decodeAhead(tree, miss, stored, into);
  }

  /** Decodes a basement and what was read ahead of it. What is damaged of that is met again by whoever wants it. */
  #decodeAhead(tree: Tree, miss: Miss, stored: Uint8Array, into: ScanParts): void {
    const { extent, index, ahead = 0 } = must(miss.part, 'a basement');
    const { fences, block } = extent;
    const { cache, env } = this.#state;
    const first = fences.storedOffset(Math.min(index, index + ahead));
    for (let i = Math.min(index, index + ahead); i <= Math.max(index, index + ahead); i++) {
      const key = basementKey(block, i);
      if (i !== index && cache.get(key) !== undefined) continue;
      const at = fences.storedOffset(i) - first;
      try {
        into.put(key, decodeBasement(stored.subarray(at, at + fences.storedLength(i)), fences, i, env.codecs));
      } catch (error) {
        if (i === index) throw this.placed(error, tree, miss);
        if (!(error instanceof EngineError)) throw error;
      }
    }
  }

  /** Keeps the filters of an extent whose image was just made, as far as they displace nothing: the first to look for a key need not read them. */
  keepFilters({ block, fences }: Extent, image: Uint8Array): void {
    const { cache } = this.#state;
    for (let i = 0; i < fences.filters; i++) {
      const at = fences.filterOffset(i);
      if (!cache.hasRoom(fences.filterLength(i))) return;
      const filter = new Filter(image.slice(at, at + fences.filterLength(i)));
      cache.put(filterKey(block, i), filter, filter.byteSize, { as: 'guide', pinned: false });
    }
  }

  /** As `fetch`, where it can be done at once; undefined otherwise. */
  fetchNow(tree: Tree, miss: Miss): PartKey | undefined {
    const { part } = miss;
    const key = keyOf(miss);
    if (part === undefined || this.#inFlight.has(key)) return undefined;
    const { fences, block } = part.extent;
    const { offset, length } = rangeOf(part);
    const stored = this.#state.store.readDataNow(block, offset, length);
    if (stored === undefined) return undefined;
    try {
      if (part.kind === 'filter') this.#keep(key, filterOf(part, stored.slice()));
      else this.#keep(key, decodeBasement(stored, fences, part.index, this.#state.env.codecs));
    } catch (error) {
      throw this.placed(error, tree, miss);
    }
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
      throw this.placed(error, tree, { kind: 'miss', block: extent.block, part: { kind: 'basement', index, extent } });
    });
  }

  /** A filter as it is on the disk: for `verify`. Damage is `corruption`. */
  async filter(tree: Tree, extent: Extent, index: number): Promise<Filter> {
    const part: ExtentPart = { kind: 'filter', index, extent };
    try {
      return decodeFilter(await this.#readStored(part), extent.fences, index);
    } catch (error) {
      throw this.placed(error, tree, { kind: 'miss', block: extent.block, part });
    }
  }

  #keep(key: PartKey, part: Part): void {
    const { cache } = this.#state;
    if (part instanceof Run) cache.put(key, part, part.byteSize, { as: 'data', pinned: true });
    else cache.put(key, part, part instanceof Filter ? part.byteSize : nodeBytes(part), { as: 'guide', pinned: true });
  }

  async #readNode(number: BlockNumber): Promise<TreeNode> {
    return decodeNode(number, await this.#state.store.readMeta(number));
  }

  async #readPart(part: ExtentPart): Promise<Run | Filter> {
    if (part.kind === 'basement') return await this.#readRun(part.extent, part.index);
    return filterOf(part, await this.#readStored(part).catch(unreadable));
  }

  async #readRun(extent: Extent, index: number): Promise<Run> {
    return decodeBasement(await this.#readStored({ kind: 'basement', index, extent }), extent.fences, index, this.#state.env.codecs);
  }

  async #readStored(part: ExtentPart): Promise<Uint8Array> {
    const { offset, length } = rangeOf(part);
    return this.#state.store.readData(part.extent.block, offset, length);
  }

  /** An error with its place in words: dictionary, file, offset, and the range of keys that is lost. */
  placed(error: unknown, tree: Tree, miss: Miss): unknown {
    return placedIn(error, { dictionary: tree.id, ...(this.#state.store.placeOf(miss.block) ?? { file: 'data.frond', offset: 0 }) }, miss);
  }
}

/** The same for a block that lies at an offset of a file. */
export function placedIn(error: unknown, { dictionary, file, offset }: { readonly dictionary: number; readonly file: string; readonly offset: number }, miss: Miss): unknown {
  if (!(error instanceof EngineError) || (error.code !== 'corruption' && error.code !== 'format')) return error;
  const place = {
    file,
    offset: offset + (miss.part === undefined ? 0 : rangeOf({ ...miss.part, ahead: 0 }).offset),
    ...error.place,
    dictionary,
    block: miss.block,
    ...(miss.part?.kind === 'basement' ? lostKeys(miss.part) : {}),
  };
  return new EngineError(error.code, `${file}: dictionary ${dictionary}, block ${miss.block}: ${error.message}`, { cause: error, place });
}

function keyOf({ block, part }: Miss): PartKey {
  if (part === undefined) return nodeKey(block);
  return part.kind === 'filter' ? filterKey(block, part.index) : basementKey(block, part.index);
}

/** Where a part lies in its block, with what is to be read ahead. */
function rangeOf({ kind, extent: { fences }, index, ahead = 0 }: ExtentPart): { readonly offset: number; readonly length: number } {
  if (kind === 'filter') return { offset: fences.filterOffset(index), length: fences.filterLength(index) };
  const last = Math.max(index, index + ahead);
  const offset = fences.storedOffset(Math.min(index, index + ahead));
  return { offset, length: fences.storedOffset(last) + fences.storedLength(last) - offset };
}

/** The keys of a basement. */
function lostKeys({ extent: { fences }, index }: ExtentPart): { readonly fromKey: Uint8Array; readonly toKey: Uint8Array } {
  const toKey = index + 1 < fences.length ? fences.firstKey(index + 1) : fences.lastKey;
  return { fromKey: fences.firstKey(index).slice(), toKey: toKey.slice() };
}

/** A filter for reading by; a damaged one costs reads, not keys: `verify` names it. */
function filterOf({ extent, index }: ExtentPart, stored: Uint8Array | undefined): Filter {
  try {
    return stored === undefined ? Filter.unknown : decodeFilter(stored, extent.fences, index);
  } catch (error) {
    if (error instanceof EngineError && error.code === 'corruption') return Filter.unknown;
    throw error;
  }
}

/** For a filter that the disk does not give. */
function unreadable(error: unknown): undefined {
  if (error instanceof EngineError && (error.code === 'corruption' || error.code === 'io')) return undefined;
  throw error;
}
