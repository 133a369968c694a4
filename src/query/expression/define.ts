// How an operator is declared: how many operands it takes, or which named arguments, and the function of their values. The error codes
// for a wrong call belong to the operator (as in MongoDB each has its own), so they stand in its declaration.

import { bsonUndefined, describeValue, Document, typeNameOf, typeOf } from '../../bson/index.ts';
import type { TextOrder, Value } from '../../bson/index.ts';
import { refuse } from '../refuse.ts';
import type { Compiler, OperatorRule } from './compiler.ts';
import { isConstant } from './expression.ts';
import type { Expression } from './expression.ts';

/** A value that may be missing. */
export type Maybe = Value | undefined;

/** True for null, undefined and missing: what most operators answer with null. */
export function isNullish(value: Maybe): value is null | undefined | typeof bsonUndefined {
  return value === undefined || value === null || value === bsonUndefined;
}

/** The type's name as error texts have it; `missing` for a missing value. */
export function nameOf(value: Maybe): string {
  return value === undefined ? 'missing' : (typeNameOf(typeOf(value)) ?? 'unknown');
}

/** A value as texts of refusals show it. */
export function describeMaybe(value: Maybe): string {
  return value === undefined ? 'MISSING' : describeValue(value);
}

function refuseArity(name: string, count: string, given: number): Error {
  return refuse(16020, `Expression ${name} takes exactly ${count} arguments. ${String(given)} were passed in.`);
}

function exactly(argument: Value, compiler: Compiler, name: string, count: number): Expression[] {
  const operands = compiler.compileOperands(argument);
  if (operands.length !== count) throw refuseArity(name, String(count), operands.length);
  return operands;
}

/** An operator of one operand. */
export function unary(evaluate: (value: Maybe, name: string) => Maybe): OperatorRule {
  return (argument, compiler, name) => {
    const operands = exactly(argument, compiler, name, 1);
    const first = operands[0]?.evaluate ?? missing;
    return compiler.fold(name, operands, (root) => evaluate(first(root), name));
  };
}

/** An operator of two operands. */
export function binary(evaluate: (left: Maybe, right: Maybe, name: string) => Maybe): OperatorRule {
  return (argument, compiler, name) => {
    const operands = exactly(argument, compiler, name, 2);
    const first = operands[0]?.evaluate ?? missing;
    const second = operands[1]?.evaluate ?? missing;
    return compiler.fold(name, operands, (root) => evaluate(first(root), second(root), name));
  };
}

/** An operator of exactly `count` operands. */
export function fixed(count: number, evaluate: (values: readonly Maybe[], name: string) => Maybe): OperatorRule {
  return (argument, compiler, name) => {
    const operands = exactly(argument, compiler, name, count);
    return compiler.fold(name, operands, (root) => evaluate(operands.map((operand) => operand.evaluate(root)), name));
  };
}

/** An operator of `min` to `max` operands; the function sees how many were given. */
export function ranged(min: number, max: number, evaluate: (values: readonly Maybe[], name: string) => Maybe): OperatorRule {
  return (argument, compiler, name) => {
    const operands = compiler.compileOperands(argument);
    if (operands.length < min || operands.length > max) {
      const bounds = `at least ${String(min)} arguments, and at most ${String(max)}`;
      throw refuse(28667, `Expression ${name} takes ${bounds}, but ${String(operands.length)} were passed in.`);
    }
    return compiler.fold(name, operands, (root) => evaluate(operands.map((operand) => operand.evaluate(root)), name));
  };
}

/** An operator of any number of operands, all evaluated. */
export function variadic(evaluate: (values: readonly Maybe[], name: string) => Maybe): OperatorRule {
  return (argument, compiler, name) => {
    const operands = compiler.compileOperands(argument);
    return compiler.fold(name, operands, (root) => evaluate(operands.map((operand) => operand.evaluate(root)), name));
  };
}

/** An operator that depends on the order of texts: made for the one in force. */
export function ordered(make: (order: TextOrder | undefined) => OperatorRule): OperatorRule {
  return (argument, compiler, name) => make(compiler.options.collation)(argument, compiler, name);
}

/** Operands whose order does not matter are taken as MongoDB takes them: what is constant comes last. */
export function constantsLast(operands: readonly Expression[]): Expression[] {
  return [...operands.filter((operand) => !isConstant(operand)), ...operands.filter(isConstant)];
}

/** As variadic, for an operator whose operands may change places. */
export function commutative(evaluate: (values: readonly Maybe[], name: string) => Maybe): OperatorRule {
  return (argument, compiler, name) => {
    const operands = constantsLast(compiler.compileOperands(argument));
    return compiler.fold(name, operands, (root) => evaluate(operands.map((operand) => operand.evaluate(root)), name));
  };
}

/** The named arguments an operator takes, with the codes of its refusals. */
export interface NamedArguments {
  /** The words of the refusals: MongoDB has two sets of them. */
  readonly words: 'only' | 'requires';
  readonly notObject: number;
  readonly unknown: number;
  /** Required names with the code for a missing one. */
  readonly required: Readonly<Record<string, number>>;
  readonly optional?: readonly string[];
}

/** Takes an operator's named arguments apart; refuses what is unknown or missing. */
export function namedArguments(argument: Value, name: string, rule: NamedArguments): ReadonlyMap<string, Value> {
  const only = rule.words === 'only';
  if (!(argument instanceof Document)) {
    const text = only ? 'only supports an object as its argument' : `requires an object as an argument, found: ${nameOf(argument)}`;
    throw refuse(rule.notObject, `${name} ${text}`);
  }
  const found = new Map<string, Value>();
  for (const [field, value] of argument.entries()) {
    if (!Object.hasOwn(rule.required, field) && rule.optional?.includes(field) !== true) {
      const text = only ? `Unrecognized parameter to ${name}: ${field}` : `${name} found an unknown argument: ${field}`;
      throw refuse(rule.unknown, text);
    }
    found.set(field, value);
  }
  for (const [field, code] of Object.entries(rule.required)) {
    if (found.has(field)) continue;
    throw refuse(code, only ? `Missing '${field}' parameter to ${name}` : `${name} requires '${field}' to be specified`);
  }
  return found;
}

/** Compiles a named argument; `undefined` where it was not given. */
export function compileNamed(found: ReadonlyMap<string, Value>, field: string, compiler: Compiler): Expression | undefined {
  const value = found.get(field);
  return value === undefined ? undefined : compiler.compile(value);
}

/** An operator of named arguments that are all expressions and all evaluated. */
export function named(rule: NamedArguments, evaluate: (values: NamedValues, name: string) => Maybe): OperatorRule {
  return (argument, compiler, name) => {
    const found = namedArguments(argument, name, rule);
    const fields = [...found].map(([field, value]): readonly [string, Expression] => [field, compiler.compile(value)]);
    const operands = fields.map(([, operand]) => operand);
    return compiler.fold(name, operands, (root) => {
      const values = new Map<string, Maybe>();
      for (const [field, operand] of fields) values.set(field, operand.evaluate(root));
      return evaluate({ get: (field) => values.get(field), given: (field) => values.has(field) }, name);
    });
  };
}

/** The values of named arguments. */
export interface NamedValues {
  get(field: string): Maybe;
  /** True if the argument was written, even if its value is missing. */
  given(field: string): boolean;
}

function missing(): undefined {
  return undefined;
}
