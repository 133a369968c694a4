// `$bucket`: groups by where an expression falls between boundaries: a `$group` by a `$switch`, and a `$sort`.
// Follows the manual's page "$bucket (aggregation)".

import { BsonArray, classOf, comparerOf, describeValue, Document } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { compileExpression, nameOf, refuse } from '../../query/index.ts';
import type { StageContext, StageRule } from '../stage.ts';
import { groupRule } from './group.ts';
import { sortStage } from './sort.ts';

/** True for what can be an expression to group by: a path, or an operator in an object. */
export function isGroupKey(value: Value): boolean {
  if (typeof value === 'string') return value.startsWith('$');
  return value instanceof Document && value.first?.[0].startsWith('$') === true;
}

function constantOf(value: Value, context: StageContext, what: string): Value {
  const { form } = compileExpression(value, context.options);
  if (form.kind === 'constant' && form.value !== undefined) return form.value;
  throw refuse(40191, `The $bucket '${what}' must be constant values, but found value: ${describeValue(value)}`);
}

function boundariesOf(value: Value, context: StageContext): Value[] {
  if (!(value instanceof BsonArray)) throw refuse(40200, `The $bucket 'boundaries' field must be an array, but found type: ${nameOf(value)}`);
  const boundaries = value.items().map((item) => constantOf(item, context, 'boundaries'));
  if (boundaries.length < 2) throw refuse(40192, `The $bucket 'boundaries' field must have at least 2 values, but found ${boundaries.length} value(s).`);
  boundaries.forEach((boundary, index) => {
    const before = boundaries[index - 1];
    if (before === undefined) return;
    if (classOf(before) !== classOf(boundary)) {
      throw refuse(40193, `All values in the 'boundaries' option to $bucket must have the same type. Found conflicting types ${nameOf(before)} and ${nameOf(boundary)}.`);
    }
    if (comparerOf(context.options.collation)(before, boundary) >= 0) {
      throw refuse(40194, `The 'boundaries' option to $bucket must be sorted, but elements ${index - 1} and ${index} are not in ascending order`);
    }
  });
  return boundaries;
}

function defaultOf(value: Value | undefined, boundaries: readonly Value[], context: StageContext): Value | undefined {
  if (value === undefined) return undefined;
  const [lower = null] = boundaries;
  const upper = boundaries.at(-1) ?? null;
  const made = constantOf(value, context, 'default');
  const sameType = classOf(made) === classOf(lower);
  const compare = comparerOf(context.options.collation);
  if (sameType && compare(made, lower) >= 0 && compare(made, upper) < 0) {
    throw refuse(40199, `The $bucket 'default' field must be less than the lowest boundary or greater than or equal to the highest boundary.`);
  }
  return made;
}

function operator(name: string, operands: readonly Value[]): Document {
  return Document.fromEntries([[name, BsonArray.of(operands)]]);
}

function literal(value: Value): Document {
  return Document.of({ $literal: value });
}

function switchOf(groupBy: Value, boundaries: readonly Value[], fallback: Value | undefined): Document {
  const branches = boundaries.slice(0, -1).map((lower, index) => {
    const upper = boundaries[index + 1] ?? null;
    const inside = operator('$and', [operator('$gte', [groupBy, literal(lower)]), operator('$lt', [groupBy, literal(upper)])]);
    return Document.of({ case: inside, then: literal(lower) });
  });
  const parts = { branches: BsonArray.of(branches), ...(fallback === undefined ? {} : { default: literal(fallback) }) };
  return Document.of({ $switch: Document.of(parts) });
}

/** The accumulated fields of `output`, or the count. */
export function outputFields(output: Value | undefined, code: number, name: string): readonly (readonly [string, Value])[] {
  if (output === undefined) return [['count', Document.of({ $sum: 1 })]];
  if (!(output instanceof Document)) throw refuse(code, `The ${name} 'output' field must be an object, but found type: ${nameOf(output)}.`);
  return output.fields;
}

/** Faults of single fields are told in the order of the fields, then what is missing, then what does not fit together. */
function checkField(name: string, value: Value, context: StageContext): void {
  if (name === 'groupBy') {
    if (isGroupKey(value)) return;
    throw refuse(40202, `The $bucket 'groupBy' field must be defined as a $-prefixed path or an expression, but found: ${describeValue(value)}.`);
  }
  if (name === 'boundaries') boundariesOf(value, context);
  else if (name === 'default') constantOf(value, context, 'default');
  else if (name === 'output') outputFields(value, 40196, '$bucket');
  else throw refuse(40197, `Unrecognized option to $bucket: ${name}.`);
}

function groupOf(specification: Value, context: StageContext): Document {
  if (!(specification instanceof Document)) throw refuse(40201, `Argument to $bucket stage must be an object, but found type: ${nameOf(specification)}.`);
  for (const [name, value] of specification.fields) checkField(name, value, context);
  const groupBy = specification.get('groupBy');
  const given = specification.get('boundaries');
  if (groupBy === undefined || given === undefined) throw refuse(40198, `$bucket requires 'groupBy' and 'boundaries' to be specified.`);
  const boundaries = boundariesOf(given, context);
  const fallback = defaultOf(specification.get('default'), boundaries, context);
  const output = outputFields(specification.get('output'), 40196, '$bucket');
  if (output.some(([name]) => name === '_id')) throw refuse(15948, `the field name '_id' is reserved in the output of $bucket`);
  return Document.fromEntries([['_id', switchOf(groupBy, boundaries, fallback)], ...output]);
}

/** How `$bucket` is compiled. */
export const bucketRule: StageRule = {
  name: '$bucket',
  parse: (specification, context) => [
    ...[groupRule.parse(groupOf(specification, context), context)].flat(),
    sortStage(Document.of({ _id: 1 }), undefined, context.options),
  ],
};
