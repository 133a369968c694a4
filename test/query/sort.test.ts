// Sorts against the manual's page on comparison and sort order.

import assert from 'node:assert/strict';
import test from 'node:test';
import { CommandError } from '../../src/base/errors.ts';
import { Decimal128, Double, maxKey, minKey } from '../../src/bson/index.ts';
import { compileSort } from '../../src/query/index.ts';
import { doc } from './support/shorthand.ts';
import type { Plain } from './support/shorthand.ts';

type PlainObject = Readonly<Record<string, Plain>>;

function sorted(values: readonly PlainObject[], spec: PlainObject): unknown[] {
  const key = compileSort(doc(spec));
  return values
    .map((value) => doc(value))
    .sort((a, b) => key.compare(a, b))
    .map((each) => each.get('_id'));
}

test('arrays count by their least element going up and their greatest going down', () => {
  const v: Plain[] = [[1, 2], [1, 2, 0], [1], [[1, 2]], [1, 3], [1, null], [1, 'a'], [], [2], [[1]], ['a'], null];
  const docs = v.map((value, index) => ({ _id: index, v: value }));
  assert.deepEqual(sorted(docs, { v: 1, _id: 1 }), [7, 5, 11, 1, 0, 2, 4, 6, 8, 10, 9, 3]);
  assert.deepEqual(sorted(docs, { v: -1, _id: 1 }), [3, 9, 6, 10, 4, 0, 1, 8, 2, 5, 11, 7]);
});

test('types follow one another in BSON order, and a missing field sorts as null', () => {
  const docs: PlainObject[] = [
    { _id: 0, v: maxKey },
    { _id: 1, v: 'text' },
    { _id: 2, v: new Double(1.5) },
    { _id: 3 },
    { _id: 4, v: { a: 1 } },
    { _id: 5, v: minKey },
    { _id: 6, v: 2n },
    { _id: 7, v: Decimal128.parse('1.6') ?? null },
    { _id: 8, v: false },
  ];
  assert.deepEqual(sorted(docs, { v: 1 }), [5, 3, 2, 7, 6, 1, 4, 8, 0]);
});

test('a path through an array of documents takes the element that sorts first as a whole', () => {
  const docs: PlainObject[] = [
    { _id: 1, a: [{ x: 1, y: 9 }, { x: 2, y: 0 }] },
    { _id: 2, a: [{ x: 1, y: 3 }, { x: 0, y: 8 }] },
    { _id: 3, a: [] },
  ];
  assert.deepEqual(sorted(docs, { 'a.x': 1, 'a.y': 1 }), [3, 2, 1]);
  assert.deepEqual(sorted(docs, { 'a.1.y': 1 }), [3, 1, 2]);
});

test('specifications that are none are refused', () => {
  const code = (spec: PlainObject): number => {
    try {
      compileSort(doc(spec));
    } catch (error) {
      assert.ok(error instanceof CommandError);
      return error.code;
    }
    return 0;
  };
  assert.equal(code({ a: 'asc' }), 15974);
  assert.equal(code({ a: 0 }), 15975);
  assert.equal(code({ 'a..b': 1 }), 15998);
  assert.equal(code({ a: new Double(-1) }), 0);
});

test('keys that are parallel arrays are refused', () => {
  const key = compileSort(doc({ a: 1, b: 1 }));
  assert.throws(() => key.keyOf(doc({ a: [1], b: [2] })), { code: 2 });
});
