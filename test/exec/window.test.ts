import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { aggregate } from './memory-provider.ts';

/** Sales of cakes, after the examples of the manual. */
const sales = [
  { _id: 0, type: 'chocolate', state: 'CA', price: 13, quantity: 120, at: 1 },
  { _id: 1, type: 'chocolate', state: 'WA', price: 14, quantity: 140, at: 2 },
  { _id: 2, type: 'vanilla', state: 'CA', price: 12, quantity: 145, at: 3 },
  { _id: 3, type: 'vanilla', state: 'WA', price: 13, quantity: 104, at: 4 },
  { _id: 4, type: 'strawberry', state: 'CA', price: 41, quantity: 162, at: 5 },
  { _id: 5, type: 'strawberry', state: 'WA', price: 43, quantity: 134, at: 7 },
];

async function windowed(output: object, more: object = { partitionBy: '$state', sortBy: { at: 1 } }): Promise<unknown[]> {
  const found = await aggregate({ sales }, 'sales', [{ $setWindowFields: { ...more, output: { v: output } } }]);
  return found.map((document) => [(document as { _id: number })._id, (document as { v: unknown }).v]);
}

describe('$setWindowFields', () => {
  it('counts from the beginning of a partition, which come in the order of their keys', async () => {
    assert.deepEqual(await windowed({ $sum: '$quantity', window: { documents: ['unbounded', 'current'] } }), [
      [0, 120],
      [2, 265],
      [4, 427],
      [1, 140],
      [3, 244],
      [5, 378],
    ]);
  });

  it('takes windows by position and by value', async () => {
    const all = { sortBy: { at: 1 } };
    assert.deepEqual(await windowed({ $push: '$at', window: { documents: [-1, 1] } }, all), [
      [0, [1, 2]],
      [1, [1, 2, 3]],
      [2, [2, 3, 4]],
      [3, [3, 4, 5]],
      [4, [4, 5, 7]],
      [5, [5, 7]],
    ]);
    assert.deepEqual(await windowed({ $push: '$at', window: { range: [-2, -1] } }, all), [
      [0, []],
      [1, [1]],
      [2, [1, 2]],
      [3, [2, 3]],
      [4, [3, 4]],
      [5, [5]],
    ]);
    assert.deepEqual(await windowed({ $count: {}, window: { documents: ['current', 'unbounded'] } }, all), [
      [0, 6],
      [1, 5],
      [2, 4],
      [3, 3],
      [4, 2],
      [5, 1],
    ]);
  });

  it('ranks, with and without gaps', async () => {
    const order = { sortBy: { price: 1 } };
    const values = async (output: object): Promise<unknown[]> => (await windowed(output, order)).map((pair) => (pair as unknown[])[1]);
    assert.deepEqual(await values({ $rank: {} }), [1, 2, 2, 4, 5, 6]);
    assert.deepEqual(await values({ $denseRank: {} }), [1, 2, 2, 3, 4, 5]);
    assert.deepEqual(await values({ $documentNumber: {} }), [1, 2, 3, 4, 5, 6]);
  });

  it('shifts within a partition', async () => {
    assert.deepEqual(await windowed({ $shift: { output: '$quantity', by: 1, default: 'none' } }), [
      [0, 145],
      [2, 162],
      [4, 'none'],
      [1, 104],
      [3, 134],
      [5, 'none'],
    ]);
  });

  it('writes into nested documents, and refuses what is wrong', async () => {
    const [first] = await aggregate({ sales: sales.slice(0, 1) }, 'sales', [{ $setWindowFields: { output: { 'a.b': { $max: '$price' } } } }]);
    assert.deepEqual(first, { ...sales[0], a: { b: 13 } });
    const refused = async (output: object, code: number, more?: object): Promise<void> => {
      await assert.rejects(windowed(output, more), { code });
    };
    await refused({ $sum: 1, window: { documents: [1, 0] } }, 5339900);
    await refused({ $sum: 1, window: { documents: [-1, 0] } }, 5339901, {});
    await refused({ $sum: 1, window: { range: [-1, 0] } }, 8947401, { sortBy: { at: -1 } });
    await refused({ $sum: 1, window: { range: [-1, 0] } }, 5429414, { sortBy: { type: 1 } });
    await refused({ $rank: {} }, 5371602, { sortBy: { at: 1, price: 1 } });
    await refused({ $mergeObjects: '$a' }, 9);
    await refused({ $sum: 1 }, 14, { partitionBy: ['$a'] });
  });
});
