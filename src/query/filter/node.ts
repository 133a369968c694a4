// The tree of a parsed filter, open to the planner. Every operator of the query language is reduced to these few nodes: `$ne` is
// not(equality), `$nin` is not(in), `$exists: false` is not(exists), `$nor` is not(or), `$all` is an and. What a node means when its path
// reaches several values (arrays): the document matches if any value reached passes the test; so two ranges on one path are NOT one
// interval when the field is an array, except below `elemMatchValue`, where all children speak of the same element.
// Follows the manual's page "Query and Projection Operators".

import type { Document, Path, Value } from '../../bson/index.ts';
import type { Collation } from '../../collation/index.ts';
import type { Expression } from '../expression/expression.ts';
import type { NearQuery } from '../geo/near.ts';
import type { Region } from '../geo/region.ts';
import type { Pattern } from '../regex.ts';
import type { TextSearch } from '../text/text-search.ts';
import type { ElementTest } from './path.ts';

export type CompareOperator = 'eq' | 'lt' | 'lte' | 'gt' | 'gte';

/**
 * Compares with one value, within the value's class of types only (numbers of all types are one class). Equality with null also matches a
 * missing field. `gt` and `gte` minKey, and `lt` and `lte` maxKey, match every class. An array as value equals a whole array, or an
 * element that is such an array.
 */
export interface CompareNode {
  readonly kind: 'compare';
  readonly operator: CompareOperator;
  readonly path: Path;
  readonly value: Value;
  /** How texts are compared, where there is one in the value; undefined: by their bytes. */
  readonly collation?: Collation | undefined;
}

/** Equality with any of the values, or a match of any of the patterns. An empty list matches nothing. */
export interface InNode {
  readonly kind: 'in';
  readonly path: Path;
  readonly values: readonly Value[];
  readonly patterns: readonly Pattern[];
  readonly collation?: Collation | undefined;
}

/** Strings (and symbols) that match, and regular expressions stored with the same source and flags. */
export interface RegexNode {
  readonly kind: 'regex';
  readonly path: Path;
  readonly pattern: Pattern;
}

/** The field is there, whatever its value. */
export interface ExistsNode {
  readonly kind: 'exists';
  readonly path: Path;
}

/** The value's type is one of these codes (1 to 19, -1, 127); an array also matches as a whole by 4. */
export interface TypeNode {
  readonly kind: 'type';
  readonly path: Path;
  readonly types: ReadonlySet<number>;
}

/** An array with exactly this many elements. Arrays are not entered at the end of the path. */
export interface SizeNode {
  readonly kind: 'size';
  readonly path: Path;
  readonly size: number;
}

/** The number, cut to an integer, leaves this remainder. */
export interface ModNode {
  readonly kind: 'mod';
  readonly path: Path;
  readonly divisor: bigint;
  readonly remainder: bigint;
}

export type BitsOperator = '$bitsAllSet' | '$bitsAllClear' | '$bitsAnySet' | '$bitsAnyClear';

/** Tests bits of an integer number or of binary data. */
export interface BitsNode {
  readonly kind: 'bits';
  readonly path: Path;
  readonly operator: BitsOperator;
  /** Bit positions, ascending, each once. */
  readonly positions: readonly number[];
}

/** A shape that lies within a region, or meets it. */
export interface GeoNode {
  readonly kind: 'geo';
  readonly path: Path;
  readonly relation: 'within' | 'meets';
  readonly region: Region;
  /** As it was given. */
  readonly operand: Value;
  readonly test: ElementTest;
}

/** A shape at a distance from a point between two others; the documents are wanted in order of distance. Only at the top. */
export interface NearNode {
  readonly kind: 'near';
  readonly path: Path;
  readonly query: NearQuery;
  /** As it was given. */
  readonly operand: Value;
  readonly test: ElementTest;
}

/** An array with an element that is a document (or array) matching the child; the child's paths start at the element. */
export interface ElemMatchObjectNode {
  readonly kind: 'elemMatchObject';
  readonly path: Path;
  readonly child: FilterNode;
}

/** An array with one element that passes all children; their paths are empty (`selfPath`). */
export interface ElemMatchValueNode {
  readonly kind: 'elemMatchValue';
  readonly path: Path;
  readonly children: readonly FilterNode[];
}

/** All children match. No child at all matches everything. */
export interface AndNode {
  readonly kind: 'and';
  readonly children: readonly FilterNode[];
}

/** One child matches; at least two children. */
export interface OrNode {
  readonly kind: 'or';
  readonly children: readonly FilterNode[];
}

/** The child does not match the document (below `elemMatchValue`: the element). */
export interface NotNode {
  readonly kind: 'not';
  readonly child: FilterNode;
}

/** An aggregation expression that is true of the document. Only at the top level and below and, or, not there. */
export interface ExprNode {
  readonly kind: 'expr';
  readonly expression: Expression;
}

/** The document fulfils a JSON schema. */
export interface SchemaNode {
  readonly kind: 'schema';
  readonly schema: Document;
  /** Tests a raw value: the document itself is one of type 3. */
  readonly test: ElementTest;
}

/** A text search; only at the top level. The planner says which index it is about. */
export interface TextNode {
  readonly kind: 'text';
  readonly search: TextSearch;
  readonly operand: Value;
}

/** Matches every document, or none. */
export interface AlwaysNode {
  readonly kind: 'always';
  readonly value: boolean;
}

/** A node that tests the values at one path. */
export type PathNode =
  | CompareNode
  | InNode
  | RegexNode
  | ExistsNode
  | TypeNode
  | SizeNode
  | ModNode
  | BitsNode
  | GeoNode
  | NearNode
  | ElemMatchObjectNode
  | ElemMatchValueNode;

export type FilterNode = PathNode | AndNode | OrNode | NotNode | ExprNode | SchemaNode | TextNode | AlwaysNode;

/** Matches everything. */
export const matchAll: FilterNode = { kind: 'and', children: [] };

/** The and of some nodes, as small as it can be: nested ands are one, and one child alone stands for itself. */
export function andOf(nodes: readonly FilterNode[]): FilterNode {
  const children = nodes.flatMap((node) => (node.kind === 'and' ? node.children : [node]));
  return children.length === 1 ? (children[0] as FilterNode) : { kind: 'and', children };
}

/** The or of at least one node, as small as it can be: nested ors are one, and equalities of one path are one `in`. */
export function orOf(nodes: readonly FilterNode[]): FilterNode {
  const flat = nodes.flatMap((node) => (node.kind === 'or' ? node.children : [node]));
  const equalities = new Map<string, (CompareNode | InNode)[]>();
  for (const node of flat.filter(isEquality)) {
    const group = equalities.get(node.path.text);
    if (group === undefined) equalities.set(node.path.text, [node]);
    else group.push(node);
  }
  const joined = flat.flatMap((node): readonly FilterNode[] => {
    const group = isEquality(node) ? (equalities.get(node.path.text) ?? []) : [];
    if (!isEquality(node) || group.length === 1) return [node];
    return group[0] === node ? [{ kind: 'in', path: node.path, values: group.flatMap(valuesOf), patterns: [], collation: group.find(({ collation }) => collation !== undefined)?.collation }] : [];
  });
  return joined.length === 1 ? (joined[0] as FilterNode) : { kind: 'or', children: joined };
}

function isEquality(node: FilterNode): node is CompareNode | InNode {
  return (node.kind === 'compare' && node.operator === 'eq') || (node.kind === 'in' && node.patterns.length === 0);
}

function valuesOf(node: CompareNode | InNode): readonly Value[] {
  return node.kind === 'in' ? node.values : [node.value];
}

/** The negation of a node. */
export function notOf(child: FilterNode): FilterNode {
  return child.kind === 'always' ? { kind: 'always', value: !child.value } : { kind: 'not', child };
}

/** Whether a query orders by distance: has `$near` or `$nearSphere`, which stand at the top. */
export function ordersByDistance(node: FilterNode): boolean {
  return node.kind === 'near' || (node.kind === 'and' && node.children.some(ordersByDistance));
}

/** The text search of a filter, if there is one. */
export function textNodeOf(node: FilterNode): TextNode | undefined {
  if (node.kind === 'text') return node;
  if (node.kind !== 'and') return undefined;
  for (const child of node.children) if (child.kind === 'text') return child;
  return undefined;
}
