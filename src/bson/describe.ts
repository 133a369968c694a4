// Values as MongoDB's error messages show them: `{ a: 1, b: "x" }`, doubles with a point or an exponent, ids, dates and binary data by
// their constructors, long text cut. It is for people: types that look alike (int32 and int64) are not told apart, text is not escaped.

import { decodeUtf8, encodeUtf8, utf8Length } from '../base/text.ts';
import { BsonArray, CodeWithScope, Document } from './document.ts';
import type { Value } from './document.ts';
import { Decimal128 } from './decimal128.ts';
import { ObjectId } from './object-id.ts';
import { bsonType } from './raw.ts';
import { Binary, BsonSymbol, Code, DateTime, DbPointer, Double, Regex, Timestamp } from './scalar.ts';

/** A value as error messages show it. */
export function describeValue(value: Value): string {
  if (typeof value === 'string') return `"${shortened(value, 160, 150)}"`;
  if (value === null || typeof value !== 'object') return String(value);
  if (value instanceof Double) return describeDouble(value.value);
  if (value instanceof Document) return describeDocument(value);
  if (value instanceof BsonArray) return value.isEmpty ? '[]' : `[ ${value.items().map(describeValue).join(', ')} ]`;
  if (value instanceof ObjectId) return `ObjectId('${value.toHexString()}')`;
  if (value instanceof DateTime) return `new Date(${String(value.msBig)})`;
  return describeRare(value);
}

type RareValue = Exclude<Value, number | bigint | string | boolean | null | Double | Document | BsonArray | ObjectId | DateTime>;

function describeRare(value: RareValue): string {
  if (value instanceof Decimal128) return value.toString();
  if (value instanceof Regex) return `/${value.pattern}/${value.flags}`;
  if (value instanceof Timestamp) return `Timestamp(${String(value.seconds)}, ${String(value.increment)})`;
  if (value instanceof Binary) return describeBinary(value);
  if (value instanceof Code) return shortened(value.code, 80, 70);
  if (value instanceof CodeWithScope) return `CodeWScope( ${value.code}, ${describeDocument(value.scope)})`;
  if (value instanceof BsonSymbol) return `"${shortened(value.text, 160, 150)}"`;
  if (value instanceof DbPointer) return `DBRef('${value.namespace}',${hex(value.id).toLowerCase()})`;
  if (value.bsonType === bsonType.undefined) return 'undefined';
  return value.bsonType === bsonType.minKey ? 'MinKey' : 'MaxKey';
}

/** A field as error messages show it: `a: 1`. */
export function describeField(name: string, value: Value): string {
  return `${name}: ${describeValue(value)}`;
}

function describeDocument(document: Document): string {
  if (document.isEmpty) return '{}';
  return `{ ${document.fields.map(([name, value]) => describeField(name, value)).join(', ')} }`;
}

/** As C's %.16g, with `.0` behind whole numbers. */
function describeDouble(value: number): string {
  if (Number.isNaN(value)) return 'nan.0';
  if (!Number.isFinite(value)) return value < 0 ? '-inf' : 'inf';
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0';
  const [mantissa = '', exponent = '0'] = value.toExponential(15).split('e');
  const power = Number(exponent);
  if (power < -4 || power >= 16) {
    const sign = power < 0 ? '-' : '+';
    return `${trimZeros(mantissa)}e${sign}${String(Math.abs(power)).padStart(2, '0')}`;
  }
  const text = trimZeros(value.toFixed(Math.max(15 - power, 0)));
  return text.includes('.') ? text : `${text}.0`;
}

function trimZeros(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

/** The text, or its first `kept` bytes if with its end it takes more than `most`. */
function shortened(text: string, most: number, kept: number): string {
  if (text.length * 3 < most || utf8Length(text) < most) return text;
  const bytes = encodeUtf8(text);
  let end = kept;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return `${decodeUtf8(bytes, 0, end)}...`;
}

function describeBinary(value: Binary): string {
  const { subtype, bytes } = value;
  if (subtype === 4 && bytes.length === 16) {
    return `UUID("${hex(bytes).toLowerCase().replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')}")`;
  }
  const shown = bytes.length > 80 ? `${hex(bytes.subarray(0, 70))}...` : hex(bytes);
  return `BinData(${String(subtype)}, ${shown})`;
}

function hex(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += byte.toString(16).toUpperCase().padStart(2, '0');
  return text;
}
