// A tree as a pattern that RE2 runs in time linear in the text, where it holds nothing that RE2 has not: back-references, look-ahead,
// atomic groups, conditions, calls. What the two dialects write alike but mean differently (`$`, `\s`) is written out.

import { caseVariants, escapePoint, has, re2Class } from './char-set.ts';
import type { Assertion, RegexNode } from './syntax.ts';

/** Beyond this RE2 refuses a counted repetition. */
const RE2_REPEAT_MAX = 1000;

const assertions: Readonly<Record<Assertion, string | undefined>> = {
  start: '\\A',
  lineStart: '(?m:^)',
  end: '\\z',
  endOrNewline: '(?:\\n?\\z)',
  lineEnd: '(?m:$)',
  wordBoundary: '\\b',
  notWordBoundary: '\\B',
  searchStart: undefined,
};

/** Patterns beyond this size take RE2 tens of milliseconds to compile. */
const WEIGHT_MAX = 3000;

/** The pattern for RE2, or undefined where RE2 cannot, or not in reasonable time. */
export function toRe2(node: RegexNode): string | undefined {
  return weigh(node) > WEIGHT_MAX ? undefined : emit(node, true);
}

/** About how large RE2's program becomes: counted repetitions are written out in it. */
function weigh(node: RegexNode): number {
  switch (node.kind) {
    case 'text':
      return node.points.length * (node.caseless ? 3 : 1);
    case 'set':
      return 3 + node.set.ranges.length / 8 + node.set.properties.length * 30;
    case 'sequence':
      return node.items.reduce((sum, item) => sum + weigh(item), 0);
    case 'choice':
      return node.branches.reduce((sum, branch) => sum + weigh(branch), node.branches.length);
    case 'repeat':
      return (1 + weigh(node.body)) * (node.max === Infinity ? node.min + 1 : node.max);
    case 'group':
    case 'look':
    case 'atomic':
      return 1 + weigh(node.body);
    default:
      return 1;
  }
}

/** `last` is false where something may still follow. */
function emit(node: RegexNode, last: boolean): string | undefined {
  switch (node.kind) {
    case 'text':
      return node.points.map((point) => emitPoint(point, node.caseless)).join('');
    case 'set':
      return emitSet(node);
    case 'sequence':
      return emitAll(node.items, last);
    case 'choice': {
      const branches = node.branches.map((branch) => emit(branch, last));
      return branches.includes(undefined) ? undefined : `(?:${branches.join('|')})`;
    }
    case 'repeat':
      return emitRepeat(node);
    case 'group': {
      const body = emit(node.body, last);
      return body === undefined ? undefined : `(${body})`;
    }
    case 'assertion':
      return emitAssertion(node.what, node.unicode, last);
    case 'look':
      return emitLook(node);
    default:
      return undefined;
  }
}

function emitAll(items: readonly RegexNode[], last: boolean): string | undefined {
  let text = '';
  for (const [index, item] of items.entries()) {
    const part = emit(item, last && index === items.length - 1);
    if (part === undefined) return undefined;
    text += part;
  }
  return `(?:${text})`;
}

function emitPoint(point: number, caseless: boolean): string {
  const variants = caseless ? caseVariants(point) : [point];
  return variants.length === 1 ? escapePoint(point) : `[${variants.map(escapePoint).join('')}]`;
}

function emitSet(node: Extract<RegexNode, { kind: 'set' }>): string | undefined {
  const text = re2Class(node.set);
  return text === undefined || !node.caseless ? text : `(?i:${text})`;
}

function emitRepeat(node: Extract<RegexNode, { kind: 'repeat' }>): string | undefined {
  const { min, max, mode } = node;
  if (mode === 'possessive' || min > RE2_REPEAT_MAX || (max !== Infinity && max > RE2_REPEAT_MAX)) return undefined;
  const body = emit(node.body, false);
  if (body === undefined) return undefined;
  const bounds = max === Infinity ? `{${String(min)},}` : `{${String(min)},${String(max)}}`;
  return `(?:${body})${shortBounds(min, max) ?? bounds}${mode === 'lazy' ? '?' : ''}`;
}

function shortBounds(min: number, max: number): string | undefined {
  if (max === Infinity) return min === 0 ? '*' : min === 1 ? '+' : undefined;
  return min === 0 && max === 1 ? '?' : undefined;
}

/** The end before a last newline looks ahead; RE2 has to eat the newline, which only the very end of the pattern may. */
function emitAssertion(what: Assertion, unicode: boolean, last: boolean): string | undefined {
  if (what === 'endOrNewline' && !last) return undefined;
  if ((what === 'wordBoundary' || what === 'notWordBoundary') && unicode) return undefined;
  return assertions[what];
}

/** RE2JS looks behind in linear time where nothing is caught there. */
function emitLook(node: Extract<RegexNode, { kind: 'look' }>): string | undefined {
  if (node.ahead || catches(node.body)) return undefined;
  const body = emit(node.body, false);
  return body === undefined ? undefined : `(?<${node.negative ? '!' : '='}${body})`;
}

function catches(node: RegexNode): boolean {
  switch (node.kind) {
    case 'group':
      return true;
    case 'sequence':
      return node.items.some(catches);
    case 'choice':
      return node.branches.some(catches);
    case 'repeat':
    case 'atomic':
    case 'look':
      return catches(node.body);
    default:
      return false;
  }
}

/** Whether a set has the code point, in any case if it is caseless. */
export function setHas(node: Extract<RegexNode, { kind: 'set' }>, point: number): boolean {
  if (has(node.set, point)) return true;
  return node.caseless && caseVariants(point).some((variant) => has(node.set, variant));
}
