// Digests of uploads that were left in the middle, so that going on need not read all that is there again. Only a cache: what is not in it is computed.

import type { Hash } from 'node:crypto';

const keptMax = 1000;

/** Digests by the upload, each of its first `length` bytes. */
export class DigestCache {
  readonly #kept: Map<string, { readonly length: number; readonly hash: Hash }> = new Map();

  /** Keeps a copy. */
  keep(id: string, length: number, hash: Hash): void {
    this.#kept.delete(id);
    this.#kept.set(id, { length, hash: hash.copy() });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > keptMax && oldest !== undefined) this.#kept.delete(oldest);
  }

  /** The digest of exactly so many bytes, if it is known. */
  find(id: string, length: number): Hash | undefined {
    const kept = this.#kept.get(id);
    return kept?.length === length ? kept.hash.copy() : undefined;
  }

  forget(id: string): void {
    this.#kept.delete(id);
  }
}
