// Lets some work wait while something must not change: those who change the files pass through, and one who must see them still closes the
// gate, waits until those inside are through, and opens it again.

/** A gate that many pass at a time, and one may close. */
export class Gate {
  #inside: number = 0;
  #closed: boolean = false;
  #waiting: (() => void)[] = [];

  /** Runs `work` as soon as the gate is open. */
  async pass<T>(work: () => Promise<T>): Promise<T> {
    while (this.#closed) await this.#change();
    this.#inside += 1;
    try {
      return await work();
    } finally {
      this.#inside -= 1;
      this.#wake();
    }
  }

  /** Runs `work` with nobody inside; those who come meanwhile wait. */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    while (this.#closed) await this.#change();
    this.#closed = true;
    try {
      while (this.#inside > 0) await this.#change();
      return await work();
    } finally {
      this.#closed = false;
      this.#wake();
    }
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const go of waiting) go();
  }
}
