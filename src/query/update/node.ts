// The tree of an update: all paths of all operators together, so that two that touch each other are found when the command is parsed,
// and a document is walked once. Fields of a level are in the order in which new ones are made: names in byte order, numbers by value.
// Follows the manual's pages "Update Operators" and "Update Operators: Behavior".

import { compareStrings } from '../../bson/index.ts';
import { refuse } from '../refuse.ts';
import type { Operation } from './operation.ts';
import type { UpdatePath, UpdatePathPart } from './path.ts';

/** The operation at the end of a path. */
export interface LeafNode {
  readonly kind: 'leaf';
  readonly operation: Operation;
  /** The path as written, for texts. */
  readonly path: string;
}

/** Fields (or elements by index) below a path. */
export interface FieldsNode {
  readonly kind: 'fields';
  readonly children: Map<string, UpdateNode>;
  /** What happens to the element that the filter matched. */
  positional: UpdateNode | undefined;
}

/** Elements of the array at a path, by array filter; '' stands for all of them. */
export interface ElementsNode {
  readonly kind: 'elements';
  readonly children: Map<string, UpdateNode>;
}

export type UpdateNode = LeafNode | FieldsNode | ElementsNode;

/** A new node without children: the root of an update, or a document on the way to one. */
export function fieldsNode(): FieldsNode {
  return { kind: 'fields', children: new Map(), positional: undefined };
}

/** Puts an operation at the end of a path. Two at one place, or one below the other, are refused. */
export function addOperation(root: FieldsNode, path: UpdatePath, operation: Operation): void {
  let node: UpdateNode = root;
  path.parts.forEach((part, index) => {
    const following = path.parts[index + 1];
    const known = childOf(node, part);
    const conflict = (): never => refuseConflict(path.text, path.text.split('.').slice(0, index + 1).join('.'));
    if (following === undefined) {
      if (known !== undefined) conflict();
      setChild(node, part, { kind: 'leaf', operation, path: path.text });
      return;
    }
    const kind = following.kind === 'elements' ? 'elements' : 'fields';
    if (known !== undefined && known.kind !== kind) conflict();
    const next: UpdateNode = known ?? (kind === 'elements' ? { kind, children: new Map() } : fieldsNode());
    if (known === undefined) setChild(node, part, next);
    node = next;
  });
}

function refuseConflict(path: string, at: string): never {
  throw refuse(40, `Updating the path '${path}' would create a conflict at '${at}'`);
}

function childOf(node: UpdateNode, part: UpdatePathPart): UpdateNode | undefined {
  if (node.kind === 'leaf') return node;
  if (part.kind === 'positional') return node.kind === 'fields' ? node.positional : undefined;
  return node.children.get(part.kind === 'name' ? part.name : part.identifier);
}

function setChild(node: UpdateNode, part: UpdatePathPart, child: UpdateNode): void {
  if (node.kind === 'leaf') return;
  if (part.kind === 'positional') {
    if (node.kind === 'fields') node.positional = child;
    return;
  }
  node.children.set(part.kind === 'name' ? part.name : part.identifier, child);
}

const NUMBER = /^[0-9]+$/;

/** The order in which fields of one level are made. */
function compareFieldNames(a: string, b: string): number {
  if (NUMBER.test(a) && NUMBER.test(b)) {
    const left = a.replace(/^0+(?=.)/, '');
    const right = b.replace(/^0+(?=.)/, '');
    if (left.length !== right.length) return left.length - right.length;
    if (left !== right) return left < right ? -1 : 1;
  }
  return compareStrings(a, b);
}

/** Brings the fields of every level into the order in which new ones are made. */
export function sortFields(node: UpdateNode): void {
  if (node.kind === 'leaf') return;
  if (node.kind === 'fields') {
    const sorted = [...node.children].sort(([a], [b]) => compareFieldNames(a, b));
    node.children.clear();
    for (const [name, child] of sorted) node.children.set(name, child);
    if (node.positional !== undefined) sortFields(node.positional);
  }
  for (const child of node.children.values()) sortFields(child);
}

/** What several specifications of one array element do together; those that touch each other are refused. */
export function mergeNodes(a: UpdateNode, b: UpdateNode, path: string): UpdateNode {
  if (a.kind === 'leaf' || b.kind === 'leaf' || a.kind !== b.kind) {
    throw refuse(40, `Update created a conflict at '${path}'`);
  }
  const children = new Map(a.children);
  for (const [name, child] of b.children) {
    const known = children.get(name);
    children.set(name, known === undefined ? child : mergeNodes(known, child, `${path}.${name}`));
  }
  if (a.kind === 'elements') return { kind: 'elements', children };
  const right = b.kind === 'fields' ? b.positional : undefined;
  let { positional } = a;
  if (right !== undefined) positional = positional === undefined ? right : mergeNodes(positional, right, `${path}.$`);
  const merged: FieldsNode = { kind: 'fields', children, positional };
  sortFields(merged);
  return merged;
}
