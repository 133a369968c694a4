// Expressions, filters and updates over long arrays give the same in slices as at once.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BrokenOff, Progress, runPiece } from '../../../src/base/long-work.ts';
import { equalBytes } from '../../../src/base/bytes.ts';
import { BsonArray, DateTime, describeValue, Document, Timestamp } from '../../../src/bson/index.ts';
import type { Value } from '../../../src/bson/index.ts';
import { compileExpression, compileFilter, compileSort, compileUpdate } from '../../../src/query/index.ts';

const options = { now: new DateTime(0) };
const LENGTH = 3000;

const range = (length: number, make: (i: number) => Value): BsonArray => BsonArray.of(Array.from({ length }, (_, i) => make(i)));
const made = Document.of({
  _id: 1,
  x: range(LENGTH, (i) => (i * 7919) % 1009),
  y: range(LENGTH, (i) => `w${String(i % 211)}`),
  d: range(LENGTH, (i) => Document.of({ a: i % 100, b: range(20, (k) => k * i) })),
  t: 'some words, and More words; '.repeat(3000),
});
/** As it lies in a collection. */
const document = Document.fromBytes(made.toBytes());

/** Runs work in pieces that are over at every look. */
function inPieces<T>(work: () => T): { readonly result: T; readonly pieces: number } {
  const progress = new Progress();
  for (let pieces = 1; pieces < 20_000; pieces++) {
    try {
      return { result: runPiece(work, progress, { sliceIsOver: true }), pieces };
    } catch (error) {
      if (!(error instanceof BrokenOff)) throw error;
    }
  }
  throw new assert.AssertionError({ message: 'the work does not end' });
}

function value(plain: unknown): Value {
  if (Array.isArray(plain)) return BsonArray.of(plain.map(value));
  if (plain !== null && typeof plain === 'object') return Document.fromEntries(Object.entries(plain).map(([name, each]) => [name, value(each)]));
  return plain as Value;
}

const expressions: readonly unknown[] = [
  { $map: { input: '$x', in: { $multiply: ['$$this', 2] } } },
  { $filter: { input: '$x', cond: { $gt: ['$$this', 500] } } },
  { $reduce: { input: '$x', initialValue: 0, in: { $add: ['$$value', '$$this'] } } },
  { $sum: { $map: { input: '$d', in: { $sum: { $map: { input: '$$this.b', as: 'k', in: { $add: ['$$k', '$$this.a'] } } } } } } },
  { $sortArray: { input: '$x', sortBy: -1 } },
  { $sortArray: { input: '$d', sortBy: { a: 1 } } },
  { $setUnion: ['$x', { $map: { input: '$x', in: { $add: ['$$this', 7] } } }] },
  { $setIntersection: ['$y', ['w3', 'w5', 'nothing']] },
  { $setDifference: ['$x', { $range: [0, 900] }] },
  { $setIsSubset: [{ $range: [0, 1000] }, '$x'] },
  { $setEquals: ['$x', { $range: [0, 1009] }] },
  { $zip: { inputs: ['$x', '$y', { $range: [0, 4000] }], useLongestLength: true } },
  { $concatArrays: ['$x', { $reverseArray: '$y' }] },
  { $arrayToObject: { $map: { input: '$x', in: { k: { $toString: '$$this' }, v: '$$this' } } } },
  { $and: [{ $not: { $in: [-1, '$x'] } }, { $eq: [{ $indexOfArray: ['$x', 1008] }, 1] }] },
  { $stdDevPop: '$x' },
  { $median: { input: '$x', method: 'approximate' } },
  { $maxN: { input: '$x', n: 5 } },
  { $size: { $split: ['$t', ' '] } },
  { $strLenCP: { $replaceAll: { input: '$t', find: 'words', replacement: 'texts and more' } } },
  { $substrCP: [{ $toUpper: '$t' }, 80_000, 20] },
  { $size: { $regexFindAll: { input: '$t', regex: 'M(o)re' } } },
  { $size: { $regexFindAll: { input: '$t', regex: 'word(?=s;)' } } },
];

const filters: readonly unknown[] = [
  { x: { $in: Array.from({ length: 2000 }, (_, i) => 5000 - i) } },
  { x: { $all: Array.from({ length: 40 }, (_, i) => i) } },
  { d: { $elemMatch: { a: 99, b: { $gt: 50_000 } } } },
  { d: { $elemMatch: { a: 99, b: { $gt: 5_000_000 } } } },
  { 'd.b': 999 * 19 },
  { $or: Array.from({ length: 100 }, (_, i) => ({ y: `v${String(i)}` })) },
  { $nor: [{ x: 2000 }, { 'd.a': 101 }] },
  { $expr: { $eq: [{ $size: '$x' }, LENGTH] } },
  { t: { $regex: '(?=w)ords; $' } },
];

const updates: readonly { readonly update: unknown; readonly filters?: readonly unknown[] }[] = [
  { update: { $inc: { 'x.$[]': 1 } } },
  { update: { $inc: { 'd.$[f].a': 1000 } }, filters: [{ 'f.a': { $gt: 50 } }] },
  { update: { $set: { 'd.$[].b.$[k]': 0 } }, filters: [{ k: { $gt: 40_000 } }] },
  { update: { $pull: { x: { $gte: 500 } } } },
  { update: { $pull: { d: { a: 7 } } } },
  { update: { $pullAll: { y: ['w1', 'w3', 'w200'] } } },
  { update: { $push: { d: { $each: [{ a: 50 }], $sort: { a: -1 }, $slice: 2500 } } } },
  { update: { $push: { x: { $each: [3], $sort: 1 } } } },
  { update: { $addToSet: { y: { $each: ['w1', 'new', 'newer'] } } } },
];

describe('over long arrays in slices', () => {
  for (const { update: plain, filters = [] } of updates) {
    it(`an update makes the same: ${JSON.stringify(plain)}`, () => {
      const update = compileUpdate(value(plain) as Document, { ...options, arrayFilters: filters.map((filter) => value(filter) as Document) });
      const context = { now: new DateTime(0), timestamp: new Timestamp(1, 1) };
      const whole = update.apply(document, context);
      const { result, pieces } = inPieces(() => update.apply(document, context));
      assert.ok(whole.modified && result.modified);
      assert.ok(equalBytes(result.doc.toBytes(), whole.doc.toBytes()));
      assert.ok(pieces > 1);
    });
  }

  it('a document has the same sort key', () => {
    for (const order of [{ x: 1 }, { 'd.b': -1, _id: 1 }]) {
      const key = compileSort(value(order) as Document);
      assert.ok(equalBytes(inPieces(() => key.keyOf(document)).result, key.keyOf(document)));
    }
  });

  for (const plain of expressions) {
    const name = Object.keys(plain as object)[0] ?? '';
    it(`${name} gives what it gives at once`, () => {
      const { evaluate } = compileExpression(value(plain), options);
      const whole = evaluate(document);
      const { result } = inPieces(() => evaluate(document));
      assert.equal(describeValue(result ?? null), describeValue(whole ?? null));
    });
  }

  it('an expression is broken off', () => {
    const { evaluate } = compileExpression(value(expressions[3]), options);
    assert.ok(inPieces(() => evaluate(document)).pieces > 50);
  });

  it('chance decides once, however often the work is called again', () => {
    const fork = { $cond: [{ $lt: [{ $rand: {} }, 0.5] }, { $sum: { $map: { input: '$x', in: { $add: ['$$this', 1] } } } }, { $size: { $setUnion: ['$y', '$x'] } }] };
    let state = 7;
    let calls = 0;
    const random = (): number => {
      calls += 1;
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return state / 2_147_483_648;
    };
    const evaluate = (): Value | undefined => compileExpression(value({ $map: { input: { $range: [0, 40] }, in: fork } }), { ...options, random }).evaluate(document);
    const whole = evaluate();
    state = 7;
    const { result, pieces } = inPieces(evaluate);
    assert.equal(describeValue(result ?? null), describeValue(whole ?? null));
    assert.equal(calls, 80);
    assert.ok(pieces > 40);
  });

  for (const plain of filters) {
    it(`a filter finds the same: ${JSON.stringify(plain).slice(0, 60)}`, () => {
      const filter = compileFilter(value(plain) as Document, options);
      const whole = [filter.matches(document), filter.place(document)];
      assert.deepEqual([inPieces(() => filter.matches(document)).result, inPieces(() => filter.place(document)).result], whole);
      const compiled = inPieces(() => compileFilter(value(plain) as Document, options)).result;
      assert.equal(compiled.matches(document), whole[0]);
    });
  }
});
