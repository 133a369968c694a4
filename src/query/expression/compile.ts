// The door to expressions: one table of all operators, one function that compiles. Families stand in files of their own, as in the
// manual's list of expression operators.

import type { Value } from '../../bson/index.ts';
import { Compiler } from './compiler.ts';
import type { OperatorRule, OperatorTable } from './compiler.ts';
import type { Expression, ExpressionOptions } from './expression.ts';
import { variableOperators } from './variable.ts';
import { arrayLoopOperators } from './array-loop.ts';
import { arrayOperators } from './array.ts';
import { comparisonOperators } from './comparison.ts';
import { objectOperators } from './object.ts';
import { setOperators } from './set.ts';

const families: readonly OperatorTable[] = [variableOperators, comparisonOperators, arrayOperators, arrayLoopOperators, setOperators, objectOperators];

/** Every expression operator, by name with `$`. */
export const expressionOperators: ReadonlyMap<string, OperatorRule> = new Map(families.flatMap((family) => Object.entries(family)));

/** A compiler without anything compiled yet: for who needs the fields that several expressions read, or declares variables. */
export function createCompiler(options: ExpressionOptions): Compiler {
  return new Compiler(expressionOperators, options);
}

/** Compiles one expression. Throws CommandError for what MongoDB refuses, also for errors in parts that are constant. */
export function compileExpression(value: Value, options: ExpressionOptions): Expression {
  return createCompiler(options).compile(value);
}
