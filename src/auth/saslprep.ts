// SASLprep (RFC 4013) of user names and passwords: what looks the same is made the same, and what cannot be typed is refused. The tables
// are those of RFC 3454 that RFC 4013 names; unassigned code points are let through, as in its "query" form.

import { CommandError } from '../base/errors.ts';

/** Spaces other than the plain one (C.1.2): mapped to it. */
const OTHER_SPACES = /[\u00a0\u1680\u2000-\u200b\u202f\u205f\u3000]/gu;

/** Commonly mapped to nothing (B.1). */
const NOTHING = /[\u00ad\u034f\u1806\u180b-\u180d\u200b-\u200d\u2060\ufe00-\ufe0f\ufeff]/gu;

/** Prohibited output (C.2.1, C.2.2, C.3 to C.9). */
const PROHIBITED =
  /[\u0000-\u001f\u007f-\u009f\u06dd\u070f\u180e\u2028\u2029\u2061-\u2063\u206a-\u206f\ufff9-\uffff\ue000-\uf8ff\ufdd0-\ufdef\u2ff0-\u2ffb\u0340\u0341\u200e\u200f\u202a-\u202e\p{Cs}\u{1d173}-\u{1d17a}\u{e0001}\u{e0020}-\u{e007f}\u{f0000}-\u{10ffff}]/u;

/** Right-to-left letters (D.1). */
const RIGHT_TO_LEFT = /[\u05be\u05c0\u05c3\u05d0-\u05f4\u061b\u061f\u0621-\u064a\u066d-\u06d5\u06e5\u06e6\u06fa-\u0710\u0712-\u07b1\u200f\ufb1d-\ufdfc\ufe70-\ufefc]/u;

/** Letters of any other direction (D.2), near enough: those of a script that is written left to right. */
const LEFT_TO_RIGHT = /\p{L}/u;

/** The prepared text. What RFC 4013 prohibits is 2 BadValue. */
export function saslPrepare(text: string): string {
  // Printable ASCII is what nearly everybody has, and stays as it is.
  if (/^[\u0020-\u007e]*$/.test(text)) return text;
  const mapped = text.replace(OTHER_SPACES, ' ').replace(NOTHING, '').normalize('NFKC');
  if (PROHIBITED.test(mapped)) throw new CommandError(2, 'BadValue', 'Error preflighting normalization: the text has characters that SASLprep prohibits');
  checkDirection(mapped);
  return mapped;
}

/** A text with right-to-left letters has no others, and begins and ends with one (RFC 3454, section 6). */
function checkDirection(text: string): void {
  if (!RIGHT_TO_LEFT.test(text)) return;
  const letters = Array.from(text);
  const mixed = letters.some((letter) => LEFT_TO_RIGHT.test(letter) && !RIGHT_TO_LEFT.test(letter));
  const framed = RIGHT_TO_LEFT.test(letters[0] ?? '') && RIGHT_TO_LEFT.test(letters.at(-1) ?? '');
  if (mixed || !framed) throw new CommandError(2, 'BadValue', 'Error preflighting normalization: letters of both directions in one text');
}
