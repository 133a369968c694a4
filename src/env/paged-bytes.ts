// The content of a file in memory: fixed pages, so that growing copies nothing, holes cost nothing, and a clone shares every page until
// one side writes it. In-memory files and the simulator's live and durable images are made of these. Invariant: bytes at and beyond `size`
// are zero in every page that exists, so that growing shows zeros.

/** A byte string of any size with cheap growth and cheap clones. */
export class PagedBytes {
  readonly #pageBytes: number;
  #pages: (Uint8Array | undefined)[] = [];
  /** Pages that no clone shares; absent from the set means: copy before writing. */
  #own = new Set<number>();
  /** Whether the array of pages itself is shared with a clone. */
  #shared = false;
  #size = 0;

  constructor(pageBytes: number) {
    this.#pageBytes = pageBytes;
  }

  get size(): number {
    return this.#size;
  }

  /** An equal byte string; both go their own ways from here. Costs no copy. */
  clone(): PagedBytes {
    const copy = new PagedBytes(this.#pageBytes);
    copy.#pages = this.#pages;
    copy.#size = this.#size;
    copy.#shared = true;
    this.#shared = true;
    this.#own.clear();
    return copy;
  }

  /** Fills `target` from `offset` and returns how many bytes there were. */
  read(target: Uint8Array, offset: number): number {
    const length = Math.max(0, Math.min(target.length, this.#size - offset));
    this.#eachPage(offset, length, (index, from, to, done) => {
      const page = this.#pages[index];
      if (page === undefined) target.fill(0, done, done + to - from);
      else target.set(page.subarray(from, to), done);
    });
    return length;
  }

  /** Writes source[start, end) at `offset`; grows as needed. */
  write(source: Uint8Array, offset: number, start = 0, end: number = source.length): void {
    const length = end - start;
    this.#eachPage(offset, length, (index, from, to, done) => {
      const first = start + done;
      this.#writable(index).set(source.subarray(first, first + to - from), from);
    });
    if (length > 0 && offset + length > this.#size) this.#size = offset + length;
  }

  /** Cuts or grows; what is new is zero. */
  truncate(size: number): void {
    if (size < this.#size) this.#cut(size);
    this.#size = size;
  }

  /** Memory of the pages that exist. */
  get residentBytes(): number {
    let count = 0;
    for (const page of this.#pages) if (page !== undefined) count++;
    return count * this.#pageBytes;
  }

  #cut(size: number): void {
    this.#unshare();
    const kept = Math.ceil(size / this.#pageBytes);
    if (this.#pages.length > kept) this.#pages.length = kept;
    for (const index of this.#own) if (index >= kept) this.#own.delete(index);
    const within = size % this.#pageBytes;
    if (within > 0 && this.#pages[kept - 1] !== undefined) this.#writable(kept - 1).fill(0, within);
  }

  #unshare(): void {
    if (!this.#shared) return;
    this.#pages = this.#pages.slice();
    this.#shared = false;
  }

  #writable(index: number): Uint8Array {
    this.#unshare();
    let page = this.#pages[index];
    if (page !== undefined && this.#own.has(index)) return page;
    page = page === undefined ? new Uint8Array(this.#pageBytes) : page.slice();
    while (this.#pages.length < index) this.#pages.push(undefined);
    this.#pages[index] = page;
    this.#own.add(index);
    return page;
  }

  #eachPage(offset: number, length: number, visit: (index: number, from: number, to: number, done: number) => void): void {
    let done = 0;
    while (done < length) {
      const at = offset + done;
      const index = Math.floor(at / this.#pageBytes);
      const from = at - index * this.#pageBytes;
      const to = Math.min(this.#pageBytes, from + length - done);
      visit(index, from, to, done);
      done += to - from;
    }
  }
}
