// Projections against the examples of the manual's pages "Project Fields to Return from Query", "$project", "$addFields" and
// "Projection Operators".

import assert from 'node:assert/strict';
import test from 'node:test';
import { CommandError } from '../../src/base/errors.ts';
import { DateTime, describeValue } from '../../src/bson/index.ts';
import {
  compileAddFields,
  compileFilter,
  compileProjection,
  compileUnsetFields,
} from '../../src/query/index.ts';
import { bson, doc } from './support/shorthand.ts';
import type { Plain } from './support/shorthand.ts';

type PlainObject = Readonly<Record<string, Plain>>;

const options = { now: new DateTime(0) };

function project(document: PlainObject, spec: PlainObject, filter?: PlainObject): string {
  const found = filter === undefined ? undefined : compileFilter(doc(filter), options);
  const compiled = compileProjection(doc(spec), found === undefined ? options : { ...options, filter: found });
  return describeValue(compiled.apply(doc(document)));
}

function codeOf(spec: PlainObject, dialect: 'find' | 'aggregate' = 'find'): number {
  try {
    compileProjection(doc(spec), { ...options, dialect });
  } catch (error) {
    assert.ok(error instanceof CommandError);
    return error.code;
  }
  return 0;
}

function same(actual: string, expected: PlainObject): void {
  assert.equal(actual, describeValue(doc(expected)));
}

const journal = { _id: 1, item: 'journal', status: 'A', size: { h: 14, w: 21, uom: 'cm' }, instock: [{ warehouse: 'A', qty: 5 }] };

test('an inclusion keeps the named fields and the id, in the order of the document', () => {
  same(project(journal, { status: 1, item: 1 }), { _id: 1, item: 'journal', status: 'A' });
  same(project(journal, { item: 1, _id: 0 }), { item: 'journal' });
  same(project(journal, { 'size.uom': 1 }), { _id: 1, size: { uom: 'cm' } });
  same(project(journal, { 'instock.qty': 1 }), { _id: 1, instock: [{ qty: 5 }] });
  same(project(journal, { size: { h: 1, w: true } }), { _id: 1, size: { h: 14, w: 21 } });
});

test('an exclusion keeps all other fields', () => {
  same(project(journal, { status: 0, instock: 0, size: 0 }), { _id: 1, item: 'journal' });
  same(project(journal, { 'size.h': 0, status: 0, instock: 0, item: 0, _id: 0 }), { size: { w: 21, uom: 'cm' } });
  same(project({ _id: 1, a: [1, { b: 2, c: 3 }, [{ b: 4 }]] }, { 'a.b': 0 }), { _id: 1, a: [1, { c: 3 }, [{}]] });
});

test('an inclusion through an array drops what is no document', () => {
  same(project({ _id: 1, a: [1, { b: 2, c: 3 }, [{ b: 4 }], 'x'] }, { 'a.b': 1 }), { _id: 1, a: [{ b: 2 }, [{ b: 4 }]] });
});

test('computed fields come behind the included ones', () => {
  same(project({ _id: 1, a: 5, b: 6 }, { c: '$a', b: 1 }), { _id: 1, b: 6, c: 5 });
  same(project({ _id: 1, a: 5 }, { 'x.y': '$a' }), { _id: 1, x: { y: 5 } });
  same(project({ _id: 1, x: [1, { z: 2 }], a: 5 }, { 'x.y': '$a' }), { _id: 1, x: [{ y: 5 }, { y: 5 }] });
  same(project({ _id: 1, a: 5 }, { b: '$none', c: 'text' }), { _id: 1, c: 'text' });
});

test('$slice takes from the front, the back, or a window', () => {
  const document = { _id: 1, arr: [1, 2, 3, 4, 5], o: 9 };
  same(project(document, { arr: { $slice: 2 } }), { _id: 1, arr: [1, 2], o: 9 });
  same(project(document, { arr: { $slice: -2 } }), { _id: 1, arr: [4, 5], o: 9 });
  same(project(document, { arr: { $slice: [1, 2] } }), { _id: 1, arr: [2, 3], o: 9 });
  same(project(document, { arr: { $slice: [-4, 2] }, _id: 1 }), { _id: 1, arr: [2, 3] });
  same(project(document, { arr: { $slice: [10, 2] } }), { _id: 1, arr: [], o: 9 });
  same(project({ _id: 1, arr: 7 }, { arr: { $slice: 1 } }), { _id: 1, arr: 7 });
});

test('$elemMatch keeps the first element that matches', () => {
  const document = { _id: 1, arr: [1, 2, 3], name: 'Alice', age: 30 };
  same(project(document, { arr: { $elemMatch: { $gte: 2 } } }), { _id: 1, arr: [2] });
  same(project(document, { arr: { $elemMatch: { $gte: 2 } }, name: 1 }), { _id: 1, name: 'Alice', arr: [2] });
  same(project(document, { arr: { $elemMatch: { $gte: 2 } }, age: 0 }), { _id: 1, arr: [2], name: 'Alice' });
  same(project(document, { arr: { $elemMatch: { $gte: 9 } } }), { _id: 1 });
});

test('the positional operator keeps the element that the filter matched', () => {
  same(project({ _id: 1, g: [70, 85, 90], o: 1 }, { 'g.$': 1 }, { g: { $gte: 85 } }), { _id: 1, g: [85] });
  same(project({ _id: 1, x: { y: [10, 20] } }, { 'x.y.$': 1 }, { 'x.y': 20 }), { _id: 1, x: { y: [20] } });
  assert.throws(() => project({ _id: 1, g: [1], s: 'a' }, { 'g.$': 1 }, { s: 'a' }), { code: 51246 });
});

test('$addFields sets fields in place, makes missing ones, and goes into objects and arrays', () => {
  const add = (document: PlainObject, spec: PlainObject): string =>
    describeValue(compileAddFields(doc(spec), options).apply(doc(document)));
  same(add({ _id: 1, a: 1, b: 2 }, { c: '$b', a: '$b' }), { _id: 1, a: 2, b: 2, c: 2 });
  same(add({ _id: 1, a: { x: 1 }, l: [{ x: 1 }, 7] }, { 'a.y': 2, 'l.y': '$a.x' }), { _id: 1, a: { x: 1, y: 2 }, l: [{ x: 1, y: 1 }, { y: 1 }] });
  same(add({ _id: 1, a: 1 }, { a: '$$REMOVE', b: { c: 3 } }), { _id: 1, b: { c: 3 } });
});

test('$unset drops fields', () => {
  const unset = (document: PlainObject, spec: Plain): string => describeValue(compileUnsetFields(bson(spec)).apply(doc(document)));
  same(unset({ _id: 1, a: 1, b: { c: 1, d: 2 } }, ['a', 'b.c']), { _id: 1, b: { d: 2 } });
});

test('specifications that clash are refused', () => {
  assert.equal(codeOf({ a: 1, b: 0 }), 31254);
  assert.equal(codeOf({ a: 0, b: 1 }), 31253);
  assert.equal(codeOf({ a: 1, 'a.b': 1 }), 31249);
  assert.equal(codeOf({ 'a.b': 1, a: 1 }), 31250);
  assert.equal(codeOf({ _id: 0, a: 1 }), 0);
  assert.equal(codeOf({ a: 0, b: { $eq: [1, 2] } }), 31252);
  assert.equal(codeOf({ a: 0, b: '$a' }), 31310);
  assert.equal(codeOf({ a: { $bogus: 1 } }), 31325);
  assert.equal(codeOf({ a: {} }), 51270);
  assert.equal(codeOf({ 'a.$': 1, 'b.$': 1 }), 31276);
  assert.equal(codeOf({ 'a.$.b': 1 }), 31394);
  assert.equal(codeOf({}, 'aggregate'), 51272);
});

test('an inclusion says what fields it needs', () => {
  const needed = (spec: PlainObject): readonly string[] | undefined => compileProjection(doc(spec), options).fieldsNeeded;
  assert.deepEqual(needed({ a: 1, 'b.c': 1 })?.toSorted(), ['_id', 'a', 'b.c']);
  assert.deepEqual(needed({ _id: 0, x: '$a.b' })?.toSorted(), ['a.b']);
  assert.equal(needed({ a: 0 }), undefined);
});
