import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { concatBytes } from '../../src/base/bytes.ts';
import { Binary, BsonArray, CodeWithScope, chunkedLength, Document, documentChunks } from '../../src/bson/index.ts';

const raw = (bytes: number): Document => Document.fromBytes(Document.of({ _id: 1, content: new Binary(new Uint8Array(bytes).fill(7), 0) }).toBytes());
const [small, large] = [raw(100), raw(100_000)];

describe('the chunks of a document', () => {
  for (const [what, make] of [
    ['large documents in an array', () => Document.of({ cursor: Document.of({ firstBatch: BsonArray.of([large, small, large]), id: 0n }), ok: 1 })],
    ['a scope that is large', () => Document.of({ a: new CodeWithScope('x', large), b: 'after it' })],
    ['nothing large', () => Document.of({ a: small, b: 2 })],
    ['nothing', () => Document.empty],
  ] as const) {
    test(`are the bytes of the document, with ${what} in it`, () => {
      assert.deepEqual(concatBytes(documentChunks(make())), make().toBytes());
    });
  }

  test('share the memory of what is long and encoded already', () => {
    const chunks = documentChunks(Document.of({ batch: BsonArray.of([large, small]) }));
    assert.deepEqual(chunks.map(({ buffer }) => buffer === large.bytes.buffer), [false, true, false]);
    assert.deepEqual(documentChunks(large), [large.toBytes()]);
    assert.equal(chunkedLength(Document.of({ batch: BsonArray.of([large, small]) })), chunks.reduce((sum, { length }) => sum + length, 0));
  });
});
