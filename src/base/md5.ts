// MD5 (RFC 1321), for the checksum that old GridFS clients ask for and nothing else: it protects from accidents, not from people.

const SHIFTS: readonly number[] = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21];

const SINES: Int32Array = Int32Array.from({ length: 64 }, (_, i) => Math.floor(Math.abs(Math.sin(i + 1)) * 2 ** 32) | 0);

const BLOCK_BYTES = 64;

/** A checksum that bytes are added to. */
export class Md5 {
  readonly #state: Int32Array = Int32Array.of(0x67452301, 0xefcdab89 | 0, 0x98badcfe | 0, 0x10325476);
  readonly #rest: Uint8Array = new Uint8Array(BLOCK_BYTES);
  readonly #words: Int32Array = new Int32Array(16);
  #restBytes = 0;
  #length = 0;

  update(bytes: Uint8Array): this {
    this.#length += bytes.length;
    let at = 0;
    if (this.#restBytes > 0) {
      at = Math.min(BLOCK_BYTES - this.#restBytes, bytes.length);
      this.#rest.set(bytes.subarray(0, at), this.#restBytes);
      this.#restBytes += at;
      if (this.#restBytes < BLOCK_BYTES) return this;
      this.#block(this.#rest, 0);
      this.#restBytes = 0;
    }
    for (; at + BLOCK_BYTES <= bytes.length; at += BLOCK_BYTES) this.#block(bytes, at);
    this.#rest.set(bytes.subarray(at));
    this.#restBytes = bytes.length - at;
    return this;
  }

  /** The sum of all bytes, in hexadecimal digits. Nothing can be added afterwards. */
  digest(): string {
    return Array.from(this.digestBytes(), (byte) => byte.toString(16).padStart(2, '0')).join('');
  }

  /** The same as bytes. */
  digestBytes(): Uint8Array {
    const bits = BigInt(this.#length) * 8n;
    const padding = new Uint8Array(((this.#restBytes < 56 ? 56 : 120) - this.#restBytes) + 8);
    padding[0] = 0x80;
    new DataView(padding.buffer).setBigUint64(padding.length - 8, bits, true);
    this.update(padding);
    const bytes = new Uint8Array(16);
    const view = new DataView(bytes.buffer);
    this.#state.forEach((word, index) => {
      view.setInt32(index * 4, word, true);
    });
    return bytes;
  }

  #block(bytes: Uint8Array, start: number): void {
    const words = this.#words;
    const view = new DataView(bytes.buffer, bytes.byteOffset + start, BLOCK_BYTES);
    for (let i = 0; i < 16; i++) words[i] = view.getInt32(i * 4, true);
    let [a = 0, b = 0, c = 0, d = 0] = this.#state;
    for (let i = 0; i < 64; i++) {
      const round = i >> 4;
      const sum = (a + mixed(round, b, c, d) + (SINES[i] as number) + (words[wordOf(round, i)] as number)) | 0;
      const shift = SHIFTS[round * 4 + (i & 3)] as number;
      a = d;
      d = c;
      c = b;
      b = (b + ((sum << shift) | (sum >>> (32 - shift)))) | 0;
    }
    const state = this.#state;
    state[0] = (state[0] as number) + a;
    state[1] = (state[1] as number) + b;
    state[2] = (state[2] as number) + c;
    state[3] = (state[3] as number) + d;
  }
}

function mixed(round: number, b: number, c: number, d: number): number {
  if (round === 0) return (b & c) | (~b & d);
  if (round === 1) return (d & b) | (~d & c);
  return round === 2 ? b ^ c ^ d : c ^ (b | ~d);
}

function wordOf(round: number, i: number): number {
  if (round === 0) return i;
  if (round === 1) return (5 * i + 1) & 15;
  return round === 2 ? (3 * i + 5) & 15 : (7 * i) & 15;
}
