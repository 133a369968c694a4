// `$fill`: values in place of null and missing ones: given by an expression, carried on from the document before, or from the line between
// the neighbours. It is `$setWindowFields` and `$addFields` in other words. Follows the manual's page "$fill (aggregation)".

import { BsonArray, Document } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { nameOf, refuse } from '../../query/index.ts';
import type { Stage, StageContext, StageRule } from '../stage.ts';
import { projectRules } from './project.ts';
import { setWindowFieldsRule } from './set-window-fields.ts';

const FIELDS: ReadonlySet<string> = new Set(['partitionBy', 'partitionByFields', 'sortBy', 'output']);
const METHODS: ReadonlyMap<Value, string> = new Map<Value, string>([
  ['locf', '$locf'],
  ['linear', '$linearFill'],
]);

function wrongType(field: string, value: Value, expected: string): Error {
  return refuse(14, `BSON field '$fill.${field}' is the wrong type '${nameOf(value)}', expected type '${expected}'`);
}

/** The two halves of the output: what window operators make, and what expressions do. */
function outputsOf(output: Document): { windows: [string, Value][]; values: [string, Value][] } {
  const windows: [string, Value][] = [];
  const values: [string, Value][] = [];
  for (const [name, rule] of output) {
    if (!(rule instanceof Document)) throw refuse(6050200, 'Each fill output specification must be an object with exactly one field');
    const unknown = rule.keys().find((key) => key !== 'method' && key !== 'value');
    if (unknown !== undefined) throw refuse(40415, `BSON field '$fill.${unknown}' is an unknown field.`);
    const method = rule.get('method') ?? null;
    const value = rule.get('value');
    if (method === null) {
      if (value === undefined) throw refuse(6050200, 'Each fill output specification must be an object with exactly one field');
      values.push([name, Document.of({ $ifNull: BsonArray.of([`$${name}`, value]) })]);
      continue;
    }
    if (typeof method !== 'string') throw wrongType('method', method, 'string');
    if (value !== undefined) throw refuse(6050201, `Each fill output specification must have exactly one of 'method' or 'value' fields, not both`);
    const operator = METHODS.get(method);
    if (operator === undefined) throw refuse(6050202, 'Method must be either locf or linear');
    windows.push([name, Document.fromEntries([[operator, `$${name}`]])]);
  }
  return { windows, values };
}

/** What partitions are told apart by; undefined: there is one. */
function partitionOf(specification: Document): Value | undefined {
  const by = specification.get('partitionBy') ?? null;
  const fields = specification.get('partitionByFields') ?? null;
  if (by !== null && fields !== null) throw refuse(6050204, `Maximum one of 'partitionBy' and 'partitionByFields can be specified in '$fill'`);
  if (by !== null) {
    if (typeof by === 'string' || by instanceof Document) return by;
    throw wrongType('partitionBy', by, 'object');
  }
  if (fields === null) return undefined;
  if (!(fields instanceof BsonArray)) throw wrongType('partitionByFields', fields, 'array');
  return Document.fromEntries(
    fields.items().map((name, index) => {
      if (typeof name !== 'string') throw wrongType(`partitionByFields.${String(index)}`, name, 'string');
      return [name, `$${name}`];
    }),
  );
}

function desugared(specification: Document, context: StageContext): Stage[] {
  const output = specification.get('output') ?? null;
  if (output === null) throw refuse(40414, `BSON field '$fill.output' is missing but a required field`);
  if (!(output instanceof Document)) throw wrongType('output', output, 'object');
  if (output.isEmpty) throw refuse(6050203, `The output field in '$fill' must contain an object with at least one element`);
  const { windows, values } = outputsOf(output);
  const sortBy = specification.get('sortBy') ?? null;
  if (sortBy !== null && !(sortBy instanceof Document)) throw wrongType('sortBy', sortBy, 'object');
  const partitionBy = partitionOf(specification);
  const parse = (rule: StageRule | undefined, argument: Document): readonly Stage[] => {
    const stages = rule?.parse(argument, context) ?? [];
    return 'name' in stages ? [stages] : stages;
  };
  const made: Stage[] = [];
  if (windows.length > 0) {
    const fields: [string, Value][] = [['output', Document.fromEntries(windows)]];
    if (sortBy !== null) fields.unshift(['sortBy', sortBy]);
    if (partitionBy !== undefined) fields.unshift(['partitionBy', partitionBy]);
    made.push(...parse(setWindowFieldsRule, Document.fromEntries(fields)));
  }
  const addFields = projectRules.find((rule) => rule.name === '$addFields');
  if (values.length > 0) made.push(...parse(addFields, Document.fromEntries(values)));
  return made;
}

/** How `$fill` is compiled. */
export const fillRule: StageRule = {
  name: '$fill',
  parse: (specification, context) => {
    if (!(specification instanceof Document)) throw refuse(9, `The $fill stage specification must be an object, found ${nameOf(specification)}`);
    const unknown = specification.keys().find((name) => !FIELDS.has(name));
    if (unknown !== undefined) throw refuse(40415, `BSON field '$fill.${unknown}' is an unknown field.`);
    return desugared(specification, context);
  },
};
