// Taking a double apart into mantissa and exponent, exactly.

const float = new Float64Array(1);
const words = new Uint32Array(float.buffer);

/** |value| = mantissa * 2^exponent. */
export interface DoubleParts {
  readonly mantissa: bigint;
  readonly exponent: number;
}

/** The parts of a finite double's magnitude. */
export function readDoubleParts(value: number): DoubleParts {
  float[0] = value;
  const high = (words[1] as number) & 0x7fffffff;
  const low = words[0] as number;
  const biased = high >>> 20;
  const fraction = (high & 0xfffff) * 4294967296 + low;
  if (biased === 0) return { mantissa: BigInt(fraction), exponent: -1074 };
  return { mantissa: BigInt(fraction + 4503599627370496), exponent: biased - 1075 };
}
