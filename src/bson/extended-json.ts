// Writing MongoDB Extended JSON v2 (manual: "MongoDB Extended JSON (v2)"), canonical, which keeps every type, or relaxed, which
// writes numbers and dates as people expect. Reading is in extended-json-read.ts.

import { encodeBase64 } from '../base/base64.ts';
import { Decimal128 } from './decimal128.ts';
import { BsonArray, CodeWithScope, Document } from './document.ts';
import type { Value } from './document.ts';
import { ObjectId } from './object-id.ts';
import { bsonType } from './raw.ts';
import { Binary, BsonSymbol, Code, DateTime, DbPointer, Double, Regex, Timestamp } from './scalar.ts';

/** Canonical keeps every type; relaxed is for people. */
export type ExtendedJsonMode = 'canonical' | 'relaxed';

/** The value as Extended JSON, without line breaks. */
export function toExtendedJson(value: Value, mode: ExtendedJsonMode): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (value === null || typeof value === 'boolean') return String(value);
  if (value instanceof Document) return writeDocument(value, mode);
  if (value instanceof BsonArray) return `[${value.items().map((item) => toExtendedJson(item, mode)).join(',')}]`;
  if (typeof value === 'number') return mode === 'relaxed' ? String(value) : `{"$numberInt":"${String(value)}"}`;
  if (typeof value === 'bigint') return mode === 'relaxed' ? String(value) : `{"$numberLong":"${String(value)}"}`;
  if (value instanceof Double) return writeDouble(value.value, mode);
  if (value instanceof DateTime) return writeDate(value, mode);
  if (value instanceof CodeWithScope) {
    return `{"$code":${JSON.stringify(value.code)},"$scope":${writeDocument(value.scope, mode)}}`;
  }
  return writeScalar(value);
}

function writeDocument(doc: Document, mode: ExtendedJsonMode): string {
  return `{${doc.fields.map(([name, value]) => `${JSON.stringify(name)}:${toExtendedJson(value, mode)}`).join(',')}}`;
}

function writeDouble(value: number, mode: ExtendedJsonMode): string {
  const text = doubleText(value);
  return mode === 'relaxed' && Number.isFinite(value) ? text : `{"$numberDouble":"${text}"}`;
}

function doubleText(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (Object.is(value, -0)) return '-0.0';
  const text = String(value).replace('e', 'E');
  return /[.E]/.test(text) ? text : `${text}.0`;
}

const year10000 = 253402300800000;

function writeDate(value: DateTime, mode: ExtendedJsonMode): string {
  if (mode === 'canonical' || value.ms < 0 || value.ms >= year10000) return `{"$date":{"$numberLong":"${String(value.msBig)}"}}`;
  return `{"$date":"${new Date(value.ms).toISOString().replace('.000Z', 'Z')}"}`;
}

type Rest = Exclude<
  Value,
  number | bigint | string | boolean | null | Document | BsonArray | Double | DateTime | CodeWithScope
>;

function writeScalar(value: Rest): string {
  if (value instanceof ObjectId) return `{"$oid":"${value.toHexString()}"}`;
  if (value instanceof Decimal128) return `{"$numberDecimal":"${value.toString()}"}`;
  if (value instanceof Binary) {
    const subtype = value.subtype.toString(16).padStart(2, '0');
    return `{"$binary":{"base64":"${encodeBase64(value.bytes)}","subType":"${subtype}"}}`;
  }
  if (value instanceof Regex) {
    const options = Array.from(value.flags).sort().join('');
    return `{"$regularExpression":{"pattern":${JSON.stringify(value.pattern)},"options":${JSON.stringify(options)}}}`;
  }
  if (value instanceof Timestamp) return `{"$timestamp":{"t":${String(value.seconds)},"i":${String(value.increment)}}}`;
  if (value instanceof Code) return `{"$code":${JSON.stringify(value.code)}}`;
  if (value instanceof BsonSymbol) return `{"$symbol":${JSON.stringify(value.text)}}`;
  if (value instanceof DbPointer) {
    const id = new ObjectId(value.id).toHexString();
    return `{"$dbPointer":{"$ref":${JSON.stringify(value.namespace)},"$id":{"$oid":"${id}"}}}`;
  }
  if (value.bsonType === bsonType.undefined) return '{"$undefined":true}';
  return value.bsonType === bsonType.minKey ? '{"$minKey":1}' : '{"$maxKey":1}';
}
