// A dictionary of the model: every version of every key in a plain array by key, every range delete beside them.

import { must } from '../../src/base/assert.ts';
import { compareBytes } from '../../src/base/bytes.ts';

/** One version of a key; without a value it was removed. */
export interface Version {
  readonly seq: number;
  readonly value: Uint8Array | undefined;
}

/** All versions of a key. */
export interface Entry {
  readonly key: Uint8Array;
  readonly versions: Version[]; // oldest first
}

/** A range that was deleted in one message. */
export interface RangeDelete {
  readonly from: Uint8Array | undefined;
  readonly to: Uint8Array | undefined;
  readonly seq: number;
}

/** Whether the range has the key. */
export function coversKey({ from, to }: RangeDelete, key: Uint8Array): boolean {
  return (from === undefined || compareBytes(from, key) <= 0) && (to === undefined || compareBytes(key, to) < 0);
}

/** The newest seq of at most `seqMax` with which a range covers the key; 0: none does. */
export function coveringSeq(ranges: readonly RangeDelete[], key: Uint8Array, seqMax: number): number {
  return Math.max(0, ...ranges.filter((range) => range.seq <= seqMax && coversKey(range, key)).map(({ seq }) => seq));
}

interface Delta {
  readonly seq: number;
  readonly rows: number;
  readonly bytes: number;
}

/** One dictionary. */
export class ModelDictionary {
  readonly created: number;
  dropped: number = Number.POSITIVE_INFINITY;
  readonly entries: Entry[] = []; // by key
  readonly deltas: Delta[] = [];
  /** Every range delete that was committed as one. */
  readonly ranges: RangeDelete[] = [];
  /** The newest commit that changed it. */
  lastSeq: number = 0;

  constructor(created: number) {
    this.created = created;
  }

  /** Index of the first entry at or after `key`. */
  lowerBound(key: Uint8Array): number {
    let low = 0;
    let high = this.entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareBytes(must(this.entries[middle], 'inside').key, key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  find(key: Uint8Array): Entry | undefined {
    const entry = this.entries[this.lowerBound(key)];
    return entry !== undefined && compareBytes(entry.key, key) === 0 ? entry : undefined;
  }

  read(key: Uint8Array, seq: number): Uint8Array | undefined {
    const version = this.find(key)?.versions.findLast((other) => other.seq <= seq);
    return version !== undefined && version.seq >= coveringSeq(this.ranges, key, seq) ? version.value : undefined;
  }

  write(key: Uint8Array, version: Version): void {
    const at = this.lowerBound(key);
    const entry = this.entries[at];
    if (entry !== undefined && compareBytes(entry.key, key) === 0) entry.versions.push(version);
    else this.entries.splice(at, 0, { key, versions: [version] });
  }
}
