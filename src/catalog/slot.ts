// From a raw document to the values that an index holds of it, by the rules of MongoDB's page "Multikey Indexes": an array on a path gives one
// set of values for each element, an empty one gives undefined, what is not there gives null, and two arrays side by side are refused
// (171). Walks the bytes; values stay where they lie. A document without arrays on the indexed paths takes one pass and one small array.

import { CommandError } from '../base/errors.ts';
import { bsonType, elementValue, FieldName, findField, firstElement, decodeName, elementEnd } from '../bson/index.ts';

/** A value in raw bytes. `missing`: there was none, and the null stands for it. */
export interface Slot {
  readonly bytes: Uint8Array;
  readonly type: number;
  readonly at: number;
  readonly missing: boolean;
}

const nothing = new Uint8Array(0);
const missingSlot: Slot = { bytes: nothing, type: bsonType.null, at: 0, missing: true };
const undefinedSlot: Slot = { bytes: nothing, type: bsonType.undefined, at: 0, missing: false };

/** A path of a key pattern, cut and prepared. */
export interface IndexPath {
  readonly names: readonly FieldName[];
  /** The component as an array index, or -1. */
  readonly positions: readonly number[];
}

/** The dotted path of an index field, cut once; a component that reads as a number is an array position as well. */
export function indexPath(dotted: string): IndexPath {
  const names = dotted.split('.').map((name) => new FieldName(name));
  return { names, positions: names.map((name) => (/^(0|[1-9]\d{0,8})$/.test(name.text) ? Number(name.text) : -1)) };
}

/** Called with one slot a path for each key, and for each component that was an array. */
export interface SlotReceiver {
  key(slots: readonly Slot[]): void;
  array(field: number, component: number): void;
}

/** Where the walk along one path stands: at a value, before an array, or still in a document. */
interface Walk {
  readonly field: number;
  /** Set when the walk has ended. */
  slot: Slot | undefined;
  /** Start of the document the next component is looked for in. */
  document: number;
  component: number;
  /** Offset of the array element the walk stopped at, its type byte; -1. */
  array: number;
}

/** Finds the slots of documents for one list of paths. */
export class SlotFinder {
  readonly #paths: readonly IndexPath[];

  constructor(paths: readonly IndexPath[]) {
    this.#paths = paths;
  }

  find(bytes: Uint8Array, start: number, receiver: SlotReceiver): void {
    const walks: Walk[] = [];
    for (let field = 0; field < this.#paths.length; field++) {
      walks.push({ field, slot: undefined, document: start, component: 0, array: -1 });
    }
    this.#expand(bytes, walks, receiver);
  }

  /**
   * The offset of the element at the end of one path: -1 where there is none, -2 where an array is met, so that only `find` can tell.
   * Makes no objects.
   */
  locate(bytes: Uint8Array, start: number, field: number): number {
    const { names } = this.#paths[field] as IndexPath;
    let document = start;
    for (let component = 0; ; component++) {
      const offset = findField(bytes, document, names[component] as FieldName);
      if (offset < 0) return -1;
      const type = bytes[offset];
      if (type === bsonType.array) return -2;
      if (component === names.length - 1) return offset;
      if (type !== bsonType.object) return -1;
      document = elementValue(bytes, offset);
    }
  }

  #expand(bytes: Uint8Array, walks: readonly Walk[], receiver: SlotReceiver): void {
    let array = -1;
    for (const walk of walks) {
      if (walk.slot === undefined) this.#advance(bytes, walk);
      if (walk.array < 0) continue;
      if (array >= 0 && array !== walk.array) throw parallel(bytes, walk.array, array);
      array = walk.array;
    }
    if (array < 0) {
      receiver.key(walks.map((walk) => walk.slot as Slot));
      return;
    }
    for (const walk of walks) if (walk.array >= 0) receiver.array(walk.field, walk.component - 1);
    this.#elements(bytes, walks, receiver);
  }

  /** One expansion for each element of the array that the walks stand before. */
  #elements(bytes: Uint8Array, walks: readonly Walk[], receiver: SlotReceiver): void {
    const array = (walks.find((walk) => walk.array >= 0) as Walk).array;
    const start = elementValue(bytes, array);
    if (bytes[start + 4] === 0) {
      this.#expand(bytes, walks.map((walk) => this.#entered(walk, undefinedSlot, -1)), receiver);
      return;
    }
    firstElement(bytes, start, (_bytes, type, at) => {
      const slot: Slot = { bytes, type, at, missing: false };
      const document = type === bsonType.object ? at : -1;
      this.#expand(bytes, walks.map((walk) => this.#entered(walk, slot, document)), receiver);
      return false;
    });
  }

  /** The walk one step inside its array: at the element itself where the path ends here, else in the element if it is a document. */
  #entered(walk: Walk, slot: Slot, document: number): Walk {
    const { field, component } = walk;
    if (walk.array < 0) return walk;
    if (component === this.#length(field)) return { field, slot, document: -1, component, array: -1 };
    return { field, slot: document < 0 ? missingSlot : undefined, document, component, array: -1 };
  }

  #length(field: number): number {
    return (this.#paths[field] as IndexPath).names.length;
  }

  /** Goes along the path until it ends, nothing is there, or an array must be expanded. */
  #advance(bytes: Uint8Array, walk: Walk): void {
    const { names, positions } = this.#paths[walk.field] as IndexPath;
    let offset = findField(bytes, walk.document, names[walk.component] as FieldName);
    for (;;) {
      walk.component += 1;
      if (offset < 0) {
        walk.slot = missingSlot;
        return;
      }
      const type = bytes[offset] as number;
      const atEnd = walk.component === names.length;
      if (type === bsonType.array) {
        const element = atEnd ? -1 : positional(bytes, offset, names[walk.component] as FieldName, positions[walk.component] as number);
        if (element < 0) {
          walk.array = offset;
          return;
        }
        offset = element;
        continue;
      }
      const at = elementValue(bytes, offset);
      if (atEnd) {
        walk.slot = { bytes, type, at, missing: false };
        return;
      }
      offset = type === bsonType.object ? findField(bytes, at, names[walk.component] as FieldName) : -1;
    }
  }
}

/** The element that a number in a path names inside an array; -1 where the path goes through the elements instead. */
function positional(bytes: Uint8Array, array: number, name: FieldName, position: number): number {
  if (position < 0) return -1;
  let found = -1;
  let offset = elementValue(bytes, array) + 4;
  for (let index = 0; bytes[offset] !== 0; index++) {
    if (index === position) found = offset;
    if (bytes[offset] === bsonType.object && findField(bytes, elementValue(bytes, offset), name) >= 0) {
      throw new CommandError(
        16746,
        'Location16746',
        `Ambiguous field name found in array (do not use numeric field names in embedded elements in an array), field: '${name.text}' for array: ${nameAt(bytes, array)}`,
      );
    }
    offset = elementEnd(bytes, offset);
  }
  return found;
}

function nameAt(bytes: Uint8Array, offset: number): string {
  return decodeName(bytes, offset + 1, elementValue(bytes, offset) - 1);
}

function parallel(bytes: Uint8Array, second: number, first: number): CommandError {
  return new CommandError(
    171,
    'CannotIndexParallelArrays',
    `cannot index parallel arrays [${nameAt(bytes, second)}] [${nameAt(bytes, first)}]`,
  );
}
