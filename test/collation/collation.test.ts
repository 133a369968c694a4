// What collation documents mean: MongoDB's full form, its refusals, and orders that the manual and CLDR name.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommandError } from '../../src/base/errors.ts';
import { Decimal128, Document, Double } from '../../src/bson/index.ts';
import type { Value } from '../../src/bson/index.ts';
import { localeNames, parseCollation } from '../../src/collation/index.ts';
import type { Collation } from '../../src/collation/index.ts';

const collation = (fields: Record<string, Value>): Collation => {
  const parsed = parseCollation(Document.of(fields));
  assert.ok(parsed !== undefined);
  return parsed;
};
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const sorted = (fields: Record<string, Value>, texts: readonly string[]): string[] => {
  const order = collation(fields);
  return texts.toSorted((a, b) => order.compare(a, b));
};
const code = (fields: Record<string, Value>): number => {
  try {
    parseCollation(Document.of(fields));
  } catch (error) {
    assert.ok(error instanceof CommandError);
    return error.code;
  }
  return 0;
};

test('a collation is shown whole, with what its locale says of the rest', () => {
  assert.deepEqual(collation({ locale: 'en', strength: 2 }).spec.fields, [
    ['locale', 'en'],
    ['caseLevel', false],
    ['caseFirst', 'off'],
    ['strength', 2],
    ['numericOrdering', false],
    ['alternate', 'non-ignorable'],
    ['maxVariable', 'punct'],
    ['normalization', false],
    ['backwards', false],
    ['version', '57.1'],
  ]);
  assert.equal(collation({ locale: 'fr_CA' }).spec.get('backwards'), true);
  assert.equal(collation({ locale: 'da' }).spec.get('caseFirst'), 'upper');
  assert.equal(collation({ locale: 'th' }).spec.get('alternate'), 'shifted');
  assert.equal(parseCollation(Document.of({ locale: 'simple', strength: 1 })), undefined);
});

test('refuses what MongoDB refuses, with its codes', () => {
  assert.equal(code({}), 40414);
  assert.equal(code({ locale: 5 }), 14);
  assert.equal(code({ locale: 'xx_YY' }), 2);
  assert.equal(code({ locale: 'de_DE' }), 2, 'a locale that has no collation of its own is not taken for its language');
  assert.equal(code({ locale: 'en@collation=phonebook' }), 2);
  assert.equal(code({ locale: 'en', Strength: 2 }), 40415);
  assert.equal(code({ locale: 'en', strength: 0 }), 2);
  assert.equal(code({ locale: 'en', strength: 6 }), 2);
  assert.equal(code({ locale: 'en', strength: Decimal128.parse('5.5') ?? null }), 2, 'decimals are rounded');
  assert.equal(code({ locale: 'en', strength: new Double(5.9) }), 0, 'doubles are cut');
  assert.equal(code({ locale: 'en', strength: '3' }), 14);
  assert.equal(code({ locale: 'en', caseLevel: 1 }), 14);
  assert.equal(code({ locale: 'en', backwards: null }), 14);
  assert.equal(code({ locale: 'en', caseFirst: 'up' }), 2);
  assert.equal(code({ locale: 'en', caseFirst: 'upper', strength: 2 }), 2);
  assert.equal(code({ locale: 'en', backwards: true, strength: 1 }), 2);
  assert.equal(code({ locale: 'en', version: '58' }), 161);
});

test('every locale can be loaded', () => {
  for (const name of localeNames()) if (!name.includes('__') && !name.endsWith('_')) assert.ok(collation({ locale: name }).keyOf('a').length > 0, name);
});

test('keys are those of ICU 57, byte by byte', () => {
  // From the examples of ICU's user guide ("Sort Key"), with the lead bytes of version 57.
  assert.equal(hex(collation({ locale: 'en' }).keyOf('abc')), '292b2d01070107');
  assert.equal(hex(collation({ locale: 'en' }).keyOf('A')), '29010501dc');
  assert.equal(hex(collation({ locale: 'en', strength: 1 }).keyOf('A')), '29');
});

test('strengths tell letters, accents, case, and ignored punctuation apart', () => {
  const equal = (fields: Record<string, Value>, a: string, b: string): boolean => collation({ locale: 'en', ...fields }).compare(a, b) === 0;
  assert.ok(equal({ strength: 1 }, 'café', 'CAFE'));
  assert.ok(!equal({ strength: 2 }, 'café', 'cafe'));
  assert.ok(equal({ strength: 2 }, 'café', 'CAFÉ'));
  assert.ok(!equal({ strength: 3 }, 'a', 'A'));
  assert.ok(!equal({ strength: 1, caseLevel: true }, 'a', 'A'));
  assert.ok(equal({ strength: 1, caseLevel: true }, 'a', 'á'));
  assert.ok(equal({ alternate: 'shifted' }, 'a-b', 'ab'));
  assert.ok(!equal({ alternate: 'shifted', maxVariable: 'space' }, 'a-b', 'ab'));
  assert.ok(equal({ alternate: 'shifted', maxVariable: 'space' }, 'a b', 'ab'));
  assert.ok(!equal({ alternate: 'shifted', strength: 4 }, 'a-b', 'ab'));
  assert.ok(equal({}, 'e\u0301', 'é'));
  assert.ok(!equal({ strength: 5 }, 'ab\u0000', 'ab'));
});

test('numbers in texts, capitals first, accents from the end', () => {
  assert.deepEqual(sorted({ locale: 'en', numericOrdering: true }, ['a10', 'a2', 'a1', 'a0010b', 'a9', 'a1234567890123']), ['a1', 'a2', 'a9', 'a10', 'a0010b', 'a1234567890123']);
  assert.deepEqual(sorted({ locale: 'en', caseFirst: 'upper' }, ['a', 'A', 'b', 'B']), ['A', 'a', 'B', 'b']);
  assert.deepEqual(sorted({ locale: 'en' }, ['A', 'a', 'B', 'b']), ['a', 'A', 'b', 'B']);
  assert.deepEqual(sorted({ locale: 'fr' }, ['coté', 'côte', 'cote', 'côté']), ['cote', 'coté', 'côte', 'côté']);
  assert.deepEqual(sorted({ locale: 'fr_CA' }, ['coté', 'côte', 'cote', 'côté']), ['cote', 'côte', 'coté', 'côté']);
});

test('locales have their own alphabets', () => {
  assert.deepEqual(sorted({ locale: 'sv' }, ['ö', 'z', 'å', 'a', 'ä']), ['a', 'z', 'å', 'ä', 'ö']);
  assert.deepEqual(sorted({ locale: 'de' }, ['ö', 'z', 'o', 'p']), ['o', 'ö', 'p', 'z']);
  assert.deepEqual(sorted({ locale: 'de@collation=phonebook' }, ['Ärger', 'Aerosol', 'Afrika', 'Ader']), ['Ader', 'Ärger', 'Aerosol', 'Afrika'], 'as Aerger');
  assert.deepEqual(sorted({ locale: 'es@collation=traditional' }, ['cz', 'ch', 'd', 'll', 'lz', 'm']), ['cz', 'ch', 'd', 'lz', 'll', 'm']);
  assert.deepEqual(sorted({ locale: 'cs' }, ['ch', 'h', 'i', 'cz']), ['cz', 'h', 'ch', 'i']);
  assert.deepEqual(sorted({ locale: 'ru' }, ['a', 'я', 'б']), ['б', 'я', 'a'], 'Cyrillic comes before Latin');
  assert.deepEqual(sorted({ locale: 'zh' }, ['赵', '钱', '孙', '李', '阿']), ['阿', '李', '钱', '孙', '赵'], 'by Pinyin');
  assert.deepEqual(sorted({ locale: 'ja', strength: 4 }, ['ハ', 'バ', 'パ', 'は', 'ば']), ['は', 'ハ', 'ば', 'バ', 'パ']);
  assert.equal(collation({ locale: 'tr', strength: 1 }).compare('I', 'ı'), 0);
  assert.notEqual(collation({ locale: 'tr', strength: 1 }).compare('I', 'i'), 0);
});
