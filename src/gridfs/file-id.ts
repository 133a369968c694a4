// The id of a file as a value and as text. Ids are whatever applications made them: ObjectIds mostly, but strings, numbers and UUIDs too, so
// the text says which: 24 hex digits are an ObjectId, `s:` a string, `i:` a whole number, `u:` a UUID, `j:` anything else in Extended JSON.

import { Binary, Double, fromExtendedJson, ObjectId, toExtendedJson, wholeNumber } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';

/** An id, both ways. Equal ids have equal `text`. */
export class FileId {
  readonly value: Value;
  readonly text: string;

  private constructor(value: Value, text: string) {
    this.value = value;
    this.text = text;
  }

  static of(value: Value): FileId {
    return new FileId(value, textOf(value));
  }

  /** What `text` says; a text without a known beginning is a string. Undefined where it says nothing valid. */
  static parse(text: string): FileId | undefined {
    const objectId = ObjectId.parse(text);
    if (objectId !== undefined) return FileId.of(objectId);
    const parse = text[1] === ':' ? parsers.get(text[0] as string) : undefined;
    const value = parse === undefined ? text : parse(text.slice(2));
    return value === undefined ? undefined : FileId.of(value);
  }
}

const parsers: ReadonlyMap<string, (text: string) => Value | undefined> = new Map([
  ['s', (text: string): Value => text],
  ['i', parseInteger],
  ['u', parseUuid],
  ['j', parseJson],
]);

function textOf(value: Value): string {
  if (value instanceof ObjectId) return value.toHexString();
  if (typeof value === 'string') return `s:${value}`;
  if (typeof value === 'number' || typeof value === 'bigint') return `i:${value}`;
  if (value instanceof Double && Number.isSafeInteger(value.value)) return `i:${String(wholeNumber(value))}`;
  if (value instanceof Binary && value.subtype === 4 && value.bytes.length === 16) return `u:${uuidText(value.bytes)}`;
  return `j:${toExtendedJson(value, 'canonical')}`;
}

/** Numbers of all types are equal by value, so it does not matter which one the document has. */
function parseInteger(text: string): Value | undefined {
  if (!/^-?\d{1,19}$/.test(text)) return undefined;
  const value = BigInt(text);
  if (value === BigInt.asIntN(32, value)) return Number(value);
  return value === BigInt.asIntN(64, value) ? value : undefined;
}

function parseUuid(text: string): Value | undefined {
  const digits = text.replaceAll('-', '');
  if (!/^[0-9a-fA-F]{32}$/.test(digits)) return undefined;
  return new Binary(Uint8Array.from({ length: 16 }, (_, i) => Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16)), 4);
}

function uuidText(bytes: Uint8Array): string {
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16), digits.slice(16, 20), digits.slice(20)].join('-');
}

function parseJson(text: string): Value | undefined {
  try {
    return fromExtendedJson(text);
  } catch (error) {
    if (error instanceof Error) return undefined;
    throw error;
  }
}
