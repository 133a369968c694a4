// Numbers that look random and follow from a seed: sfc32. Each purpose draws from a stream of its own, so that one more draw in the product
// does not move every latency and fault behind it.

import type { Random } from '../../src/env/index.ts';

function mix(state: number): number {
  let word = (state + 0x9e3779b9) | 0;
  word = Math.imul(word ^ (word >>> 16), 0x21f0aaad);
  word = Math.imul(word ^ (word >>> 15), 0x735a2d97);
  return word ^ (word >>> 15);
}

/** A stream of numbers from one seed. */
export class SimRandom implements Random {
  readonly #seed: number;
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: number) {
    this.#seed = seed;
    this.#a = mix(seed);
    this.#b = mix(this.#a ^ seed);
    this.#c = mix(this.#b + seed);
    for (let i = 0; i < 12; i++) this.uint32();
  }

  /** A stream of its own for a purpose; the same seed and name give the same stream. */
  fork(purpose: string): SimRandom {
    let seed = this.#seed;
    for (let i = 0; i < purpose.length; i++) seed = mix(seed ^ purpose.charCodeAt(i));
    return new SimRandom(seed);
  }

  uint32(): number {
    const word = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + word;
    return word >>> 0;
  }

  bytes(length: number): Uint8Array {
    const fresh = new Uint8Array(length);
    for (let i = 0; i < length; i++) fresh[i] = this.uint32();
    return fresh;
  }

  /** Uniform in [0, 1). */
  fraction(): number {
    return this.uint32() / 0x100000000;
  }

  /** A whole number in [0, limit). */
  below(limit: number): number {
    return Math.floor(this.fraction() * limit);
  }

  /** True with this probability. */
  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  /** One of the items, each as likely. */
  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }
}
