// Tests of one raw value for the operators that are no comparisons: types, sizes, remainders, bits and regular expressions.
// Follows the manual's pages of `$type`, `$size`, `$mod`, `$bitsAllSet` and its kin, and `$regex`.

import { decodeUtf8 } from '../../base/text.ts';
import { bsonType, decodeValue, elementValue, fitsInt64, readInt32, Regex, truncateNumber, valueEnd, wholeNumber } from '../../bson/index.ts';
import type { Pattern } from '../regex.ts';
import type { BitsNode, BitsOperator, ModNode } from './node.ts';
import type { ElementTest } from './path.ts';
import { readNumber } from './read-number.ts';

/** The value is there. */
export const existsTest: ElementTest = (_bytes, type) => type !== 0;

/** The type is one of these codes. */
export function typeTest(types: ReadonlySet<number>): ElementTest {
  const wanted = new Uint8Array(256);
  for (const code of types) wanted[code & 0xff] = 1;
  wanted[0] = 0;
  return (_bytes, type) => wanted[type] === 1;
}

/** An array of this many elements. */
export function sizeTest(size: number): ElementTest {
  return (bytes, type, at) => {
    if (type !== bsonType.array) return false;
    let element = at + 4;
    for (let count = 0; count <= size; count++) {
      const elementType = bytes[element] as number;
      if (elementType === 0) return count === size;
      element = valueEnd(bytes, elementType, elementValue(bytes, element));
    }
    return false;
  };
}

/** The number, cut to an int64, leaves this remainder. */
export function modTest(node: Pick<ModNode, 'divisor' | 'remainder'>): ElementTest {
  const { divisor, remainder } = node;
  const smallDivisor = Number.isSafeInteger(Number(divisor)) ? Number(divisor) : undefined;
  const smallRemainder = Number(remainder);
  return (bytes, type, at) => {
    if (type === bsonType.int && smallDivisor !== undefined) return readInt32(bytes, at) % smallDivisor === smallRemainder;
    const stored = readNumber(bytes, type, at);
    const cut = stored === undefined ? undefined : truncateNumber(stored);
    return cut !== undefined && fitsInt64(cut) && cut % divisor === remainder;
  };
}

/** For each operator: the bit that it looks for, and whether one such is enough. */
const bitRules: Readonly<Record<BitsOperator, { readonly wanted: boolean; readonly any: boolean }>> = {
  $bitsAllSet: { wanted: true, any: false },
  $bitsAllClear: { wanted: false, any: false },
  $bitsAnySet: { wanted: true, any: true },
  $bitsAnyClear: { wanted: false, any: true },
};

/** Bits of an integer (negative ones go on with ones for ever) or of binary data (beyond its end are zeros). */
export function bitsTest(node: Pick<BitsNode, 'operator' | 'positions'>): ElementTest {
  const { wanted, any } = bitRules[node.operator];
  const decide = (isSet: (position: number) => boolean): boolean =>
    any
      ? node.positions.some((position) => isSet(position) === wanted)
      : node.positions.every((position) => isSet(position) === wanted);
  return (bytes, type, at) => {
    if (type === bsonType.binData) {
      const length = readInt32(bytes, at);
      return decide((position) => {
        const byte = position >>> 3;
        return byte < length && (((bytes[at + 5 + byte] as number) >>> (position & 7)) & 1) === 1;
      });
    }
    const stored = readNumber(bytes, type, at);
    const whole = stored === undefined ? undefined : wholeNumber(stored);
    if (whole === undefined || !fitsInt64(whole)) return false;
    return decide((position) => ((whole >> BigInt(Math.min(position, 63))) & 1n) === 1n);
  };
}

/** Text that the pattern is found in, or a stored regular expression with its source and flags. */
export function regexTest(pattern: Pattern): ElementTest {
  return (bytes, type, at) => {
    if (type === bsonType.string || type === bsonType.symbol) {
      return pattern.test(decodeUtf8(bytes, at + 4, at + 3 + readInt32(bytes, at)));
    }
    if (type !== bsonType.regex) return false;
    const stored = decodeValue(bytes, type, at);
    return stored instanceof Regex && stored.pattern === pattern.source && stored.flags === pattern.flags;
  };
}

