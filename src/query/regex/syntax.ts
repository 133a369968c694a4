// The tree of a parsed regular expression, in the terms of pcre2pattern(3).

import type { CharSet } from './char-set.ts';

export type Assertion =
  | 'start' // \A, and ^ without multiline
  | 'lineStart'
  | 'end' // \z
  | 'endOrNewline' // \Z, and $ without multiline: at the end, or before a newline that is the last character
  | 'lineEnd'
  | 'wordBoundary'
  | 'notWordBoundary'
  | 'searchStart'; // \G

export type RegexNode =
  | { readonly kind: 'text'; readonly points: readonly number[]; readonly caseless: boolean }
  | { readonly kind: 'set'; readonly set: CharSet; readonly caseless: boolean }
  | { readonly kind: 'sequence'; readonly items: readonly RegexNode[] }
  | { readonly kind: 'choice'; readonly branches: readonly RegexNode[] }
  | RepeatNode
  | { readonly kind: 'group'; readonly index: number; readonly body: RegexNode }
  | { readonly kind: 'atomic'; readonly body: RegexNode }
  | { readonly kind: 'look'; readonly ahead: boolean; readonly negative: boolean; readonly body: RegexNode }
  | { readonly kind: 'assertion'; readonly what: Assertion; readonly unicode: boolean }
  | { readonly kind: 'backReference'; readonly groups: readonly number[]; readonly caseless: boolean }
  | ConditionNode
  | { readonly kind: 'call'; readonly group: number } // group 0: the whole pattern
  | { readonly kind: 'keepOut' }; // \K

export interface RepeatNode {
  readonly kind: 'repeat';
  readonly body: RegexNode;
  readonly min: number;
  /** Infinity for no bound. */
  readonly max: number;
  readonly mode: 'greedy' | 'lazy' | 'possessive';
}

/** `(?(condition)yes|no)`: on groups that took part (none: never), or on what is ahead or behind. */
export interface ConditionNode {
  readonly kind: 'condition';
  readonly groups: readonly number[];
  readonly look: RegexNode | undefined;
  readonly yes: RegexNode;
  readonly no: RegexNode;
}

/** A parsed pattern. */
export interface ParsedRegex {
  readonly root: RegexNode;
  /** Groups in parentheses that catch. */
  readonly groupCount: number;
}
