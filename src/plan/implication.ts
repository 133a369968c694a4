// Whether an index that leaves documents out (sparse, partial) has all that a filter can match. A sparse index does if the filter has a condition
// on an indexed path that a document without that path fails. A partial one does if the filter implies its filter, as far as simple rules
// see: equal conditions, narrower ranges, equality with a value that passes.

import { classOf, comparerOf, Document, hasText } from '../bson/index.ts';
import { sameCollation } from '../collation/index.ts';
import type { Value } from '../bson/index.ts';
import type { Index } from '../catalog/index.ts';
import { filterOf } from '../query/index.ts';
import type { CompareNode, FilterNode, PathNode } from '../query/index.ts';
import { isPathNode } from './condition-bounds.ts';

/** Whether every document that these conjuncts match has an entry in the index. */
export function holdsAll(index: Index, conjuncts: readonly FilterNode[]): boolean {
  if (index.sparse && !conjuncts.some((node) => asksFor(index, node))) return false;
  return index.partialShape === undefined || implies(conjuncts, index.partialShape);
}

function asksFor(index: Index, node: FilterNode): boolean {
  return isPathNode(node) && index.paths.includes(node.path.text) && !filterOf(node).matches(Document.empty);
}

/** Whether the conjuncts together imply `wanted`. */
function implies(conjuncts: readonly FilterNode[], wanted: FilterNode): boolean {
  if (wanted.kind === 'and') return wanted.children.every((child) => implies(conjuncts, child));
  if (wanted.kind === 'or' && wanted.children.some((child) => implies(conjuncts, child))) return true;
  return conjuncts.some((node) => impliesAlone(node, wanted));
}

function impliesAlone(node: FilterNode, wanted: FilterNode): boolean {
  if (isSame(node, wanted)) return true;
  if (node.kind === 'or') return node.children.every((child) => implies(child.kind === 'and' ? child.children : [child], wanted));
  if (!isPathNode(node) || !isPathNode(wanted) || node.path.text !== wanted.path.text) return false;
  if (wanted.kind === 'exists') return !filterOf(node).matches(Document.empty) && node.kind !== 'exists';
  if (!sameTexts(node, wanted)) return false;
  if (node.kind === 'in') return node.patterns.length === 0 && node.values.every((value) => passes(value, wanted));
  if (node.kind !== 'compare') return false;
  return node.operator === 'eq' ? passes(node.value, wanted) : isNarrower(node, wanted);
}

/** Whether both compare texts in the same way, or there are none. */
function sameTexts(a: FilterNode, b: FilterNode): boolean {
  if ((a.kind !== 'compare' && a.kind !== 'in') || (b.kind !== 'compare' && b.kind !== 'in')) return true;
  const texts = [a, b].flatMap((node) => (node.kind === 'compare' ? [node.value] : node.values)).some(hasText);
  return !texts || sameCollation(a.collation, b.collation);
}

/** Whether a document that has this value at the path matches; null may also mean that there is none. */
function passes(value: Value, wanted: PathNode): boolean {
  const test = filterOf(wanted);
  if (value === null && !test.matches(Document.empty)) return false;
  return test.matches(nested(wanted.path.text.split('.'), value));
}

function nested(parts: readonly string[], value: Value): Document {
  const [name = '', ...rest] = parts;
  return Document.fromEntries([[name, rest.length === 0 ? value : nested(rest, value)]]);
}

function isNarrower(node: CompareNode, wanted: PathNode): boolean {
  if (wanted.kind !== 'compare' || classOf(node.value) !== classOf(wanted.value)) return false;
  const up = node.operator === 'gt' || node.operator === 'gte';
  if (up !== (wanted.operator === 'gt' || wanted.operator === 'gte') || wanted.operator === 'eq') return false;
  const order = comparerOf(node.collation)(node.value, wanted.value);
  if (order === 0) return node.operator === wanted.operator || wanted.operator.endsWith('e');
  return up ? order > 0 : order < 0;
}

function isSame(a: FilterNode, b: FilterNode): boolean {
  if (a.kind === 'not' && b.kind === 'not') return isSame(a.child, b.child);
  if (a.kind === 'exists' && b.kind === 'exists') return a.path.text === b.path.text;
  if (a.kind === 'compare' && b.kind === 'compare') {
    return a.operator === b.operator && a.path.text === b.path.text && classOf(a.value) === classOf(b.value) && sameTexts(a, b) && comparerOf(a.collation)(a.value, b.value) === 0;
  }
  return a.kind === 'type' && b.kind === 'type' && a.path.text === b.path.text && [...a.types].every((code) => b.types.has(code));
}
