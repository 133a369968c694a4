// UTF-8 between strings and byte ranges. Node's native methods are called on plain Uint8Arrays, because making a view for each string
// costs more than reading it; short ASCII, the usual case, stays in JavaScript. Only this file and base/bytes.ts know Buffer.
// Nothing here allocates bytes that it does not fill.

import { Buffer, isUtf8 } from 'node:buffer';

declare global {
  interface Buffer {
    utf8Slice(this: Uint8Array, start: number, end: number): string;
    utf8Write(this: Uint8Array, text: string, offset: number, length: number): number;
  }
}

// eslint-disable-next-line @typescript-eslint/unbound-method, frond/no-unsafe-assertion -- Node types no prototype; called on Uint8Arrays
const { utf8Slice, utf8Write } = Buffer.prototype as Buffer;
const shortBytes = 12;
/** Longer texts are Node's to count: unit by unit a text of some megabytes, which V8 keeps outside of its heap, can take seconds. */
const longText = 64;

/** The string that bytes[start, end) hold; malformed sequences become U+FFFD. */
export function decodeUtf8(bytes: Uint8Array, start: number, end: number): string {
  if (end - start > shortBytes) return utf8Slice.call(bytes, start, end);
  let text = '';
  for (let i = start; i < end; i++) {
    const byte = bytes[i] as number;
    if (byte >= 0x80) return utf8Slice.call(bytes, start, end);
    text += String.fromCharCode(byte);
  }
  return text;
}

/** Bytes that `text` takes in UTF-8; a lone surrogate counts as the three of U+FFFD. */
export function utf8Length(text: string): number {
  if (text.length > longText) return Buffer.byteLength(text, 'utf8');
  let length = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    if (unit < 0x800) {
      length += 1;
    } else {
      length += 2;
      if (isHighSurrogate(unit) && isLowSurrogate(text.charCodeAt(i + 1))) i++;
    }
  }
  return length;
}

/**
 * Writes `text` as UTF-8 at `offset` and returns the offset behind it. The caller has made room: three bytes for each UTF-16 unit
 * are always enough.
 */
export function encodeUtf8Into(text: string, target: Uint8Array, offset: number): number {
  const length = text.length;
  if (length > 32) return offset + utf8Write.call(target, text, offset, target.length - offset);
  for (let i = 0; i < length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0x80) return offset + utf8Write.call(target, text, offset, target.length - offset);
    target[offset + i] = unit;
  }
  return offset + length;
}

/** `text` as UTF-8 in bytes of its own. */
export function encodeUtf8(text: string): Uint8Array {
  const bytes = new Uint8Array(utf8Length(text));
  encodeUtf8Into(text, bytes, 0);
  return bytes;
}

/** Whether bytes[start, end) are well-formed UTF-8 (no overlong forms, no surrogates, nothing above U+10FFFF). */
export function isUtf8Range(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start > 64) return isUtf8(bytes.subarray(start, end));
  for (let i = start; i < end; i++) {
    if ((bytes[i] as number) >= 0x80) return isUtf8(bytes.subarray(start, end));
  }
  return true;
}

function isHighSurrogate(unit: number): boolean {
  return (unit & 0xfc00) === 0xd800;
}

function isLowSurrogate(unit: number): boolean {
  return (unit & 0xfc00) === 0xdc00;
}
