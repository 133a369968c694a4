// Regular expressions: the dialect of PCRE as the manual's page of `$regex` and pcre2pattern(3) describe it.

import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { CommandError } from '../../src/base/errors.ts';
import { compilePattern } from '../../src/query/index.ts';
import { BacktrackingRegex } from '../../src/query/regex/backtrack.ts';
import { parseRegex } from '../../src/query/regex/parse.ts';

/** Whether the pattern is found in each of the texts. */
function finds(source: string, texts: readonly string[], flags = ''): boolean[] {
  const pattern = compilePattern(source, flags);
  return texts.map((text) => pattern.test(text));
}

function code(source: string, flags = ''): number {
  try {
    compilePattern(source, flags);
  } catch (error) {
    assert.ok(error instanceof CommandError, String(error));
    return error.code;
  }
  return 0;
}

test('a dollar also matches before a newline that is the last character', () => {
  assert.deepEqual(finds('abc$', ['abc', 'abc\n', 'abc\n\n', 'abcd']), [true, true, false, false]);
  assert.deepEqual(finds('abc\\Z', ['abc\n']), [true]);
  assert.deepEqual(finds('abc\\z', ['abc', 'abc\n']), [true, false]);
  assert.deepEqual(finds('line$', ['line 1\nline\nend'], 'm'), [true]);
  assert.deepEqual(compilePattern('abc$', '').find('xabc\n', 0), { start: 1, end: 4, captures: [] });
});

test('white space, digits and words are ASCII unless the pattern asks for Unicode', () => {
  assert.deepEqual(finds('\\s', ['\v', '\u00a0']), [true, false]);
  assert.deepEqual(finds('^\\w+$', ['abc_1', 'é']), [true, false]);
  assert.deepEqual(finds('(*UCP)^\\w+$', ['abc_1', 'é']), [true, true]);
  assert.deepEqual(finds('\\byster', ['éyster', 'yster']), [true, true]);
  assert.deepEqual(finds('(*UCP)\\byster', ['éyster', 'yster']), [false, true]);
  assert.deepEqual(finds('(*UCP)^\\d+$', ['١٢']), [true]);
});

test('options in the pattern hold to the end of their group', () => {
  assert.deepEqual(finds('(?i)a(?-i)b', ['Ab', 'AB']), [true, false]);
  assert.deepEqual(finds('(?i:abc)def', ['ABCdef', 'ABCDEF']), [true, false]);
  assert.deepEqual(finds('(?x) a b # comment', ['ab', 'a b']), [true, false]);
  assert.deepEqual(finds('[a b] c', ['ac', ' c'], 'x'), [true, true]);
  assert.deepEqual(finds('a(?#nothing)b', ['ab']), [true]);
  assert.deepEqual(finds('STRASSE|straße', ['Straße'], 'i'), [true]);
});

test('what no linear engine has is there all the same', () => {
  assert.deepEqual(finds('^(abc)\\1$', ['abcabc', 'abcab']), [true, false]);
  assert.deepEqual(finds('(?P<word>abc)-(?P=word)', ['abc-abc', 'abc-abd']), [true, false]);
  assert.deepEqual(finds('foo(?=bar)', ['foobar', 'foobaz']), [true, false]);
  assert.deepEqual(finds('foo(?!bar)', ['foobar', 'foobaz']), [false, true]);
  assert.deepEqual(finds('(?<=foo)bar', ['foobar', 'bazbar']), [true, false]);
  assert.deepEqual(finds('(?<!foo)bar', ['foobar', 'bazbar']), [false, true]);
  assert.deepEqual(finds('^(?>a+)ab', ['aaab']), [false]);
  assert.deepEqual(finds('^a++b', ['aaab', 'aaa']), [true, false]);
  assert.deepEqual(finds('^(a)?(?(1)b|c)$', ['ab', 'c', 'ac', 'b']), [true, true, false, false]);
  assert.deepEqual(finds('^(\\((?:[^()]|(?1))*\\))$', ['(a(b)c)', '(a(b)c']), [true, false]);
  assert.deepEqual(compilePattern('foo\\Kbar', '').find('xfoobar', 0), { start: 4, end: 7, captures: [] });
});

test('a pattern that is not valid is refused', () => {
  for (const source of ['[invalid', '(', ')', '*a', 'a**', '\\', '(?<1a>b)', '\\p{Nonsense}', '[b-a]', 'a{2,1}', '\\1', '\\y']) {
    assert.equal(code(source), 51091, source);
  }
  assert.equal(code('a', 'g'), 51108);
  assert.equal(code('a{2', ''), 0);
});

test('the beginning that every match has is known for anchored patterns', () => {
  const known = (source: string, flags = ''): [string, boolean] => {
    const { prefix, prefixOnly } = compilePattern(source, flags);
    return [prefix, prefixOnly];
  };
  assert.deepEqual(known('^abc'), ['abc', true]);
  assert.deepEqual(known('^a\\.c'), ['a.c', true]);
  assert.deepEqual(known('^abc*'), ['ab', false]);
  assert.deepEqual(known('^abc.*', 's'), ['abc', true]);
  assert.deepEqual(known('^abc', 'i'), ['', false]);
  assert.deepEqual(known('^abc', 'm'), ['', false]);
  assert.deepEqual(known('^abc|d'), ['', false]);
  assert.deepEqual(known('abc'), ['', false]);
});

test('the longest and deepest patterns are compiled quickly or refused', () => {
  assert.equal(code('a'.repeat(16384)), 0);
  assert.equal(code('a'.repeat(16385)), 51091);
  assert.equal(code(`a${'{1}'.repeat(5000)}`), 51091);
  assert.equal(code('('.repeat(5000)), 51091);
  assert.equal(code('(?:'.repeat(200) + 'a' + ')'.repeat(200)), 0);
  assert.equal(code('(a{1,1000}){1,1000}'), 0);
  assert.equal(code('[a-z]'.repeat(3000), 'i'), 0);
});

test('what is looked for behind must have a length in each branch', () => {
  assert.equal(code('(?<=a|bc)d'), 0);
  assert.equal(code('(?<!(?:ab|cd){2})e'), 0);
  for (const pattern of ['(?<=a*)b', '(?<=a?)b', '(?<!a{1,2})b', '(?<=x(?:a|bc))d']) assert.equal(code(pattern), 51091);
});

test('a pattern that would run for ever is an error', () => {
  const pattern = compilePattern('^(a|aa)+\\1$', '');
  assert.throws(() => pattern.test(`${'a'.repeat(60)}b`), { code: 51156 });
});

const atoms = fc.constantFrom('a', 'b', 'c', '.', '[ab]', '[^a]', '\\w', 'é');
// Nothing that can be empty is repeated: there the host language goes another way than PCRE.
const { solid: solids } = fc.letrec<{ solid: string }>((tie) => ({
  solid: fc.oneof(
    { maxDepth: 3 },
    atoms,
    fc.tuple(tie('solid'), tie('solid')).map(([a, b]) => a + b),
    fc.tuple(tie('solid'), tie('solid')).map(([a, b]) => `(?:${a}|${b})`),
    fc.tuple(tie('solid'), fc.constantFrom('+', '{2}', '{1,2}', '+?')).map(([a, quantifier]) => `(?:${a})${quantifier}`),
    tie('solid').map((a) => `(${a})`),
  ),
}));
const { pattern: patterns } = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { maxDepth: 4 },
    solids,
    fc.constantFrom('\\b', '\\B', '^'),
    fc.tuple(solids, fc.constantFrom('*', '?', '*?', '{0,2}')).map(([a, quantifier]) => `(?:${a})${quantifier}`),
    fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => a + b),
    fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => `(?:${a}|${b})`),
    tie('pattern').map((a) => `(${a})`),
    tie('pattern').map((a) => `(?=${a})`),
    tie('pattern').map((a) => `(?!${a})`),
    // Each branch of what is behind has one length.
    fc.array(fc.array(atoms, { maxLength: 3 }), { minLength: 1, maxLength: 2 }).map((branches) => `(?<=${branches.map((each) => each.join('')).join('|')})`),
  ),
}));
const texts = fc.string({ unit: fc.constantFrom('a', 'b', 'c', ' ', 'é'), maxLength: 8 });

/** The engine of the language is the oracle for what both dialects mean alike (it may stop inside of a surrogate pair: there are none). */
function hostFinds(source: string, text: string): [number, number] | undefined {
  const found = new RegExp(source, 'u').exec(text);
  return found === null ? undefined : [found.index, found.index + found[0].length];
}

test('both matchers find what the host language finds', () => {
  fc.assert(
    fc.property(patterns, texts, (source, text) => {
      const expected = hostFinds(source, text);
      const flags = { caseless: false, multiline: false, dotall: false, extended: false, noCapture: false, unicode: false };
      const slow = new BacktrackingRegex(parseRegex(source, flags)).find(text, 0);
      assert.deepEqual(slow === undefined ? undefined : [slow.start, slow.end], expected);
      assert.equal(compilePattern(source, '').test(text), expected !== undefined);
    }),
    { numRuns: 2000 },
  );
});
