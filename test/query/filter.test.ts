// Filters against the examples of the manual's pages on querying arrays, embedded documents and null, and of the operators.

import assert from 'node:assert/strict';
import test from 'node:test';
import { DateTime, Decimal128, Double, maxKey, minKey, Regex } from '../../src/bson/index.ts';
import { CommandError } from '../../src/base/errors.ts';
import { compileFilter } from '../../src/query/index.ts';
import { doc } from './support/shorthand.ts';
import type { Plain } from './support/shorthand.ts';

type PlainObject = Readonly<Record<string, Plain>>;

const options = { now: new DateTime(0) };

/** The ids of the documents that match, with their numbers as ids where a document has none. */
function found(docs: readonly PlainObject[], filter: PlainObject): number[] {
  const compiled = compileFilter(doc(filter), options);
  return docs.flatMap((each, index) => (compiled.matches(doc(each)) ? [typeof each['_id'] === 'number' ? each['_id'] : index] : []));
}

function refusal(filter: PlainObject): { code: number; message: string } {
  try {
    compileFilter(doc(filter), options);
  } catch (error) {
    assert.ok(error instanceof CommandError);
    return { code: error.code, message: error.message };
  }
  return assert.fail('the filter was accepted');
}

test('null matches a missing field, and an element of an array', () => {
  const docs = [{ _id: 1, a: null }, { _id: 2 }, { _id: 3, a: 1 }, { _id: 4, a: [1, null] }, { _id: 5, a: [] }];
  assert.deepEqual(found(docs, { a: null }), [1, 2, 4]);
  assert.deepEqual(found(docs, { a: { $type: 'null' } }), [1, 4]);
  assert.deepEqual(found(docs, { a: { $exists: false } }), [2]);
  assert.deepEqual(found(docs, { a: { $ne: null } }), [3, 5]);
});

test('$ne through an array of documents matches where no element is equal, also an empty array', () => {
  const docs = [
    { hist: [{ int: 2 }] },
    { hist: [] },
    {},
    { hist: [{ foo: 'bar' }] },
    { hist: [{ int: 5235 }, { int: 1 }] },
  ];
  assert.deepEqual(found(docs, { 'hist.int': { $ne: 5235 } }), [0, 1, 2, 3]);
});

test('an array in a filter matches the whole array, or an element that is that array', () => {
  const docs = [
    { _id: 1, v: [['42', 'foo']] },
    { _id: 2, v: ['42', 'foo'] },
    { _id: 3, v: ['foo', '42'] },
  ];
  assert.deepEqual(found(docs, { v: ['42', 'foo'] }), [1, 2]);
  assert.deepEqual(found(docs, { v: '42' }), [2, 3]);
  assert.deepEqual(found(docs, { v: ['42'] }), []);
});

test('$exists looks into the documents of an array', () => {
  const docs = [
    { _id: 1, arr: [{ a: 1 }, { a: 2 }] },
    { _id: 2, arr: [{ c: 1 }, { a: 1 }] },
    { _id: 3, arr: [] },
  ];
  assert.deepEqual(found(docs, { 'arr.c': { $exists: true } }), [2]);
  assert.deepEqual(found(docs, { 'arr.c': { $exists: false } }), [1, 3]);
});

test('the options of a regular expression', () => {
  const docs = [
    { _id: 1, t: 'one\ntwo\nthree' },
    { _id: 2, t: 'one 2two 3three' },
  ];
  const ids = (source: string, flags?: string): number[] =>
    found(docs, { t: flags === undefined ? { $regex: source } : { $regex: source, $options: flags } });
  assert.deepEqual(ids('one.*two.*'), [2]);
  assert.deepEqual(ids('one.*two.*', 's'), [1, 2]);
  assert.deepEqual(ids('^two'), []);
  assert.deepEqual(ids('^two', 'm'), [1]);
  assert.deepEqual(ids('ONE'), []);
  assert.deepEqual(ids('ONE', 'i'), [1, 2]);
  assert.deepEqual(ids('o n e # comment'), []);
  assert.deepEqual(ids('o n e # comment', 'x'), [1, 2]);
  assert.equal(refusal({ t: { $regex: 'one', $options: 'g' } }).code, 51108);
});

test('an embedded document is equal field by field in order', () => {
  const docs = [{ _id: 1, size: { h: 14, w: 21, uom: 'cm' } }];
  assert.deepEqual(found(docs, { size: { h: 14, w: 21, uom: 'cm' } }), [1]);
  assert.deepEqual(found(docs, { size: { w: 21, h: 14, uom: 'cm' } }), []);
  assert.deepEqual(found(docs, { size: { h: 14, w: 21 } }), []);
  assert.deepEqual(found(docs, { 'size.h': 14 }), [1]);
});

test('numbers of all types compare by value, and a decimal is not the nearby double', () => {
  const decimal = (text: string): Decimal128 => Decimal128.parse(text) ?? assert.fail();
  const docs = [
    { _id: 1, n: decimal('9.99') },
    { _id: 2, n: new Double(9.99) },
    { _id: 3, n: 10 },
    { _id: 4, n: 10n },
    { _id: 5, n: decimal('10.0') },
    { _id: 6, n: 2n ** 53n + 1n },
  ];
  assert.deepEqual(found(docs, { n: new Double(9.99) }), [2]);
  assert.deepEqual(found(docs, { n: decimal('9.99') }), [1]);
  assert.deepEqual(found(docs, { n: 10 }), [3, 4, 5]);
  assert.deepEqual(found(docs, { n: decimal('10') }), [3, 4, 5]);
  assert.deepEqual(found(docs, { n: new Double(2 ** 53) }), []);
  assert.deepEqual(found(docs, { n: { $gt: new Double(2 ** 53) } }), [6]);
  assert.deepEqual(found(docs, { n: { $in: [new Double(10), 2n ** 53n + 1n, 1, 2, 3, 4, 5, 6, 7, 8] } }), [3, 4, 5, 6]);
});

test('NaN equals itself and is in no range; minus zero equals zero', () => {
  const docs = [{ _id: 1, n: new Double(NaN) }, { _id: 2, n: new Double(-0) }, { _id: 3, n: 'x' }];
  assert.deepEqual(found(docs, { n: new Double(NaN) }), [1]);
  assert.deepEqual(found(docs, { n: { $lt: 5 } }), [2]);
  assert.deepEqual(found(docs, { n: { $gte: new Double(NaN) } }), [1]);
  assert.deepEqual(found(docs, { n: 0 }), [2]);
});

test('comparisons stay within the type of their value', () => {
  const docs = [{ _id: 1, a: 5 }, { _id: 2, a: '5' }, { _id: 3, a: null }, { _id: 4, a: true }, { _id: 5, a: new DateTime(5) }];
  assert.deepEqual(found(docs, { a: { $gt: 1 } }), [1]);
  assert.deepEqual(found(docs, { a: { $lt: 'z' } }), [2]);
  assert.deepEqual(found(docs, { a: { $gte: false } }), [4]);
  assert.deepEqual(found(docs, { a: { $lte: new DateTime(5) } }), [5]);
  assert.deepEqual(found(docs, { a: { $gt: minKey } }), [1, 2, 3, 4, 5]);
  assert.deepEqual(found(docs, { a: { $lt: maxKey } }), [1, 2, 3, 4, 5]);
});

test('a number in a path is an index and a name', () => {
  const docs = [{ _id: 1, a: [{ b: 1 }, { b: 2 }] }, { _id: 2, a: { 1: { b: 2 } } }, { _id: 3, a: [[7, 8], [9]] }];
  assert.deepEqual(found(docs, { 'a.1.b': 2 }), [1, 2]);
  assert.deepEqual(found(docs, { 'a.0.1': 8 }), [3]);
  assert.deepEqual(found(docs, { 'a.0': [7, 8] }), [3]);
  assert.deepEqual(found(docs, { 'a.0': 7 }), []);
  assert.deepEqual(found(docs, { 'a.01.b': 2 }), []);
});

test('$elemMatch asks all of one element, separate conditions ask any', () => {
  const docs = [
    { _id: 1, r: [82, 85, 88] },
    { _id: 2, r: [75, 88, 89] },
    { _id: 3, r: [{ p: 'abc', s: 10 }, { p: 'xyz', s: 5 }] },
    { _id: 4, r: [{ p: 'abc', s: 8 }, { p: 'xyz', s: 8 }] },
  ];
  assert.deepEqual(found(docs, { r: { $elemMatch: { $gte: 80, $lt: 85 } } }), [1]);
  assert.deepEqual(found(docs, { r: { $gt: 88, $lt: 80 } }), [2]);
  assert.deepEqual(found(docs, { r: { $elemMatch: { p: 'xyz', s: { $gte: 8 } } } }), [4]);
  assert.deepEqual(found(docs, { r: { $elemMatch: { $or: [{ s: 5 }, { p: 'none' }] } } }), [3]);
});

test('$all, $size, $type and $mod', () => {
  const docs = [
    { _id: 1, a: ['x', 'y'], n: 4 },
    { _id: 2, a: ['x'], n: new Double(8.9) },
    { _id: 3, a: 'x', n: 7n },
  ];
  assert.deepEqual(found(docs, { a: { $all: ['x'] } }), [1, 2, 3]);
  assert.deepEqual(found(docs, { a: { $all: ['y', 'x'] } }), [1]);
  assert.deepEqual(found(docs, { a: { $all: [] } }), []);
  assert.deepEqual(found(docs, { a: { $size: 2 } }), [1]);
  assert.deepEqual(found(docs, { a: { $type: 'array' } }), [1, 2]);
  assert.deepEqual(found(docs, { a: { $type: ['string', 'int'] } }), [1, 2, 3]);
  assert.deepEqual(found(docs, { n: { $type: 'number' } }), [1, 2, 3]);
  assert.deepEqual(found(docs, { n: { $mod: [4, 0] } }), [1, 2]);
});

test('bit tests on numbers and binary data', () => {
  const docs = [{ _id: 1, a: 54 }, { _id: 2, a: 20 }, { _id: 3, a: -1n }, { _id: 4, a: new Double(20.5) }];
  assert.deepEqual(found(docs, { a: { $bitsAllSet: 50 } }), [1, 3]);
  assert.deepEqual(found(docs, { a: { $bitsAllSet: [1, 5] } }), [1, 3]);
  assert.deepEqual(found(docs, { a: { $bitsAnyClear: [1, 5] } }), [2]);
  assert.deepEqual(found(docs, { a: { $bitsAllClear: [0, 3] } }), [1, 2]);
  assert.deepEqual(found(docs, { a: { $bitsAnySet: [200] } }), [3]);
});

test('logical operators join conditions', () => {
  const docs = [{ _id: 1, q: 1, p: 1 }, { _id: 2, q: 2, p: 1 }, { _id: 3, p: 2 }];
  assert.deepEqual(found(docs, { $or: [{ q: 1 }, { p: 2 }] }), [1, 3]);
  assert.deepEqual(found(docs, { $nor: [{ q: 1 }, { p: 2 }] }), [2]);
  assert.deepEqual(found(docs, { $and: [{ q: { $exists: true } }, { q: { $ne: 1 } }] }), [2]);
  assert.deepEqual(found(docs, { q: { $not: { $gt: 1 } } }), [1, 3]);
  assert.deepEqual(found(docs, { p: { $not: { $mod: [2, 0] } } }), [1, 2]);
  assert.deepEqual(found(docs, { $comment: 'nothing' }), [1, 2, 3]);
});

test('$in takes values and regular expressions', () => {
  const docs = [{ _id: 1, a: 'school' }, { _id: 2, a: ['home', 'x'] }, { _id: 3 }, { _id: 4, a: 7 }];
  assert.deepEqual(found(docs, { a: { $in: [new Regex('^s'), 'home'] } }), [1, 2]);
  assert.deepEqual(found(docs, { a: { $in: [null, 7] } }), [3, 4]);
  assert.deepEqual(found(docs, { a: { $nin: [null, 7] } }), [1, 2]);
  assert.deepEqual(found(docs, { a: { $in: [] } }), []);
});

test('what is not known is refused by name', () => {
  assert.deepEqual(refusal({ a: { $foo: 1 } }), { code: 2, message: 'unknown operator: $foo' });
  assert.equal(refusal({ $foo: 1 }).message.startsWith('unknown top level operator: $foo. '), true);
  assert.equal(refusal({ $not: {} }).message.endsWith('use $nor.'), true);
  assert.deepEqual(refusal({ a: { $in: 1 } }), { code: 2, message: '$in needs an array' });
  assert.deepEqual(refusal({ a: { $mod: [0, 1] } }), { code: 2, message: 'divisor cannot be 0' });
  assert.deepEqual(refusal({ $or: [] }), { code: 2, message: '$and/$or/$nor must be a nonempty array' });
  assert.equal(refusal({ a: { $type: [] } }).code, 9);
  assert.equal(refusal({ a: { $regex: '[' } }).code, 51091);
});

test('the place of a match is the index in the outermost array', () => {
  const place = (document: PlainObject, filter: PlainObject): number | undefined => compileFilter(doc(filter), options).place(doc(document));
  assert.equal(place({ r: [{ id: 1 }, { id: 2 }, { id: 3 }] }, { 'r.id': { $in: [3, 2] } }), 1);
  assert.equal(place({ m: [{ i: 'a' }, { i: 'b', s: 'y' }, { i: 'b', s: 'z' }] }, { m: { $elemMatch: { i: 'b', s: 'z' } } }), 2);
  assert.equal(place({ a: 1 }, { a: 1 }), -1);
  assert.equal(place({ a: 1 }, { a: 2 }), undefined);
});
