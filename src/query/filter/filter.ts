// A compiled filter: whether a document matches, and at which array element.

import type { Document } from '../../bson/index.ts';
import type { ExpressionOptions } from '../expression/expression.ts';
import { compileNode } from './compile.ts';
import { noteMetadata } from '../metadata.ts';
import { textNodeOf } from './node.ts';
import type { FilterNode } from './node.ts';
import { parseFilter } from './parse.ts';
import type { FilterPlace } from './parse.ts';

/** What compiling a filter, projection or update needs from outside. */
export type QueryOptions = ExpressionOptions;

/** A filter compiled once for a command. Pure: it may be asked about any number of documents. */
export interface Filter {
  /** Whether the document matches. */
  matches(doc: Document): boolean;
  /** Whether the document that begins at `start` in raw bytes matches. */
  matchesRaw(bytes: Uint8Array, start: number): boolean;
  /**
   * The place of the match, for the positional operator `$`: the index in the outermost array that was looked into by the last condition
   * that looked into one; -1 if none did. Undefined if the document does not match.
   */
  place(doc: Document): number | undefined;
  /** Whether testing a small document never takes long. */
  readonly isQuick: boolean;
  /** The parsed tree, for the planner. */
  readonly shape: FilterNode;
}

const SLOW_KINDS: ReadonlySet<FilterNode['kind']> = new Set(['expr', 'schema', 'text', 'geo', 'near', 'regex']);
const FEW_CHILDREN = 64;

function isQuick(node: FilterNode): boolean {
  if (node.kind === 'and' || node.kind === 'or') return node.children.length <= FEW_CHILDREN && node.children.every(isQuick);
  if (node.kind === 'not') return isQuick(node.child);
  if (node.kind === 'elemMatchObject') return isQuick(node.child);
  if (node.kind === 'elemMatchValue') return node.children.every(isQuick);
  if (node.kind === 'in') return node.patterns.length === 0;
  return !SLOW_KINDS.has(node.kind);
}

/** Compiles a filter. Throws CommandError for what MongoDB refuses. */
export function compileFilter(filter: Document, options: QueryOptions, place: FilterPlace = 'query'): Filter {
  return filterOf(parseFilter(filter, options, place));
}

/** Compiles a tree, for a planner that has taken conditions out. */
export function filterOf(shape: FilterNode): Filter {
  const test = compileNode(shape);
  const text = textNodeOf(shape);
  return {
    shape,
    isQuick: isQuick(shape),
    matches: (doc) => {
      const matches = test(doc.bytes, doc.start, undefined);
      if (matches && text !== undefined) noteMetadata(doc, { textScore: text.search.scoreOf(doc) });
      return matches;
    },
    matchesRaw: (bytes, start) => test(bytes, start, undefined),
    place: (doc) => {
      const place = { position: -1 };
      return test(doc.bytes, doc.start, place) ? place.position : undefined;
    },
  };
}
