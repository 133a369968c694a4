// Whatever a client sends as filter, projection, sort or update: it is compiled and works, or it is refused with a code. Nothing else.

import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { CommandError } from '../../src/base/errors.ts';
import { BsonArray, DateTime, Document, ObjectId, Timestamp, validateDocument } from '../../src/bson/index.ts';
import type { Value } from '../../src/bson/index.ts';
import { compileFilter, compileProjection, compileSort, compileUpdate } from '../../src/query/index.ts';
import { anyDocument, anyValue } from '../support/bson-values.ts';

const now = new DateTime(0);
const context = { now, timestamp: new Timestamp(1, 1) };
const newId = (): ObjectId => ObjectId.from('0123456789abcdef01234567');

const names = fc.constantFrom('a', 'b', '_id', 'a.b', 'a.0', 'a.0.b', 'b.a.b', 'a.$', 'a.$[]', 'a.$[e].b', '', 'a.', '$a', '0');

/** Documents of a language: fields and operators in any place, operands of any kind. */
function language(operators: readonly string[]): fc.Arbitrary<Document> {
  const words = fc.oneof(names, fc.constantFrom(...operators));
  const { document } = fc.letrec<{ value: Value; document: Document }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      anyValue,
      fc.constantFrom<Value>(1, 0, -1, 'a', '$a', true, false),
      tie('document'),
      fc.array(tie('value'), { maxLength: 3 }).map((items) => BsonArray.of(items)),
    ),
    document: fc.array(fc.tuple(words, tie('value')), { maxLength: 3 }).map((fields) => Document.fromEntries(fields)),
  }));
  return document.map((spec) => Document.fromBytes(spec.toBytes()));
}

/** Stored documents in which the paths above lead somewhere. */
const stored = fc
  .tuple(anyDocument, anyValue, anyValue, fc.array(anyValue, { maxLength: 3 }))
  .map(([whole, first, second, items]) => {
    const inner = Document.fromEntries([['b', second], ['a', Document.fromEntries([['b', BsonArray.of(items)]])]]);
    const fields: (readonly [string, Value])[] = [['_id', 1], ['a', BsonArray.of([inner, first, ...items])], ['b', inner]];
    return Document.fromBytes(Document.fromEntries([...fields, ...whole.fields.filter(([name]) => !['_id', 'a', 'b'].includes(name))]).toBytes());
  });

/** Runs it; a refusal with a code is as good as a result. */
function refusedOr<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch (error) {
    if (error instanceof CommandError) return undefined;
    throw error;
  }
}

function assertValid(document: Document): void {
  const bytes = document.toBytes();
  validateDocument(bytes, 0, bytes.length);
}

const filterOperators = [
  ...['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$in', '$nin', '$and', '$or', '$nor', '$not', '$exists', '$type', '$all', '$elemMatch'],
  ...['$size', '$regex', '$options', '$mod', '$expr', '$jsonSchema', '$bitsAllSet', '$bitsAnyClear', '$comment', '$near', '$where', '$text'],
  ...['properties', 'required', 'items', 'bsonType', 'enum', 'minimum', 'pattern', '$literal', '$add'],
];

test('any filter is compiled and answers, or is refused', () => {
  fc.assert(
    fc.property(language(filterOperators), stored, (spec, document) => {
      const filter = refusedOr(() => compileFilter(spec, { now }));
      if (filter === undefined) return;
      const matched = refusedOr(() => filter.matches(document));
      if (matched !== undefined) assert.equal(typeof matched, 'boolean');
    }),
    { numRuns: 3000 },
  );
});

const projectionOperators = ['$slice', '$elemMatch', '$meta', '$add', '$concat', '$literal', '$cond', '$gt'];

test('any projection gives a valid document, or is refused', () => {
  fc.assert(
    fc.property(language(projectionOperators), stored, fc.constantFrom<('find' | 'aggregate')[]>('find', 'aggregate'), (spec, document, dialect) => {
      const made = refusedOr(() => compileProjection(spec, { now, dialect }).apply(document));
      if (made !== undefined) assertValid(made);
    }),
    { numRuns: 3000 },
  );
});

const updateOperators = [
  ...['$set', '$unset', '$inc', '$mul', '$min', '$max', '$rename', '$setOnInsert', '$currentDate', '$push', '$addToSet', '$pop', '$pull'],
  ...['$pullAll', '$bit', '$each', '$position', '$slice', '$sort', '$type', '$gt', 'and', 'or', 'xor'],
];

/** An update whose operators are at the top, so that most of them are compiled. */
const updates = fc.oneof(
  language(updateOperators),
  fc
    .array(fc.tuple(fc.constantFrom(...updateOperators.slice(0, 15)), language(updateOperators.slice(15))), { minLength: 1, maxLength: 3 })
    .map((fields) => Document.fromEntries(fields)),
);

test('any update gives a valid document, or is refused', () => {
  const arrayFilters = [Document.of({ e: Document.of({ $ne: 5 }) })];
  fc.assert(
    fc.property(updates, stored, fc.boolean(), (spec, document, filtered) => {
      const update = refusedOr(() => compileUpdate(spec, filtered ? { now, arrayFilters } : { now }));
      if (update === undefined) return;
      const result = refusedOr(() => update.apply(document, { ...context, position: 0 }));
      if (result !== undefined) assertValid(result.doc);
      const filter = compileFilter(Document.of({ b: 1 }), { now });
      const inserted = refusedOr(() => update.forUpsert(filter, { ...context, newId }));
      if (inserted !== undefined) assert.equal(inserted.first?.[0], '_id');
    }),
    { numRuns: 3000 },
  );
});

test('any sort gives keys, or is refused', () => {
  fc.assert(
    fc.property(language(['$meta']), stored, stored, (spec, a, b) => {
      const sort = refusedOr(() => compileSort(spec));
      if (sort === undefined) return;
      const order = refusedOr(() => sort.compare(a, b));
      if (order !== undefined) assert.equal(Math.sign(order), -Math.sign(sort.compare(b, a)) + 0);
    }),
    { numRuns: 1000 },
  );
});
