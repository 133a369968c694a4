// Strings counted in code points and in UTF-8 bytes, as MongoDB counts them; JavaScript counts UTF-16 units. ASCII, where all three are the
// same, is found out once and not walked through.

/** True if every character is ASCII. */
export function isAscii(text: string): boolean {
   
  return /^[\0-\x7f]*$/.test(text);
}

function unitsOf(text: string, at: number): 1 | 2 {
  const point = text.codePointAt(at) ?? 0;
  return point > 0xffff ? 2 : 1;
}

/** How many code points there are. */
export function countCodePoints(text: string): number {
  if (isAscii(text)) return text.length;
  let count = 0;
  for (let at = 0; at < text.length; at += unitsOf(text, at)) count += 1;
  return count;
}

/** The UTF-16 index of a code point, the text's length if it has not so many. */
export function unitIndex(text: string, codePoint: number): number {
  if (isAscii(text)) return Math.min(codePoint, text.length);
  let at = 0;
  for (let count = 0; count < codePoint && at < text.length; count++) at += unitsOf(text, at);
  return at;
}

/** The index in code points of a UTF-16 index. */
export function codePointIndex(text: string, unit: number): number {
  return countCodePoints(text.slice(0, unit));
}
