// `$jsonSchema` against the manual's page of it.

import assert from 'node:assert/strict';
import test from 'node:test';
import { CommandError } from '../../src/base/errors.ts';
import { DateTime, Double } from '../../src/bson/index.ts';
import { compileFilter } from '../../src/query/index.ts';
import { doc } from './support/shorthand.ts';
import type { Plain } from './support/shorthand.ts';

type PlainObject = Readonly<Record<string, Plain>>;

const options = { now: new DateTime(0) };

/** Which of the values of field `x` fulfil the schema of that field. */
function fulfil(schema: PlainObject, values: readonly Plain[]): Plain[] {
  const filter = compileFilter(doc({ $jsonSchema: { properties: { x: schema } } }), options);
  return values.filter((x) => filter.matches(doc({ x })));
}

function matches(schema: PlainObject, document: PlainObject): boolean {
  return compileFilter(doc({ $jsonSchema: schema }), options).matches(doc(document));
}

function code(schema: Plain): number {
  try {
    compileFilter(doc({ $jsonSchema: schema }), options);
  } catch (error) {
    assert.ok(error instanceof CommandError, String(error));
    return error.code;
  }
  return 0;
}

test('the student schema of the manual', () => {
  const schema = {
    bsonType: 'object',
    required: ['name', 'year', 'major', 'address'],
    properties: {
      name: { bsonType: 'string' },
      year: { bsonType: 'int', minimum: 2017, maximum: 3017 },
      major: { enum: ['Math', 'English', 'Computer Science', 'History', null] },
      gpa: { bsonType: ['double'] },
      address: { bsonType: 'object', required: ['city'], properties: { street: { bsonType: 'string' }, city: { bsonType: 'string' } } },
    },
  };
  const student = { name: 'Alice', year: 2019, major: 'History', gpa: new Double(3), address: { city: 'NYC', street: '33rd Street' } };
  assert.equal(matches(schema, student), true);
  assert.equal(matches(schema, { ...student, gpa: 3 }), false);
  assert.equal(matches(schema, { ...student, year: 2016 }), false);
  assert.equal(matches(schema, { ...student, address: { street: 'x' } }), false);
  assert.equal(matches(schema, { ...student, major: 'Art' }), false);
  assert.equal(matches(schema, { ...student, major: null }), true);
});

test('a keyword passes what it does not speak of', () => {
  assert.deepEqual(fulfil({ minimum: 5 }, [4, 5, 'text', null]), [5, 'text', null]);
  assert.deepEqual(fulfil({ minimum: 5, exclusiveMinimum: true }, [5, 6]), [6]);
  assert.deepEqual(fulfil({ maxLength: 2 }, ['ab', 'abc', '😀😀', 123]), ['ab', '😀😀', 123]);
  assert.deepEqual(fulfil({ pattern: '^a' }, ['ab', 'ba', 1]), ['ab', 1]);
  assert.deepEqual(fulfil({ type: 'number' }, [1, 2n, new Double(1.5), '1']), [1, 2n, new Double(1.5)]);
});

test('multiples are exact in decimals', () => {
  assert.deepEqual(fulfil({ multipleOf: new Double(0.1) }, [new Double(0.3), new Double(0.35), 2]), [new Double(0.3), 2]);
});

test('arrays: items, additional ones, unique ones', () => {
  assert.deepEqual(fulfil({ items: { type: 'number' } }, [[1, 2], [1, 'a'], [], 'x']), [[1, 2], [], 'x']);
  assert.deepEqual(fulfil({ items: [{ type: 'string' }], additionalItems: false }, [['a'], ['a', 1], []]), [['a'], []]);
  assert.deepEqual(fulfil({ uniqueItems: true }, [[1, 2], [1, 1n], [{ a: 1, b: 2 }, { b: 2, a: 1 }]]), [[1, 2]]);
  assert.deepEqual(fulfil({ minItems: 1, maxItems: 2 }, [[], [1], [1, 2, 3]]), [[1]]);
});

test('objects: patterns, additional properties, dependencies, counts', () => {
  const closed = { properties: { a: {} }, patternProperties: { '^s_': { type: 'string' } }, additionalProperties: false };
  assert.deepEqual(fulfil(closed, [{ a: 1, s_x: 'y' }, { s_x: 1 }, { b: 1 }]), [{ a: 1, s_x: 'y' }]);
  assert.deepEqual(fulfil({ dependencies: { a: ['b'] } }, [{ a: 1 }, { a: 1, b: 2 }, { c: 1 }]), [{ a: 1, b: 2 }, { c: 1 }]);
  assert.deepEqual(fulfil({ minProperties: 1, maxProperties: 1 }, [{}, { a: 1 }, { a: 1, b: 2 }]), [{ a: 1 }]);
});

test('schemas are joined', () => {
  assert.deepEqual(fulfil({ anyOf: [{ type: 'string' }, { minimum: 5 }] }, ['x', 5, 4]), ['x', 5]);
  assert.deepEqual(fulfil({ oneOf: [{ multipleOf: 3 }, { multipleOf: 5 }] }, [3, 5, 15, 7]), [3, 5]);
  assert.deepEqual(fulfil({ not: { type: 'string' } }, ['x', 5]), [5]);
});

test('what is no schema is refused', () => {
  assert.equal(code('text'), 14);
  assert.equal(code({ nonsense: 1 }), 9);
  assert.equal(code({ $ref: '#/x' }), 9);
  assert.equal(code({ required: ['a', 'a'] }), 9);
  assert.equal(code({ required: [1] }), 14);
  assert.equal(code({ bsonType: 'nothing' }), 2);
  assert.equal(code({ type: 'integer' }), 9);
  assert.equal(code({ exclusiveMinimum: true }), 9);
});
