// How many characters a part of a pattern matches, where that is always the same: a look-behind must begin at a known place, so each of its
// branches needs one (pcre2pattern(3), "Lookbehind assertions").

import type { RegexNode } from './syntax.ts';

/** The length in characters; undefined where it is not always the same, or not known. */
function fixedLength(node: RegexNode): number | undefined {
  switch (node.kind) {
    case 'text':
      return node.points.length;
    case 'set':
      return 1;
    case 'group':
    case 'atomic':
      return fixedLength(node.body);
    case 'repeat':
      return node.min === node.max ? times(fixedLength(node.body), node.min) : undefined;
    case 'sequence':
      return sum(node.items.map(fixedLength));
    case 'choice':
      return same(node.branches.map(fixedLength));
    case 'look':
    case 'assertion':
    case 'keepOut':
      return 0;
    default:
      return undefined;
  }
}

/** Whether a look-behind can begin somewhere: each of its branches has a length of its own. */
export function canLookBehind(body: RegexNode): boolean {
  const inner = body.kind === 'group' ? undefined : body;
  const branches = inner?.kind === 'choice' ? inner.branches : [body];
  return branches.every((branch) => fixedLength(branch) !== undefined);
}

function times(length: number | undefined, count: number): number | undefined {
  return length === undefined ? undefined : length * count;
}

function sum(lengths: readonly (number | undefined)[]): number | undefined {
  return lengths.reduce((total, length) => (total === undefined || length === undefined ? undefined : total + length), 0);
}

function same(lengths: readonly (number | undefined)[]): number | undefined {
  return lengths.every((length) => length === lengths[0]) ? lengths[0] : undefined;
}
