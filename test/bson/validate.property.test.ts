import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { CommandError } from '../../src/base/errors.ts';
import {
  BsonArray,
  CodeWithScope,
  compareValues,
  describeValue,
  Document,
  encodeKey,
  Regex,
  storedDepthMax,
  validateDocument,
} from '../../src/bson/index.ts';
import type { Value } from '../../src/bson/index.ts';
import { anyDocument } from '../support/bson-values.ts';

/** The code of the refusal, or 0 where the bytes are valid. */
function verdict(bytes: Uint8Array, start = 0, end = bytes.length): number {
  try {
    validateDocument(bytes, start, end);
    return 0;
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return error.code;
  }
}

/** Reads everything that can be read of a document. */
function readAll(doc: Document): void {
  describeValue(doc);
  encodeKey([doc]);
  assert.equal(compareValues(doc, Document.fromEntries(doc.fields)), 0);
}

const mutation = fc.record({
  kind: fc.constantFrom('set', 'flip', 'cut', 'insert', 'length'),
  at: fc.nat(),
  value: fc.oneof(fc.nat({ max: 255 }), fc.constantFrom(0, 1, 2, 3, 4, 5, 0x0f, 0x7f, 0x80, 0xff)),
});

type Mutation = typeof mutation extends fc.Arbitrary<infer T> ? T : never;

function mutate(bytes: Uint8Array, { kind, at, value }: Mutation): Uint8Array {
  const copy = bytes.slice();
  const place = copy.length === 0 ? 0 : at % copy.length;
  switch (kind) {
    case 'set':
      copy[place] = value;
      return copy;
    case 'flip':
      copy[place] = (copy[place] ?? 0) ^ (1 << (value & 7));
      return copy;
    case 'cut':
      return copy.slice(0, place);
    case 'length':
      copy.set([value, 0, 0, value > 127 ? 255 : 0].slice(0, copy.length - place), place);
      return copy;
    default: {
      const grown = new Uint8Array(copy.length + 1);
      grown.set(copy.subarray(0, place));
      grown[place] = value;
      grown.set(copy.subarray(place), place + 1);
      return grown;
    }
  }
}

describe('validateDocument', () => {
  it('accepts what the codec writes', () => {
    fc.assert(
      fc.property(anyDocument, (doc) => {
        assert.equal(verdict(doc.toBytes()), 0);
      }),
    );
  });

  it('either refuses mutated bytes or everything in them can be read and written back', () => {
    fc.assert(
      fc.property(anyDocument, fc.array(mutation, { minLength: 1, maxLength: 3 }), fc.boolean(), (doc, mutations, mend) => {
        const bytes = mutations.reduce(mutate, doc.toBytes());
        // With the outer length mended the inner checks are reached more often.
        if (mend && bytes.length >= 4) new DataView(bytes.buffer).setInt32(0, bytes.length, true);
        const code = verdict(bytes);
        assert.ok(code === 0 || code === 22);
        if (code !== 0) return;
        const read = Document.fromBytes(bytes);
        readAll(read);
        const written = Document.fromEntries(read.fields).toBytes();
        assert.equal(verdict(written), 0);
        assert.equal(compareValues(Document.fromBytes(written), read), 0);
      }),
      { numRuns: 8000 },
    );
  });

  it('reads nothing outside of its range', () => {
    fc.assert(
      fc.property(anyDocument, mutation, fc.nat({ max: 255 }), (doc, change, filler) => {
        const bytes = mutate(doc.toBytes(), change);
        const framed = new Uint8Array(bytes.length + 40).fill(filler);
        framed.set(bytes, 20);
        assert.equal(verdict(framed, 20, 20 + bytes.length), verdict(bytes));
      }),
      { numRuns: 2000 },
    );
  });

  it('refuses any random bytes that are no document', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        assert.ok(bytes.length === 5 ? [0, 22].includes(verdict(bytes)) : verdict(bytes) === 22);
      }),
      { numRuns: 2000 },
    );
  });
});

/** A document of so many levels, itself counted. */
function nested(levels: number, wrap: (inner: Value) => Document): Document {
  let doc = Document.empty;
  for (let level = 1; level < levels; level++) doc = wrap(doc);
  return doc;
}

describe('the depth of a document', () => {
  const wraps: [string, (inner: Value) => Document, number][] = [
    ['documents', (inner) => Document.of({ a: inner }), 1],
    ['arrays in documents', (inner) => Document.of({ a: BsonArray.of([inner]) }), 2],
    ['scopes', (inner) => Document.of({ a: new CodeWithScope('', inner as Document) }), 1],
  ];
  for (const [what, wrap, levelsEach] of wraps) {
    it(`counts ${what}`, () => {
      const most = Math.floor((201 - 1) / levelsEach) + 1;
      assert.equal(verdict(nested(most, wrap).toBytes()), 0);
      assert.equal(verdict(nested(most + 1, wrap).toBytes()), 15);
    });
  }

  it('is limited to 100 where a document is to be stored', () => {
    const wrap = (inner: Value): Document => Document.of({ a: inner });
    const limits = { depth: storedDepthMax };
    const most = nested(100, wrap).toBytes();
    validateDocument(most, 0, most.length, limits);
    const more = nested(101, wrap).toBytes();
    assert.throws(() => validateDocument(more, 0, more.length, limits), { name: 'CommandError', code: 15 });
  });

  it('cannot exhaust the stack', () => {
    // 100,000 documents, each the only field of the one before.
    const levels = 100000;
    const bytes = new Uint8Array(levels * 8 + 5);
    const view = new DataView(bytes.buffer);
    for (let level = 0; level < levels; level++) {
      const start = level * 7;
      view.setInt32(start, bytes.length - level * 8, true);
      bytes.set([3, 97, 0], start + 4);
    }
    view.setInt32(levels * 7, 5, true);
    assert.equal(verdict(bytes), 15);
  });
});

/** Bytes written as hex, spaces for reading. */
function hex(text: string): Uint8Array {
  return Uint8Array.from(text.match(/[0-9a-f]{2}/g) ?? [], (pair) => Number.parseInt(pair, 16));
}

// Each with what is wrong; lengths are right unless they are the fault.
const faults: [string, string][] = [
  ['nothing at all', ''],
  ['a length that is cut off', '05 00 00'],
  ['a length below 5', '04 00 00 00 00'],
  ['a negative length', 'ff ff ff ff 00'],
  ['a length beyond the end', '06 00 00 00 00'],
  ['a length before the end', '05 00 00 00 00 00'],
  ['no closing zero', '05 00 00 00 01'],
  ['a zero before the end', '06 00 00 00 00 00'],
  ['an unknown type', '08 00 00 00 14 61 00 00'],
  ['a name without end', '07 00 00 00 0a 61 00'],
  ['a name that is not UTF-8', '08 00 00 00 0a ff 00 00'],
  ['an int32 that is cut off', '0b 00 00 00 10 61 00 01 00 00 00'],
  ['a string of length zero', '0c 00 00 00 02 61 00 00 00 00 00 00'],
  ['a string without its zero', '0d 00 00 00 02 61 00 01 00 00 00 62 00'],
  ['a string beyond the end', '0d 00 00 00 02 61 00 02 00 00 00 00 00'],
  ['a negative string length', '0d 00 00 00 02 61 00 ff ff ff ff 00 00'],
  ['a string that is not UTF-8', '0e 00 00 00 02 61 00 02 00 00 00 c0 00 00'],
  ['a surrogate in UTF-8', '10 00 00 00 02 61 00 04 00 00 00 ed a0 80 00 00'],
  ['an inner document beyond the outer one', '0d 00 00 00 03 61 00 06 00 00 00 00 00'],
  ['an inner document that takes the outer zero', '0c 00 00 00 03 61 00 05 00 00 00 00'],
  ['a boolean of two', '09 00 00 00 08 61 00 02 00'],
  ['binary data beyond the end', '0e 00 00 00 05 61 00 02 00 00 00 00 ff 00'],
  ['a negative binary length', '0d 00 00 00 05 61 00 ff ff ff ff 00 00'],
  ['an old binary with a wrong inner length', '12 00 00 00 05 61 00 05 00 00 00 02 02 00 00 00 ff 00'],
  ['a regex without its second half', '0a 00 00 00 0b 61 00 62 00 00'],
  ['code with scope with a wrong total', '1b 00 00 00 0f 61 00 14 00 00 00 02 00 00 00 62 00 05 00 00 00 00 00 00 00 00 00'],
  ['a scope before the end of its element', '18 00 00 00 0f 61 00 10 00 00 00 02 00 00 00 62 00 05 00 00 00 00 00 00'],
];

describe('validateDocument refuses', () => {
  for (const [what, bytes] of faults) {
    it(what, () => {
      assert.equal(verdict(hex(bytes)), 22);
    });
  }

  it('names the field at fault', () => {
    const bytes = hex('09 00 00 00 08 61 00 02 00');
    assert.throws(() => validateDocument(bytes, 0, bytes.length), /the field 'a' is neither false nor true/);
  });

  it('a regular expression is two texts: a pattern and flags', () => {
    assert.equal(verdict(Document.of({ a: new Regex('x', 'i') }).toBytes()), 0);
  });
});
