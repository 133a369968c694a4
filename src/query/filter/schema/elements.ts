// The elements of a raw document or array, one after the other.

import { decodeName, elementValue, valueEnd } from '../../../bson/index.ts';

/** Calls for each element with its name, type and the offset of its value until one call says false; true if none did. */
export function everyElement(
  bytes: Uint8Array,
  start: number,
  visit: (name: string, type: number, at: number) => boolean,
): boolean {
  let element = start + 4;
  for (;;) {
    const type = bytes[element] ?? 0;
    if (type === 0) return true;
    const value = elementValue(bytes, element);
    if (!visit(decodeName(bytes, element + 1, value - 1), type, value)) return false;
    element = valueEnd(bytes, type, value);
  }
}

/** How many elements there are. */
export function elementCount(bytes: Uint8Array, start: number): number {
  let count = 0;
  everyElement(bytes, start, () => ++count > 0);
  return count;
}
