import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Db, Document } from 'mongodb';
import { openServerForTest } from '../support/open-server-for-test.ts';

interface Planner {
  readonly queryPlanner: { readonly querySettings?: Document; readonly winningPlan: { readonly stage: string; readonly inputStage?: Document } };
  readonly queryShapeHash: string;
}

async function explained(db: Db, command: Document): Promise<Planner> {
  return (await db.command({ explain: command, verbosity: 'queryPlanner' })) as Planner;
}

async function wayOf(db: Db, command: Document): Promise<string> {
  const { winningPlan } = (await explained(db, command)).queryPlanner;
  return (winningPlan.inputStage?.['indexName'] as string | undefined) ?? winningPlan.stage;
}

const hints = (coll: string, ...allowedIndexes: unknown[]): Document => ({ indexHints: [{ ns: { db: 'd', coll }, allowedIndexes }] });

test('settings of a shape decide which indexes its queries may use, before hints and index filters, and lead nowhere rather than to an error', async () => {
  const server = await openServerForTest();
  try {
    const client = await server.driver();
    const [db, admin] = [client.db('d'), client.db('admin')];
    await db.collection('c').insertMany([{ a: 1, b: 1 }, { a: 2, b: 2 }]);
    await db.collection('c').createIndexes([{ key: { a: 1 } }, { key: { a: 1, b: 1 } }]);
    const query = { find: 'c', filter: { a: 1 } };
    const set = async (settings: Document): Promise<Document> => admin.command({ setQuerySettings: { ...query, $db: 'd' }, settings });
    const { queryShapeHash } = await explained(db, query);
    const answer = await set(hints('c', { a: 1, b: 1 }));
    assert.equal(answer['queryShapeHash'], queryShapeHash);
    assert.equal(await wayOf(db, query), 'a_1_b_1');
    assert.equal(await wayOf(db, { ...query, filter: { a: 7 } }), 'a_1_b_1', 'another value is the same shape');
    assert.equal(await wayOf(db, { ...query, hint: 'a_1' }), 'a_1_b_1', 'settings outrank hints');
    await db.command({ planCacheSetFilter: 'c', query: { a: 1 }, indexes: ['a_1'] });
    assert.equal(await wayOf(db, query), 'a_1_b_1', 'settings outrank index filters');
    assert.deepEqual((await explained(db, query)).queryPlanner.querySettings, hints('c', { a: 1, b: 1 }));
    await db.command({ planCacheClearFilters: 'c' });
    await set(hints('c', { $natural: 1 }));
    assert.equal(await wayOf(db, query), 'COLLSCAN');
    await set(hints('c', 'gone'));
    assert.equal(await wayOf(db, query), 'a_1', 'an index that is not there is passed over');
    await set(hints('other', 'x_1'));
    assert.equal(await wayOf(db, query), 'a_1', 'settings are about the collection they name');
    assert.equal(await wayOf(db, { ...query, filter: { a: 'text' } }), 'a_1', 'a value of another type is another shape');
  } finally {
    await server.close();
  }
});

test('a shape that is rejected is refused with 411 and counted, also after a restart, until its settings are removed', async () => {
  const first = await openServerForTest();
  const setting = { aggregate: 'c', pipeline: [{ $match: { a: { $gt: 1 } } }, { $count: 'n' }], $db: 'd' };
  const run = (db: Db, value: unknown): Promise<Document[]> => db.collection('c').aggregate([{ $match: { a: { $gt: value } } }, { $count: 'n' }]).toArray();
  await (await first.driver()).db('admin').command({ setQuerySettings: setting, settings: { reject: true, comment: 'why' } });
  await assert.rejects(run((await first.driver()).db('d'), 1), { code: 411, codeName: 'QueryRejectedBySettings' });
  await first.close();
  const server = await openServerForTest({ env: first.env });
  try {
    const client = await server.driver();
    const [db, admin] = [client.db('d'), client.db('admin')];
    await assert.rejects(run(db, 5), { code: 411 });
    assert.deepEqual(await run(db, 'text'), []);
    const { metrics } = await admin.command({ serverStatus: 1 });
    assert.equal((metrics as { commands: { aggregate: { rejected: number; failed: number } } }).commands.aggregate.rejected, 1);
    assert.equal((await explained(db, { aggregate: 'c', pipeline: setting.pipeline, cursor: {} })).queryShapeHash.length, 64, 'explain is not refused');
    const [row] = await admin.aggregate([{ $querySettings: { showDebugQueryShape: true } }]).toArray();
    assert.deepEqual(row?.['settings'], { reject: true, comment: 'why' });
    assert.deepEqual(row['representativeQuery'], setting);
    assert.deepEqual(row['debugQueryShape'], {
      cmdNs: { db: 'd', coll: 'c' },
      command: 'aggregate',
      pipeline: [{ $match: { a: { $gt: '?number' } } }, { $group: { _id: '?null', n: { $sum: '?number' } } }, { $project: { n: true, _id: false } }],
    });
    const hash = row['queryShapeHash'] as string;
    await assert.rejects(admin.command({ setQuerySettings: hash, settings: { reject: false } }), { code: 7746604 });
    await admin.command({ removeQuerySettings: hash });
    await admin.command({ removeQuerySettings: hash });
    assert.deepEqual(await run(db, 5), []);
    assert.deepEqual(await admin.aggregate([{ $querySettings: {} }]).toArray(), []);
  } finally {
    await server.close();
  }
});

test('distinct has settings; a change keeps what it does not say; what is no shape and what is no setting is refused by its code', async () => {
  const server = await openServerForTest();
  try {
    const client = await server.driver();
    const [db, admin] = [client.db('d'), client.db('admin')];
    const distinct = { distinct: 'c', key: 'k', query: { a: 1 }, $db: 'd' };
    const { queryShapeHash } = await admin.command({ setQuerySettings: distinct, settings: { queryFramework: 'classic', comment: 1 } });
    const after = await admin.command({ setQuerySettings: queryShapeHash as string, settings: { reject: true } });
    assert.deepEqual(after['settings'], { queryFramework: 'classic', comment: 1, reject: true });
    await assert.rejects(db.collection('c').distinct('k', { a: 5 }), { code: 411 });
    const find = { find: 'c', filter: { a: 1 }, $db: 'd' };
    const refused: [Document, number][] = [
      [{ setQuerySettings: { count: 'c', $db: 'd' }, settings: { reject: true } }, 7746402],
      [{ setQuerySettings: { find: 'c' }, settings: { reject: true } }, 40414],
      [{ setQuerySettings: { ...find, $db: '' }, settings: { reject: true } }, 73],
      [{ setQuerySettings: { ...find, $db: 'local' }, settings: { reject: true } }, 8584900],
      [{ setQuerySettings: { ...find, find: 'system.x' }, settings: { reject: true } }, 8584901],
      [{ setQuerySettings: { ...find, filter: { _id: 1 } }, settings: { reject: true } }, 7746606],
      [{ setQuerySettings: { ...find, filter: { a: { $no: 1 } } }, settings: { reject: true } }, 2],
      [{ setQuerySettings: 'AB', settings: { reject: true } }, 16],
      [{ setQuerySettings: 'xy', settings: { reject: true } }, 2],
      [{ setQuerySettings: 1, settings: { reject: true } }, 14],
      [{ setQuerySettings: find, settings: {} }, 8727502],
      [{ setQuerySettings: find, settings: { reject: false } }, 7746604],
      [{ setQuerySettings: find, settings: hints('c') }, 7746604],
      [{ setQuerySettings: find, settings: { nothing: 1 } }, 40415],
      [{ setQuerySettings: find, settings: { indexHints: [{ ns: { coll: 'c' }, allowedIndexes: ['a'] }] } }, 8727500],
      [{ setQuerySettings: find, settings: { indexHints: [{ ns: { db: 'd' }, allowedIndexes: ['a'] }] } }, 8727501],
      [{ setQuerySettings: find, settings: { indexHints: [...(hints('c', 'a')['indexHints'] as Document[]), ...(hints('c', 'b')['indexHints'] as Document[])] } }, 7746608],
    ];
    await admin.command({ removeQuerySettings: { ...find, filter: { _id: 1 } } });
    for (const [command, code] of refused) await assert.rejects(admin.command(command), { code }, JSON.stringify(command));
  } finally {
    await server.close();
  }
});

test('a shape keeps the order of conditions and the operators of expressions, and loses values, lengths of lists and hints', async () => {
  const server = await openServerForTest();
  try {
    const db = (await server.driver()).db('d');
    const hash = async (command: Document): Promise<string> => (await explained(db, { find: 'c', ...command })).queryShapeHash;
    const same: [Document, Document][] = [
      [{ filter: { a: 1 } }, { filter: { a: { $eq: 5 } }, hint: { _id: 1 } }],
      [{ filter: { a: 1, b: 2 } }, { filter: { $and: [{ a: 1 }, { b: 2 }] } }],
      [{ filter: { a: { $in: [1] } } }, { filter: { a: { $in: [2, 3] } } }],
      [{ filter: { a: /x/ } }, { filter: { a: { $regex: 'y' } } }],
      [{ filter: { a: { $type: 'int' } } }, { filter: { a: { $type: ['int'] } } }],
      [{ filter: {}, limit: 1 }, { limit: 2, sort: {} }],
    ];
    for (const [a, b] of same) assert.equal(await hash(a), await hash(b), JSON.stringify([a, b]));
    const different: [Document, Document][] = [
      [{ filter: { a: 1, b: 2 } }, { filter: { b: 2, a: 1 } }],
      [{ filter: { $expr: { $gt: ['$a', '$b'] } } }, { filter: { $expr: { $lt: ['$a', '$b'] } } }],
      [{ filter: { a: { $all: [1] } } }, { filter: { a: { $all: [1, 2] } } }],
      [{ filter: { a: { $exists: true } } }, { filter: { a: { $exists: false } } }],
      [{ filter: { a: 1 } }, { filter: { a: 'x' } }],
      [{ projection: { a: 1 } }, { projection: { a: 0 } }],
      [{ sort: { a: 1 } }, { sort: { a: -1 } }],
      [{}, { collation: { locale: 'en' } }],
      [{}, { limit: 1 }],
    ];
    for (const [a, b] of different) assert.notEqual(await hash(a), await hash(b), JSON.stringify([a, b]));
  } finally {
    await server.close();
  }
});
