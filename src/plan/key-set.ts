// Record keys that were seen.

/** A set of byte strings. */
export class KeySet {
  readonly #names: Set<string> = new Set();
  #bytes = 0;

  /** Whether the key was not in the set before. */
  add(key: Uint8Array): boolean {
    const name = nameOf(key);
    const before = this.#names.size;
    this.#names.add(name);
    if (this.#names.size === before) return false;
    this.#bytes += name.length + 64;
    return true;
  }

  has(key: Uint8Array): boolean {
    return this.#names.has(nameOf(key));
  }

  get size(): number {
    return this.#names.size;
  }

  /** About what it takes in memory. */
  get bytes(): number {
    return this.#bytes;
  }
}

function nameOf(key: Uint8Array): string {
  let name = '';
  for (const byte of key) name += String.fromCharCode(byte);
  return name;
}
