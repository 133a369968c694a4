// The face of the query layer: the language of MongoDB on one document or one value. Pure and synchronous: time, chance and storage are
// passed in. Expressions and accumulators of the aggregation language stand in `expression/` and `accumulator/`.

export { compileExpression, createCompiler } from './expression/compile.ts';
export type { Compiler } from './expression/compiler.ts';
export { Dependencies, isLight, Variable } from './expression/expression.ts';
export type { Expression, ExpressionForm, ExpressionOptions } from './expression/expression.ts';
export { compileFilter, filterOf } from './filter/filter.ts';
export { languageNames } from './language-names.ts';
export { describeMismatch } from './filter/mismatch.ts';
export type { Filter, QueryOptions } from './filter/filter.ts';
export { andOf } from './filter/node.ts';
export type {
  AlwaysNode,
  AndNode,
  CompareNode,
  CompareOperator,
  ElemMatchObjectNode,
  ElemMatchValueNode,
  ExistsNode,
  ExprNode,
  FilterNode,
  InNode,
  NotNode,
  OrNode,
  PathNode,
  RegexNode,
  SchemaNode,
  TextNode,
  TypeNode,
} from './filter/node.ts';
export { compileAddFields, compileProjection, compileUnsetFields } from './projection/projection.ts';
export type { Projection, ProjectionOptions } from './projection/projection.ts';
export { compilePattern } from './regex.ts';
export type { Pattern } from './regex.ts';
export { compileSort } from './sort.ts';
export type { SortKey, SortPart } from './sort.ts';
export type { UpdateContext, UpsertContext } from './update/operation.ts';
export { compileUpdate } from './update/update.ts';
export type { Update, UpdateOptions, UpdateResult } from './update/update.ts';
export { ordersByDistance, textNodeOf } from './filter/node.ts';
export { carryMetadata, noteMetadata } from './metadata.ts';
export type { MetadataKinds } from './metadata.ts';
export { languageOf } from './text/language.ts';
export { scoresOf } from './text/text-fields.ts';
export type { TextFields } from './text/text-fields.ts';
export { refuse } from './refuse.ts';
export { accumulators } from './accumulator/table.ts';
export type { Accumulator, AccumulatorFactory } from './accumulator/accumulator.ts';
export { sizeOfValue } from './accumulator/size.ts';
export { compileReplacement } from './expression/replace-root.ts';
export type { Replacement } from './expression/replace-root.ts';
export { addDateUnits, isDateUnit } from './expression/date-unit.ts';
export type { DateUnit } from './expression/date-unit.ts';
export { isNullish, nameOf } from './expression/define.ts';
export { splitPath, validateFieldName, validateVariableName } from './expression/field-path.ts';
export { keyOfValue } from './value-key.ts';
export type { ValueKey } from './value-key.ts';
export { countsWinding, readFlatPoint, readStored } from './geo/geometry.ts';
export type { Geometry } from './geo/geometry.ts';
export { capOf } from './geo/region.ts';
export type { Bounds as GeoBounds, Region } from './geo/region.ts';
export { capRectangles, pointCell, regionIntervals, shapeCells, sphereGrid } from './geo/cells.ts';
export type { Grid } from './geo/cells.ts';
export { readNear } from './geo/near.ts';
export type { NearQuery } from './geo/near.ts';
export { nearestPlace, valuesAt } from './geo/places.ts';
export { vectorOf } from './geo/vector.ts';
