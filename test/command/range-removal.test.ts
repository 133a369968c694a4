import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { BsonArray, Document, type Value, describeValue } from '../../src/bson/index.ts';
import { openServerForTest } from '../support/open-server-for-test.ts';

const doc = (fields: Record<string, Value>): Document => Document.of(fields);
const list = (items: readonly Document[]): BsonArray => BsonArray.of([...items]);

describe('deleteMany of a range', async () => {
  const server = await openServerForTest();
  const client = await server.wire();
  after(() => server.close());

  async function fill(name: string, count: number): Promise<void> {
    const documents = Array.from({ length: count }, (_, i) => doc({ _id: i, a: i % 10, text: 'x'.repeat(20) }));
    const reply = await client.command('test', { insert: name, documents: list(documents) });
    assert.equal(reply.get('n'), count);
  }

  async function deleteMany(name: string, q: Document): Promise<Value | undefined> {
    return (await client.command('test', { delete: name, deletes: list([doc({ q, limit: 0 })]) })).get('n');
  }

  async function count(name: string, query: Document = Document.empty): Promise<Value | undefined> {
    return (await client.command('test', { count: name, query })).get('n');
  }

  async function check(name: string): Promise<void> {
    const reply = await client.command('test', { validate: name, full: true });
    assert.equal(reply.get('valid'), true, describeValue(reply.get('errors') ?? null));
  }

  test('all of a collection with indexes goes and is counted exactly, and nothing of its indexes is left', async () => {
    await client.command('test', { createIndexes: 'all', indexes: list([doc({ key: doc({ a: 1 }), name: 'a_1' }), doc({ key: doc({ _id: 1, a: 1 }), name: 'u', unique: true })]) });
    await fill('all', 1500);
    assert.equal(await deleteMany('all', Document.empty), 1500);
    assert.equal(await count('all'), 0);
    assert.equal(await count('all', doc({ a: 3 })), 0);
    await check('all');
    await fill('all', 20);
    assert.equal(await count('all', doc({ a: 3 })), 2);
    await check('all');
  });

  test('a range of _id goes where no other index is, and its neighbours stay', async () => {
    await fill('part', 2000);
    assert.equal(await deleteMany('part', doc({ _id: doc({ $gte: 100, $lt: 1901 }) })), 1801);
    assert.equal(await count('part'), 199);
    assert.equal(await count('part', doc({ _id: doc({ $gte: 99 }) })), 100);
    await check('part');
  });

  test('what asks for more than a range is removed document by document', async () => {
    await fill('some', 1200);
    assert.equal(await deleteMany('some', doc({ _id: doc({ $lt: 600 }), a: 1 })), 60);
    assert.equal(await deleteMany('some', doc({ _id: doc({ $in: BsonArray.of([1100, 1102]) }) })), 2);
    assert.equal(await count('some'), 1138);
    await check('some');
  });

  test('writers beside it lose nothing and bring nothing back', async () => {
    await client.command('test', { createIndexes: 'busy', indexes: list([doc({ key: doc({ a: 1 }), name: 'a_1' })]) });
    await fill('busy', 1500);
    const others = await Promise.all([1, 2, 3].map(() => server.wire()));
    let inserted = 1500;
    const work = others.map(async (other, writer) => {
      for (let i = 0; i < 30; i++) {
        const documents = Array.from({ length: 20 }, (_, k) => doc({ _id: `${writer}/${i}/${k}`, a: k }));
        const n = Number((await other.command('test', { insert: 'busy', documents: list(documents) })).get('n'));
        inserted += n;
      }
    });
    let removed = 0;
    for (let i = 0; i < 8; i++) {
      const n = Number(await deleteMany('busy', Document.empty));
      removed += n;
    }
    await Promise.all(work);
    assert.equal(await count('busy'), inserted - removed);
    await check('busy');
  });
});
