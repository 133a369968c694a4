// Why a document was refused, in the shape of the manual's page "Schema Validation", "View Existing Validation Rules and errors".

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { DateTime, fromExtendedJson, toExtendedJson, Document } from '../../src/bson/index.ts';
import { describeMismatch } from '../../src/query/index.ts';

function documentOf(plain: object): Document {
  const value = fromExtendedJson(JSON.stringify(plain));
  assert.ok(value instanceof Document);
  return value;
}

function details(filter: object, document: object): unknown {
  const found = describeMismatch(documentOf(filter), documentOf(document), { now: new DateTime(0) });
  return JSON.parse(toExtendedJson(found, 'relaxed'));
}

describe('the details of a refusal by a schema', () => {
  const schema = {
    $jsonSchema: {
      bsonType: 'object',
      title: 'Student Object Validation',
      required: ['address', 'major', 'name', 'year'],
      properties: {
        name: { bsonType: 'string', description: "'name' must be a string and is required" },
        year: { bsonType: 'int', minimum: 2017, maximum: 3017, description: "'year' must be an integer in [ 2017, 3017 ] and is required" },
        gpa: { bsonType: ['double'], description: "'gpa' must be a double if the field exists" },
      },
    },
  };

  it('name the properties and the keywords they fail', () => {
    const found = details(schema, { name: 'Alice', year: 3018, major: 'History', gpa: 3, address: 'x' });
    assert.deepEqual(found, {
      operatorName: '$jsonSchema',
      title: 'Student Object Validation',
      schemaRulesNotSatisfied: [
        {
          operatorName: 'properties',
          propertiesNotSatisfied: [
            {
              propertyName: 'year',
              description: "'year' must be an integer in [ 2017, 3017 ] and is required",
              details: [
                {
                  operatorName: 'maximum',
                  specifiedAs: { maximum: 3017 },
                  reason: 'comparison failed',
                  consideredValue: 3018,
                },
              ],
            },
            {
              propertyName: 'gpa',
              description: "'gpa' must be a double if the field exists",
              details: [
                {
                  operatorName: 'bsonType',
                  specifiedAs: { bsonType: ['double'] },
                  reason: 'type did not match',
                  consideredValue: 3,
                  consideredType: 'int',
                },
              ],
            },
          ],
        },
      ],
    });
  });

  it('name what is missing, what is too much, and the element that failed', () => {
    assert.deepEqual(details({ $jsonSchema: { required: ['a', 'b'] } }, { a: 1 }), {
      operatorName: '$jsonSchema',
      schemaRulesNotSatisfied: [{ operatorName: 'required', specifiedAs: { required: ['a', 'b'] }, missingProperties: ['b'] }],
    });
    assert.deepEqual(details({ $jsonSchema: { properties: { a: {} }, additionalProperties: false } }, { a: 1, x: 2 }), {
      operatorName: '$jsonSchema',
      schemaRulesNotSatisfied: [{ operatorName: 'additionalProperties', specifiedAs: { additionalProperties: false }, additionalProperties: ['x'] }],
    });
    const items = details({ $jsonSchema: { properties: { a: { items: { minimum: 1 } } } } }, { a: [2, 0] });
    assert.deepEqual((items as { schemaRulesNotSatisfied: { propertiesNotSatisfied: { details: unknown }[] }[] }).schemaRulesNotSatisfied[0]?.propertiesNotSatisfied[0]?.details, [
      {
        operatorName: 'items',
        reason: 'At least one item did not match the sub-schema',
        itemIndex: 1,
        details: [{ operatorName: 'minimum', specifiedAs: { minimum: 1 }, reason: 'comparison failed', consideredValue: 0 }],
      },
    ]);
  });
});

describe('the details of a refusal by a query', () => {
  it('say which comparison failed, and on what value', () => {
    assert.deepEqual(details({ a: { $gt: 5 } }, { a: 3 }), { operatorName: '$gt', specifiedAs: { a: { $gt: 5 } }, reason: 'comparison failed', consideredValue: 3 });
    assert.deepEqual(details({ a: { $gt: 5 } }, {}), { operatorName: '$gt', specifiedAs: { a: { $gt: 5 } }, reason: 'field was missing' });
    assert.deepEqual(details({ a: 1 }, { a: 2 }), { operatorName: '$eq', specifiedAs: { a: 1 }, reason: 'comparison failed', consideredValue: 2 });
  });

  it('say which clauses failed, or should have', () => {
    const clause = { operatorName: '$gt', specifiedAs: { a: { $gt: 5 } }, reason: 'comparison failed', consideredValue: 3 };
    assert.deepEqual(details({ $or: [{ a: { $gt: 5 } }, { b: 1 }] }, { a: 3 }), {
      operatorName: '$or',
      clausesNotSatisfied: [
        { index: 0, details: clause },
        { index: 1, details: { operatorName: '$eq', specifiedAs: { b: 1 }, reason: 'field was missing' } },
      ],
    });
    assert.deepEqual(details({ b: { $exists: false }, a: { $gt: 5 } }, { a: 3, b: 1 }), {
      operatorName: '$and',
      clausesNotSatisfied: [
        { index: 0, details: { operatorName: '$exists', specifiedAs: { b: { $exists: false } }, reason: 'path does exist' } },
        { index: 1, details: clause },
      ],
    });
    assert.deepEqual(details({ $nor: [{ a: 3 }] }, { a: 3 }), {
      operatorName: '$nor',
      clausesSatisfied: [{ index: 0, details: { operatorName: '$eq', specifiedAs: { a: 3 }, reason: 'comparison succeeded', consideredValue: 3 } }],
    });
    assert.deepEqual(details({ $expr: { $gt: ['$a', '$b'] } }, { a: 1, b: 2 }), {
      operatorName: '$expr',
      specifiedAs: { $expr: { $gt: ['$a', '$b'] } },
      reason: 'expression did not match',
      expressionResult: false,
    });
  });
});
