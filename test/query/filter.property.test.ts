// A compiled filter agrees with a slow one that reads the manual literally, on plain values.

import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { DateTime } from '../../src/bson/index.ts';
import { compileFilter } from '../../src/query/index.ts';
import { docOf } from './support/shorthand.ts';

type Json = number | string | boolean | null | Json[] | { [name: string]: Json };
interface JsonObject {
  [name: string]: Json;
}

const names = fc.constantFrom('a', 'b', '0', '1');
const scalars = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constantFrom('x', 'y', ''), fc.boolean(), fc.constant(null));

const { value: values } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    scalars,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(names, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
}));
const documents: fc.Arbitrary<JsonObject> = fc.dictionary(names, values, { maxKeys: 4, noNullPrototype: true });
const paths = fc.array(names, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('.'));

const conditions: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.record({ $eq: values }),
  fc.record({ $ne: values }),
  fc.record({ $gt: scalars }),
  fc.record({ $gte: scalars }),
  fc.record({ $lt: scalars }),
  fc.record({ $lte: scalars }),
  fc.record({ $in: fc.array(values, { maxLength: 3 }) }),
  fc.record({ $nin: fc.array(values, { maxLength: 3 }) }),
  fc.record({ $exists: fc.boolean() }),
  fc.record({ $size: fc.integer({ min: 0, max: 3 }) }),
  fc.record({ $all: fc.array(scalars, { minLength: 1, maxLength: 2 }) }),
  fc.record({ $gte: scalars, $lt: scalars }),
  fc.record({ $not: fc.record({ $gt: scalars }) }),
  fc.record({ $elemMatch: fc.record({ $gte: scalars, $ne: scalars }) }),
  fc.record({ $elemMatch: fc.record({ a: scalars }) }),
);

const { filter: filters } = fc.letrec<{ filter: JsonObject }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 2 },
    fc.tuple(paths, conditions).map(([path, condition]): JsonObject => ({ [path]: condition })),
    fc.record({ $and: fc.array(tie('filter'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ $or: fc.array(tie('filter'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ $nor: fc.array(tie('filter'), { minLength: 1, maxLength: 2 }) }),
  ),
}));

// The slow filter.

const missing = Symbol('missing');
type Reached = Json | typeof missing;

function isObject(value: Reached): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Everything a path reaches; `whole` is false where an array at its end counts by its elements too. */
function reach(value: Reached, parts: readonly string[]): { value: Reached; whole: boolean }[] {
  const [part, ...rest] = parts;
  if (part === undefined) return [{ value, whole: false }];
  if (isObject(value)) return Object.hasOwn(value, part) ? reach(value[part] ?? null, rest) : [{ value: missing, whole: false }];
  if (!Array.isArray(value)) return [{ value: missing, whole: false }];
  return value.flatMap((item, index) => {
    const found = isObject(item) ? reach(item, parts) : [];
    if (String(index) !== part) return found;
    if (rest.length === 0) return [...found, { value: item, whole: true }];
    return typeof item === 'object' && item !== null ? [...found, ...reach(item, rest)] : found;
  });
}

function deepEqual(a: Reached, b: Json): boolean {
  if (a === missing) return b === null;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, index) => deepEqual(item, b[index] ?? null));
  if (isObject(a) && isObject(b)) {
    const left = Object.entries(a);
    const right = Object.entries(b);
    return left.length === right.length && left.every(([name, item], index) => right[index]?.[0] === name && deepEqual(item, right[index][1]));
  }
  return a === b;
}

function ordered(a: Reached, b: Json, accept: (sign: number) => boolean): boolean {
  if (b === null) return (a === null || a === missing) && accept(0);
  if (typeof a !== typeof b || typeof a === 'object' || typeof a === 'symbol') return false;
  return accept(a < b ? -1 : a > b ? 1 : 0);
}

function testValue(operator: string, value: Reached, operand: Json): boolean {
  switch (operator) {
    case '$eq':
      return deepEqual(value, operand);
    case '$gt':
      return ordered(value, operand, (sign) => sign > 0);
    case '$gte':
      return ordered(value, operand, (sign) => sign >= 0);
    case '$lt':
      return ordered(value, operand, (sign) => sign < 0);
    case '$lte':
      return ordered(value, operand, (sign) => sign <= 0);
    default:
      return assert.fail(operator);
  }
}

function testElement(item: Json, condition: JsonObject): boolean {
  return Object.entries(condition).every(([operator, operand]) =>
    operator === '$ne' ? !testValue('$eq', item, operand) : testValue(operator, item, operand),
  );
}

function slowCondition(document: JsonObject, path: string, operator: string, operand: Json): boolean {
  const reached = reach(document, path.split('.'));
  const some = (passes: (value: Reached) => boolean): boolean =>
    reached.some(({ value, whole }) => (!whole && Array.isArray(value) && value.some(passes)) || passes(value));
  const list = Array.isArray(operand) ? operand : [];
  switch (operator) {
    case '$ne':
      return !some((value) => testValue('$eq', value, operand));
    case '$in':
      return list.some((item) => some((value) => testValue('$eq', value, item)));
    case '$nin':
      return !slowCondition(document, path, '$in', operand);
    case '$all':
      return list.every((item) => some((value) => testValue('$eq', value, item)));
    case '$exists':
      return reached.some(({ value }) => value !== missing) === operand;
    case '$size':
      return reached.some(({ value }) => Array.isArray(value) && value.length === operand);
    case '$not':
      return !Object.entries(operand as JsonObject).every(([inner, value]) => slowCondition(document, path, inner, value));
    case '$elemMatch':
      return reached.some(({ value }) => Array.isArray(value) && value.some((item) => slowElement(item, operand as JsonObject)));
    default:
      return some((value) => testValue(operator, value, operand));
  }
}

function slowElement(item: Json, condition: JsonObject): boolean {
  if (Object.keys(condition)[0]?.startsWith('$') === true) return testElement(item, condition);
  if (typeof item !== 'object' || item === null) return false;
  const inner = Array.isArray(item) ? Object.fromEntries(item.map((each, index) => [String(index), each])) : item;
  return Object.entries(condition).every(([name, value]) => slowCondition(inner, name, '$eq', value));
}

function slowMatch(document: JsonObject, filter: JsonObject): boolean {
  return Object.entries(filter).every(([name, value]) => {
    const branches = value as JsonObject[];
    if (name === '$and') return branches.every((branch) => slowMatch(document, branch));
    if (name === '$or') return branches.some((branch) => slowMatch(document, branch));
    if (name === '$nor') return !branches.some((branch) => slowMatch(document, branch));
    return Object.entries(value as JsonObject).every(([operator, operand]) => slowCondition(document, name, operator, operand));
  });
}

test('a compiled filter agrees with a literal reading of the manual', () => {
  fc.assert(
    fc.property(documents, filters, (document, filter) => {
      const compiled = compileFilter(docOf(filter), { now: new DateTime(0) });
      assert.equal(compiled.matches(docOf(document)), slowMatch(document, filter));
    }),
    { numRuns: 3000 },
  );
});

test('the place of a match is known only where the document matches, and lies within an array', () => {
  fc.assert(
    fc.property(documents, filters, (document, filter) => {
      const compiled = compileFilter(docOf(filter), { now: new DateTime(0) });
      const place = compiled.place(docOf(document));
      assert.equal(place !== undefined, compiled.matches(docOf(document)));
      if (place !== undefined) assert.ok(place >= -1 && place < 4);
    }),
    { numRuns: 500 },
  );
});
