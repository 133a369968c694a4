// From the tree of a filter to closures over raw documents. Each closure tells whether the document at an offset matches; the one that
// decided last leaves, where it was asked to, the array index that it matched at, for the positional operator `$` of updates and
// projections. Only positive conditions joined by and have such an index, as in MongoDB: or and not leave none.

import { firstIndex, mappedItems } from '../../base/long-lists.ts';
import { sortedOf } from '../../base/long-sort.ts';
import { bsonType, compareStrings, Document, firstElement } from '../../bson/index.ts';
import { isTruthy } from '../truth.ts';
import { anyOfTest, compareTest, firstOf } from './compare-test.ts';
import type { ElemMatchObjectNode, ElemMatchValueNode, FilterNode, PathNode } from './node.ts';
import { matchedOutside, noMatch, PathWalk } from './path.ts';
import type { ElementTest } from './path.ts';
import { bitsTest, existsTest, modTest, regexTest, sizeTest, typeTest } from './value-test.ts';

/** Where a match was found: the index in the outermost array, or -1. */
export interface MatchPlace {
  position: number;
}

/** Tests the document that begins at `start`. */
export type DocumentTest = (bytes: Uint8Array, start: number, place: MatchPlace | undefined) => boolean;

/** Kinds of node whose test is asked of whole arrays at the end of the path, never of their elements. */
const wholeArrays: ReadonlySet<FilterNode['kind']> = new Set(['exists', 'size', 'elemMatchObject', 'elemMatchValue']);

/** Compiles a node into a test of documents. */
export function compileNode(node: FilterNode): DocumentTest {
  switch (node.kind) {
    case 'and':
      return allOf(mappedItems(inOrder(node.children), compileNode));
    case 'or':
      return anyOf(mappedItems(node.children, compileNode));
    case 'not': {
      const test = compileNode(node.child);
      return (bytes, start) => !test(bytes, start, undefined);
    }
    case 'always':
      return () => node.value;
    case 'expr': {
      const { evaluate } = node.expression;
      return (bytes, start) => isTruthy(evaluate(Document.fromBytes(bytes, start)));
    }
    case 'schema':
      return (bytes, start) => node.test(bytes, bsonType.object, start);
    case 'text':
      return (bytes, start) => node.search.matches(Document.fromBytes(bytes, start));
    default:
      return compilePathNode(node);
  }
}

/** Kinds in the order in which MongoDB tests them: where several look into arrays, the last one says the place. */
const testingOrder: readonly string[] = [
  ...['and', 'or', 'elemMatchObject', 'elemMatchValue', 'size', 'eq', 'lte', 'lt', 'gt', 'gte', 'regex', 'mod', 'exists', 'in'],
  ...['geo', 'near', 'bits', 'not', 'type', 'expr', 'schema', 'always'],
];

function inOrder(nodes: readonly FilterNode[]): readonly FilterNode[] {
  const rank = (node: FilterNode): number => testingOrder.indexOf(node.kind === 'compare' ? node.operator : node.kind);
  const pathOf = (node: FilterNode): string => ('path' in node ? node.path.text : '');
  return sortedOf(nodes, (a, b) => rank(a) - rank(b) || compareStrings(pathOf(a), pathOf(b)));
}

/** More tests than these say how much they do. */
const FEW_TESTS = 32;

function allOf(tests: readonly DocumentTest[]): DocumentTest {
  if (tests.length === 1) return tests[0] as DocumentTest;
  if (tests.length > FEW_TESTS) return (bytes, start, place) => firstIndex(tests, (test) => !test(bytes, start, place)) < 0;
  return (bytes, start, place) => {
    for (const test of tests) if (!test(bytes, start, place)) return false;
    return true;
  };
}

function anyOf(tests: readonly DocumentTest[]): DocumentTest {
  if (tests.length > FEW_TESTS) return (bytes, start) => firstIndex(tests, (test) => test(bytes, start, undefined)) >= 0;
  return (bytes, start) => {
    for (const test of tests) if (test(bytes, start, undefined)) return true;
    return false;
  };
}

function compilePathNode(node: PathNode): DocumentTest {
  if (node.kind === 'elemMatchObject' || node.kind === 'elemMatchValue') return compileElemMatch(node);
  const walk = new PathWalk(node.path, pathNodeTest(node), !wholeArrays.has(node.kind));
  return (bytes, start, place) => {
    const found = walk.match(bytes, start);
    if (found === noMatch) return false;
    if (place !== undefined && found !== matchedOutside) place.position = found;
    return true;
  };
}

function compileElemMatch(node: ElemMatchObjectNode | ElemMatchValueNode): DocumentTest {
  const find = node.kind === 'elemMatchObject' ? objectFinder(node) : valueFinder(node);
  let inner = -1;
  const test: ElementTest = (bytes, type, at) => {
    inner = type === bsonType.array ? find(bytes, at) : -1;
    return inner >= 0;
  };
  const walk = new PathWalk(node.path, test, false);
  return (bytes, start, place) => {
    const found = walk.match(bytes, start);
    if (found === noMatch) return false;
    if (place !== undefined) place.position = found === matchedOutside ? inner : found;
    return true;
  };
}

/** The index of the first element of the array at `start` that passes, or -1. */
export type ElementFinder = (bytes: Uint8Array, start: number) => number;

function finder(test: ElementTest): ElementFinder {
  return (bytes, start) => firstElement(bytes, start, test);
}

function objectFinder(node: ElemMatchObjectNode): ElementFinder {
  const child = compileNode(node.child);
  return finder((bytes, type, at) => (type === bsonType.object || type === bsonType.array) && child(bytes, at, undefined));
}

function valueFinder(node: ElemMatchValueNode): ElementFinder {
  const tests = node.children.map(compileElementTest);
  return finder((bytes, type, at) => tests.every((test) => test(bytes, type, at)));
}

/** The finder of an `$elemMatch` node, for the projection of that name. */
export function compileElementFinder(node: ElemMatchObjectNode | ElemMatchValueNode): ElementFinder {
  return node.kind === 'elemMatchObject' ? objectFinder(node) : valueFinder(node);
}

/** Compiles a node into a test of one value: what stands below `$elemMatch` of values, whose paths are empty. */
export function compileElementTest(node: FilterNode): ElementTest {
  switch (node.kind) {
    case 'and': {
      const tests = node.children.map(compileElementTest);
      return (bytes, type, at) => tests.every((test) => test(bytes, type, at));
    }
    case 'or':
      return firstOf(node.children.map(compileElementTest));
    case 'not': {
      const test = compileElementTest(node.child);
      return (bytes, type, at) => !test(bytes, type, at);
    }
    case 'always':
      return () => node.value;
    case 'expr':
    case 'schema':
    case 'text':
      return () => false;
    case 'elemMatchObject':
    case 'elemMatchValue': {
      const find = compileElementFinder(node);
      return (bytes, type, at) => type === bsonType.array && find(bytes, at) >= 0;
    }
    default:
      return pathNodeTest(node);
  }
}

function pathNodeTest(node: Exclude<PathNode, ElemMatchObjectNode | ElemMatchValueNode>): ElementTest {
  switch (node.kind) {
    case 'compare':
      return compareTest(node.operator, node.value, node.collation);
    case 'in':
      return node.patterns.length === 0
        ? anyOfTest(node.values, node.collation)
        : firstOf([anyOfTest(node.values, node.collation), ...node.patterns.map(regexTest)]);
    case 'regex':
      return regexTest(node.pattern);
    case 'exists':
      return existsTest;
    case 'type':
      return typeTest(node.types);
    case 'size':
      return sizeTest(node.size);
    case 'mod':
      return modTest(node);
    case 'bits':
      return bitsTest(node);
    case 'geo':
    case 'near':
      return node.test;
  }
}
