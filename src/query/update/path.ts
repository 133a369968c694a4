// Paths of updates: names, array indexes, the positional operators `$`, `$[]` and `$[<identifier>]`. Follows the manual's pages of the
// positional operators.

import { refuse } from '../refuse.ts';

/** One component of an update's path. */
export type UpdatePathPart =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'positional' } // `$`: the element that the filter matched
  | { readonly kind: 'elements'; readonly identifier: string }; // `$[identifier]`; '' is `$[]`, every element

/** A parsed path. */
export interface UpdatePath {
  readonly text: string;
  readonly parts: readonly UpdatePathPart[];
}

function parsePart(text: string): UpdatePathPart {
  if (text === '$') return { kind: 'positional' };
  if (text.startsWith('$[') && text.endsWith(']')) return { kind: 'elements', identifier: text.slice(2, -1) };
  return { kind: 'name', name: text };
}

/** Takes a dotted path apart; refuses empty components and more than one `$`. */
export function parseUpdatePath(text: string): UpdatePath {
  if (text === '') throw refuse(56, 'An empty update path is not valid.');
  if (text.includes('\0')) throw refuse(9867600, `The update path '${text}' contains a null byte, which is not allowed.`);
  const names = text.split('.');
  if (names.includes('')) throw refuse(56, `The update path '${text}' contains an empty field name, which is not allowed.`);
  const parts = names.map(parsePart);
  const first = parts[0];
  if (first?.kind === 'positional') {
    throw refuse(2, `Cannot have positional (i.e. '$') element in the first position in path '${text}'`);
  }
  if (first?.kind === 'elements') {
    throw refuse(2, `Cannot have array filter identifier (i.e. '$[<id>]') element in the first position in path '${text}'`);
  }
  if (parts.filter((part) => part.kind === 'positional').length > 1) {
    throw refuse(2, `Too many positional (i.e. '$') elements found in path '${text}'`);
  }
  return { text, parts };
}

/** Refuses a field that would be stored under a name with `$` in front; DBRef's fields may be. */
export function refuseDollarName(name: string, path: string): void {
  if (!name.startsWith('$') || name === '$id' || name === '$ref' || name === '$db') return;
  throw refuse(52, `The dollar ($) prefixed field '${name}' in '${path}' is not allowed for storage.`);
}
