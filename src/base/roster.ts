// Who is there now, where they come and go with every operation: each has a place until it leaves, and places are used again. A `Set` would keep
// what has left alive long after (`number-table.ts` tells why).

/** Items at places. */
export class Roster<T> {
  readonly #items: (T | undefined)[] = [];
  readonly #free: number[] = [];

  get size(): number {
    return this.#items.length - this.#free.length;
  }

  /** Gives the item a place, by which it is taken out. */
  add(item: T): number {
    const place = this.#free.pop();
    if (place === undefined) return this.#items.push(item) - 1;
    this.#items[place] = item;
    return place;
  }

  /** Takes out who is at the place; nothing happens where nobody is. */
  remove(place: number): void {
    if (this.#items[place] === undefined) return;
    this.#items[place] = undefined;
    this.#free.push(place);
  }

  /** Those who are there now. */
  all(): T[] {
    return this.#items.filter((item) => item !== undefined);
  }
}
