// The longest string of the language: below 16 MB, counted in bytes of UTF-8. Follows the manual's page "MongoDB Limits and Thresholds".

import { utf8Length } from '../../base/text.ts';
import { refuse } from '../refuse.ts';

const STRING_BYTES_MAX = 16 * 1024 * 1024;

/** Whether a text is longer than a string can be. */
export function isTooLong(text: string): boolean {
  return text.length * 3 >= STRING_BYTES_MAX && utf8Length(text) >= STRING_BYTES_MAX;
}

/** The text, unless it is longer than a string can be. */
export function checkedText(text: string): string {
  if (isTooLong(text)) throw refuse(16493, 'Tried to create string longer than 16MB');
  return text;
}
