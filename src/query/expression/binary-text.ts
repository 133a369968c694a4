// Binary data as text and as numbers, both ways, for `$convert`. Follows the manual's page "$convert (aggregation)", section "Binary Data".

import { decodeBase64, encodeBase64 } from '../../base/base64.ts';
import { decodeUtf8, encodeUtf8, isUtf8Range } from '../../base/text.ts';
import { Binary, Double } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { refuse } from '../refuse.ts';
import { isTooLong } from './string-limit.ts';

/** What `$convert` was told about binary data. */
export interface BinaryOptions {
  readonly subtype: number;
  /** undefined: not given. */
  readonly format?: string | undefined;
  /** Whether the first byte of a number is the least. */
  readonly little: boolean;
}

const UUID_SUBTYPE = 4;
const OLD_SUBTYPE = 2;

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function uuidOf(bytes: Uint8Array): string {
  return hexOf(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

function urlBase64(bytes: Uint8Array): string {
  return encodeBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

function isUuid(value: Binary): boolean {
  return value.subtype === UUID_SUBTYPE && value.bytes.length === 16;
}

function failure(text: string): Error {
  return refuse(241, `${text} in $convert with no onError value`);
}

/** The data as it stands in a document: that of the old kind of binary data begins with its own length. */
function dataOf({ bytes, subtype }: Binary): Uint8Array {
  if (subtype !== OLD_SUBTYPE) return bytes;
  const data = new Uint8Array(bytes.length + 4);
  new DataView(data.buffer).setInt32(0, bytes.length, true);
  data.set(bytes, 4);
  return data;
}

function utf8Text(value: Binary): string {
  const data = dataOf(value);
  if (!isUtf8Range(data, 0, data.length)) throw failure('BinData does not represent a valid UTF-8 string');
  return decodeUtf8(data, 0, data.length);
}

function uuidText(value: Binary): string {
  if (!isUuid(value)) throw failure('Unsupported conversion from binData to a UUID string');
  return uuidOf(value.bytes);
}

const writers: ReadonlyMap<string, (value: Binary) => string> = new Map([
  ['auto', (value) => (isUuid(value) ? uuidOf(value.bytes) : encodeBase64(dataOf(value)))],
  ['base64', (value) => encodeBase64(dataOf(value))],
  ['base64url', (value) => urlBase64(dataOf(value))],
  ['utf8', utf8Text],
  ['hex', (value) => hexOf(dataOf(value)).toUpperCase()],
  ['uuid', uuidText],
]);

function missingFormat(): Error {
  return refuse(4341115, `$convert requires a 'format' between strings and binData`);
}

/** Binary data as text in a format. */
export function binaryToText(value: Binary, options: BinaryOptions): string {
  if (options.format === undefined) throw missingFormat();
  const text = writers.get(options.format)?.(value) ?? '';
  if (isTooLong(text)) throw failure('Resulting string value is longer than 16MB');
  return text;
}

function bytesOfHex(text: string): Uint8Array | undefined {
  if (text.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(text)) return undefined;
  return Uint8Array.from({ length: text.length / 2 }, (_, index) => Number.parseInt(text.slice(2 * index, 2 * index + 2), 16));
}

const UUID_TEXT = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

function bytesOfUuid(text: string): Uint8Array | undefined {
  return UUID_TEXT.test(text) ? bytesOfHex(text.replaceAll('-', '')) : undefined;
}

function bytesOfBase64(text: string): Uint8Array | undefined {
  return text.length % 4 === 0 ? decodeBase64(text) : undefined;
}

function bytesOfUrlBase64(text: string): Uint8Array | undefined {
  return /[+/]/.test(text) ? undefined : decodeBase64(text.replaceAll('-', '+').replaceAll('_', '/'));
}

const readers: ReadonlyMap<string, (text: string) => Uint8Array | undefined> = new Map<string, (text: string) => Uint8Array | undefined>([
  ['auto', (text) => bytesOfUuid(text) ?? bytesOfBase64(text)],
  ['base64', bytesOfBase64],
  ['base64url', bytesOfUrlBase64],
  ['utf8', encodeUtf8],
  ['hex', bytesOfHex],
  ['uuid', bytesOfUuid],
]);

/** Text in a format as binary data. A UUID has its own subtype, and only it. */
export function textToBinary(text: string, options: BinaryOptions): Binary {
  const { format, subtype } = options;
  if (format === undefined) throw missingFormat();
  if ((format === 'uuid') !== (subtype === UUID_SUBTYPE) && format !== 'auto') {
    throw failure(`Only the UUID format is allowed with the UUID subtype`);
  }
  const bytes = readers.get(format)?.(text);
  if (bytes === undefined) throw failure(`Input string '${text}' is not in the format '${format}'`);
  return new Binary(bytes, subtype);
}

/** A number or binary data as binary data; undefined for anything else. */
export function toBinary(value: Value, { subtype, little }: BinaryOptions): Binary | undefined {
  if (value instanceof Binary) {
    if (value.subtype !== subtype) throw failure('Conversions between different binary data subtypes are not supported');
    return value;
  }
  const view = new DataView(new ArrayBuffer(8));
  let length = 8;
  if (typeof value === 'number') {
    view.setInt32(0, value, little);
    length = 4;
  } else if (typeof value === 'bigint') {
    view.setBigInt64(0, value, little);
  } else if (value instanceof Double) {
    view.setFloat64(0, value.value, little);
  } else {
    return undefined;
  }
  return new Binary(new Uint8Array(view.buffer).slice(0, length), subtype);
}

/** The number that bytes hold; undefined if they are not as long as one of this type. */
export function numberOfBytes(value: Binary, type: 'int' | 'long' | 'double', { little }: BinaryOptions): bigint | number | undefined {
  const bytes = dataOf(value);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  if (type === 'double') {
    if (bytes.length === 4) return view.getFloat32(0, little);
    return bytes.length === 8 ? view.getFloat64(0, little) : undefined;
  }
  if (bytes.length === 1) return BigInt(view.getInt8(0));
  if (bytes.length === 2) return BigInt(view.getInt16(0, little));
  if (bytes.length === 4) return BigInt(view.getInt32(0, little));
  return bytes.length === 8 && type === 'long' ? view.getBigInt64(0, little) : undefined;
}
