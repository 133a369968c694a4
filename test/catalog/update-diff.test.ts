// Differences of documents, as MongoDB's oplog version 2 has them.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Document, fromExtendedJson, toExtendedJson } from '../../src/bson/index.ts';
import { diffOf, shapeOfUpdate } from '../../src/catalog/oplog/update-diff.ts';

function read(json: string): Document {
  const value = fromExtendedJson(json);
  assert.ok(value instanceof Document);
  return value;
}

function diff(before: string, after: string, update?: string): string {
  return toExtendedJson(diffOf(read(before), read(after), update === undefined ? undefined : shapeOfUpdate(read(update))), 'relaxed');
}

describe('the difference of a document', () => {
  const cases: [string, string, string, string | undefined, string][] = [
    ['says a new value of a field', '{"_id":1,"a":1}', '{"_id":1,"a":2}', '{"$set":{"a":2}}', '{"u":{"a":2}}'],
    ['says a field that came', '{"_id":1}', '{"_id":1,"a":2}', '{"$set":{"a":2}}', '{"i":{"a":2}}'],
    ['says a field that went', '{"_id":1,"a":2}', '{"_id":1}', '{"$unset":{"a":1}}', '{"d":{"a":false}}'],
    ['goes into a document for a path', '{"a":{"b":1,"c":1}}', '{"a":{"b":2,"c":1}}', '{"$set":{"a.b":2}}', '{"sa":{"u":{"b":2}}}'],
    ['says whole what was set whole', '{"a":{"b":1,"c":1}}', '{"a":{"b":2,"c":1}}', '{"$set":{"a":{"b":2,"c":1}}}', '{"u":{"a":{"b":2,"c":1}}}'],
    ['says what was put behind an array', '{"a":[1,2]}', '{"a":[1,2,3,4]}', '{"$push":{"a":{"$each":[3,4]}}}', '{"sa":{"a":true,"u2":3,"u3":4}}'],
    ['says whole an array with an element in front', '{"a":[1,2]}', '{"a":[0,1,2]}', '{"$push":{"a":{"$each":[0],"$position":0}}}', '{"u":{"a":[0,1,2]}}'],
    ['says whole an array that lost elements', '{"a":[1,2,3]}', '{"a":[1,2]}', '{"$pop":{"a":1}}', '{"u":{"a":[1,2]}}'],
    ['goes into an element for a positional path', '{"a":[{"x":1},{"x":2}]}', '{"a":[{"x":1},{"x":9}]}', '{"$set":{"a.$[].x":9}}', '{"sa":{"a":true,"s1":{"u":{"x":9}}}}'],
    ['says both names of a renaming', '{"a":1}', '{"b":1}', '{"$rename":{"a":"b"}}', '{"d":{"a":false},"i":{"b":1}}'],
    ['of a pipeline says an array that became shorter', '{"a":[1,2,3,4,5,6,7,8,9],"b":1}', '{"a":[1,2,3,4,5,6,7],"b":1}', undefined, '{"sa":{"a":true,"l":7}}'],
    ['of a pipeline says whole what would not be shorter', '{"a":{"b":1}}', '{"a":{"c":2}}', undefined, '{"u":{"a":{"c":2}}}'],
    ['goes on behind a change', '{"_id":1,"a":1,"b":2,"c":3}', '{"_id":1,"a":5,"b":2,"c":6}', undefined, '{"u":{"a":5,"c":6}}'],
    ['knows a field by its name where its place is another', '{"a":1,"b":2,"c":3}', '{"a":5,"c":3,"b":2,"d":1}', undefined, '{"u":{"a":5},"i":{"d":1}}'],
    ['tells a longer name from its beginning', '{"a":1,"ab":2}', '{"ab":2,"a":1}', undefined, '{}'],
    ['is nothing where nothing changed', '{"a":1}', '{"a":1}', undefined, '{}'],
  ];
  for (const [what, before, after, update, expected] of cases) {
    test(what, () => {
      assert.equal(diff(before, after, update), expected);
    });
  }
});
