// What happened, as one number: the same seed must give the same trace, and a difference shows hidden time, randomness or order. The lines
// themselves are kept when asked for, to find where two runs part.

import { crc32c } from '../../src/base/crc32c.ts';

/** A running hash over the events of a simulation. */
export class SimTrace {
  readonly #encoder = new TextEncoder();
  readonly lines: string[] = [];
  readonly #keepsLines: boolean;
  #low = 0;
  #high = 0x9e3779b9;
  #length = 0;

  constructor(keepsLines: boolean) {
    this.#keepsLines = keepsLines;
  }

  /** Adds an event and the bytes it carried. */
  add(event: string, data?: Uint8Array): void {
    const line = this.#encoder.encode(event);
    this.#low = crc32c(line, 0, line.length, this.#low);
    if (data !== undefined) this.#low = crc32c(data, 0, data.length, this.#low);
    this.#high = Math.imul(this.#high ^ this.#low, 0x85ebca6b) >>> 0;
    this.#length++;
    if (this.#keepsLines) this.lines.push(event);
  }

  /** Events so far. */
  get length(): number {
    return this.#length;
  }

  /** The hash so far, in hex. */
  get hash(): string {
    return this.#high.toString(16).padStart(8, '0') + this.#low.toString(16).padStart(8, '0');
  }
}
