import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';

import { BsonArray, Document, fromExtendedJson, toExtendedJson, type Value } from '../../src/bson/index.ts';
import { openServerForTest } from '../support/open-server-for-test.ts';

function parsed(text: string): Record<string, Value> {
  const value = fromExtendedJson(text);
  assert.ok(value instanceof Document);
  return Object.fromEntries(value.fields);
}

function batchOf(reply: Document): string[] {
  const cursor = reply.get('cursor');
  const batch = cursor instanceof Document ? cursor.get('firstBatch') : undefined;
  return batch instanceof BsonArray ? batch.items().map((document) => toExtendedJson(document, 'relaxed')) : [];
}

describe('a pipeline that writes', async () => {
  const server = await openServerForTest();
  const client = await server.wire();
  after(() => server.close());
  const run = (text: string): Promise<Document> => client.command('test', parsed(text));
  const aggregate = (from: string, stages: string): Promise<Document> => run(`{"aggregate": "${from}", "pipeline": ${stages}, "cursor": {}}`);
  const all = async (name: string): Promise<string[]> => batchOf(await run(`{"find": "${name}", "sort": {"_id": 1}}`));
  const names = async (): Promise<string[]> => batchOf(await run('{"listCollections": 1, "nameOnly": true}'));
  await run('{"insert": "source", "documents": [{"_id": 1, "k": "a", "n": 1}, {"_id": 2, "k": "b", "n": 2}, {"_id": 3, "k": "a", "n": 3}]}');

  test('makes a collection with $out and gives no documents', async () => {
    const reply = await aggregate('source', '[{"$match": {"k": "a"}}, {"$project": {"n": 1}}, {"$out": "made"}]');
    assert.deepEqual(batchOf(reply), []);
    assert.deepEqual(await all('made'), ['{"_id":1,"n":1}', '{"_id":3,"n":3}']);
  });

  test('puts the new collection of $out in place of the old one, whose indexes stay', async () => {
    await run('{"insert": "old", "documents": [{"_id": 9, "k": "z"}]}');
    await run('{"createIndexes": "old", "indexes": [{"key": {"n": 1}, "name": "n_1", "unique": true}]}');
    await aggregate('source', '[{"$out": "old"}]');
    assert.equal((await all('old')).length, 3);
    const indexes = batchOf(await run('{"listIndexes": "old"}'));
    assert.ok(indexes.some((index) => index.includes('"name":"n_1"') && index.includes('"unique":true')));
  });

  test('leaves the old collection and nothing else when $out fails', async () => {
    await run('{"insert": "kept", "documents": [{"_id": 9, "k": "z"}]}');
    await run('{"createIndexes": "kept", "indexes": [{"key": {"k": 1}, "name": "k_1", "unique": true}]}');
    const before = await names();
    const reply = await aggregate('source', '[{"$out": "kept"}]');
    assert.equal(reply.get('code'), 11000);
    assert.deepEqual(await all('kept'), ['{"_id":9,"k":"z"}']);
    assert.deepEqual(await names(), before);
  });

  test('merges documents into those that are there and inserts the rest', async () => {
    await run('{"insert": "target", "documents": [{"_id": 1, "n": 10, "kept": true}]}');
    await aggregate('source', '[{"$merge": {"into": "target", "whenMatched": [{"$set": {"n": {"$add": ["$n", "$$new.n"]}}}]}}]');
    assert.deepEqual(await all('target'), ['{"_id":1,"n":11,"kept":true}', '{"_id":2,"k":"b","n":2}', '{"_id":3,"k":"a","n":3}']);
  });

  test('meets documents by other fields only where a unique index tells them apart', async () => {
    const merge = '[{"$group": {"_id": "$k", "n": {"$sum": "$n"}}}, {"$project": {"_id": 0, "k": "$_id", "n": 1}}, {"$merge": {"into": "totals", "on": "k"}}]';
    assert.equal((await aggregate('source', merge)).get('code'), 51183);
    await run('{"createIndexes": "totals", "indexes": [{"key": {"k": 1}, "name": "k_1", "unique": true}]}');
    await aggregate('source', merge);
    await aggregate('source', merge);
    const found = batchOf(await run('{"find": "totals", "projection": {"_id": 0}, "sort": {"k": 1}}'));
    assert.deepEqual(found, ['{"k":"a","n":4}', '{"k":"b","n":2}']);
  });
});
