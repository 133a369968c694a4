// Updates keep what they do not touch, mean the same when repeated, and agree with a slow model on nested documents.

import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { DateTime, Document, describeValue, Timestamp } from '../../src/bson/index.ts';
import type { Value } from '../../src/bson/index.ts';
import { CommandError } from '../../src/base/errors.ts';
import { compileUpdate } from '../../src/query/index.ts';
import type { UpdateResult } from '../../src/query/index.ts';
import { docOf } from './support/shorthand.ts';

type Json = number | string | null | Json[] | { [name: string]: Json };
interface JsonObject {
  [name: string]: Json;
}

const now = new DateTime(0);
const context = { now, timestamp: new Timestamp(1, 1) };
const names = fc.constantFrom('a', 'b', 'c', '0', '1');
const scalars = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.constantFrom('x', 'y'), fc.constant(null));
const { value: values } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    scalars,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(names, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
}));
const documents = fc.dictionary(names, values, { maxKeys: 4, noNullPrototype: true }).map((fields): JsonObject => ({ _id: 1, ...fields }));
const paths = fc.array(names, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('.'));

/** Applies, or gives the code of the refusal. */
function apply(spec: JsonObject, document: Document): UpdateResult | number {
  try {
    return compileUpdate(docOf(spec), { now }).apply(document, context);
  } catch (error) {
    assert.ok(error instanceof CommandError, String(error));
    return error.code;
  }
}

const repeatable = fc.tuple(fc.constantFrom('$set', '$unset', '$min', '$max', '$addToSet', '$pull'), paths, values);

test('what an update sets, it does not change again', () => {
  fc.assert(
    fc.property(documents, repeatable, (plain, [operator, path, value]) => {
      const spec = { [operator]: { [path]: value } };
      const once = apply(spec, docOf(plain));
      if (typeof once === 'number') return;
      const again = apply(spec, Document.fromBytes(once.doc.toBytes()));
      assert.ok(typeof again !== 'number' && !again.modified);
    }),
    { numRuns: 1500 },
  );
});

test('fields that no path names stay as they were, in their order', () => {
  fc.assert(
    fc.property(documents, paths, values, (plain, path, value) => {
      const before = docOf(plain);
      const result = apply({ $set: { [path]: value } }, before);
      if (typeof result === 'number') return;
      const touched = path.split('.')[0];
      const others = (document: Document): string => describeValue(Document.fromEntries(document.fields.filter(([name]) => name !== touched)));
      assert.equal(others(result.doc), others(before));
    }),
    { numRuns: 1000 },
  );
});

/** The value at a path of names and indexes. */
function valueAt(document: Document, path: string): Value | undefined {
  let value: Value | undefined = document;
  for (const part of path.split('.')) {
    if (value instanceof Document) value = value.get(part);
    else if (typeof value === 'object' && value !== null && 'items' in value) value = value.at(Number(part));
    else return undefined;
  }
  return value;
}

test('after $set the value is there, after $unset it is not', () => {
  fc.assert(
    fc.property(documents, paths, values, (plain, path, value) => {
      const set = apply({ $set: { [path]: value } }, docOf(plain));
      if (typeof set === 'number') {
        assert.equal(set, 28);
        return;
      }
      const found = valueAt(set.doc, path);
      assert.equal(found === undefined ? undefined : describeValue(found), describeValue(docOf({ v: value }).get('v') ?? null));
      const unset = apply({ $unset: { [path]: 1 } }, set.doc);
      assert.ok(typeof unset !== 'number');
      const left = valueAt(unset.doc, path);
      assert.ok(left === undefined || left === null);
    }),
    { numRuns: 1500 },
  );
});

test('pushed elements are popped again', () => {
  fc.assert(
    fc.property(fc.array(values, { maxLength: 12 }), values, (items, value) => {
      const before = docOf({ _id: 1, a: items });
      const pushed = apply({ $push: { a: { $each: [value] } } }, before);
      assert.ok(typeof pushed !== 'number' && pushed.modified);
      const popped = apply({ $pop: { a: 1 } }, pushed.doc);
      assert.ok(typeof popped !== 'number');
      assert.deepEqual(popped.doc.toBytes(), before.toBytes());
    }),
  );
});
