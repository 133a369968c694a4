// Variables and literals: `$let` binds names for one expression, `$literal` keeps a value from being read as an expression.
// Follows the manual's pages "$let" and "$literal".

import { Document } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { refuse } from '../refuse.ts';
import { namedArguments, nameOf } from './define.ts';
import type { NamedArguments } from './define.ts';
import type { Compiler, OperatorRule, OperatorTable } from './compiler.ts';
import { constant, Variable } from './expression.ts';
import { checkedText } from './string-limit.ts';
import type { Expression } from './expression.ts';
import { validateVariableName } from './field-path.ts';

const letArguments: NamedArguments = {
  words: 'only',
  notObject: 16874,
  unknown: 16875,
  required: { vars: 16876, in: 16877 },
};

interface Binding {
  readonly name: string;
  readonly variable: Variable;
  readonly value: Expression;
}

function bindings(vars: Value, compiler: Compiler): Binding[] {
  if (!(vars instanceof Document)) throw refuse(10065, `invalid parameter: expected an object (vars), found ${nameOf(vars)}`);
  return vars.fields.map(([name, value]) => {
    validateVariableName(name, 'write');
    return { name, variable: new Variable(undefined, false), value: compiler.compile(value) };
  });
}

function compileLet(argument: Value, compiler: Compiler, name: string): Expression {
  const found = namedArguments(argument, name, letArguments);
  const bound = bindings(found.get('vars') ?? null, compiler);
  const inner = compiler.with(bound.map((binding) => [binding.name, binding.variable]));
  const body = inner.compile(found.get('in') ?? null);
  if (body.form.kind === 'constant') return body;
  const evaluate = (root: Document): Value | undefined => {
    const values = bound.map((binding) => binding.value.evaluate(root));
    bound.forEach((binding, index) => (binding.variable.value = values[index]));
    return body.evaluate(root);
  };
  return { evaluate, form: { kind: 'other' } };
}

/** `$const` is the name of `$literal` in what servers tell one another. */
const literal: OperatorRule = (argument) => constant(typeof argument === 'string' ? checkedText(argument) : argument);

/** The operators, by name. */
export const variableOperators: OperatorTable = {
  $let: compileLet,
  $literal: literal,
  $const: literal,
};
