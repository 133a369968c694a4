// One level of a sort key while it is written: weights of one or two bytes, and runs of the common weight as one byte each (UTS #10, "Compression";
// the ranges are ICU's, so that keys are the same). A run before a weight above the common one, or more of them, sorts the shorter the higher; before a
// weight below it or the end, the longer the higher.

/** The bytes that stand for runs of the common weight: from `low` up, from `high` down, `middle` for a full run that goes on. */
export interface CommonRange {
  readonly low: number;
  readonly middle: number;
  readonly high: number;
}

/** The bytes of a level. */
export class LevelBytes {
  bytes: Uint8Array = new Uint8Array(32);
  length = 0;

  byte(value: number): void {
    if (this.length === this.bytes.length) {
      const bytes = new Uint8Array(2 * this.length);
      bytes.set(this.bytes);
      this.bytes = bytes;
    }
    this.bytes[this.length++] = value;
  }

  /** A weight of two bytes, the second left out where it is zero. */
  weight16(value: number): void {
    this.byte(value >>> 8);
    if ((value & 0xff) !== 0) this.byte(value & 0xff);
  }

  /** The same, to be reversed with the whole level. */
  reversedWeight16(value: number): void {
    if ((value & 0xff) !== 0) this.byte(value & 0xff);
    this.byte(value >>> 8);
  }

  /** A weight of up to four bytes. */
  weight32(value: number): void {
    let rest = value;
    do {
      this.byte(rest >>> 24);
      rest = (rest << 8) >>> 0;
    } while (rest !== 0);
  }

  /** A run of the common weight, and whether what follows is above it. */
  run(count: number, range: CommonRange, above: boolean): void {
    if (count === 0) return;
    const size = range.middle - range.low + 1;
    let rest = count - 1;
    for (; rest >= size; rest -= size) this.byte(range.middle);
    this.byte(above ? range.high - rest : range.low + rest);
  }

  /** The same for a level that is written backwards: `above` says it of the weight before the run. */
  reversedRun(count: number, range: CommonRange, above: boolean): void {
    if (count === 0) return;
    const size = range.middle - range.low + 1;
    const rest = (count - 1) % size;
    this.byte(above ? range.high - rest : range.low + rest);
    for (let full = count - 1 - rest; full > 0; full -= size) this.byte(range.middle);
  }

  /** Turns round what was written from `start` on. */
  reverse(start: number): void {
    this.bytes.subarray(start, this.length).reverse();
  }

  range(from: Uint8Array, length: number): void {
    for (let i = 0; i < length; i++) this.byte(from[i] as number);
  }
}
