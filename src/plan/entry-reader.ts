// Documents made from index entries: for conditions that an entry can decide, and for covered queries. An index has a null for what a
// document does not have, so what must tell the two apart asks the document.

import { Document } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';
import { exactValues } from '../catalog/index.ts';
import type { Index } from '../catalog/index.ts';
import { isPathNode } from './condition-bounds.ts';
import type { FilterNode } from '../query/index.ts';

interface Branch {
  readonly name: string;
  /** The field of the key, at the end of a path. */
  readonly field: number;
  readonly children: Branch[];
}

/** Reads the entries of one index without arrays. */
export class EntryReader {
  readonly #index: Index;
  readonly #root: readonly Branch[];

  constructor(index: Index) {
    this.#index = index;
    this.#root = branchesOf(index.paths);
  }

  /** The exact values of the indexed fields. */
  valuesOf(entry: { readonly fields: Uint8Array; readonly typeBits: Uint8Array }): Value[] {
    return exactValues(this.#index, entry);
  }

  /** Paths and values, as `returnKey` shows them. */
  namedValuesOf(entry: { readonly fields: Uint8Array; readonly typeBits: Uint8Array }): (readonly [string, Value])[] {
    return this.valuesOf(entry).map((value, field) => [this.#index.paths[field] ?? '', value] as const);
  }

  /** A document of the indexed paths. */
  documentOf(entry: { readonly fields: Uint8Array; readonly typeBits: Uint8Array }): Document {
    return this.documentOfValues(this.valuesOf(entry));
  }

  documentOfValues(values: readonly Value[]): Document {
    return build(this.#root, values);
  }
}

function branchesOf(paths: readonly string[]): Branch[] {
  const root: Branch[] = [];
  paths.forEach((path, field) => {
    const parts = path.split('.');
    let level = root;
    parts.forEach((name, depth) => {
      const isLast = depth === parts.length - 1;
      let branch = level.find((other) => other.name === name && other.field < 0);
      if (branch === undefined || isLast) {
        branch = { name, field: isLast ? field : -1, children: [] };
        level.push(branch);
      }
      level = branch.children;
    });
  });
  return root;
}

function build(level: readonly Branch[], values: readonly Value[]): Document {
  return Document.fromEntries(level.map(({ name, field, children }) => [name, field < 0 ? build(children, values) : (values[field] ?? null)]));
}

const arrayCode = 4;
const nullCode = 10;

/** Whether a condition on indexed paths of an index without arrays has the same answer for a document and for its entry. */
export function isDecidedByEntry(node: FilterNode, paths: readonly string[]): boolean {
  switch (node.kind) {
    case 'and':
    case 'or':
      return node.children.every((child) => isDecidedByEntry(child, paths));
    case 'not':
      return isDecidedByEntry(node.child, paths);
    case 'always':
      return true;
    case 'expr':
    case 'schema':
    case 'exists':
    case 'elemMatchObject':
    case 'elemMatchValue':
    case 'size':
      return false;
    case 'type':
      return paths.includes(node.path.text) && !node.types.has(nullCode) && !node.types.has(arrayCode);
    default:
      return isPathNode(node) && paths.includes(node.path.text);
  }
}
