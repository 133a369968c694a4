import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { CommandError } from '../../../src/base/errors.ts';
import { BsonArray, DateTime, Document, Double } from '../../../src/bson/index.ts';
import type { Value } from '../../../src/bson/index.ts';
import { compileExpression, createCompiler, Variable } from '../../../src/query/index.ts';

const options = { now: new DateTime(1_700_000_000_000) };

function evaluate(expression: Value, root: Document = Document.empty): Value | undefined {
  return compileExpression(expression, options).evaluate(root);
}

function codeOf(run: () => unknown): number {
  try {
    run();
  } catch (error) {
    if (error instanceof CommandError) return error.code;
    throw error;
  }
  return 0;
}

function plain(value: Value | undefined): unknown {
  if (value instanceof BsonArray) return value.items().map(plain);
  if (value instanceof Document) return Object.fromEntries(value.fields.map(([name, field]) => [name, plain(field)]));
  if (value instanceof Double) return { double: value.value };
  return value;
}

const document = Document.of({
  a: Document.of({ b: 1 }),
  list: BsonArray.of([Document.of({ x: 1 }), 5, Document.of({ y: 2 }), Document.of({ x: 3 }), BsonArray.of([Document.of({ x: 9 })])]),
});

describe('compiling expressions', () => {
  it('reads a dotted path through documents and maps it over the documents of an array', () => {
    assert.equal(evaluate('$a.b', document), 1);
    assert.deepEqual(plain(evaluate('$list.x', document)), [1, 3]);
    assert.equal(evaluate('$a.b.c', document), undefined);
    assert.deepEqual(plain(evaluate('$list.0', document)), []);
  });

  it('knows the system variables', () => {
    assert.equal(evaluate('$$ROOT', document), document);
    assert.equal(evaluate('$$CURRENT.a.b', document), 1);
    assert.equal(evaluate('$$REMOVE', document), undefined);
    assert.equal(evaluate('$$NOW', document), options.now);
  });

  it('leaves missing fields out of objects and puts null for them into arrays', () => {
    assert.deepEqual(plain(evaluate(Document.of({ n: '$a.b', m: '$none' }), document)), { n: 1 });
    assert.deepEqual(plain(evaluate(BsonArray.of(['$a.b', '$none']), document)), [1, null]);
  });

  it('binds the variables of $let, each value seen from outside', () => {
    const expression = Document.of({
      $let: Document.of({ vars: Document.of({ x: '$a.b', y: 2 }), in: BsonArray.of(['$$x', '$$y', '$$ROOT.a.b']) }),
    });
    assert.deepEqual(plain(evaluate(expression, document)), [1, 2, 1]);
    const current = Document.of({ $let: Document.of({ vars: Document.of({ CURRENT: '$a' }), in: '$b' }) });
    assert.equal(evaluate(current, document), 1);
  });

  it('does not look into $literal', () => {
    assert.equal(evaluate(Document.of({ $literal: '$a' }), document), '$a');
  });

  it('takes a fixed variable as a constant and reads a changing one at each evaluation', () => {
    const variable = new Variable(1, false);
    const variables = new Map([
      ['v', variable],
      ['f', new Variable(7, true)],
    ]);
    const changing = compileExpression('$$v', { ...options, variables });
    variable.value = 2;
    assert.equal(changing.evaluate(document), 2);
    assert.deepEqual(compileExpression('$$f', { ...options, variables }).form, { kind: 'constant', value: 7 });
  });

  it('gathers the fields that are read', () => {
    const compiler = createCompiler(options);
    compiler.compile(Document.of({ p: '$a.b', q: BsonArray.of(['$c']) }));
    assert.deepEqual(compiler.dependencies.fields(), ['a.b', 'c']);
    compiler.compile('$$ROOT');
    assert.equal(compiler.dependencies.fields(), undefined);
  });

  it('refuses what MongoDB refuses, with its codes', () => {
    const cases: [Value, number][] = [
      ['$', 16872],
      ['$$', 9],
      ['$a..b', 15998],
      ['$a.', 40353],
      ['$a.$b', 16410],
      ['$$nowhere', 17276],
      ['$$1x', 9],
      [Document.of({ $nothing: 1 }), 168],
      [Document.of({ $literal: 1, $let: 2 }), 15983],
      [Document.of({ 'a.b': 1 }), 16412],
      [Document.of({ a: 1, $b: 1 }), 16410],
      [Document.of({ $let: 1 }), 16874],
      [Document.of({ $let: Document.of({ vars: Document.empty }) }), 16877],
      [Document.of({ $let: Document.of({ vars: 1, in: 1 }) }), 10065],
      [Document.of({ $let: Document.of({ vars: Document.of({ X: 1 }), in: 1 }) }), 9],
    ];
    for (const [expression, code] of cases) assert.equal(codeOf(() => evaluate(expression)), code, JSON.stringify(plain(expression)));
  });
});
