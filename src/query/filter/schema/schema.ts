// JSON schemas as MongoDB has them: draft 4 with `bsonType` and without references. A schema becomes one test of a raw value. Follows the
// manual's page "$jsonSchema".

import type { Document } from '../../../bson/index.ts';
import { refuse } from '../../refuse.ts';
import type { ElementTest } from '../path.ts';
import { containerKeywords } from './container-keywords.ts';
import type { KeywordRule } from './keyword.ts';
import { scalarKeywords } from './scalar-keywords.ts';

const keywords: ReadonlyMap<string, KeywordRule> = new Map(Object.entries({ ...scalarKeywords, ...containerKeywords }));

/** Keywords of the draft that MongoDB has not. */
const unsupported: ReadonlySet<string> = new Set(['$ref', '$schema', 'default', 'definitions', 'format', 'id']);

/** Compiles a schema. Throws CommandError for what MongoDB refuses. */
export function compileSchema(schema: Document): ElementTest {
  const tests: ElementTest[] = [];
  for (const [keyword, operand] of schema.fields) {
    const rule = keywords.get(keyword);
    if (rule === undefined) {
      const known = unsupported.has(keyword);
      throw refuse(9, known ? `$jsonSchema keyword '${keyword}' is not currently supported` : `Unknown $jsonSchema keyword: ${keyword}`);
    }
    const test = rule({ keyword, operand, schema, compile: compileSchema });
    if (test !== undefined) tests.push(test);
  }
  return (bytes, type, at) => tests.every((test) => test(bytes, type, at));
}
