// A filter taken apart: what must all be true (its conjuncts), and what each of them says of single paths (leaves). A conjunct without leaves
// bounds no index and is tested on documents. Leaves from inside one `$elemMatch` speak of one element and carry its node.

import { hasText } from '../bson/index.ts';
import { sameCollation } from '../collation/index.ts';
import type { Collation } from '../collation/index.ts';
import type { FilterNode } from '../query/index.ts';
import { boundsOf, isPathNode } from './condition-bounds.ts';
import type { ConditionBounds } from './condition-bounds.ts';

/** What one condition says of one path. */
export interface Leaf {
  /** Which conjunct it comes from. */
  readonly conjunct: number;
  readonly path: string;
  readonly bounds: ConditionBounds;
  /** Where the bounds have texts: how they are compared, undefined for by their bytes. 'any' where they have none. */
  readonly collation: Collation | undefined | 'any';
  /** A condition that can be true because of what is not there. */
  readonly negative: boolean;
  /** The `$elemMatch` around it, and how many components its path has. */
  readonly element: { readonly node: FilterNode; readonly depth: number } | undefined;
}

/** A filter as its planner sees it. */
export interface Conditions {
  readonly conjuncts: readonly FilterNode[];
  readonly leaves: readonly Leaf[];
}

/** Takes a filter apart. */
export function conditionsOf(shape: FilterNode): Conditions {
  const conjuncts = shape.kind === 'and' ? shape.children : [shape];
  const leaves: Leaf[] = [];
  conjuncts.forEach((node, conjunct) => {
    addLeaves(leaves, node, { conjunct, prefix: '', element: undefined });
  });
  return { conjuncts, leaves };
}

interface Place {
  readonly conjunct: number;
  readonly prefix: string;
  readonly element: Leaf['element'];
}

function addLeaves(leaves: Leaf[], node: FilterNode, place: Place): void {
  if (node.kind === 'elemMatchObject') {
    const path = place.prefix + node.path.text;
    const inner: Place = { ...place, prefix: `${path}.`, element: { node, depth: path.split('.').length } };
    for (const child of node.child.kind === 'and' ? node.child.children : [node.child]) addLeaves(leaves, child, inner);
    return;
  }
  const negative = node.kind === 'not';
  const inner = negative ? node.child : node;
  if (!isPathNode(inner) || inner.kind === 'elemMatchObject' || (negative && inner.kind === 'elemMatchValue')) return;
  const bounds = boundsOf(negative ? node : inner);
  if (bounds === undefined) return;
  leaves.push({ conjunct: place.conjunct, path: place.prefix + inner.path.text, bounds, collation: textsOf(inner), negative, element: place.element });
}

/** How the texts of a condition are compared; 'any' where it has none. */
function textsOf(node: FilterNode): Leaf['collation'] {
  switch (node.kind) {
    case 'compare':
      return hasText(node.value) ? node.collation : 'any';
    case 'in':
      return node.patterns.length > 0 ? undefined : node.values.some(hasText) ? node.collation : 'any';
    case 'regex':
      return undefined;
    case 'elemMatchValue': {
      const parts = node.children.map((child) => textsOf(child.kind === 'not' ? child.child : child));
      return parts.find((part) => part !== 'any') ?? (parts.every((part) => part === 'any') ? 'any' : undefined);
    }
    default:
      return 'any';
  }
}

/** Whether the bounds of a condition mean the same in an index of this collation. */
export function suits(leaf: Leaf, collation: Collation | undefined): boolean {
  return leaf.collation === 'any' || sameCollation(leaf.collation, collation);
}
