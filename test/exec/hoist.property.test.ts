import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';

import { aggregate } from './memory-provider.ts';

const scalar = fc.constantFrom<unknown>(1, 2, { $double: 1 }, 'a', null, { x: 1 }, { x: [1, 2], y: 2 });
const value = fc.oneof({ weight: 3, arbitrary: scalar }, { weight: 1, arbitrary: fc.array(scalar, { maxLength: 3 }) });
const name = fc.constantFrom('a', 'b', 'c');
const path = fc.constantFrom('a', 'b', 'c', 'a.x', 'b.x', 'a.0', 'b.0.x', 'a.y', '_id');
const document = fc.dictionary(name, value);

const stage: fc.Arbitrary<object> = fc.oneof(
  fc.record({ field: path.filter((text) => text !== '_id' && !text.includes('0')), from: name }).map(({ field, from }) => ({ $addFields: { [field]: `$${from}` } })),
  fc.constantFrom<object>({ $project: { a: 1, b: '$c' } }, { $project: { _id: 0, 'a.x': 1, b: true } }, { $project: { a: 0, 'b.x': 0 } }, { $project: { a: { x: 1 }, c: 1 } }),
  fc.constantFrom<object>({ $unset: ['a.x', 'c'] }, { $limit: 3 }, { $skip: 1 }),
  path.map((by) => ({ $sort: { [by]: 1, _id: -1 } })),
  fc.record({ of: fc.constantFrom('a', 'a.x', 'b'), keeps: fc.boolean() }).map(({ of, keeps }) => ({
    $unwind: { path: `$${of}`, preserveNullAndEmptyArrays: keeps, ...(keeps ? { includeArrayIndex: 'c' } : {}) },
  })),
  fc.constant({ $lookup: { from: 'docs', localField: 'a', foreignField: 'b', as: 'b' } }),
);

const condition: fc.Arbitrary<object> = fc.oneof(
  fc.record({ at: path, to: scalar }).map(({ at, to }) => ({ [at]: to })),
  fc.record({ at: path, is: fc.boolean() }).map(({ at, is }) => ({ [at]: { $exists: is } })),
  fc.record({ at: path, other: path }).map(({ at, other }) => ({ $or: [{ [at]: 1 }, { [other]: null }] })),
  fc.record({ at: path, other: path }).map(({ at, other }) => ({ $and: [{ [at]: { $ne: 1 } }, { [other]: { $gte: 1 } }] })),
);

describe('conditions that move up', () => {
  it('find the same as where they are written', async () => {
    const any = fc.oneof(stage, condition.map((filter) => ({ $match: filter })));
    const pipeline = fc.tuple(fc.array(any, { maxLength: 4 }), condition).map(([stages, filter]) => [...stages, { $match: filter }]);
    const property = fc.asyncProperty(fc.array(document, { maxLength: 8 }), pipeline, async (plains, stages) => {
      const docs = plains.map((plain, index) => ({ _id: index, ...plain }));
      let inSteps: readonly unknown[] = docs;
      for (const one of stages) inSteps = await aggregate({ docs, inSteps }, 'inSteps', [one]);
      assert.deepEqual(await aggregate({ docs }, 'docs', stages), inSteps);
    });
    await fc.assert(property, { numRuns: 400 });
  });
});
