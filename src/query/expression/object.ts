// Objects: merging, and fields by name where the name is data (it may hold dots and dollars).
// Follows the manual's pages "$mergeObjects", "$getField", "$setField" and "$unsetField".

import { BsonArray, Document } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { refuse } from '../refuse.ts';
import { compileNamed, isNullish, namedArguments, nameOf, variadic } from './define.ts';
import type { Maybe, NamedArguments } from './define.ts';
import type { Compiler, OperatorTable } from './compiler.ts';
import { constant } from './expression.ts';
import type { Expression } from './expression.ts';

/** The fields of later objects over those of earlier ones; null and missing count as empty. One array stands for its elements. */
function mergeObjects(values: readonly Maybe[]): Document {
  const merged = new Map<string, Value>();
  const [only] = values;
  const objects = values.length === 1 && only instanceof BsonArray ? only.items() : values;
  for (const [index, value] of objects.entries()) {
    if (isNullish(value)) continue;
    if (!(value instanceof Document)) {
      throw refuse(40400, `$mergeObjects requires object inputs, but input ${index} is of type ${nameOf(value)}`);
    }
    for (const [name, field] of value.fields) merged.set(name, field);
  }
  return Document.fromEntries([...merged]);
}

const getArguments: NamedArguments = {
  words: 'requires',
  notObject: 3041704,
  unknown: 3041701,
  required: { field: 3041702, input: 3041703 },
};

function compileGetField(argument: Value, compiler: Compiler, name: string): Expression {
  const long = argument instanceof Document && argument.first?.[0].startsWith('$') !== true;
  const found = long ? namedArguments(argument, name, getArguments) : undefined;
  const field = compiler.compile(found?.get('field') ?? argument);
  const input = compiler.compile(found?.get('input') ?? '$$CURRENT');
  if (field.form.kind === 'constant') fieldName(field.form.value);
  return compiler.fold(name, [field, input], (root) => {
    const key = fieldName(field.evaluate(root));
    const object = input.evaluate(root);
    if (object instanceof Document) return object.get(key);
    return object !== undefined && isNullish(object) ? null : undefined;
  });
}

function fieldName(value: Maybe): string {
  if (typeof value === 'string') return value;
  throw refuse(3041704, `$getField requires 'field' to evaluate to type String, but got ${nameOf(value)}`);
}

const setArguments: NamedArguments = {
  words: 'requires',
  notObject: 4161100,
  unknown: 4161101,
  required: { field: 4161102, value: 4161103, input: 4161109 },
};
const unsetArguments: NamedArguments = { ...setArguments, required: { field: 4161102, input: 4161109 } };

function constantName(value: Value, compiler: Compiler, name: string): string {
  if (typeof value === 'string' && value.startsWith('$')) {
    const hint = `Did you mean {$literal: '${value}'}?`;
    throw refuse(4161108, `A field path reference which is not allowed in this context. ${hint}`);
  }
  const { form } = compiler.compile(value);
  const literal = value instanceof Document ? value.isEmpty || value.has('$literal') || value.has('$const') : !(value instanceof BsonArray);
  if (form.kind !== 'constant' || !literal) throw refuse(4161106, `${name} requires 'field' to evaluate to a constant, but got a non-constant argument`);
  if (typeof form.value !== 'string') {
    throw refuse(4161107, `${name} requires 'field' to evaluate to type String, but got ${nameOf(form.value)}`);
  }
  if (form.value.includes('\0')) throw refuse(9534700, `${name} requires 'field' to be a string without null characters`);
  return form.value;
}

function withField(object: Document, name: string, value: Maybe): Document {
  const fields = new Map(object.fields);
  if (value === undefined) fields.delete(name);
  else fields.set(name, value);
  return Document.fromEntries([...fields]);
}

function fieldSetter(rule: NamedArguments): (argument: Value, compiler: Compiler, name: string) => Expression {
  return (argument, compiler, name) => {
    const found = namedArguments(argument, name, rule);
    const key = constantName(found.get('field') ?? null, compiler, name);
    const input = compileNamed(found, 'input', compiler) ?? constant(undefined);
    const value = compileNamed(found, 'value', compiler) ?? constant(undefined);
    return compiler.fold(name, [input, value], (root) => {
      const object = input.evaluate(root);
      if (isNullish(object)) return null;
      if (object instanceof Document) return withField(object, key, value.evaluate(root));
      throw refuse(4161105, `${name} requires 'input' to evaluate to type Object`);
    });
  };
}

/** The operators, by name. */
export const objectOperators: OperatorTable = {
  $mergeObjects: variadic(mergeObjects),
  $getField: compileGetField,
  $setField: fieldSetter(setArguments),
  $unsetField: fieldSetter(unsetArguments),
};
