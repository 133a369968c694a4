// A map from numbers for entries that come and go with every operation. A `Map` leaves each of its old tables, with all that was in it, linked
// to the next one; once the collector has moved one of them to the old generation, all that was ever in the later ones stays until the next
// full collection. Here one table is used again, and what was taken out is forgotten at once. Open addressing, linear probing; a removal moves
// later entries of its run back, so there are no marks of what is gone.

/** Slots of a table that has never been large; a power of two. */
const slotsMin = 32;

/** Values by finite numbers. Order of iteration is not that of insertion. */
export class NumberTable<V> {
  #keys: Float64Array = new Float64Array(slotsMin);
  #values: (V | undefined)[] = new Array<V | undefined>(slotsMin).fill(undefined);
  #mask: number = slotsMin - 1;
  #size: number = 0;

  get size(): number {
    return this.#size;
  }

  get(key: number): V | undefined {
    return this.#values[this.#find(key)];
  }

  has(key: number): boolean {
    return this.#values[this.#find(key)] !== undefined;
  }

  /** Sets the value of a key, which must not be undefined. */
  set(key: number, value: V): void {
    let at = this.#find(key);
    if (this.#values[at] === undefined) {
      if (2 * (this.#size + 1) > this.#values.length) {
        this.#resize(2 * this.#values.length);
        at = this.#find(key);
      }
      this.#size += 1;
      this.#keys[at] = key;
    }
    this.#values[at] = value;
  }

  /** Whether it was there. */
  delete(key: number): boolean {
    let gap = this.#find(key);
    if (this.#values[gap] === undefined) return false;
    for (let at = (gap + 1) & this.#mask; this.#values[at] !== undefined; at = (at + 1) & this.#mask) {
      const home = this.#home(this.#keys[at] as number);
      // An entry may move back into the gap unless its own place lies behind the gap.
      if (((at - home) & this.#mask) < ((at - gap) & this.#mask)) continue;
      this.#keys[gap] = this.#keys[at] as number;
      this.#values[gap] = this.#values[at];
      gap = at;
    }
    this.#values[gap] = undefined;
    this.#size -= 1;
    if (this.#size === 0 && this.#values.length > 64 * slotsMin) this.#resize(slotsMin);
    return true;
  }

  /** The keys that are there now. */
  keys(): number[] {
    const keys: number[] = [];
    for (let at = 0; at < this.#values.length; at++) if (this.#values[at] !== undefined) keys.push(this.#keys[at] as number);
    return keys;
  }

  /** The values that are there now. */
  values(): V[] {
    return this.#values.filter((value) => value !== undefined);
  }

  /** The slot of a key, or the empty one where it would be. */
  #find(key: number): number {
    let at = this.#home(key);
    while (this.#values[at] !== undefined && this.#keys[at] !== key) at = (at + 1) & this.#mask;
    return at;
  }

  #home(key: number): number {
    const mixed = Math.imul((key % 0x1_0000_0000) ^ (key / 0x1_0000_0000), 0x9e3779b1);
    return (mixed ^ (mixed >>> 15)) & this.#mask;
  }

  #resize(slots: number): void {
    const [keys, values] = [this.#keys, this.#values];
    this.#keys = new Float64Array(slots);
    this.#values = new Array<V | undefined>(slots).fill(undefined);
    this.#mask = slots - 1;
    values.forEach((value, from) => {
      if (value === undefined) return;
      const key = keys[from] as number;
      const at = this.#find(key);
      this.#keys[at] = key;
      this.#values[at] = value;
    });
    values.fill(undefined);
  }
}
