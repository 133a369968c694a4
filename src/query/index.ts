// The face of the query layer: the language of MongoDB on one document or one value. Pure and synchronous: time, chance and storage are
// passed in. Expressions and accumulators of the aggregation language stand in `expression/` and `accumulator/`.

export { compileExpression, createCompiler } from './expression/compile.ts';
export type { Compiler } from './expression/compiler.ts';
export { Dependencies, Variable } from './expression/expression.ts';
export type { Expression, ExpressionForm, ExpressionOptions } from './expression/expression.ts';
export { refuse } from './refuse.ts';
