import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { concatBytes } from '../../src/base/bytes.ts';
import { CommandError } from '../../src/base/errors.ts';
import { BsonArray, Document } from '../../src/bson/index.ts';
import { openMemoryEnv } from '../../src/env/index.ts';
import { compressed, encodeMessage, encodeQuery, parseMessage } from '../../src/wire/index.ts';

const env = await openMemoryEnv();
const codecs = [env.codecs.byName('zlib'), env.codecs.byName('zstd')];
const ids = { requestId: 1, responseTo: 0 };
const body = Document.of({ insert: 'c', $db: 'test', list: BsonArray.of([1, 'two', Document.of({ three: 3n })]) });
const sequences = [{ name: 'documents', documents: [Document.of({ _id: 1 })] }];
const seeds = [
  concatBytes(encodeMessage(ids, body, { sequences })),
  concatBytes(encodeMessage(ids, body, { checksum: true })),
  concatBytes(encodeQuery(ids, 'admin.$cmd', body)),
  concatBytes(compressed(encodeMessage(ids, body), 2, codecs)),
  concatBytes(compressed(encodeMessage(ids, body), 3, codecs)),
];

function readsOrRefuses(bytes: Uint8Array): void {
  try {
    const message = parseMessage(bytes, codecs);
    message.body.toBytes();
  } catch (error) {
    assert.ok(error instanceof CommandError, String(error));
  }
}

test('a message with bytes changed is read or refused, whatever they are', () => {
  const change = fc.tuple(fc.nat(), fc.nat(255));
  fc.assert(
    fc.property(fc.constantFrom(...seeds), fc.array(change, { minLength: 1, maxLength: 4 }), (seed, changes) => {
      const bytes = seed.slice();
      // The length in the header is the reader's to judge; parseMessage is given whole messages.
      for (const [at, value] of changes) bytes[4 + (at % (bytes.length - 4))] = value;
      readsOrRefuses(bytes);
    }),
    { numRuns: 2000 },
  );
});

test('a message cut short is read or refused', () => {
  for (const seed of seeds) for (let length = 16; length < seed.length; length++) readsOrRefuses(seed.slice(0, length));
});
