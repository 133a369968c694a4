import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { BsonArray, Document } from '../../src/bson/index.ts';
import { compilePipeline } from '../../src/exec/index.ts';
import type { SourceProvider } from '../../src/exec/index.ts';
import { sourceOf } from '../../src/session/index.ts';
import type { BatchSource } from '../../src/session/index.ts';
import { aggregate, documentsOf, operation, options, plain, providerOf, valueOf } from './memory-provider.ts';

const sales = [
  { _id: 1, item: 'abc', price: 10, quantity: 2, tags: ['x', 'y'] },
  { _id: 2, item: 'jkl', price: 20, quantity: 1, tags: [] },
  { _id: 3, item: 'xyz', price: 5, quantity: 10, tags: null },
  { _id: 4, item: 'xyz', price: 5, quantity: 20 },
  { _id: 5, item: 'abc', price: 10, quantity: 10, tags: 'z' },
];

describe('aggregation pipelines', () => {
  it('groups equal keys together, in the order of their first documents', async () => {
    const found = await aggregate({ sales }, 'sales', [
      { $sort: { _id: 1 } },
      { $group: { _id: '$item', ids: { $push: '$_id' }, first: { $first: '$quantity' }, last: { $last: '$quantity' }, n: { $count: {} } } },
    ]);
    assert.deepEqual(found, [
      { _id: 'abc', ids: [1, 5], first: 2, last: 10, n: 2 },
      { _id: 'jkl', ids: [2], first: 1, last: 1, n: 1 },
      { _id: 'xyz', ids: [3, 4], first: 10, last: 20, n: 2 },
    ]);
  });

  it('takes a missing key of a group as null, and numbers of all types by value', async () => {
    const docs = [{ _id: 1, k: 1 }, { _id: 2, k: { $double: 1 } }, { _id: 3, k: null }, { _id: 4 }];
    const found = await aggregate({ docs }, 'docs', [{ $group: { _id: '$k', ids: { $push: '$_id' } } }]);
    assert.deepEqual(found, [
      { _id: 1, ids: [1, 2] },
      { _id: null, ids: [3, 4] },
    ]);
  });

  it('unwinds arrays; a scalar stays, null, missing and empty arrays go unless they are kept', async () => {
    const plainly = await aggregate({ sales }, 'sales', [{ $unwind: '$tags' }, { $project: { tags: 1 } }]);
    assert.deepEqual(plainly, [
      { _id: 1, tags: 'x' },
      { _id: 1, tags: 'y' },
      { _id: 5, tags: 'z' },
    ]);
    const kept = await aggregate({ sales }, 'sales', [
      { $unwind: { path: '$tags', preserveNullAndEmptyArrays: true, includeArrayIndex: 'at' } },
      { $project: { tags: 1, at: 1 } },
    ]);
    assert.deepEqual(kept, [
      { _id: 1, tags: 'x', at: 0n },
      { _id: 1, tags: 'y', at: 1n },
      { _id: 2, at: null },
      { _id: 3, tags: null, at: null },
      { _id: 4, at: null },
      { _id: 5, tags: 'z', at: null },
    ]);
  });

  it('joins by equality: null matches missing, arrays by their elements', async () => {
    const orders = [{ _id: 1, item: 'almonds' }, { _id: 2, item: 'pecans' }, { _id: 3 }, { _id: 4, item: ['almonds', 'bread'] }];
    const inventory = [{ _id: 1, sku: 'almonds' }, { _id: 2, sku: 'bread' }, { _id: 5, sku: null }, { _id: 6 }];
    const found = await aggregate({ orders, inventory }, 'orders', [
      { $lookup: { from: 'inventory', localField: 'item', foreignField: 'sku', as: 'stock' } },
      { $project: { ids: '$stock._id' } },
    ]);
    assert.deepEqual(found, [
      { _id: 1, ids: [1] },
      { _id: 2, ids: [] },
      { _id: 3, ids: [5, 6] },
      { _id: 4, ids: [1, 2] },
    ]);
  });

  it('joins by a pipeline that sees the variables of let', async () => {
    const orders = [{ _id: 1, item: 'a', ordered: 2 }, { _id: 2, item: 'b', ordered: 60 }];
    const stock = [{ _id: 1, item: 'a', n: 120 }, { _id: 2, item: 'a', n: 1 }, { _id: 3, item: 'b', n: 60 }];
    const condition = { $expr: { $and: [{ $eq: ['$item', '$$item'] }, { $gte: ['$n', '$$ordered'] }] } };
    const lookup = {
      from: 'stock',
      let: { item: '$item', ordered: '$ordered' },
      pipeline: [{ $match: condition }, { $project: { item: 0 } }],
      as: 'stock',
    };
    assert.deepEqual(await aggregate({ orders, stock }, 'orders', [{ $lookup: lookup }]), [
      { _id: 1, item: 'a', ordered: 2, stock: [{ _id: 1, n: 120 }] },
      { _id: 2, item: 'b', ordered: 60, stock: [{ _id: 3, n: 60 }] },
    ]);
  });

  it('gives the first documents of a sort, ties in the order they came, whatever is kept of it', async () => {
    const docs = Array.from({ length: 6000 }, (_, index) => ({ _id: index, k: (index * 7919) % 10 }));
    const whole = await aggregate({ docs }, 'docs', [{ $sort: { k: 1 } }]);
    const expected = docs.toSorted((left, right) => left.k - right.k);
    assert.deepEqual(whole, expected);
    for (const limit of [7, 3000]) {
      assert.deepEqual(await aggregate({ docs }, 'docs', [{ $sort: { k: 1 } }, { $limit: limit }]), expected.slice(0, limit));
    }
    const page = await aggregate({ docs }, 'docs', [{ $sort: { k: 1 } }, { $skip: 100 }, { $limit: 5 }]);
    assert.deepEqual(page, expected.slice(100, 105));
  });

  it('refuses to give a document that is too long to be sent', async () => {
    const docs = Array.from({ length: 20 }, (_, index) => ({ _id: index, text: 'x'.repeat(1 << 20) }));
    await assert.rejects(aggregate({ docs }, 'docs', [{ $group: { _id: null, all: { $push: '$text' } } }]), { code: 10334 });
  });

  it('stops at the next batch when the operation must stop', async () => {
    const pipeline = compilePipeline(valueOf([{ $group: { _id: '$k' } }]) as BsonArray, options);
    const context = operation();
    let asked = 0;
    const endless: BatchSource = {
      next: () => {
        if (++asked === 3) context.interrupt('killed');
        return Promise.resolve(documentsOf([{ _id: asked, k: 1 }]));
      },
      close: () => undefined,
    };
    await assert.rejects(pipeline.open(endless, providerOf({})).next(context), { code: 11601 });
    assert.equal(asked, 3);
  });

  it('counts, skips and limits; counting nothing gives no document', async () => {
    assert.deepEqual(await aggregate({ sales }, 'sales', [{ $skip: 1 }, { $limit: 3 }, { $count: 'n' }]), [{ n: 3 }]);
    assert.deepEqual(await aggregate({ sales }, 'sales', [{ $match: { item: 'none' } }, { $count: 'n' }]), []);
  });

  it('tells a plan what it can take over', () => {
    const stages = [{ $match: { a: 1 } }, { $match: { b: 2 } }, { $sort: { c: 1 } }, { $limit: 5 }, { $project: { d: 1 } }];
    const pipeline = compilePipeline(valueOf(stages) as BsonArray, options);
    const { head } = pipeline;
    assert.deepEqual(plain(head.filter), { $and: [{ a: 1 }, { b: 2 }] });
    assert.deepEqual(plain(head.sort), { c: 1 });
    assert.equal(head.limit, 5);
    assert.equal(head.stages, 3);
    assert.deepEqual(pipeline.fieldsNeeded(head.stages)?.toSorted(), ['_id', 'd']);
  });

  it('refuses what MongoDB refuses, with its codes', () => {
    const cases: [unknown, number][] = [
      [{ $nothing: 1 }, 40324],
      [{ $match: {}, $limit: 1 }, 40323],
      [{}, 40323],
      [{ $match: 1 }, 15959],
      [{ $limit: 0 }, 15958],
      [{ $limit: 'x' }, 5107201],
      [{ $skip: -1 }, 5107200],
      [{ $sort: {} }, 15976],
      [{ $group: { n: { $count: {} } } }, 15955],
      [{ $group: { _id: 1, n: { $nothing: 1 } } }, 15952],
      [{ $group: { _id: 1, n: 1 } }, 40234],
      [{ $unwind: 'a' }, 28818],
      [{ $count: '$a' }, 40158],
      [{ $lookup: { from: 'a', as: 'b' } }, 9],
      [{ $lookup: { from: 'a', as: 'b', pipeline: [{ $out: 'c' }] } }, 51047],
      [{ $replaceRoot: {} }, 40414],
      [{ $set: 1 }, 40272],
    ];
    for (const [stage, code] of cases) {
      assert.throws(() => compilePipeline(valueOf([stage]) as BsonArray, options), { code }, JSON.stringify(stage));
    }
    assert.throws(() => compilePipeline(BsonArray.of([Document.empty, 1]), options), { code: 40323 });
  });
});

interface Written {
  kind: string;
  documents: unknown[];
  ended: string;
}

/** A provider whose sink keeps what `$out` or `$merge` writes; `existing` is what each incoming document meets. */
function keeping(existing: unknown, kept: Written): SourceProvider {
  const openOutput: SourceProvider['openOutput'] = (request) => {
    kept.kind = `${request.kind} ${request.database}.${request.collection}`;
    return Promise.resolve({
      write: (batch) => {
        for (const document of batch) {
          const met = existing === undefined ? undefined : (valueOf(existing) as Document);
          kept.documents.push(plain(request.kind === 'merge' ? request.combine(met, document) : document));
        }
        return Promise.resolve();
      },
      finish: () => Promise.resolve(void (kept.ended = 'finished')),
      abandon: () => Promise.resolve(void (kept.ended = 'abandoned')),
    });
  };
  return { ...providerOf({}), openOutput };
}

async function write(stage: unknown, documents: readonly unknown[], existing?: unknown): Promise<Written> {
  const kept: Written = { kind: '', documents: [], ended: '' };
  const pipeline = compilePipeline(valueOf([stage]) as BsonArray, options);
  const source = pipeline.open(sourceOf(documentsOf(documents)), keeping(existing, kept));
  assert.equal(await source.next(operation()), undefined);
  return kept;
}

describe('pipelines that write', () => {
  it('hands all documents to the new collection of $out', async () => {
    const kept = await write({ $out: 'made' }, [{ _id: 1 }, { _id: 2 }]);
    assert.deepEqual(kept, { kind: 'replace test.made', documents: [{ _id: 1 }, { _id: 2 }], ended: 'finished' });
  });

  it('combines documents of $merge as whenMatched says', async () => {
    const existing = { _id: 1, a: 1, b: 1 };
    const incoming = [{ _id: 1, b: 2, c: 2 }];
    const cases: [unknown, unknown][] = [
      ['merge', { _id: 1, a: 1, b: 2, c: 2 }],
      ['replace', { _id: 1, b: 2, c: 2 }],
      ['keepExisting', undefined],
      [[{ $set: { total: { $add: ['$b', '$$new.b'] } } }], { _id: 1, a: 1, b: 1, total: 3 }],
    ];
    for (const [whenMatched, result] of cases) {
      const kept = await write({ $merge: { into: 'target', whenMatched } }, incoming, existing);
      assert.deepEqual(kept.documents, [result], JSON.stringify(whenMatched));
    }
    const inserted = await write({ $merge: { into: 'target' } }, incoming);
    assert.deepEqual(inserted.documents, incoming);
    const discarded = await write({ $merge: { into: 'target', whenNotMatched: 'discard' } }, incoming);
    assert.deepEqual(discarded.documents, [undefined]);
  });

  it('gives the sink up when a document cannot be merged', async () => {
    const kept: Written = { kind: '', documents: [], ended: '' };
    const stage = { $merge: { into: 'target', whenNotMatched: 'fail' } };
    const pipeline = compilePipeline(valueOf([stage]) as BsonArray, options);
    const source = pipeline.open(sourceOf(documentsOf([{ _id: 1 }])), keeping(undefined, kept));
    await assert.rejects(source.next(operation()), { code: 13113 });
    assert.equal(kept.ended, 'abandoned');
  });

  it('refuses what MongoDB refuses, with its codes', () => {
    const cases: [unknown[], number][] = [
      [[{ $out: 'a' }, { $match: {} }], 40601],
      [[{ $out: 1 }], 16990],
      [[{ $out: 'system.x' }], 17385],
      [[{ $out: { db: 'admin', coll: 'x' } }], 31321],
      [[{ $merge: { into: 1 } }], 51178],
      [[{ $merge: { into: 'a', on: [] } }], 51187],
      [[{ $merge: { into: 'a', let: { x: 1 } } }], 51199],
      [[{ $merge: { into: 'a', whenMatched: 'fail', whenNotMatched: 'discard' } }], 51181],
    ];
    for (const [stages, code] of cases) {
      assert.throws(() => compilePipeline(valueOf(stages) as BsonArray, options), { code }, JSON.stringify(stages));
    }
  });
});

describe('conditions move up', () => {
  const namesOf = (stages: readonly object[]): string[] =>
    compilePipeline(valueOf(stages) as BsonArray, options).stages.map(({ name, specification }) =>
      name === '$match' ? `match ${Object.keys(plain(specification) as object).join()}` : name,
    );

  it('before stages that leave what they test as it is', () => {
    assert.deepEqual(namesOf([{ $addFields: { b: '$a' } }, { $sort: { b: 1 } }, { $match: { a: 1, 'b.c': 2 } }]), [
      'match a',
      '$addFields',
      'match b.c',
      '$sort',
    ]);
    assert.deepEqual(namesOf([{ $project: { a: 1, c: { $add: [1, 2] } } }, { $match: { $and: [{ a: 1 }, { _id: 5 }, { c: 3 }] } }]), [
      'match $and',
      '$project',
      'match c',
    ]);
    assert.deepEqual(namesOf([{ $unwind: '$tags' }, { $match: { 'tags.x': 1, $or: [{ a: 1 }, { b: 2 }] } }]), ['match $or', '$unwind', 'match tags.x']);
    assert.deepEqual(namesOf([{ $unset: ['x.y'] }, { $match: { 'x.z': 1, y: 1 } }]), ['match y', '$unset', 'match x.z']);
    assert.deepEqual(namesOf([{ $lookup: { from: 'c', localField: 'a', foreignField: 'b', as: 'o' } }, { $match: { a: 1 } }]), ['match a', '$lookup']);
  });

  it('but not where the outcome could differ', () => {
    for (const before of [{ $limit: 3 }, { $skip: 1 }, { $sample: { size: 3 } }, { $group: { _id: '$a' } }, { $project: { b: 1 } }, { $project: { 'a.x': 1 } }]) {
      assert.deepEqual(namesOf([before, { $match: { a: 1 } }]).at(-1), 'match a');
    }
    assert.deepEqual(namesOf([{ $sort: { a: 1 } }, { $limit: 2 }, { $match: { a: 1 } }]), ['$sort', 'match a']);
    assert.deepEqual(namesOf([{ $addFields: { b: 1 } }, { $match: { $expr: { $eq: ['$a', 1] } } }]), ['$addFields', 'match $expr']);
    assert.deepEqual(namesOf([{ $project: { _id: 0, a: 1 } }, { $match: { _id: 1 } }]), ['$project', 'match _id']);
  });
});
