// Decoded parts of blocks (nodes, filters and basements) kept in memory by number, evicted one by one when the budget needs room: a clock that
// spares what was used since its hand came by. What says where to read (nodes, filters: guides) goes after all data, unless it takes most of the
// room (law 28). Parts are immutable, so evicting one that a reader still holds harms nobody; a pinned part is not evicted, so that a retry finds
// what was fetched for it. The cache does not know what a part is.

/** A part of a block: the basement of that index, a filter, or the block's node. */
export type PartKey = number & { readonly __brand: 'PartKey' };

const partsMax = 65536;
const nodePart = partsMax - 1;

/** The key of a basement of a data block. */
export function basementKey(block: number, basement: number): PartKey {
  return (block * partsMax + basement) as PartKey;
}

/** The key of a filter of a data block: they are counted from the end, for a block has far fewer than basements. */
export function filterKey(block: number, filter: number): PartKey {
  return (block * partsMax + nodePart - 1 - filter) as PartKey;
}

/** The key of the node of a meta block. */
export function nodeKey(block: number): PartKey {
  return (block * partsMax + nodePart) as PartKey;
}

/** How a part is kept: `data` goes first; `pinned` it stays until `unpin`. */
export interface Keeping {
  readonly as: 'data' | 'guide';
  readonly pinned: boolean;
}

interface Slot<T> {
  readonly key: PartKey;
  readonly part: T;
  readonly bytes: number;
  readonly ring: Ring<T>;
  used: boolean;
  pins: number;
}

/** Slots in a circle, and the hand that goes round. */
class Ring<T> {
  slots: Slot<T>[] = [];
  hand: number = 0;
  /** Bytes of those that are in the cache: a forgotten slot stays until the hand comes by. */
  bytes: number = 0;
  live: number = 0;

  removeAtHand(): void {
    const last = this.slots.pop();
    if (last !== undefined && this.hand < this.slots.length) this.slots[this.hand] = last;
  }
}

/** Guides may have so much of the room; beyond it they go before data. */
const guidePart = 3 / 4;

/** Parts in memory. */
export class PartCache<T> {
  readonly #slots: Map<PartKey, Slot<T>> = new Map();
  readonly #limit: () => number;
  readonly #rings: Readonly<Record<Keeping['as'], Ring<T>>> = { data: new Ring(), guide: new Ring() };

  /** `limit` says how many bytes may be kept now. */
  constructor(limit: () => number) {
    this.#limit = limit;
  }

  get bytes(): number {
    return this.#rings.data.bytes + this.#rings.guide.bytes;
  }

  /** Bytes of guides. */
  get guideBytes(): number {
    return this.#rings.guide.bytes;
  }

  /** Whether so many bytes more displace nothing. */
  hasRoom(bytes: number): boolean {
    return this.bytes + bytes <= this.#limit();
  }

  /** The part, if it is in memory. */
  get(key: PartKey): T | undefined {
    const slot = this.#slots.get(key);
    if (slot === undefined) return undefined;
    slot.used = true;
    return slot.part;
  }

  /** Keeps a part and makes room for it. */
  put(key: PartKey, part: T, bytes: number, keeping: Keeping): void {
    const known = this.#slots.get(key);
    if (known !== undefined) {
      if (keeping.pinned) known.pins += 1;
      return;
    }
    const ring = this.#rings[keeping.as];
    const slot: Slot<T> = { key, part, bytes, ring, used: true, pins: keeping.pinned ? 1 : 0 };
    this.#slots.set(key, slot);
    ring.slots.push(slot);
    ring.bytes += bytes;
    ring.live += 1;
    this.shrink();
  }

  unpin(key: PartKey): void {
    const slot = this.#slots.get(key);
    if (slot !== undefined && slot.pins > 0) slot.pins -= 1;
  }

  /** Forgets a part at once, for instance because its block is gone. */
  forget(key: PartKey): void {
    const slot = this.#slots.get(key);
    if (slot !== undefined) this.#drop(slot);
  }

  #drop(slot: Slot<T>): void {
    this.#slots.delete(slot.key);
    slot.ring.bytes -= slot.bytes;
    slot.ring.live -= 1;
  }

  /** Evicts until the limit holds or everything left is pinned. */
  shrink(): void {
    const { data, guide } = this.#rings;
    const limit = this.#limit();
    if (this.bytes > limit) {
      this.#evict(guide, limit, limit * guidePart);
      this.#evict(data, limit, 0);
      this.#evict(guide, limit, 0);
    }
    for (const ring of [data, guide]) if (ring.slots.length > 64 && ring.slots.length > ring.live * 2) this.#compact(ring);
  }

  /** Evicts from one ring until all holds no more than `limit`, or the ring no more than `least`. */
  #evict(ring: Ring<T>, limit: number, least: number): void {
    let looks = ring.slots.length * 2;
    while (looks-- > 0 && this.bytes > limit && ring.bytes > least) this.#turn(ring);
  }

  /** One step of a hand. */
  #turn(ring: Ring<T>): void {
    if (ring.hand >= ring.slots.length) ring.hand = 0;
    const slot = ring.slots[ring.hand];
    if (slot === undefined) return;
    if (this.#slots.get(slot.key) !== slot) {
      ring.removeAtHand();
    } else if (slot.used || slot.pins > 0) {
      slot.used = false;
      ring.hand += 1;
    } else {
      this.#drop(slot);
      ring.removeAtHand();
    }
  }

  #compact(ring: Ring<T>): void {
    ring.slots = ring.slots.filter((slot) => this.#slots.get(slot.key) === slot);
    ring.hand = 0;
  }
}
