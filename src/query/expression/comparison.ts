// Comparison in BSON order across types, and the logic of truth: null, undefined, missing, false and zero are false, all else is true.
// Follows the manual's pages "Comparison Expression Operators", "Boolean Expression Operators" and "Conditional Expression Operators".

import { BsonArray, bsonUndefined, comparerOf, Document } from '../../bson/index.ts';
import type { TextOrder, Value } from '../../bson/index.ts';
import { refuse } from '../refuse.ts';
import { isTruthy } from '../truth.ts';
import { binary, compileNamed, constantsLast, isNullish, namedArguments, nameOf, ordered, unary } from './define.ts';
import type { Maybe, NamedArguments } from './define.ts';
import type { Compiler, OperatorRule, OperatorTable } from './compiler.ts';
import { constant, isConstant } from './expression.ts';
import type { Expression } from './expression.ts';

/** The order of two values, a missing one taken as undefined: before null. */
export function maybeComparerOf(order: TextOrder | undefined): (left: Maybe, right: Maybe) => number {
  const compare = comparerOf(order);
  return (left, right) => compare(left === undefined ? bsonUndefined : left, right === undefined ? bsonUndefined : right);
}

function compiles(test: (order: number) => Value): OperatorRule {
  return ordered((order) => {
    const compare = maybeComparerOf(order);
    return binary((left, right) => test(compare(left, right)));
  });
}

function junction(stopAt: boolean): OperatorRule {
  return (argument, compiler, name) => {
    const operands = constantsLast(compiler.compileOperands(argument));
    // A constant that decides does so before anything is evaluated.
    if (operands.some((operand) => isConstant(operand) && isTruthy(constantOf(operand)) === stopAt)) return constant(stopAt);
    return compiler.fold(name, operands, (root) => {
      for (const operand of operands) if (isTruthy(operand.evaluate(root)) === stopAt) return stopAt;
      return !stopAt;
    });
  };
}

const condArguments: NamedArguments = {
  words: 'only',
  notObject: 16020,
  unknown: 17083,
  required: { if: 17080, then: 17081, else: 17082 },
};

function condParts(argument: Value, compiler: Compiler, name: string): readonly [Expression, Expression, Expression] {
  let parts: readonly (Expression | undefined)[];
  if (argument instanceof Document) {
    const found = namedArguments(argument, name, condArguments);
    parts = ['if', 'then', 'else'].map((field) => compileNamed(found, field, compiler));
  } else {
    parts = compiler.compileOperands(argument);
  }
  const [test, then, otherwise] = parts;
  if (test === undefined || then === undefined || otherwise === undefined || parts.length !== 3) {
    throw refuse(16020, `Expression $cond takes exactly 3 arguments. ${parts.length} were passed in.`);
  }
  return [test, then, otherwise];
}

function compileCond(argument: Value, compiler: Compiler, name: string): Expression {
  const parts = condParts(argument, compiler, name);
  const [test, then, otherwise] = parts;
  return compiler.fold(name, parts, (root) => (isTruthy(test.evaluate(root)) ? then : otherwise).evaluate(root));
}

function compileIfNull(argument: Value, compiler: Compiler, name: string): Expression {
  const operands = compiler.compileOperands(argument);
  if (operands.length < 2) throw refuse(1257300, `$ifNull needs at least two arguments, had: ${operands.length}`);
  return compiler.fold(name, operands, (root) => {
    let value: Maybe;
    for (const operand of operands) {
      value = operand.evaluate(root);
      if (!isNullish(value)) return value;
    }
    return value;
  });
}

interface Branch {
  readonly test: Expression;
  readonly then: Expression;
}

function compileBranch(value: Value, compiler: Compiler): Branch {
  if (!(value instanceof Document)) throw refuse(40062, `$switch requires each branch to be an object, found: ${nameOf(value)}`);
  for (const [field] of value.fields) {
    if (field !== 'case' && field !== 'then') throw refuse(40063, `$switch found an unknown argument to a branch: ${field}`);
  }
  const test = value.get('case');
  const then = value.get('then');
  if (test === undefined) throw refuse(40064, `$switch requires each branch have a 'case' expression`);
  if (then === undefined) throw refuse(40065, `$switch requires each branch have a 'then' expression.`);
  const compiled = compiler.compile(test);
  const never = isConstant(compiled) && !isTruthy(constantOf(compiled));
  return { test: compiled, then: (never ? compiler.withoutFolding() : compiler).compile(then) };
}

const switchArguments: NamedArguments = {
  words: 'requires',
  notObject: 40060,
  unknown: 40067,
  required: {},
  optional: ['branches', 'default'],
};

function compileSwitch(argument: Value, compiler: Compiler, name: string): Expression {
  const found = namedArguments(argument, name, switchArguments);
  const given = found.get('branches');
  const list = given === undefined ? BsonArray.empty : given;
  if (!(list instanceof BsonArray)) throw refuse(40061, `$switch expected an array for 'branches', found: ${nameOf(list)}`);
  const branches = list.items().map((item) => compileBranch(item, compiler));
  if (branches.length === 0) throw refuse(40068, '$switch requires at least one branch.');
  const otherwise = compileNamed(found, 'default', compiler);
  if (otherwise === undefined && branches.every((branch) => isConstant(branch.test) && !isTruthy(constantOf(branch.test)))) {
    throw refuse(40069, 'One cannot execute a switch statement where all the cases evaluate to false without a default.');
  }
  const operands = branches.flatMap((branch) => [branch.test, branch.then]);
  if (otherwise !== undefined) operands.push(otherwise);
  return compiler.fold(name, operands, (root) => {
    for (const branch of branches) if (isTruthy(branch.test.evaluate(root))) return branch.then.evaluate(root);
    if (otherwise !== undefined) return otherwise.evaluate(root);
    throw refuse(40066, '$switch could not find a matching branch for an input, and no default was specified.');
  });
}

function constantOf(expression: Expression): Maybe {
  return expression.form.kind === 'constant' ? expression.form.value : undefined;
}

/** The operators, by name. */
export const comparisonOperators: OperatorTable = {
  $eq: compiles((order) => order === 0),
  $ne: compiles((order) => order !== 0),
  $gt: compiles((order) => order > 0),
  $gte: compiles((order) => order >= 0),
  $lt: compiles((order) => order < 0),
  $lte: compiles((order) => order <= 0),
  $cmp: compiles((order) => Math.sign(order)),
  $and: junction(false),
  $or: junction(true),
  $not: unary((value) => !isTruthy(value)),
  $cond: compileCond,
  $ifNull: compileIfNull,
  $switch: compileSwitch,
};
