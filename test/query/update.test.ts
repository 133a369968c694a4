// Updates against the examples of the manual's pages on update operators, and the reports on updates that others got wrong.

import assert from 'node:assert/strict';
import test from 'node:test';
import { CommandError } from '../../src/base/errors.ts';
import { BsonArray, DateTime, Decimal128, describeValue, Document, Double, ObjectId, Timestamp } from '../../src/bson/index.ts';
import type { Value } from '../../src/bson/index.ts';
import { compileFilter, compileUpdate } from '../../src/query/index.ts';
import { bson, doc } from './support/shorthand.ts';
import type { Plain } from './support/shorthand.ts';

type PlainObject = Readonly<Record<string, Plain>>;

const now = new DateTime(1_700_000_000_000);
const context = { now, timestamp: new Timestamp(1_700_000_000, 7) };
const newId = (): ObjectId => ObjectId.from('0123456789abcdef01234567');

interface Given {
  readonly filter?: PlainObject;
  readonly arrayFilters?: readonly PlainObject[];
}

function compile(spec: PlainObject | readonly PlainObject[], given: Given = {}): ReturnType<typeof compileUpdate> {
  const value = bson(spec);
  assert.ok(value instanceof Document || value instanceof BsonArray);
  const arrayFilters = given.arrayFilters?.map(doc);
  return compileUpdate(value, arrayFilters === undefined ? { now } : { now, arrayFilters });
}

/** The document after the update, as text; `same` if the update called it not modified. */
function updated(before: PlainObject, spec: PlainObject | readonly PlainObject[], given: Given = {}): string {
  const document = doc(before);
  const position = given.filter === undefined ? undefined : compileFilter(doc(given.filter), { now }).place(document);
  const { doc: after, modified } = compile(spec, given).apply(document, { ...context, position });
  assert.equal(modified, after !== document);
  return modified ? describeValue(Document.fromBytes(after.toBytes())) : 'same';
}

function valueAfter(before: Plain, spec: PlainObject): Value | undefined {
  return compile(spec).apply(doc({ _id: 1, a: before }), context).doc.get('a');
}

function upserted(filter: PlainObject, spec: PlainObject): string {
  const made = compile(spec).forUpsert(compileFilter(doc(filter), { now }), { ...context, newId });
  return describeValue(Document.fromBytes(made.toBytes()));
}

function same(actual: string, expected: PlainObject): void {
  assert.equal(actual, describeValue(doc(expected)));
}

function code(action: () => unknown): number {
  try {
    action();
  } catch (error) {
    assert.ok(error instanceof CommandError, String(error));
    return error.code;
  }
  return 0;
}

test('$set makes new fields in the order of their names, numbers by value', () => {
  same(updated({ _id: 1 }, { $set: { b: 1, a: 2, 'n.10': 3, 'n.9': 4 } }), { _id: 1, a: 2, b: 1, n: { 9: 4, 10: 3 } });
  same(updated({ _id: 1, z: 0, a: 1 }, { $set: { z: 5, b: 6 } }), { _id: 1, z: 5, a: 1, b: 6 });
  assert.equal(updated({ _id: 1, a: 1 }, { $set: { a: 1 } }), 'same');
  same(updated({ _id: 1, a: 1 }, { $set: { a: new Double(1) } }), { _id: 1, a: new Double(1) });
});

test('$set goes into documents and arrays, and past the end of an array', () => {
  same(updated({ _id: 1, b: ['x'] }, { $set: { 'b.3': 'y' } }), { _id: 1, b: ['x', null, null, 'y'] });
  same(updated({ _id: 1, a: { b: 1 } }, { $set: { 'a.c.d': 2 } }), { _id: 1, a: { b: 1, c: { d: 2 } } });
  same(updated({ _id: 1, a: [{ b: 1 }] }, { $set: { 'a.0.b': 2, 'a.0.c': 3 } }), { _id: 1, a: [{ b: 2, c: 3 }] });
  assert.equal(code(() => updated({ _id: 1, a: 5 }, { $set: { 'a.b': 1 } })), 28);
  assert.equal(code(() => updated({ _id: 1, a: [] }, { $set: { 'a.b': 1 } })), 28);
});

test('a field whose name has a dot is not what a dotted path means', () => {
  const before = Document.fromEntries([['_id', 1], ['a.b', 1], ['a', doc({ b: 2 })]]);
  const after = compile({ $set: { 'a.c': 5 } }).apply(Document.fromBytes(before.toBytes()), context).doc;
  assert.equal(describeValue(after), '{ _id: 1, a.b: 1, a: { b: 2, c: 5 } }');
});

test('$unset drops a field, and leaves null in an array', () => {
  same(updated({ _id: 1, a: 1, b: { c: 2, d: 3 } }, { $unset: { a: '', 'b.c': '', 'x.y': '' } }), { _id: 1, b: { d: 3 } });
  same(updated({ _id: 1, a: [1, 2] }, { $unset: { 'a.0': '' } }), { _id: 1, a: [null, 2] });
  assert.equal(updated({ _id: 1, a: 5 }, { $unset: { 'a.b': 1 } }), 'same');
});

test('$inc and $mul give the type that their operands make', () => {
  assert.equal(valueAfter(1, { $inc: { a: 2 } }), 3);
  assert.equal(valueAfter(2147483647, { $inc: { a: 1 } }), 2147483648n);
  assert.equal(valueAfter(1, { $inc: { a: 2n } }), 3n);
  assert.deepEqual(valueAfter(1, { $inc: { a: new Double(0.5) } }), new Double(1.5));
  assert.deepEqual(valueAfter(new Double(0.1), { $inc: { a: Decimal128.parse('0.2') ?? 0 } }), Decimal128.parse('0.300000000000000'));
  assert.equal(valueAfter(65536, { $mul: { a: 65536 } }), 4294967296n);
  assert.equal(code(() => valueAfter(2n ** 63n - 1n, { $inc: { a: 1 } })), 2);
  assert.equal(code(() => valueAfter('x', { $inc: { a: 1 } })), 14);
  assert.equal(code(() => valueAfter(1, { $inc: { a: 'x' } })), 14);
  same(updated({ _id: 1 }, { $inc: { a: 5 }, $mul: { b: new Double(5) } }), { _id: 1, a: 5, b: new Double(0) });
  assert.equal(updated({ _id: 1, a: 1 }, { $inc: { a: 0 } }), 'same');
});

test('the texts of refusals name the document and the field', () => {
  assert.throws(() => updated({ _id: 1, a: 'x' }, { $inc: { a: 1 } }), {
    message: "Cannot apply $inc to a value of non-numeric type. {_id: 1} has the field 'a' of non-numeric type string",
  });
  assert.throws(() => compile({ $inc: { a: 'x' } }), { message: 'Cannot increment with non-numeric argument: {a: "x"}' });
  assert.throws(() => updated({ _id: 1, a: 5 }, { $set: { 'a.b': 1 } }), { message: "Cannot create field 'b' in element {a: 5}" });
  assert.throws(() => compile({ $set: { a: 1, 'a.b': 1 } }), {
    message: "Updating the path 'a.b' would create a conflict at 'a'",
  });
  assert.throws(() => updated({ _id: 1, a: 5 }, { $push: { a: 1 } }), {
    message: "The field 'a' must be an array but is of type int in document {_id: 1}",
  });
});

test('$min and $max compare across types', () => {
  same(updated({ _id: 1, a: 5, b: 5 }, { $min: { a: 3, b: 7 }, $max: { c: 1 } }), { _id: 1, a: 3, b: 5, c: 1 });
  same(updated({ _id: 1, a: 5 }, { $max: { a: 'text' } }), { _id: 1, a: 'text' });
  assert.equal(updated({ _id: 1, a: 5 }, { $max: { a: new Double(5) } }), 'same');
});

test('$rename moves a value', () => {
  same(updated({ _id: 1, a: 1, b: 2 }, { $rename: { a: 'c' } }), { _id: 1, b: 2, c: 1 });
  same(updated({ _id: 1, a: 1, b: 2 }, { $rename: { a: 'b' } }), { _id: 1, b: 1 });
  same(updated({ _id: 1, n: { x: 1 } }, { $rename: { 'n.x': 'm.y' } }), { _id: 1, n: {}, m: { y: 1 } });
  assert.equal(updated({ _id: 1, b: 2 }, { $rename: { a: 'c' } }), 'same');
  assert.equal(code(() => updated({ _id: 1, a: [1] }, { $rename: { 'a.0': 'b' } })), 2);
  assert.equal(code(() => compile({ $rename: { a: 'a' } })), 2);
  assert.equal(code(() => compile({ $rename: { a: 'b' }, $set: { b: 1 } })), 40);
});

test('$currentDate sets the time of the command', () => {
  same(updated({ _id: 1 }, { $currentDate: { a: true, b: { $type: 'timestamp' } } }), { _id: 1, a: now, b: context.timestamp });
  assert.equal(code(() => compile({ $currentDate: { a: { $type: 'Date' } } })), 2);
});

test('$push appends, puts in, sorts and cuts', () => {
  same(updated({ _id: 1, a: [1] }, { $push: { a: [2, 3] } }), { _id: 1, a: [1, [2, 3]] });
  same(updated({ _id: 1 }, { $push: { a: { $each: [1, 2] } } }), { _id: 1, a: [1, 2] });
  same(updated({ _id: 1, a: [1, 4] }, { $push: { a: { $each: [2, 3], $position: -1 } } }), { _id: 1, a: [1, 2, 3, 4] });
  same(updated({ _id: 1, a: [3, 1] }, { $push: { a: { $each: [2], $sort: 1, $slice: -2 } } }), { _id: 1, a: [2, 3] });
  same(
    updated({ _id: 1, q: [{ w: 1, s: 10 }, { w: 2, s: 8 }] }, { $push: { q: { $each: [{ w: 3, s: 9 }], $sort: { s: -1 }, $slice: 2 } } }),
    { _id: 1, q: [{ w: 1, s: 10 }, { w: 3, s: 9 }] },
  );
  assert.equal(updated({ _id: 1, a: [1] }, { $push: { a: { $each: [] } } }), 'same');
  assert.equal(code(() => updated({ _id: 1, a: 1 }, { $push: { a: 1 } })), 2);
});

test('$addToSet adds what is not there: exact documents, numbers equal across types', () => {
  const k = [2, { a: 1, b: 2 }];
  assert.equal(code(() => compile({ $addToSet: { k: { $each: [5], $position: 1 } } })), 2);
  assert.equal(updated({ _id: 1, k }, { $addToSet: { k: new Double(2) } }), 'same');
  same(updated({ _id: 1, k }, { $addToSet: { k: { b: 2, a: 1 } } }), { _id: 1, k: [...k, { b: 2, a: 1 }] });
  assert.equal(updated({ _id: 1, k }, { $addToSet: { k: { a: 1, b: 2 } } }), 'same');
  same(updated({ _id: 1, k }, { $addToSet: { k: [1] } }), { _id: 1, k: [...k, [1]] });
  same(updated({ _id: 1, k }, { $addToSet: { k: { $each: [2, 7, 7] } } }), { _id: 1, k: [...k, 7] });
});

test('$pull, $pullAll and $pop take elements away', () => {
  const results = [{ item: 'A', score: 5 }, { item: 'B', score: 8 }];
  same(updated({ _id: 1, results }, { $pull: { results: { score: 8, item: 'B' } } }), { _id: 1, results: [results[0] ?? 0] });
  same(updated({ _id: 1, a: [1, 2, 3, 4] }, { $pull: { a: { $gte: 3 } } }), { _id: 1, a: [1, 2] });
  same(updated({ _id: 1, a: [0, 2, 5, 5, 1, 0] }, { $pullAll: { a: [0, 5] } }), { _id: 1, a: [2, 1] });
  same(updated({ _id: 1, a: [null, 2] }, { $pop: { a: -1 } }), { _id: 1, a: [2] });
  same(updated({ _id: 1, a: [1, 2] }, { $pop: { a: 1 } }), { _id: 1, a: [1] });
  assert.equal(code(() => compile({ $pop: { a: 2 } })), 9);
  assert.equal(code(() => updated({ _id: 1, a: 1 }, { $pop: { a: 1 } })), 14);
});

test('$bit reckons with integers', () => {
  assert.equal(valueAfter(13, { $bit: { a: { and: 10 } } }), 8);
  assert.equal(valueAfter(3, { $bit: { a: { or: 5n } } }), 7n);
  assert.equal(valueAfter(1, { $bit: { a: { xor: 5 } } }), 4);
  assert.equal(code(() => valueAfter(new Double(1), { $bit: { a: { xor: 5 } } })), 2);
});

test('the positional operator is the element that the filter matched', () => {
  const r = [{ id: 1 }, { id: 2 }, { id: 3 }];
  same(updated({ _id: 1, r }, { $set: { 'r.$.hidden': true } }, { filter: { 'r.id': { $in: [3, 2] } } }), {
    _id: 1,
    r: [{ id: 1 }, { id: 2, hidden: true }, { id: 3 }],
  });
  const m = [{ i: 'a', s: 'x' }, { i: 'b', s: 'y' }, { i: 'b', s: 'z' }];
  same(updated({ _id: 2, m }, { $set: { 'm.$.s': 'new' } }, { filter: { m: { $elemMatch: { i: 'b', s: 'z' } } } }), {
    _id: 2,
    m: [{ i: 'a', s: 'x' }, { i: 'b', s: 'y' }, { i: 'b', s: 'new' }],
  });
  assert.equal(code(() => updated({ _id: 1, r }, { $set: { 'r.$': 1 } }, { filter: { _id: 1 } })), 2);
  assert.equal(code(() => compile({ $set: { 'a.$.b.$': 1 } })), 2);
});

test('$[] is every element, $[identifier] those that an array filter finds', () => {
  same(updated({ _id: 1, g: [85, 100] }, { $inc: { 'g.$[]': 10 } }), { _id: 1, g: [95, 110] });
  same(updated({ _id: 1, g: [85, 102, 110] }, { $set: { 'g.$[e]': 100 } }, { arrayFilters: [{ e: { $gte: 100 } }] }), {
    _id: 1,
    g: [85, 100, 100],
  });
  const g = [{ n: 80, m: 75 }, { n: 90, m: 95 }];
  same(updated({ _id: 1, g }, { $set: { 'g.$[e].m': 100 } }, { arrayFilters: [{ 'e.n': { $gte: 85 } }] }), {
    _id: 1,
    g: [{ n: 80, m: 75 }, { n: 90, m: 100 }],
  });
  assert.equal(code(() => compile({ $set: { 'g.$[x]': 1 } })), 2);
  assert.equal(code(() => compile({ $set: { g: 1 } }, { arrayFilters: [{ x: 1 }] })), 9);
  assert.equal(code(() => updated({ _id: 1 }, { $set: { 'g.$[]': 1 } })), 2);
});

test('two operators on one path, or one above the other, are refused', () => {
  assert.equal(code(() => compile({ $mul: { y: -2 }, $setOnInsert: { y: true } })), 40);
  assert.equal(code(() => compile({ $set: { p: {} }, $mul: { 'p.q': 2 } })), 40);
  assert.equal(code(() => compile({ $max: { x: 1 }, $min: { x: 2 } })), 40);
  assert.equal(code(() => compile({ $set: { 's.a': 1 }, $inc: { 's.b': 1 } })), 0);
});

test('the id may be set to itself, never changed', () => {
  same(updated({ _id: 1 }, { $set: { _id: 1, a: 1 } }), { _id: 1, a: 1 });
  assert.equal(updated({ _id: 1, a: 1 }, { $set: { _id: 1, a: 1 } }), 'same');
  assert.equal(code(() => updated({ _id: 1 }, { $set: { _id: 2, a: 2 } })), 66);
  assert.equal(code(() => updated({ _id: 1 }, { $unset: { _id: 1 } })), 66);
  assert.equal(code(() => updated({ _id: 1 }, { _id: 2 })), 66);
});

test('a replacement keeps the id in front', () => {
  same(updated({ _id: 1, a: 1 }, { b: 2 }), { _id: 1, b: 2 });
  same(updated({ _id: 1, a: 1 }, { b: 2, _id: 1 }), { _id: 1, b: 2 });
  assert.equal(updated({ _id: 1, b: 2 }, { b: 2 }), 'same');
  assert.equal(code(() => compile({ a: 1, $set: { b: 1 } })), 52);
});

test('a pipeline makes one document of one', () => {
  same(updated({ _id: 1, a: 1, b: 2 }, [{ $set: { c: '$a' } }, { $unset: 'a' }]), { _id: 1, b: 2, c: 1 });
  same(updated({ _id: 1, a: { x: 1 } }, [{ $replaceWith: '$a' }]), { _id: 1, x: 1 });
  assert.equal(code(() => compile([{ $match: {} }])), 72);
});

test('an upsert takes the equalities of the filter and puts the id in front', () => {
  same(upserted({ x: 1, _id: 5, y: { $gt: 3 } }, { $set: { z: 2 }, $setOnInsert: { w: 1 } }), { _id: 5, x: 1, w: 1, z: 2 });
  same(upserted({ x: 1 }, { $set: { _id: 'h' } }), { _id: 'h', x: 1 });
  same(upserted({ z: 1 }, { _id: 7, q: 1 }), { _id: 7, q: 1 });
  same(upserted({ _id: 3, z: 1 }, { q: 1 }), { _id: 3, q: 1 });
  same(upserted({ 'a.b': 1, $and: [{ c: 2 }] }, { $inc: { n: 1 } }), { _id: newId(), a: { b: 1 }, c: 2, n: 1 });
  assert.equal(code(() => upserted({ _id: 'no' }, { $set: { _id: 1 } })), 66);
  assert.equal(code(() => upserted({ $and: [{ a: 1 }, { a: 2 }] }, { $set: { x: 1 } })), 54);
});

test('names that cannot be stored and operators that are none are refused', () => {
  assert.equal(code(() => compile({ $set: { '': 1 } })), 56);
  assert.equal(code(() => compile({ $set: { 'a..b': 1 } })), 56);
  assert.equal(code(() => updated({ _id: 1 }, { $set: { $x: 1 } })), 52);
  assert.equal(code(() => compile({ $foo: { a: 1 } })), 9);
  assert.equal(code(() => compile({ $set: 5 })), 9);
});
