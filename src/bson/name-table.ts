// Which of a few names a field has, found from its bytes: most fields of a long document have none of them, and are passed by without making a
// string of their names.

import { encodeUtf8 } from '../base/text.ts';
import { decodeName } from './raw.ts';

/** Longer names count as of this length. */
const LENGTH_MAX = 255;

/** A name with what it stands for. */
export interface Named<T> {
  readonly name: string;
  readonly value: T;
}

/** Some names and what they stand for. */
export class NameTable<T> {
  readonly #lengths = new Uint8Array(LENGTH_MAX + 1);
  readonly #lastBytes = new Uint8Array(256);
  readonly #names: ReadonlyMap<string, Named<T>>;

  constructor(names: ReadonlyMap<string, T>) {
    this.#names = new Map([...names].map(([name, value]) => [name, { name, value }]));
    for (const name of names.keys()) {
      const bytes = encodeUtf8(name);
      this.#lengths[Math.min(bytes.length, LENGTH_MAX)] = 1;
      this.#lastBytes[bytes[bytes.length - 1] ?? 0] = 1;
    }
  }

  /** The one whose name is at bytes [from, to), if there is one. */
  find(bytes: Uint8Array, from: number, to: number): Named<T> | undefined {
    const length = to - from;
    if (this.#lengths[length < LENGTH_MAX ? length : LENGTH_MAX] === 0) return undefined;
    if (length > 0 && this.#lastBytes[bytes[to - 1] as number] === 0) return undefined;
    return this.#names.get(decodeName(bytes, from, to));
  }
}
