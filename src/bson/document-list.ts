// Documents one behind the other, as a sequence of the wire protocol has them. Each is a view that is made when it is asked for: a batch has thousands,
// and as many objects that live until its end are most of what a collector has to move.

import { AssertionError } from '../base/errors.ts';
import { Document } from './document.ts';
import type { Documents } from './document.ts';

/** Documents in order. Immutable. */
export class DocumentList implements Documents {
  readonly #bytes: Uint8Array;
  /** Where each begins, or the documents themselves. */
  readonly #all: readonly number[] | readonly Document[];

  private constructor(bytes: Uint8Array, all: readonly number[] | readonly Document[]) {
    this.#bytes = bytes;
    this.#all = all;
  }

  /** Those that begin at these places. The bytes must be valid BSON there (validateDocument) and never change. */
  static inBytes(bytes: Uint8Array, starts: readonly number[]): DocumentList {
    return new DocumentList(bytes, starts);
  }

  static of(documents: readonly Document[]): DocumentList {
    return new DocumentList(noBytes, documents);
  }

  get length(): number {
    return this.#all.length;
  }

  at(index: number): Document {
    const there = this.#all[index];
    if (there === undefined) throw new AssertionError('a list of documents has no such place');
    return typeof there === 'number' ? Document.fromBytes(this.#bytes, there) : there;
  }

  *[Symbol.iterator](): Generator<Document> {
    for (let index = 0; index < this.length; index++) yield this.at(index);
  }
}

const noBytes = new Uint8Array(0);
