// Base64 with the alphabet of RFC 4648 section 4, in whole strings.

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const digitOf = new Map<string, number>(Array.from(alphabet, (digit, value) => [digit, value] as const));

/** The bytes in base64, padded. */
export function encodeBase64(bytes: Uint8Array): string {
  let text = '';
  for (let i = 0; i < bytes.length; i += 3) {
    const word = ((bytes[i] ?? 0) << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
    const left = bytes.length - i;
    text += alphabet.charAt(word >>> 18) + alphabet.charAt((word >>> 12) & 63);
    text += (left > 1 ? alphabet.charAt((word >>> 6) & 63) : '=') + (left > 2 ? alphabet.charAt(word & 63) : '=');
  }
  return text;
}

/** The bytes that the text stands for, with or without padding; undefined if it is not base64. */
export function decodeBase64(text: string): Uint8Array | undefined {
  const digits = text.replace(/={1,2}$/, '');
  if (digits.length % 4 === 1 || (digits.length !== text.length && text.length % 4 !== 0)) return undefined;
  const bytes = new Uint8Array(Math.floor((digits.length * 3) / 4));
  let word = 0;
  let bits = 0;
  let at = 0;
  for (const digit of digits) {
    const value = digitOf.get(digit);
    if (value === undefined) return undefined;
    word = ((word << 6) | value) & 0xffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[at++] = (word >>> bits) & 0xff;
    }
  }
  return bytes;
}
