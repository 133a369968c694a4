import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { concatBytes } from '../../src/base/bytes.ts';
import { CommandError } from '../../src/base/errors.ts';
import { BsonArray, Document } from '../../src/bson/index.ts';
import { openMemoryEnv } from '../../src/env/index.ts';
import { compressed, encodeAnswer, encodeMessage, encodeQuery, MessageReader, parseMessage } from '../../src/wire/index.ts';

const env = await openMemoryEnv();
const codecs = [env.codecs.byName('zlib'), env.codecs.byName('zstd')];
const ids = { requestId: 7, responseTo: 0 };
const body = Document.of({ insert: 'c', $db: 'test' });

function whole(chunks: readonly Uint8Array[]): Uint8Array {
  return concatBytes([...chunks]);
}

function int32(value: number): number[] {
  return [value & 0xff, (value >>> 8) & 0xff, (value >>> 16) & 0xff, (value >>> 24) & 0xff];
}

/** A message with a header of the right length around `content`. */
function framed(code: number, content: readonly number[]): Uint8Array {
  return Uint8Array.from([...int32(16 + content.length), ...int32(7), ...int32(0), ...int32(code), ...content]);
}

function refused(bytes: Uint8Array, code = 17): void {
  assert.throws(
    () => parseMessage(bytes, codecs),
    (error) => error instanceof CommandError && error.code === code,
  );
}

describe('OP_MSG', () => {
  test('carries a body and document sequences', () => {
    const documents = [Document.of({ _id: 1 }), Document.of({ _id: 2 })];
    const message = parseMessage(whole(encodeMessage(ids, body, { sequences: [{ name: 'documents', documents }] })), []);
    assert.equal(message.requestId, 7);
    assert.equal(message.body.get('insert'), 'c');
    assert.deepEqual([...(message.sequences.get('documents') ?? [])].map((document) => document.get('_id')), [1, 2]);
    assert.equal(message.moreToCome, false);
  });

  test('has no more sequences than commands have, no more documents in one than a write may have, and none larger than can be stored', () => {
    const sequences = Array.from({ length: 17 }, (_, i) => ({ name: `s${String(i)}`, documents: [] }));
    refused(whole(encodeMessage(ids, body, { sequences })));
    assert.equal(parseMessage(whole(encodeMessage(ids, body, { sequences: sequences.slice(1) })), []).sequences.size, 16);
    const documents = (count: number): Uint8Array => Uint8Array.from({ length: 5 * count }, (_, at) => (at % 5 === 0 ? 5 : 0));
    const many = (count: number): Uint8Array => whole(encodeMessage(ids, body, { sequences: [{ name: 'documents', documents: documents(count) }] }));
    assert.equal(parseMessage(many(100_000), []).sequences.get('documents')?.length, 100_000);
    assert.throws(() => parseMessage(many(100_002), []), { code: 16, message: 'Write batch sizes must be between 1 and 100000. Got 100002 operations.' });
    const large = Document.of({ x: 'x'.repeat(16 * 1024 * 1024 + 16 * 1024) });
    assert.throws(() => parseMessage(whole(encodeMessage(ids, large)), []), { code: 10334 });
  });

  test('says whether more comes and whether exhaust is allowed', () => {
    const message = parseMessage(whole(encodeMessage(ids, body, { moreToCome: true, exhaustAllowed: true })), []);
    assert.equal(message.moreToCome, true);
    assert.equal(message.exhaustAllowed, true);
  });

  test('is refused when its checksum does not match, and read when it does', () => {
    const bytes = whole(encodeMessage(ids, body, { checksum: true }));
    assert.equal(parseMessage(bytes, []).checksumPresent, true);
    bytes[bytes.length - 5] = (bytes[bytes.length - 5] as number) ^ 1;
    refused(bytes);
  });

  test('with an unknown required flag bit is refused, with an unknown optional one it is read', () => {
    const bytes = whole(encodeMessage(ids, body));
    bytes[16] = 4;
    refused(bytes);
    bytes[16] = 0;
    bytes[18] = 4;
    assert.equal(parseMessage(bytes, []).body.get('insert'), 'c');
  });

  test('with two bodies, without a body, or with a section of unknown kind is refused', () => {
    const empty = [5, 0, 0, 0, 0];
    refused(framed(2013, [...int32(0), 0, ...empty, 0, ...empty]));
    refused(framed(2013, int32(0)));
    refused(framed(2013, [...int32(0), 2, ...empty]));
    refused(framed(2013, [0, 0]));
  });

  test('with two sequences of one name, or a sequence longer than the message, is refused', () => {
    const empty = [5, 0, 0, 0, 0];
    const sequence = [1, ...int32(11), 0x61, 0, ...empty];
    refused(framed(2013, [...int32(0), 0, ...empty, ...sequence, ...sequence]));
    refused(framed(2013, [...int32(0), 0, ...empty, 1, ...int32(200), 0x61, 0, ...empty]));
  });

  test('whose document is longer than the message is refused; one that is not valid BSON can be answered', () => {
    refused(framed(2013, [...int32(0), 0, ...int32(50), 0]));
    refused(framed(2013, [...int32(0), 0, ...int32(9), 0x77, 0x61, 0, 0, 0]), 22);
  });
});

describe('OP_QUERY', () => {
  test('gives the command and the namespace, out of $query too', () => {
    const plain = parseMessage(whole(encodeQuery(ids, 'admin.$cmd', Document.of({ isMaster: 1 }))), []);
    assert.equal(plain.kind, 'query');
    assert.equal(plain.namespace, 'admin.$cmd');
    const wrapped = Document.of({ $query: Document.of({ count: 'c' }), $readPreference: Document.of({ mode: 'secondary' }) });
    assert.deepEqual(parseMessage(whole(encodeQuery(ids, 'test.$cmd', wrapped)), []).body.keys(), ['count', '$readPreference']);
  });

  test('is answered by OP_REPLY', () => {
    const request = parseMessage(whole(encodeQuery(ids, 'admin.$cmd', Document.of({ isMaster: 1 }))), []);
    const reply = parseMessage(whole(encodeAnswer(request, { requestId: 1, moreToCome: false }, Document.of({ ismaster: true }), [])), []);
    assert.equal(reply.kind, 'reply');
    assert.equal(reply.responseTo, 7);
    assert.equal(reply.body.get('ismaster'), true);
  });
});

describe('OP_COMPRESSED', () => {
  const large = Document.of({ insert: 'c', documents: BsonArray.of(Array.from({ length: 200 }, (_, i) => Document.of({ _id: i }))) });

  for (const codec of codecs) {
    test(`by ${codec.name} gives the message back, and its answer is compressed alike`, () => {
      const message = parseMessage(whole(compressed(encodeMessage(ids, large), codec.id, codecs)), codecs);
      assert.deepEqual(message.body.toBytes(), large.toBytes());
      assert.equal(message.requestId, 7);
      const answer = whole(encodeAnswer(message, { requestId: 1, moreToCome: false }, large, codecs));
      assert.equal(answer[12], 2012 & 0xff);
      assert.deepEqual(parseMessage(answer, codecs).body.toBytes(), large.toBytes());
    });

    test(`by ${codec.name} is refused when it was not negotiated`, () => {
      const bytes = whole(compressed(encodeMessage(ids, large), codec.id, codecs));
      assert.throws(() => parseMessage(bytes, []), /not negotiated/);
    });

    test(`by ${codec.name} is refused when the claimed size is not the true one`, () => {
      const bytes = whole(compressed(encodeMessage(ids, large), codec.id, codecs));
      for (const size of [0, 10, 47_999_999, 48_000_000, 0x7fffffff, -1]) {
        const copy = bytes.slice();
        copy.set(int32(size), 20);
        refused(copy);
      }
    });
  }

  test('by noop is the message itself', () => {
    const inner = [...int32(0), 0, 5, 0, 0, 0, 0];
    const message = parseMessage(framed(2012, [...int32(2013), ...int32(inner.length), 0, ...inner]), []);
    assert.equal(message.body.isEmpty, true);
  });

  test('inside OP_COMPRESSED is refused', () => {
    refused(framed(2012, [...int32(2012), ...int32(1), 0, 0]));
  });
});

describe('MessageReader', () => {
  test('gives the same messages however the stream is cut', () => {
    const messages = [1, 2, 3].map((requestId) => whole(encodeMessage({ requestId, responseTo: 0 }, body)));
    const stream = concatBytes(messages);
    for (let size = 1; size <= stream.length; size++) {
      const reader = new MessageReader();
      const seen: Uint8Array[] = [];
      for (let at = 0; at < stream.length; at += size) {
        reader.push(stream.subarray(at, at + size));
        for (let next = reader.next(); next !== undefined; next = reader.next()) seen.push(next.slice());
      }
      assert.deepEqual(seen, messages);
      assert.equal(reader.pendingBytes, 0);
    }
  });

  test('refuses a length that no message has as soon as it is read', () => {
    for (const length of [0, 15, -1, 48_000_001]) {
      const reader = new MessageReader();
      reader.push(Uint8Array.from(int32(length)));
      assert.throws(() => reader.next(), CommandError);
    }
  });
});
