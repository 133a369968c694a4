// The body of an answer as a list of pieces whose lengths are known before a byte is sent: literal text and stretches of the file. So
// Content-Length is exact, for one range, for several (multipart/byteranges, RFC 9110, section 14.6), and for the whole.

import { encodeUtf8 } from '../base/text.ts';
import type { ByteRange } from './byte-range.ts';

/** Text between parts, or bytes `first` to `last` of the file. */
export type BodyPiece = { readonly kind: 'text'; readonly bytes: Uint8Array } | { readonly kind: 'file'; readonly range: ByteRange };

/** A body and what its head must say. */
export interface BodyPlan {
  readonly status: 200 | 206;
  readonly length: number;
  readonly contentType: string;
  /** Of a single range. */
  readonly contentRange: string | undefined;
  readonly pieces: readonly BodyPiece[];
}

interface Whole {
  readonly length: number;
  readonly contentType: string;
}

/** The whole file. */
export function wholeBody({ length, contentType }: Whole): BodyPlan {
  const pieces: BodyPiece[] = length === 0 ? [] : [{ kind: 'file', range: { first: 0, last: length - 1 } }];
  return { status: 200, length, contentType, contentRange: undefined, pieces };
}

/** The ranges, in their order; `makeBoundary` gives what is between the parts of several, which must not be in the file. */
export function rangedBody(whole: Whole, ranges: readonly ByteRange[], makeBoundary: () => string): BodyPlan {
  const [first] = ranges;
  if (ranges.length !== 1 || first === undefined) return multipartBody(whole, ranges, makeBoundary());
  return {
    status: 206,
    length: sizeOf(first),
    contentType: whole.contentType,
    contentRange: describeRange(first, whole.length),
    pieces: [{ kind: 'file', range: first }],
  };
}

function multipartBody({ length, contentType }: Whole, ranges: readonly ByteRange[], boundary: string): BodyPlan {
  const text = (words: string): BodyPiece => ({ kind: 'text', bytes: encodeUtf8(words) });
  const pieces = ranges.flatMap((range, i): BodyPiece[] => {
    const lines = [`${i === 0 ? '' : '\r\n'}--${boundary}`, `Content-Type: ${contentType}`, `Content-Range: ${describeRange(range, length)}`];
    return [text(`${lines.join('\r\n')}\r\n\r\n`), { kind: 'file', range }];
  });
  pieces.push(text(`\r\n--${boundary}--\r\n`));
  const total = pieces.reduce((sum, piece) => sum + (piece.kind === 'text' ? piece.bytes.length : sizeOf(piece.range)), 0);
  return { status: 206, length: total, contentType: `multipart/byteranges; boundary=${boundary}`, contentRange: undefined, pieces };
}

const sizeOf = ({ first, last }: ByteRange): number => last - first + 1;

const describeRange = ({ first, last }: ByteRange, length: number): string => `bytes ${first}-${last}/${length}`;
