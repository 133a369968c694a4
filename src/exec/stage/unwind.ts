// `$unwind`: one document for each element of an array. Follows the manual's page "$unwind (aggregation)".

import { BsonArray, Document } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { isNullish, nameOf, refuse, splitPath } from '../../query/index.ts';
import { expanded } from '../batches.ts';
import { leavesAllBut } from '../hoist.ts';
import type { StageRule } from '../stage.ts';

interface Unwind {
  readonly path: readonly string[];
  readonly index: readonly string[] | undefined;
  readonly keepsEmpty: boolean;
}

function pathOf(path: Value | undefined): readonly string[] {
  if (path === undefined || path === '') throw refuse(28812, 'no path specified to $unwind stage');
  if (typeof path !== 'string') throw refuse(28808, `expected a string as the path for $unwind stage, got ${nameOf(path)}`);
  if (!path.startsWith('$')) throw refuse(28818, `path option to $unwind stage should be prefixed with a '$': ${path}`);
  if (path.includes('\0')) throw refuse(16419, 'field path must not contain embedded null characters');
  return splitPath(path.slice(1));
}

function indexOf(value: Value): readonly string[] {
  if (typeof value !== 'string' || value === '') {
    throw refuse(28810, `expected a non-empty string for the includeArrayIndex option to $unwind stage, got ${nameOf(value)}`);
  }
  if (value.startsWith('$')) throw refuse(28822, `includeArrayIndex option to $unwind stage should not be prefixed with a '$': ${value}`);
  return splitPath(value);
}

function parseUnwind(specification: Value): Unwind {
  if (typeof specification === 'string') return { path: pathOf(specification), index: undefined, keepsEmpty: false };
  if (!(specification instanceof Document)) {
    throw refuse(15981, `expected either a string or an object as specification for $unwind stage, got ${nameOf(specification)}`);
  }
  let index: readonly string[] | undefined;
  let keepsEmpty = false;
  let path: readonly string[] | undefined;
  for (const [name, value] of specification.fields) {
    if (name === 'path') {
      path = pathOf(value);
    } else if (name === 'preserveNullAndEmptyArrays') {
      if (typeof value !== 'boolean') throw refuse(28809, `expected a boolean for the preserveNullAndEmptyArrays option to $unwind stage, got ${nameOf(value)}`);
      keepsEmpty = value;
    } else if (name === 'includeArrayIndex') {
      index = indexOf(value);
    } else {
      throw refuse(28811, `unrecognized option to $unwind stage: ${name}`);
    }
  }
  return { path: path ?? pathOf(undefined), index, keepsEmpty };
}

function valueAt(document: Document, path: readonly string[]): Value | undefined {
  let value: Value | undefined = document;
  for (const name of path) value = value instanceof Document ? value.get(name) : undefined;
  return value;
}

/** The document with another value at a path of documents; undefined takes the field away. */
export function withValueAt(document: Document, path: readonly string[], value: Value | undefined): Document {
  const [name = '', ...rest] = path;
  const fields = new Map(document.fields);
  const inner = fields.get(name);
  const made = rest.length === 0 ? value : withValueAt(inner instanceof Document ? inner : Document.empty, rest, value);
  if (made === undefined) fields.delete(name);
  else fields.set(name, made);
  return Document.fromEntries([...fields]);
}

function indexValue(index: number | null): Value {
  return index === null ? null : BigInt(index);
}

function* unwound(document: Document, unwind: Unwind): Generator<Document, void> {
  const value = valueAt(document, unwind.path);
  const numbered = (made: Document, index: number | null): Document =>
    unwind.index === undefined ? made : withValueAt(made, unwind.index, indexValue(index));
  if (value instanceof BsonArray && !value.isEmpty) {
    let index = 0;
    for (const item of value.items()) yield numbered(withValueAt(document, unwind.path, item), index++);
    return;
  }
  if (value instanceof BsonArray) {
    if (unwind.keepsEmpty) yield numbered(withValueAt(document, unwind.path, undefined), null);
  } else if (!isNullish(value) || unwind.keepsEmpty) {
    yield numbered(document, null);
  }
}

/** How `$unwind` is compiled. */
export const unwindRule: StageRule = {
  name: '$unwind',
  parse: (specification) => {
    const unwind = parseUnwind(specification);
    return {
      name: '$unwind',
      specification,
      leaves: leavesAllBut([unwind.path, unwind.index ?? []].map((path) => path.join('.'))),
      open: (source) => expanded(source, (document) => unwound(document, unwind)),
      needs: (dependencies) => {
        dependencies.addPath(unwind.path.join('.'));
        return 'some';
      },
    };
  },
};
