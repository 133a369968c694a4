// From one condition of a filter to the intervals of values that can match it. `exact`: for a field that is no array, a value in the intervals
// matches, a missing field counted as null; then nothing of the condition is left to test. Otherwise the condition is tested again, on
// the index entry or the document. Conditions that say nothing about single values (`$size`, comparisons with arrays) bound nothing.
// Under a collation the texts of bounds are sort keys, as they are in an index of that collation.
// Follows the rules of MongoDB's page "Query Optimization" and what its `explain` shows.

import { firstIndex, mappedItems, overItems } from '../base/long-lists.ts';
import { BsonArray, bsonUndefined, classOf, collated, classOfTypeByte, Document, maxKey, minKey, Double, Regex, typeClass, Decimal128 } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';
import type { CompareNode, FilterNode, PathNode, Pattern } from '../query/index.ts';
import { bracketOf, complement, everything, intersect, nanPoint, point, unite } from './interval.ts';
import type { Interval, Intervals } from './interval.ts';

/** What a condition says of one field. */
export interface ConditionBounds {
  readonly intervals: Intervals;
  readonly exact: boolean;
}

const unbounded: ConditionBounds = { intervals: everything, exact: false };
const nothing: ConditionBounds = { intervals: [], exact: true };

/** The bounds of a condition on one path; undefined where it gives none. */
export function boundsOf(node: PathNode | Extract<FilterNode, { readonly kind: 'not' }>): ConditionBounds | undefined {
  switch (node.kind) {
    case 'compare':
      return compareBounds({ ...node, value: collated(node.value, node.collation) });
    case 'in':
      return inBounds(mappedItems(node.values, (value) => collated(value, node.collation)), node.patterns);
    case 'regex':
      return patternBounds(node.pattern);
    case 'exists':
      return unbounded;
    case 'type':
      return typeBounds(node.types);
    case 'mod':
      return classBounds([typeClass.number]);
    case 'bits':
      return classBounds([typeClass.number, typeClass.binData]);
    case 'elemMatchValue':
      return elementBounds(node.children);
    case 'not':
      return notBounds(node.child);
    default:
      return undefined;
  }
}

function isNaNValue(value: Value): boolean {
  if (value instanceof Double) return Number.isNaN(value.value);
  return value instanceof Decimal128 && value.toString() === 'NaN';
}

function compareBounds({ operator, value }: CompareNode): ConditionBounds | undefined {
  if (operator === 'eq') return equalityBounds(value);
  const inclusive = operator === 'lte' || operator === 'gte';
  if (value === null) return inclusive ? equalityBounds(null) : nothing;
  if (isNaNValue(value)) return inclusive ? { intervals: [nanPoint], exact: true } : nothing;
  if (value === minKey || value === maxKey) return extremeBounds(operator, value);
  if (value instanceof BsonArray || value === bsonUndefined) return undefined;
  const bracket = bracketOf(classOf(value));
  if (bracket === undefined) return undefined;
  const up = operator === 'gt' || operator === 'gte';
  const range: Interval = up
    ? { low: value, lowInside: inclusive, high: bracket.high, highInside: bracket.highInside }
    : { low: bracket.low, lowInside: bracket.lowInside, high: value, highInside: inclusive };
  return { intervals: intersect([bracket], [range]), exact: true };
}

function extremeBounds(operator: CompareNode['operator'], value: typeof minKey | typeof maxKey): ConditionBounds {
  const towards = value === minKey ? operator === 'gt' || operator === 'gte' : operator === 'lt' || operator === 'lte';
  return towards ? unbounded : { intervals: operator === 'gt' || operator === 'lt' ? [] : [point(value)], exact: false };
}

function equalityBounds(value: Value): ConditionBounds | undefined {
  if (value === bsonUndefined) return undefined;
  if (!(value instanceof BsonArray)) return { intervals: [point(value)], exact: true };
  // An array that equals the whole value has its first element in the index; one that is an element stands there itself.
  const first = value.length === 0 ? bsonUndefined : (value.at(0) ?? null);
  return { intervals: unite([point(first), point(value)]), exact: false };
}

interface Gathered {
  readonly intervals: Interval[];
  exact: boolean;
}

function gather(all: Gathered, { intervals, exact }: ConditionBounds): void {
  for (const interval of intervals) all.intervals.push(interval);
  all.exact &&= exact;
}

function inBounds(values: readonly Value[], patterns: readonly Pattern[]): ConditionBounds | undefined {
  if (firstIndex(values, (value) => value === bsonUndefined) >= 0) return undefined;
  const gathered = overItems(values, (): Gathered => ({ intervals: [], exact: true }), (all, value) => {
    gather(all, equalityBounds(value) ?? unbounded);
  });
  for (const pattern of patterns) gather(gathered, patternBounds(pattern));
  return { intervals: unite(gathered.intervals), exact: gathered.exact };
}

function patternBounds(pattern: Pattern): ConditionBounds {
  const itself = point(new Regex(pattern.source, pattern.flags));
  const after = textAfter(pattern.prefix);
  const strings: Interval =
    pattern.prefix === ''
      ? { low: '', lowInside: true, high: Document.empty, highInside: false }
      : { low: pattern.prefix, lowInside: true, high: after ?? Document.empty, highInside: false };
  return { intervals: unite([strings, itself]), exact: pattern.prefixOnly && after !== undefined };
}

/** The least text above all that begin with `prefix`, in the order of UTF-8; undefined where its last character has no neighbour. */
function textAfter(prefix: string): string | undefined {
  const characters = Array.from(prefix);
  const last = characters.pop()?.codePointAt(0);
  if (last === undefined || last >= 0x10ffff) return undefined;
  const next = last + 1 >= 0xd800 && last + 1 <= 0xdfff ? 0xe000 : last + 1;
  return characters.join('') + String.fromCodePoint(next);
}

function classBounds(classes: readonly Parameters<typeof bracketOf>[0][]): ConditionBounds {
  const intervals = classes.map(bracketOf).filter((bracket) => bracket !== undefined);
  return { intervals: unite([...intervals, ...(classes.includes(typeClass.number) ? [nanPoint] : [])]), exact: false };
}

const arrayCode = 4;

function typeBounds(types: ReadonlySet<number>): ConditionBounds {
  if (types.has(arrayCode)) return unbounded;
  const classes = [...new Set([...types].map((code) => classOfTypeByte(code & 0xff)))];
  return classes.some((each) => bracketOf(each) === undefined) ? unbounded : classBounds(classes);
}

/** All children speak of one element, so their intervals may be intersected whatever the field is. */
function elementBounds(children: readonly FilterNode[]): ConditionBounds {
  let intervals = everything;
  for (const child of children) {
    const bounds = isPathNode(child) || child.kind === 'not' ? boundsOf(child) : undefined;
    // An element that is an array is not entered again, and a missing one is not there: only what bounds values says something.
    // What speaks of elements of the element says that it is an array, which stands in an index as a whole.
    if (bounds !== undefined && child.kind !== 'not' && child.kind !== 'elemMatchValue') intervals = intersect(intervals, bounds.intervals);
  }
  return { intervals, exact: false };
}

/** Whether a node tests the values at one path. */
export function isPathNode(node: FilterNode): node is PathNode {
  return 'path' in node;
}

function notBounds(child: FilterNode): ConditionBounds | undefined {
  if (child.kind === 'exists') return { intervals: [point(null)], exact: false };
  if (child.kind !== 'compare' && child.kind !== 'in') return undefined;
  const bounds = boundsOf(child);
  if (bounds?.exact !== true) return undefined;
  return { intervals: complement(bounds.intervals), exact: true };
}

