// Bytes as data has them, for properties of codecs and formats: noise, runs of one byte, and pieces that come again from near and far.

import fc from 'fast-check';

type Part =
  | { readonly kind: 'noise'; readonly bytes: Uint8Array }
  | { readonly kind: 'run'; readonly byte: number; readonly length: number }
  | { readonly kind: 'again'; readonly back: number; readonly length: number };

function build(parts: readonly Part[]): Uint8Array {
  const built: number[] = [];
  for (const part of parts) {
    if (part.kind === 'noise') built.push(...part.bytes);
    else if (part.kind === 'run') for (let i = 0; i < part.length; i++) built.push(part.byte);
    else if (built.length > 0) {
      const from = built.length - 1 - (part.back % built.length);
      for (let i = 0; i < part.length; i++) built.push(built[from + i] as number);
    }
  }
  return Uint8Array.from(built);
}

/** Up to some thousand bytes that compress more or less well. */
export const repetitiveBytes: fc.Arbitrary<Uint8Array> = fc
  .array(
    fc.oneof(
      fc.record({ kind: fc.constant('noise' as const), bytes: fc.uint8Array({ maxLength: 60 }) }),
      fc.record({ kind: fc.constant('run' as const), byte: fc.nat(255), length: fc.nat(600) }),
      fc.record({ kind: fc.constant('again' as const), back: fc.nat(), length: fc.nat(400) }),
    ),
    { maxLength: 30 },
  )
  .map(build);
