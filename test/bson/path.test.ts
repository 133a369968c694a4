import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BsonArray, Document, getField, parsePath, visitPath } from '../../src/bson/index.ts';
import type { Value } from '../../src/bson/index.ts';

/** A document written as plain JSON: whole numbers are int32. */
function doc(json: unknown): Document {
  const value = valueOf(json);
  assert.ok(value instanceof Document);
  return value;
}

function valueOf(json: unknown): Value {
  if (Array.isArray(json)) return BsonArray.of(json.map(valueOf));
  if (typeof json === 'object' && json !== null) {
    return Document.fromEntries(Object.entries(json).map(([name, value]) => [name, valueOf(value)] as const));
  }
  return json as Value;
}

function plain(value: Value | undefined): unknown {
  if (value instanceof Document) return Object.fromEntries(value.fields.map(([name, inner]) => [name, plain(inner)]));
  if (value instanceof BsonArray) return value.items().map(plain);
  return value;
}

function visited(json: unknown, path: string): unknown[] {
  const found: unknown[] = [];
  visitPath(doc(json), parsePath(path), (value, offset, whole) => {
    found.push([plain(value), offset, whole]);
    return false;
  });
  return found;
}

const queryPaths: [string, unknown, string, unknown[]][] = [
  ['a field', { a: 1 }, 'a', [[1, -1, false]]],
  ['a missing field as undefined', { a: 1 }, 'b', [[undefined, -1, false]]],
  ['a field of a field', { a: { b: 2 } }, 'a.b', [[2, -1, false]]],
  ['nothing below a scalar', { a: 5 }, 'a.b', [[undefined, -1, false]]],
  ['a leaf array whole', { a: [1, 2] }, 'a', [[[1, 2], -1, false]]],
  ['each document of an array', { a: [{ b: 1 }, { c: 2 }, 3] }, 'a.b', [[1, 0, false], [undefined, 1, false]]],
  ['nothing in an empty array', { a: [] }, 'a.b', []],
  ['nothing in an array of scalars', { a: [1, 2] }, 'a.b', []],
  ['an element by its index', { a: [4, 5] }, 'a.1', [[5, -1, true]]],
  ['an array by its index as it is', { a: [[1, 2], 3] }, 'a.0', [[[1, 2], -1, true]]],
  ['both a numeric name and an index', { a: [{ 1: 4 }, 5] }, 'a.1', [[4, 0, false], [5, -1, true]]],
  ['both ways also in the middle', { a: [{ b: 1 }] }, 'a.0.b', [[undefined, 0, false], [1, -1, false]]],
  ['an index in an indexed array', { a: [[7, 8]] }, 'a.0.1', [[8, -1, true]]],
  ['documents in an indexed array', { a: [[{ b: 3 }]] }, 'a.0.b', [[3, 0, false]]],
  ['not documents in arrays of arrays', { a: [[{ b: 3 }]] }, 'a.b', []],
  ['no index with a leading zero', { a: [4, 5] }, 'a.01', []],
  ['the outermost offset of nested arrays', { a: [{ b: [{ c: 1 }, { c: 2 }] }] }, 'a.b.c', [[1, 0, false], [2, 0, false]]],
];

describe("a query's path", () => {
  for (const [what, json, path, expected] of queryPaths) {
    it(`reaches ${what}`, () => {
      assert.deepEqual(visited(json, path), expected);
    });
  }

  it('stops when the visitor has seen enough', () => {
    let calls = 0;
    const stopped = visitPath(doc({ a: [{ b: 1 }, { b: 2 }] }), parsePath('a.b'), () => {
      calls++;
      return true;
    });
    assert.equal(stopped, true);
    assert.equal(calls, 1);
  });
});

const aggregationPaths: [string, unknown, string, unknown][] = [
  ['a field of a field', { a: { b: 2 } }, 'a.b', 2],
  ['nothing below a scalar', { a: 2 }, 'a.b', undefined],
  ['an array of what the documents have', { a: [{ b: 1 }, { c: 2 }, { b: 3 }, 4] }, 'a.b', [1, 3]],
  ['an empty array where nothing has it', { a: [1, 2] }, 'a.b', []],
  ['no array index', { a: [{ b: 1 }] }, 'a.0', []],
  ['nested arrays for nested arrays of documents', { a: [{ b: [{ c: 1 }] }, { b: { c: 2 } }] }, 'a.b.c', [[1], 2]],
  ['nothing in arrays of arrays', { a: [[{ b: 3 }]] }, 'a.b', []],
];

describe("an aggregation's path", () => {
  for (const [what, json, path, expected] of aggregationPaths) {
    it(`gives ${what}`, () => {
      const built = doc(json);
      assert.deepEqual(plain(getField(built, parsePath(path))), expected);
      assert.deepEqual(plain(getField(Document.fromBytes(built.toBytes()), parsePath(path))), expected);
    });
  }
});
