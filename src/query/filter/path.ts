// Paths as filters follow them through a raw document: an array on the way is entered element by element, and a numeric component is
// tried both as a field's name and as an index, so one path can reach several values or none. A missing field is reached as one value
// of type 0. Follows the manual's pages "Query an Array", "Query an Array of Embedded Documents" and "Query for Null or Missing Fields".

import { bsonType, findField, firstElement } from '../../bson/index.ts';
import type { Path, PathPart } from '../../bson/index.ts';

/** The path to the value itself, for the conditions inside `$elemMatch: { $gt: 1 }`. */
export const selfPath: Path = { text: '', parts: [] };

/** Tests one value where it lies: `type` is its type byte (0 for missing, 255 for minKey), `at` the offset of the value. */
export type ElementTest = (bytes: Uint8Array, type: number, at: number) => boolean;

/** What a walk answers: the index in the outermost array that was entered without being asked for, or one of the two below. */
export const noMatch = -2;
/** Matched without entering an array, but by an index in the path. */
export const matchedOutside = -1;

/** Walks a path and asks the test for each value reached, until it says yes. */
export class PathWalk {
  readonly #parts: readonly PathPart[];
  readonly #test: ElementTest;
  /** Whether an array at the end of the path is tested element by element before it is tested as a whole. */
  readonly #expandLeaf: boolean;

  constructor(path: Path, test: ElementTest, expandLeaf: boolean) {
    this.#parts = path.parts;
    this.#test = test;
    this.#expandLeaf = expandLeaf;
  }

  /** Walks from the document that begins at `start`. */
  match(bytes: Uint8Array, start: number): number {
    return this.#object(bytes, start, 0);
  }

  #object(bytes: Uint8Array, start: number, from: number): number {
    const parts = this.#parts;
    const last = parts.length - 1;
    let at = start;
    for (let i = from; ; i++) {
      const { name } = parts[i] as PathPart;
      const element = findField(bytes, at, name);
      if (element < 0) return this.#ask(bytes, 0, 0);
      const type = bytes[element] as number;
      const value = element + name.bytes.length + 2;
      if (type === bsonType.array) return i === last ? this.#leafArray(bytes, value) : this.#array(bytes, value, i + 1);
      if (i === last) return this.#ask(bytes, type, value);
      if (type !== bsonType.object) return this.#ask(bytes, 0, 0);
      at = value;
    }
  }

  #ask(bytes: Uint8Array, type: number, at: number): number {
    return this.#test(bytes, type, at) ? matchedOutside : noMatch;
  }

  #leafArray(bytes: Uint8Array, start: number): number {
    if (this.#expandLeaf) {
      const found = firstElement(bytes, start, this.#test);
      if (found >= 0) return found;
    }
    return this.#ask(bytes, bsonType.array, start);
  }

  /** Enters an array with the path's components from `from` on still to go. */
  #array(bytes: Uint8Array, start: number, from: number): number {
    const wanted = (this.#parts[from] as PathPart).index;
    let named = noMatch;
    const found = firstElement(bytes, start, (_bytes, type, value, { index }) => {
      if (type === bsonType.object && this.#object(bytes, value, from) !== noMatch) return true;
      if (index !== wanted) return false;
      named = this.#byIndex(bytes, type, value, from);
      return named !== noMatch;
    });
    if (named !== noMatch) return named;
    return found < 0 ? noMatch : found;
  }

  /** The element that component `from` names by its index; an array there is not tested element by element. */
  #byIndex(bytes: Uint8Array, type: number, value: number, from: number): number {
    if (from === this.#parts.length - 1) return this.#ask(bytes, type, value);
    if (type === bsonType.object) return this.#object(bytes, value, from + 1);
    return type === bsonType.array ? this.#array(bytes, value, from + 1) : noMatch;
  }
}
