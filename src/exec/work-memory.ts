// Memory that sorts and groups of one server share. Each may hold MongoDB's limit for a stage, and all together a share of the server's memory: where
// there is less, who holds most goes on in its scratch place sooner.

/** Memory for work, over all operations. */
export class WorkMemory {
  readonly #bytesMax: number;
  #held = 0;
  #holders = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** What all hold now. */
  get held(): number {
    return this.#held;
  }

  /** A place for one who works; to be closed. */
  open(): WorkHold {
    this.#holders += 1;
    return new WorkHold({
      change: (bytes) => {
        this.#held += bytes;
      },
      isTooMuch: (bytes) => this.#held > this.#bytesMax && bytes * this.#holders >= this.#held,
      leave: () => {
        this.#holders -= 1;
      },
    });
  }
}

interface HoldParts {
  readonly change: (bytes: number) => void;
  readonly isTooMuch: (bytes: number) => boolean;
  readonly leave: () => void;
}

/** Nobody writes less than this out: a scratch place of many small pieces takes long to read. */
const WORTH_WRITING = 1024 * 1024;

/** What one holds of it. */
export class WorkHold {
  readonly #parts: HoldParts;
  #bytes = 0;
  #closed = false;

  constructor(parts: HoldParts) {
    this.#parts = parts;
  }

  /** Says how much it holds now; true: all hold too much, and it no less than others. */
  holds(bytes: number): boolean {
    this.#parts.change(bytes - this.#bytes);
    this.#bytes = bytes;
    return bytes >= WORTH_WRITING && this.#parts.isTooMuch(bytes);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#parts.change(-this.#bytes);
    this.#bytes = 0;
    this.#parts.leave();
  }
}
