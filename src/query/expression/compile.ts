// The door to expressions: one table of all operators, one function that compiles. Families stand in files of their own, as in the
// manual's list of expression operators.

import type { Value } from '../../bson/index.ts';
import { Compiler } from './compiler.ts';
import type { OperatorRule, OperatorTable } from './compiler.ts';
import type { Expression, ExpressionOptions } from './expression.ts';
import { trigonometryOperators } from './trigonometry.ts';
import { typeOperators } from './type.ts';
import { variableOperators } from './variable.ts';
import { accumulateOperators } from './accumulate.ts';
import { arithmeticOperators } from './arithmetic.ts';
import { arrayLoopOperators } from './array-loop.ts';
import { arrayOperators } from './array.ts';
import { comparisonOperators } from './comparison.ts';
import { convertOperators } from './convert.ts';
import { dateFromStringOperators } from './date-from-string.ts';
import { dateOperators } from './date.ts';
import { dateSpanOperators } from './date-span.ts';
import { metaOperators } from './meta.ts';
import { objectOperators } from './object.ts';
import { regexOperators } from './regex-find.ts';
import { setOperators } from './set.ts';
import { stringOperators } from './string.ts';
import { substringOperators } from './substring.ts';

const families: readonly OperatorTable[] = [
  variableOperators,
  arithmeticOperators,
  comparisonOperators,
  arrayOperators,
  arrayLoopOperators,
  setOperators,
  metaOperators,
  objectOperators,
  stringOperators,
  substringOperators,
  regexOperators,
  typeOperators,
  trigonometryOperators,
  dateOperators,
  dateSpanOperators,
  accumulateOperators,
  convertOperators,
  dateFromStringOperators,
];

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
