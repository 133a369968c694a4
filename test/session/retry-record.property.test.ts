import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Binary, DateTime, Document } from '../../src/bson/index.ts';
import { RetryRecord, type StatementResult } from '../../src/session/index.ts';

const id = Document.of({ id: new Binary(new Uint8Array(16), 4) });
const plain = fc.record({ kind: fc.constantFrom('insert', 'update', 'delete'), n: fc.constantFrom(0, 1), nModified: fc.constantFrom(0, 1) });
const results = fc.dictionary(fc.nat(30).map(String), plain).map((entries) => new Map(Object.entries(entries).map(([key, value]) => [Number(key), value])));

function stored(record: RetryRecord): RetryRecord {
  const bytes = record.toDocument(id, new DateTime(0)).toBytes();
  return RetryRecord.fromDocument(Document.fromBytes(bytes));
}

test('a record gives each statement the result it was given, before and after it was stored', () => {
  fc.assert(
    fc.property(fc.array(results, { maxLength: 4 }), (parts) => {
      const expected = new Map<number, StatementResult>();
      let record = new RetryRecord(5n);
      for (const part of parts) {
        const fresh = new Map([...part].filter(([statement]) => !expected.has(statement)));
        for (const [statement, result] of fresh) expected.set(statement, result);
        record = record.with(fresh);
      }
      for (const each of [record, stored(record)]) {
        assert.equal(each.txnNumber, 5n);
        for (let statement = 0; statement <= 31; statement++) {
          const result = each.resultOf(statement);
          const wanted = expected.get(statement);
          assert.equal(result?.n, wanted?.n);
          assert.equal(result?.nModified, wanted?.nModified);
          assert.equal(result?.kind, wanted?.kind);
        }
      }
    }),
  );
});

test('a record of a large insert is small', () => {
  const many = new Map(Array.from({ length: 100_000 }, (_, i) => [i, { kind: 'insert', n: 1, nModified: 0 } as const]));
  assert.ok(new RetryRecord(1n).with(many).toDocument(id, new DateTime(0)).byteLength < 300);
});

test('a record keeps what an upsert inserted and what a findAndModify answered', () => {
  const reply = Document.of({ lastErrorObject: Document.of({ n: 1 }), value: null });
  const record = stored(
    new RetryRecord(1n).with(
      new Map<number, StatementResult>([
        [0, { kind: 'insert', n: 1, nModified: 0, upserted: 'x' }],
        [1, { kind: 'update', n: 1, nModified: 0, reply, showsAfter: true }],
      ]),
    ),
  );
  assert.equal(record.resultOf(0)?.upserted, 'x');
  assert.deepEqual(record.resultOf(1)?.reply?.toBytes(), reply.toBytes());
  assert.deepEqual([record.resultOf(0)?.showsAfter, record.resultOf(1)?.showsAfter], [false, true]);
  assert.equal(record.resultOf(2), undefined);
});

test('a record of a committed transaction says so', () => {
  assert.equal(stored(new RetryRecord(9n, 'committed')).outcome, 'committed');
  assert.equal(stored(new RetryRecord(9n)).outcome, undefined);
});
