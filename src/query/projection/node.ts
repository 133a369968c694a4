// The tree of a parsed projection: branches by field name, leaves that say what becomes of a field.

import type { ElementFinder } from '../filter/compile.ts';
import type { Expression } from '../expression/expression.ts';

/** Fields below a field, in the order of the specification. */
export interface ProjectionBranch {
  readonly kind: 'branch';
  readonly fields: Map<string, ProjectionNode>;
  /** True if a field below is computed (an expression or `$elemMatch`): it is made even where the document has nothing to include. */
  computes: boolean;
  /** True if the positional operator stands below: the first array on the way is reduced to the element that matched. */
  positional: boolean;
}

/** An array reduced to some of its elements: `skip` from the front, or from the back if negative. */
export interface SliceNode {
  readonly kind: 'slice';
  readonly skip: number | undefined;
  readonly limit: number;
}

export type ProjectionLeaf =
  | { readonly kind: 'include' }
  | { readonly kind: 'exclude' }
  | { readonly kind: 'computed'; readonly expression: Expression }
  | SliceNode
  | { readonly kind: 'elemMatch'; readonly find: ElementFinder }
  | { readonly kind: 'positional' };

export type ProjectionNode = ProjectionBranch | ProjectionLeaf;

/** What happens to fields that the tree does not name: left out, kept, or kept with others set beside them (`$addFields`). */
export type ProjectionMode = 'include' | 'exclude' | 'add';

/** A new branch without fields. */
export function branchOf(): ProjectionBranch {
  return { kind: 'branch', fields: new Map(), computes: false, positional: false };
}
