// A binary min-heap over an array: the next event of a schedule, the smallest head of a merge. Equal items leave in no promised order;
// who needs one puts a counter into the comparison.

/** Items of which the smallest by `compare` can be seen and taken in logarithmic time. */
export class BinaryHeap<T> {
  readonly #items: T[] = [];
  readonly #compare: (a: T, b: T) => number;

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#items.length;
  }

  /** The smallest item, left where it is. */
  peek(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    const items = this.#items;
    let at = items.length;
    items.push(item);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = items[parent] as T;
      if (this.#compare(above, item) <= 0) break;
      items[at] = above;
      at = parent;
    }
    items[at] = item;
  }

  /** Takes the smallest item out. */
  pop(): T | undefined {
    const items = this.#items;
    const top = items[0];
    const last = items.pop();
    if (last !== undefined && items.length > 0) this.#sink(last);
    return top;
  }

  #sink(item: T): void {
    const items = this.#items;
    const length = items.length;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= length) break;
      if (child + 1 < length && this.#compare(items[child + 1] as T, items[child] as T) < 0) child++;
      const below = items[child] as T;
      if (this.#compare(item, below) <= 0) break;
      items[at] = below;
      at = child;
    }
    items[at] = item;
  }
}
