// What a field of a CSV file becomes. Without a stated type only what is surely a number becomes one: no leading zero, no sign but minus, no
// exponent without a point, nothing beyond int64, no more digits than a double keeps; everything else stays the text it was. With
// `--columnsHaveTypes` the types of mongoimport.

import { decodeUtf8 } from '../../base/text.ts';
import { Binary, DateTime, Decimal128, Double } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { parseGoDate, parseMsDate, parseOracleDate } from './date-layout.ts';

/** Makes a value of a field's text, or says why not. */
export type CellType = (text: string) => Value | CellFault;

/** Why a field is not of its column's type. */
export interface CellFault {
  readonly fault: string;
}

/** Whether a cell could not be read as its column's type. */
export function isCellFault(cell: Value | CellFault | undefined): cell is CellFault {
  return typeof cell === 'object' && cell !== null && 'fault' in cell;
}

const wholeNumber = /^-?(?:0|[1-9]\d{0,18})$/;
const pointNumber = /^-?(?:0|[1-9]\d*)\.\d+(?:[eE][-+]?\d{1,3})?$/;
const int64Max = 2n ** 63n - 1n;

/** The value of a field whose column has no stated type. */
export function inferCell(text: string): Value {
  if (wholeNumber.test(text) && text !== '-0') return wholeOf(text) ?? text;
  if (pointNumber.test(text) && significantDigits(text) <= 15) {
    const value = Number(text);
    if (Number.isFinite(value)) return new Double(value);
  }
  return text;
}

function wholeOf(text: string): Value | undefined {
  if (text.length <= 10) {
    const value = Number(text);
    if (value === (value | 0)) return value;
  }
  const value = BigInt(text);
  return value > int64Max || value < -int64Max - 1n ? undefined : value;
}

function significantDigits(text: string): number {
  const [digits = ''] = text.replace(/^-/, '').split(/[eE]/);
  return digits.replace('.', '').replace(/^0+/, '').length;
}

function fault(text: string, type: string): CellFault {
  return { fault: `${JSON.stringify(text)} is not of type ${type}` };
}

function boolean(text: string): Value | CellFault {
  const lower = text.toLowerCase();
  if (['true', 't', '1', 'yes'].includes(lower)) return true;
  if (['false', 'f', '0', 'no'].includes(lower)) return false;
  return fault(text, 'boolean');
}

function int32(text: string): Value | CellFault {
  const value = /^[-+]?\d+$/.test(text) ? Number(text) : Number.NaN;
  return value === (value | 0) ? value | 0 : fault(text, 'int32');
}

function int64(text: string): Value | CellFault {
  if (!/^[-+]?\d+$/.test(text)) return fault(text, 'int64');
  const value = BigInt(text.replace('+', ''));
  return value > int64Max || value < -int64Max - 1n ? fault(text, 'int64') : value;
}

function double(text: string): Value | CellFault {
  if (!/^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/.test(text)) return fault(text, 'double');
  return new Double(Number(text));
}

function decimal(text: string): Value | CellFault {
  return Decimal128.parse(text) ?? fault(text, 'decimal');
}

const decoders: ReadonlyMap<string, (text: string) => Uint8Array | undefined> = new Map([
  ['base64', decodeBase64],
  ['hex', decodeHex],
]);

function decodeHex(text: string): Uint8Array | undefined {
  if (!/^(?:[0-9a-fA-F]{2})*$/.test(text)) return undefined;
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

function decodeBase64(text: string): Uint8Array | undefined {
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)) return undefined;
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

function binary(argument: string): CellType | undefined {
  const decode = decoders.get(argument);
  return decode === undefined ? undefined : (text) => {
    const bytes = decode(text);
    return bytes === undefined ? fault(text, `binary(${argument})`) : new Binary(bytes, 0);
  };
}

function date(parse: (text: string, layout: string) => number | undefined): (layout: string) => CellType | undefined {
  return (layout) => (layout === '' ? undefined : (text) => {
    const ms = parse(text, layout);
    return ms === undefined ? fault(text, `date(${layout})`) : new DateTime(ms);
  });
}

const constant = (type: CellType) => (argument: string): CellType | undefined => (argument === '' ? type : undefined);

/** The types a header can state, by name; each with its argument. */
const cellTypes: ReadonlyMap<string, (argument: string) => CellType | undefined> = new Map([
  ['auto', constant(inferCell)],
  ['string', constant((text) => text)],
  ['boolean', constant(boolean)],
  ['int32', constant(int32)],
  ['int64', constant(int64)],
  ['double', constant(double)],
  ['decimal', constant(decimal)],
  ['binary', binary],
  ['date', date(parseGoDate)],
  ['date_go', date(parseGoDate)],
  ['date_ms', date(parseMsDate)],
  ['date_oracle', date(parseOracleDate)],
]);

/** A column of a header that states types, as `name.type(argument)`; undefined when it does not. */
export function parseTypedColumn(text: string): { readonly name: string; readonly type: CellType } | undefined {
  const match = /^(?<name>.+)\.(?<type>\w+)\((?<argument>.*)\)$/s.exec(text);
  const { name, type, argument } = match?.groups ?? {};
  const made = cellTypes.get(type ?? '')?.((argument ?? '').replaceAll(String.raw`\)`, ')').replaceAll(String.raw`\(`, '('));
  return name === undefined || made === undefined ? undefined : { name, type: made };
}

/** The text of bytes, or undefined when they are not UTF-8. */
export function textOfBytes(bytes: Uint8Array): string | undefined {
  for (const byte of bytes) if (byte >= 0x80) return strictText(bytes);
  return decodeUtf8(bytes, 0, bytes.length);
}

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function strictText(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

