// Searches of texts: terms, phrases, what is left out, and scores. Expectations are those of the manual's pages "$text" and "Text Search Languages".

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BsonArray, Document } from '../../src/bson/index.ts';
import type { Value } from '../../src/bson/index.ts';
import { languageOf, scoresOf } from '../../src/query/index.ts';
import type { TextFields } from '../../src/query/index.ts';
import { parseTextSearch } from '../../src/query/text/text-search.ts';
import { termsOf } from '../../src/query/text/words.ts';

function language(name: string): NonNullable<ReturnType<typeof languageOf>> {
  const found = languageOf(name);
  assert.ok(found);
  return found;
}

function fieldsOf(weights: Readonly<Record<string, number>>, name = 'english'): TextFields {
  return { weights: new Map(Object.entries(weights)), language: language(name), languageField: 'language' };
}

function finds(search: string | Readonly<Record<string, Value>>, text: Value, name?: string): boolean {
  const parsed = parseTextSearch(Document.of(typeof search === 'string' ? { $search: search } : search));
  parsed.bind(fieldsOf({ t: 1 }, name));
  return parsed.matches(Document.of({ t: text }));
}

test('a text gives the stems of its words without those that say nothing', () => {
  assert.deepEqual(termsOf("The runner's shoes are RUNNING, running-away", language('english')), ['runner', 'shoe', 'run', 'run', 'away']);
  assert.deepEqual(termsOf('Die Häuser und der Wald', language('german')), ['haus', 'wald']);
  assert.deepEqual(termsOf('The Houses', language('none')), ['the', 'houses']);
  assert.equal(languageOf('Danish'), languageOf('da'));
  assert.equal(languageOf('klingon'), undefined);
});

test('one of the terms is enough; negated terms and phrases keep documents out', () => {
  assert.ok(finds('coffee tea', 'A cup of coffee'));
  assert.ok(!finds('tea', 'A cup of coffee'));
  assert.ok(finds('COFFEES', 'coffee'), 'stems, in any case');
  assert.ok(finds('cafe', 'Café'), 'without accents');
  assert.ok(!finds('coffee -shop', 'coffee shop'));
  assert.ok(finds('coffee -tea', 'coffee shop'));
  assert.ok(finds('"coffee shop"', 'the Coffee Shop there'));
  assert.ok(!finds('"coffee shop"', 'coffee in a shop'));
  assert.ok(!finds('coffee -"coffee shop"', 'coffee shop'));
  assert.ok(finds('pre-packed', 'what is packed'), 'a dash inside a word only parts it');
  assert.ok(!finds('-tea', 'coffee'), 'nothing but negated terms finds nothing');
  assert.ok(!finds('the', 'the the'), 'words that are left out find nothing');
  assert.ok(!finds('', 'coffee'));
  assert.ok(finds('coffee', BsonArray.of(['tea', 'coffee'])));
  assert.ok(!finds('1', 1));
});

test('case and accents count where it is asked', () => {
  assert.ok(!finds({ $search: 'Coffee', $caseSensitive: true }, 'coffee'));
  assert.ok(finds({ $search: 'Coffee', $caseSensitive: true }, 'Coffee'));
  assert.ok(!finds({ $search: 'cafe', $diacriticSensitive: true }, 'café'));
  assert.ok(finds({ $search: 'café', $diacriticSensitive: true }, 'Café'));
  assert.ok(!finds({ $search: '"Coffee Shop"', $caseSensitive: true }, 'Coffee shop'));
  assert.ok(finds({ $search: 'leche', $language: 'es' }, 'leche', 'spanish'));
});

test('scores grow with weights, repetition and brevity', () => {
  const score = (text: Value, weight = 1): number | undefined => scoresOf(Document.of({ t: text }), fieldsOf({ t: weight })).get('coffe');
  assert.equal(score('coffee'), 1);
  assert.equal(score('coffee shop'), 0.75);
  assert.equal(score('coffee coffee'), 1.5);
  assert.equal(score('coffee shop', 10), 7.5);
  assert.equal(score('tea'), undefined);
  assert.equal(scoresOf(Document.of({ t: 'Cake' }), fieldsOf({ t: 1 })).get('cake'), 1.1, 'nothing but the term');
});

test('fields are found at any depth, in the language of the document around them', () => {
  const inner = Document.of({ language: 'german', text: 'Häuser' });
  const document = Document.of({ a: BsonArray.of([inner, Document.of({ text: 'houses' })]), other: 'coffee' });
  assert.deepEqual([...scoresOf(document, fieldsOf({ 'a.text': 1 })).keys()].sort(), ['haus', 'hous']);
  assert.deepEqual([...scoresOf(document, fieldsOf({ '$**': 1 })).keys()].sort(), ['coffe', 'haus', 'hous']);
  assert.throws(() => scoresOf(Document.of({ language: 'klingon', t: 'x' }), fieldsOf({ t: 1 })), { code: 17262 });
  assert.throws(() => scoresOf(Document.of({ language: 1, t: 'x' }), fieldsOf({ t: 1 })), { code: 17261 });
});

test('operands that mean nothing are refused', () => {
  const refuses = (operand: Value, code: number): void => {
    assert.throws(() => parseTextSearch(operand), { code });
  };
  refuses('coffee', 2);
  refuses(Document.of({}), 4);
  refuses(Document.of({ $search: 1 }), 14);
  refuses(Document.of({ $search: 'a', $language: 'klingon' }), 2);
  refuses(Document.of({ $search: 'a', $caseSensitive: 1 }), 14);
  refuses(Document.of({ $search: 'a', $near: 1 }), 2);
});
