// Decoded parts of blocks (nodes and basements) kept in memory by number, evicted one by one when the budget needs room: a clock that
// spares what was used since its hand came by. Parts are immutable, so evicting one that a reader still holds harms nobody; a pinned part
// is not evicted, so that a retry finds what was fetched for it. The cache does not know what a part is.

/** A part of a block: the basement of that index, or the block's node. */
export type PartKey = number & { readonly __brand: 'PartKey' };

const partsMax = 65536;
const nodePart = partsMax - 1;

/** The key of a basement of a data block. */
export function basementKey(block: number, basement: number): PartKey {
  return (block * partsMax + basement) as PartKey;
}

/** The key of the node of a meta block. */
export function nodeKey(block: number): PartKey {
  return (block * partsMax + nodePart) as PartKey;
}

interface Slot<T> {
  readonly key: PartKey;
  readonly part: T;
  readonly bytes: number;
  used: boolean;
  pins: number;
}

/** Parts in memory. */
export class PartCache<T> {
  readonly #slots: Map<PartKey, Slot<T>> = new Map();
  readonly #limit: () => number;
  #bytes: number = 0;
  #ring: Slot<T>[] = [];
  #hand: number = 0;

  /** `limit` says how many bytes may be kept now. */
  constructor(limit: () => number) {
    this.#limit = limit;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The part, if it is in memory. */
  get(key: PartKey): T | undefined {
    const slot = this.#slots.get(key);
    if (slot === undefined) return undefined;
    slot.used = true;
    return slot.part;
  }

  /** Keeps a part and makes room for it; with `pinned` it stays until `unpin`. */
  put(key: PartKey, part: T, bytes: number, pinned: boolean): void {
    const known = this.#slots.get(key);
    if (known !== undefined) {
      if (pinned) known.pins += 1;
      return;
    }
    const slot: Slot<T> = { key, part, bytes, used: true, pins: pinned ? 1 : 0 };
    this.#slots.set(key, slot);
    this.#ring.push(slot);
    this.#bytes += bytes;
    this.shrink();
  }

  unpin(key: PartKey): void {
    const slot = this.#slots.get(key);
    if (slot !== undefined && slot.pins > 0) slot.pins -= 1;
  }

  /** Forgets a part at once, for instance because its block is gone. */
  forget(key: PartKey): void {
    const slot = this.#slots.get(key);
    if (slot === undefined) return;
    this.#slots.delete(key);
    this.#bytes -= slot.bytes;
  }

  /** Evicts until the limit holds or everything left is pinned. */
  shrink(): void {
    const limit = this.#limit();
    let looks = this.#ring.length * 2;
    while (this.#bytes > limit && looks-- > 0) this.#turn();
    if (this.#ring.length > 64 && this.#ring.length > this.#slots.size * 2) this.#compact();
  }

  /** One step of the clock's hand. */
  #turn(): void {
    if (this.#hand >= this.#ring.length) this.#hand = 0;
    const slot = this.#ring[this.#hand];
    if (slot === undefined) return;
    if (this.#slots.get(slot.key) !== slot) {
      this.#removeAtHand();
    } else if (slot.used || slot.pins > 0) {
      slot.used = false;
      this.#hand += 1;
    } else {
      this.#slots.delete(slot.key);
      this.#bytes -= slot.bytes;
      this.#removeAtHand();
    }
  }

  #removeAtHand(): void {
    const last = this.#ring.pop();
    if (last !== undefined && this.#hand < this.#ring.length) this.#ring[this.#hand] = last;
  }

  #compact(): void {
    this.#ring = [...this.#slots.values()];
    this.#hand = 0;
  }
}
