// Operands of path operators, checked and made into nodes: `$type`, `$size`, `$mod`, the bit tests and the regular expression pair. The
// texts and codes of the refusals are MongoDB's. Follows the manual's pages of these operators.

import { Binary, BsonArray, describeValue, fitsInt64, isNaNNumber, isNumber, Regex, truncateNumber, typeCodeOf, typeNameOf, wholeNumber } from '../../bson/index.ts';
import type { Path, Value ,

  Document} from '../../bson/index.ts';

import { refuse } from '../refuse.ts';
import { compilePattern } from '../regex.ts';
import type { BitsOperator, FilterNode } from './node.ts';

const numberCodes: readonly number[] = [1, 16, 18, 19];

/** The type codes that `$type` means by a number, an alias, or an array of them. */
export function parseTypeSet(operand: Value): ReadonlySet<number> {
  const types = new Set<number>();
  const items = operand instanceof BsonArray ? operand.items() : [operand];
  for (const item of items) for (const code of typeCodes(item)) types.add(code);
  if (types.size === 0) throw refuse(9, '$type must match at least one type');
  return types;
}

function typeCodes(item: Value): readonly number[] {
  if (typeof item === 'string') {
    if (item === 'number') return numberCodes;
    const code = typeCodeOf(item);
    if (code === undefined) throw refuse(2, `Unknown type name alias: ${item}`);
    return [code];
  }
  if (!isNumber(item)) throw refuse(14, 'type must be represented as a number or a string');
  const code = wholeNumber(item);
  if (code === 0n) throw refuse(2, 'Invalid numerical type code: 0. Instead use {$exists:false}.');
  if (code === undefined || typeNameOf(Number(code)) === undefined) {
    throw refuse(2, `Invalid numerical type code: ${describeValue(item)}`);
  }
  return [Number(code)];
}

/** What makes an operand no integer: the words MongoDB has for it, or undefined for an int64. */
export function integerFault(operand: Value): string | undefined {
  if (!isNumber(operand)) return 'Expected a number in';
  if (isNaNNumber(operand)) return 'Expected an integer, but found NaN in';
  const cut = truncateNumber(operand);
  if (cut === undefined || !fitsInt64(cut)) return 'Cannot represent as a 64-bit integer';
  return wholeNumber(operand) === undefined ? 'Expected an integer' : undefined;
}

/** The operand of `$size`. */
export function parseSize(path: Path, operand: Value): FilterNode {
  let fault = integerFault(operand);
  const size = isNumber(operand) ? wholeNumber(operand) : undefined;
  if (fault === undefined && size !== undefined) {
    if (size > 0x7fffffffn || size < -0x80000000n) fault = 'Cannot represent as a 32-bit integer';
    else if (size < 0n) fault = 'Expected a non-negative number in';
  }
  if (fault !== undefined) throw refuse(2, `Failed to parse $size. ${fault}: $size: ${describeValue(operand)}`);
  return { kind: 'size', path, size: Number(size) };
}

/** The operand of `$mod`: an array of divisor and remainder. */
export function parseMod(path: Path, operand: Value): FilterNode {
  if (!(operand instanceof BsonArray)) throw refuse(2, 'malformed mod, needs to be an array');
  const [divisor, remainder] = operand.items();
  if (divisor === undefined) throw refuse(2, 'malformed mod, not enough elements');
  if (!isNumber(divisor)) throw refuse(2, 'malformed mod, divisor not a number');
  if (remainder === undefined) throw refuse(2, 'malformed mod, not enough elements');
  if (!isNumber(remainder)) throw refuse(2, 'malformed mod, remainder not a number');
  if (operand.length > 2) throw refuse(2, 'malformed mod, too many elements');
  const by = modInteger('divisor', divisor);
  if (by === 0n) throw refuse(2, 'divisor cannot be 0');
  return { kind: 'mod', path, divisor: by, remainder: modInteger('remainder', remainder) };
}

function modInteger(role: string, operand: Value): bigint {
  const cut = isNumber(operand) ? truncateNumber(operand) : undefined;
  const fault = cut === undefined ? 'Unable to coerce NaN/Inf to integral type' : 'Out of bounds coercing to integral value';
  if (cut === undefined || !fitsInt64(cut)) throw refuse(2, `malformed mod, ${role} value is invalid :: caused by :: ${fault}`);
  return cut;
}

const POSITION_MAX = 0x7fffffffn;

/** The operand of a bit test: a mask as a number or as binary data, or an array of positions. */
export function parseBits(path: Path, operand: Value, operator: BitsOperator): FilterNode {
  const positions = bitPositions(operand, operator);
  return { kind: 'bits', path, operator, positions: [...new Set(positions)].sort((a, b) => a - b) };
}

function bitPositions(operand: Value, operator: BitsOperator): number[] {
  if (operand instanceof BsonArray) return operand.items().map((item, index) => bitPosition(item, index));
  if (operand instanceof Binary) return setBits(operand.bytes);
  if (!isNumber(operand)) {
    throw refuse(2, `${operator} takes an Array, a number, or a BinData but received: ${operator}: ${describeValue(operand)}`);
  }
  const fault = integerFault(operand);
  if (fault !== undefined) throw refuse(9, `${fault}: ${operator}: ${describeValue(operand)}`);
  const mask = wholeNumber(operand) ?? 0n;
  if (mask < 0n) throw refuse(9, `Expected a non-negative number in: ${operator}: ${describeValue(operand)}`);
  const positions: number[] = [];
  for (let bit = 0; bit < 64; bit++) if (((mask >> BigInt(bit)) & 1n) === 1n) positions.push(bit);
  return positions;
}

function bitPosition(item: Value, index: number): number {
  const shown = `${String(index)}: ${describeValue(item)}`;
  if (!isNumber(item)) throw refuse(2, `bit positions must be an integer but got: ${shown}`);
  const whole = wholeNumber(item);
  if (whole === undefined) throw refuse(2, `bit positions must be an integer but got: ${shown}`);
  if (whole > POSITION_MAX || whole < -POSITION_MAX - 1n) {
    throw refuse(2, `bit positions cannot be represented as a 32-bit signed integer: ${shown}`);
  }
  if (whole < 0n) throw refuse(2, `bit positions must be >= 0 but got: ${shown}`);
  return Number(whole);
}

function setBits(bytes: Uint8Array): number[] {
  const positions: number[] = [];
  bytes.forEach((byte, index) => {
    for (let bit = 0; bit < 8; bit++) if (((byte >>> bit) & 1) === 1) positions.push(index * 8 + bit);
  });
  return positions;
}

/** `$regex` with the `$options` beside it. */
export function parseRegex(path: Path, operand: Value, siblings: Document): FilterNode {
  const options = siblings.get('$options');
  if (options !== undefined && typeof options !== 'string') throw refuse(2, '$options has to be a string');
  let flags = options ?? '';
  let source: string;
  if (operand instanceof Regex) {
    source = operand.pattern;
    if (operand.flags !== '') {
      if (options !== undefined) {
        const names = siblings.keys();
        const code = names.indexOf('$options') < names.indexOf('$regex') ? 51074 : 51075;
        throw refuse(code, 'options set in both $regex and $options');
      }
      flags = operand.flags;
    }
  } else if (typeof operand === 'string') {
    source = operand;
  } else {
    throw refuse(2, '$regex has to be a string');
  }
  return regexNode(path, source, flags);
}

/** A node for a pattern; a zero byte in it is refused. */
export function regexNode(path: Path, source: string, flags: string): FilterNode {
  if (source.includes('\0')) throw refuse(51091, 'Regular expression is invalid: it cannot contain an embedded null byte');
  return { kind: 'regex', path, pattern: compilePattern(source, flags) };
}
