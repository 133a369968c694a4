// CRC-32C (Castagnoli, RFC 3720 appendix B.4): the checksum of OP_MSG and of every record and block on disk. Eight tables, eight bytes a
// step, because every byte that is written or received goes through here.

const POLYNOMIAL = 0x82f63b78;
const TABLES = makeTables();

function makeTables(): Uint32Array {
  const tables = new Uint32Array(8 * 256);
  for (let i = 0; i < 256; i++) {
    let crc = i;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
    tables[i] = crc;
  }
  for (let i = 256; i < tables.length; i++) {
    const before = tables[i - 256] as number;
    tables[i] = (before >>> 8) ^ (tables[before & 0xff] as number);
  }
  return tables;
}

/** Checksum of bytes[start, end), as an unsigned number; `seed` is the checksum of what came before, to go on from it. */
export function crc32c(bytes: Uint8Array, start = 0, end: number = bytes.length, seed = 0): number {
  const t = TABLES;
  let crc = ~seed;
  let i = start;
  for (const whole = end - 8; i <= whole; i += 8) {
    crc ^=
      (bytes[i] as number) |
      ((bytes[i + 1] as number) << 8) |
      ((bytes[i + 2] as number) << 16) |
      ((bytes[i + 3] as number) << 24);
    crc =
      (t[1792 + (crc & 0xff)] as number) ^
      (t[1536 + ((crc >>> 8) & 0xff)] as number) ^
      (t[1280 + ((crc >>> 16) & 0xff)] as number) ^
      (t[1024 + (crc >>> 24)] as number) ^
      (t[768 + (bytes[i + 4] as number)] as number) ^
      (t[512 + (bytes[i + 5] as number)] as number) ^
      (t[256 + (bytes[i + 6] as number)] as number) ^
      (t[bytes[i + 7] as number] as number);
  }
  for (; i < end; i++) crc = (crc >>> 8) ^ (t[(crc ^ (bytes[i] as number)) & 0xff] as number);
  return ~crc >>> 0;
}
