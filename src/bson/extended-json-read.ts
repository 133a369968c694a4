// Reading MongoDB Extended JSON v2, canonical and relaxed, and of the older forms those that tools still write ($regex with $options,
// $binary with $type, $date with a text or number, $uuid). An object whose name says a type must be that type and nothing more.

import { decodeBase64 } from '../base/base64.ts';
import { CommandError } from '../base/errors.ts';
import { Decimal128 } from './decimal128.ts';
import { BsonArray, CodeWithScope, Document } from './document.ts';
import type { Value } from './document.ts';
import { JsonNumber, JsonObject, parseJson } from './json-text.ts';
import type { JsonNode } from './json-text.ts';
import { fitsInt32, fitsInt64 } from './number.ts';
import { ObjectId } from './object-id.ts';
import {
  Binary,
  BsonSymbol,
  bsonUndefined,
  Code,
  DateTime,
  DbPointer,
  Double,
  maxKey,
  minKey,
  Regex,
  Timestamp,
} from './scalar.ts';

/** The value that an Extended JSON text stands for; a text that is none is CommandError 9 FailedToParse. */
export function fromExtendedJson(text: string): Value {
  return toValue(parseJson(text));
}

function toValue(node: JsonNode): Value {
  if (node instanceof JsonNumber) return plainNumber(node.text);
  if (node instanceof JsonObject) return typedValue(node) ?? toDocument(node);
  return isList(node) ? BsonArray.of(node.map(toValue)) : node;
}

function isList(node: JsonNode): node is readonly JsonNode[] {
  return Array.isArray(node);
}

function toDocument(object: JsonObject): Document {
  return Document.fromEntries(object.members.map(([name, node]) => [name, toValue(node)] as const));
}

/** An integer in the smallest type that holds it, everything else a double. */
function plainNumber(text: string): Value {
  if (!/^-?\d+$/.test(text) || text === '-0') return new Double(Number(text));
  const whole = BigInt(text);
  if (fitsInt32(whole)) return Number(whole);
  return fitsInt64(whole) ? whole : new Double(Number(text));
}

/** undefined where the object is none of its type. */
type Reader = (object: JsonObject) => Value | undefined;

function textOf(object: JsonObject, name: string): string | undefined {
  const node = object.get(name);
  return typeof node === 'string' ? node : undefined;
}

function objectOf(object: JsonObject, name: string): JsonObject | undefined {
  const node = object.get(name);
  return node instanceof JsonObject ? node : undefined;
}

/** Reads the text of the member `name`, which must be the only one. */
function fromText(name: string, read: (text: string) => Value | undefined): Reader {
  return (object) => {
    const text = textOf(object, name);
    return text === undefined || object.members.length !== 1 ? undefined : read(text);
  };
}

function readInteger(text: string): bigint | undefined {
  return /^[+-]?\d{1,40}$/.test(text) ? BigInt(text.replace('+', '')) : undefined;
}

function readInt(text: string): number | undefined {
  const whole = readInteger(text);
  return whole !== undefined && fitsInt32(whole) ? Number(whole) : undefined;
}

function readLong(text: string): bigint | undefined {
  const whole = readInteger(text);
  return whole !== undefined && fitsInt64(whole) ? whole : undefined;
}

function readDouble(text: string): Double | undefined {
  if (/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)) return new Double(Number(text));
  return /^(?:-?Infinity|NaN)$/.test(text) ? new Double(Number(text)) : undefined;
}

const hexPair = /^[0-9a-fA-F]{1,2}$/;

function readBinary(object: JsonObject): Binary | undefined {
  const inner = objectOf(object, '$binary');
  const whole = inner === undefined ? 2 : 1;
  const base64 = inner === undefined ? textOf(object, '$binary') : textOf(inner, 'base64');
  const subtype = inner === undefined ? textOf(object, '$type') : textOf(inner, 'subType');
  if (object.members.length !== whole || (inner !== undefined && inner.members.length !== 2)) return undefined;
  if (base64 === undefined || subtype === undefined || !hexPair.test(subtype)) return undefined;
  const bytes = decodeBase64(base64);
  return bytes === undefined ? undefined : new Binary(bytes, Number.parseInt(subtype, 16));
}

const uuidPattern = /^[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$/;

function readUuid(text: string): Binary | undefined {
  if (!uuidPattern.test(text)) return undefined;
  const pairs = text.replaceAll('-', '').match(/../g) ?? [];
  return new Binary(Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16)), 4);
}

const isoPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d(?::?\d\d)?)$/;

function readDate(object: JsonObject): DateTime | undefined {
  const node = object.get('$date');
  if (object.members.length !== 1) return undefined;
  if (typeof node === 'string') return isoDate(node);
  if (node instanceof JsonNumber) return dateOf(readLong(node.text));
  if (!(node instanceof JsonObject) || node.members.length !== 1) return undefined;
  return dateOf(readLong(textOf(node, '$numberLong') ?? ''));
}

function dateOf(ms: bigint | undefined): DateTime | undefined {
  return ms === undefined ? undefined : new DateTime(ms);
}

function isoDate(text: string): DateTime | undefined {
  if (!isoPattern.test(text)) return undefined;
  // Date.parse wants offsets with a colon.
  const ms = Date.parse(text.replace(/([+-]\d\d)(\d\d)$/, '$1:$2').replace(/([+-]\d\d)$/, '$1:00'));
  return Number.isNaN(ms) ? undefined : new DateTime(ms);
}

function readRegex(object: JsonObject): Regex | undefined {
  const inner = objectOf(object, '$regularExpression');
  if (inner === undefined || object.members.length !== 1 || inner.members.length !== 2) return undefined;
  const pattern = textOf(inner, 'pattern');
  const options = textOf(inner, 'options');
  if (pattern === undefined || options === undefined || pattern.includes('\0') || options.includes('\0')) return undefined;
  return new Regex(pattern, Array.from(options).sort().join(''));
}

function readUint32(node: JsonNode | undefined): number | undefined {
  if (!(node instanceof JsonNumber) || !/^\d{1,10}$/.test(node.text)) return undefined;
  const value = Number(node.text);
  return value <= 0xffffffff ? value : undefined;
}

function readTimestamp(object: JsonObject): Timestamp | undefined {
  const inner = objectOf(object, '$timestamp');
  if (inner === undefined || object.members.length !== 1 || inner.members.length !== 2) return undefined;
  const seconds = readUint32(inner.get('t'));
  const increment = readUint32(inner.get('i'));
  return seconds === undefined || increment === undefined ? undefined : new Timestamp(seconds, increment);
}

function readCode(object: JsonObject): Code | CodeWithScope | undefined {
  const code = textOf(object, '$code');
  if (code === undefined) return undefined;
  if (object.members.length === 1) return new Code(code);
  const scope = objectOf(object, '$scope');
  return scope === undefined || object.members.length !== 2 ? undefined : new CodeWithScope(code, toDocument(scope));
}

function readPointer(object: JsonObject): DbPointer | undefined {
  const inner = objectOf(object, '$dbPointer');
  if (inner === undefined || object.members.length !== 1 || inner.members.length !== 2) return undefined;
  const namespace = textOf(inner, '$ref');
  const id = ObjectId.parse(textOf(objectOf(inner, '$id') ?? inner, '$oid') ?? '');
  return namespace === undefined || id === undefined ? undefined : new DbPointer(namespace, id.bytes);
}

/** A member whose value must be exactly this. */
function constant(name: string, expected: string | true, value: Value): Reader {
  return (object) => {
    const node = object.get(name);
    const found = node instanceof JsonNumber ? node.text : node;
    return object.members.length === 1 && found === expected ? value : undefined;
  };
}

const readers: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['$oid', fromText('$oid', (text) => ObjectId.parse(text))],
  ['$symbol', fromText('$symbol', (text) => new BsonSymbol(text))],
  ['$numberInt', fromText('$numberInt', readInt)],
  ['$numberLong', fromText('$numberLong', readLong)],
  ['$numberDouble', fromText('$numberDouble', readDouble)],
  ['$numberDecimal', fromText('$numberDecimal', (text) => Decimal128.parseExact(text))],
  ['$binary', readBinary],
  ['$uuid', fromText('$uuid', readUuid)],
  ['$date', readDate],
  ['$regularExpression', readRegex],
  ['$timestamp', readTimestamp],
  ['$code', readCode],
  ['$scope', readCode],
  ['$dbPointer', readPointer],
  ['$minKey', constant('$minKey', '1', minKey)],
  ['$maxKey', constant('$maxKey', '1', maxKey)],
  ['$undefined', constant('$undefined', true, bsonUndefined)],
]);

/** The value of an object that names a type; undefined if it names none. */
function typedValue(object: JsonObject): Value | undefined {
  for (const [name] of object.members) {
    if (!name.startsWith('$')) continue;
    const reader = readers.get(name);
    if (reader === undefined) continue;
    const value = reader(object);
    if (value === undefined) throw new CommandError(9, 'FailedToParse', `JSON: an object with ${name} is no such value`);
    return value;
  }
  return oldRegex(object);
}

/** `{ $regex: "a", $options: "i" }`: where either is no text it is a query, and stays one. */
function oldRegex(object: JsonObject): Regex | undefined {
  const pattern = textOf(object, '$regex');
  const options = textOf(object, '$options');
  if (object.members.length !== 2 || pattern === undefined || options === undefined) return undefined;
  return new Regex(pattern, Array.from(options).sort().join(''));
}
