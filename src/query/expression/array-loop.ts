// Operators that evaluate an expression for each element ($map, $filter, $reduce), and those between arrays and objects.
// Follows the manual's page "Array Expression Operators".

import { atOneGo, overItems } from '../../base/long-lists.ts';
import { must } from '../../base/assert.ts';
import { BsonArray, Document } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { overElements } from '../elements.ts';
import { refuse } from '../refuse.ts';
import { isTruthy } from '../truth.ts';
import { compileNamed, describeMaybe, isNullish, namedArguments, nameOf, unary } from './define.ts';
import type { Maybe, NamedArguments } from './define.ts';
import type { Compiler, OperatorTable } from './compiler.ts';
import { constant, Variable } from './expression.ts';
import type { Expression } from './expression.ts';
import { validateVariableName } from './field-path.ts';
import { int32Of } from './number-kind.ts';

const mapArguments: NamedArguments = { words: 'only', notObject: 16878, unknown: 16879, required: { input: 16880, in: 16882 }, optional: ['as'] };

/** The element variable of `$map` and `$filter`: named by `as`, else `this`. */
function elementVariable(as: Maybe): string {
  if (as === undefined) return 'this';
  const name = typeof as === 'string' ? as : '';
  validateVariableName(name, 'write');
  return name;
}

function required(found: ReadonlyMap<string, Value>, field: string, compiler: Compiler): Expression {
  return compileNamed(found, field, compiler) ?? constant(undefined);
}

function compileMap(argument: Value, compiler: Compiler, name: string): Expression {
  const found = namedArguments(argument, name, mapArguments);
  const element = new Variable(undefined, false);
  const variable = elementVariable(found.get('as'));
  const input = required(found, 'input', compiler);
  const body = required(found, 'in', compiler.with([[variable, element]]));
  const evaluate = (root: Document): Maybe => {
    const array = input.evaluate(root);
    if (isNullish(array)) return null;
    if (!(array instanceof BsonArray)) throw refuse(16883, `input to $map must be an array not ${nameOf(array)}`);
    const made = overElements(array, (): Value[] => [], (values, item) => {
      element.value = item;
      values.push(body.evaluate(root) ?? null);
    });
    return BsonArray.of(made);
  };
  return { evaluate, form: { kind: 'other' } };
}

const filterArguments: NamedArguments = {
  words: 'only',
  notObject: 28646,
  unknown: 28647,
  required: { input: 28648, cond: 28650 },
  optional: ['as', 'limit'],
};

function filterLimit(limit: Maybe): number {
  if (isNullish(limit)) return Infinity;
  const count = int32Of(limit);
  if (count === undefined) throw refuse(327391, `$filter: limit must be represented as a 32-bit integral value: ${describeMaybe(limit)}`);
  if (count < 1) throw refuse(327392, `$filter: limit must be greater than 0: ${count}`);
  return count;
}

function compileFilter(argument: Value, compiler: Compiler, name: string): Expression {
  const found = namedArguments(argument, name, filterArguments);
  const element = new Variable(undefined, false);
  const variable = elementVariable(found.get('as'));
  const input = required(found, 'input', compiler);
  const condition = required(found, 'cond', compiler.with([[variable, element]]));
  const limit = compileNamed(found, 'limit', compiler) ?? constant(undefined);
  const evaluate = (root: Document): Maybe => {
    const array = input.evaluate(root);
    if (isNullish(array)) return null;
    if (!(array instanceof BsonArray)) throw refuse(28651, `input to $filter must be an array not ${nameOf(array)}`);
    const count = filterLimit(limit.evaluate(root));
    const kept = overElements(array, (): Value[] => [], (values, item) => {
      element.value = item;
      return isTruthy(condition.evaluate(root)) && values.push(item) >= count;
    });
    return BsonArray.of(kept);
  };
  return { evaluate, form: { kind: 'other' } };
}

const reduceArguments: NamedArguments = {
  words: 'requires',
  notObject: 40075,
  unknown: 40076,
  required: { input: 40077, initialValue: 40078, in: 40079 },
};

function compileReduce(argument: Value, compiler: Compiler, name: string): Expression {
  const found = namedArguments(argument, name, reduceArguments);
  const element = new Variable(undefined, false);
  const sofar = new Variable(undefined, false);
  const input = required(found, 'input', compiler);
  const initial = required(found, 'initialValue', compiler);
  const body = required(found, 'in', compiler.with([['this', element], ['value', sofar]]));
  const evaluate = (root: Document): Maybe => {
    const array = input.evaluate(root);
    if (isNullish(array)) return null;
    if (!(array instanceof BsonArray)) throw refuse(40080, `$reduce requires that 'input' be an array, found: ${describeMaybe(array)}`);
    const begin = (): { value: Maybe } => ({ value: initial.evaluate(root) });
    return overElements(array, begin, (state, item) => {
      element.value = item;
      sofar.value = state.value;
      state.value = body.evaluate(root);
    }).value;
  };
  return { evaluate, form: { kind: 'other' } };
}

const zipArguments: NamedArguments = {
  words: 'only',
  notObject: 34460,
  unknown: 34464,
  required: {},
  optional: ['inputs', 'useLongestLength', 'defaults'],
};

function zipList(value: Value | undefined, code: number, field: string, compiler: Compiler): Expression[] {
  if (value === undefined) return [];
  if (!(value instanceof BsonArray)) throw refuse(code, `${field} must be an array of expressions, found ${nameOf(value)}`);
  return value.items().map((item) => compiler.compile(item));
}

function zipLongest(found: ReadonlyMap<string, Value>): boolean {
  const longest = found.get('useLongestLength') ?? false;
  if (typeof longest !== 'boolean') throw refuse(34463, `useLongestLength must be a bool, found ${nameOf(longest)}`);
  return longest;
}

function compileZip(argument: Value, compiler: Compiler, name: string): Expression {
  const found = namedArguments(argument, name, zipArguments);
  const inputs = zipList(found.get('inputs'), 34461, 'inputs', compiler);
  const defaults = zipList(found.get('defaults'), 34462, 'defaults', compiler);
  const longest = zipLongest(found);
  if (inputs.length === 0) throw refuse(34465, '$zip requires at least one input array');
  if (defaults.length > 0 && !longest) throw refuse(34466, 'cannot specify defaults unless useLongestLength is true');
  if (defaults.length > 0 && defaults.length !== inputs.length) throw refuse(34467, 'defaults and inputs must have the same length');
  return compiler.fold(name, [...inputs, ...defaults], (root) => {
    const arrays: (readonly Value[])[] = [];
    for (const input of inputs) {
      const array = input.evaluate(root);
      if (isNullish(array)) return null;
      if (!(array instanceof BsonArray)) throw refuse(34468, `$zip found a non-array expression in input: ${describeMaybe(array)}`);
      arrays.push(array.items());
    }
    const fill = inputs.map((_, index) => defaults[index]?.evaluate(root) ?? null);
    const lengths = arrays.map((items) => items.length);
    const length = longest ? Math.max(...lengths) : Math.min(...lengths);
    const leading = must(arrays.find((items) => items.length === length), 'one of the arrays is as long as the result');
    const rows = overItems(leading, (): Value[] => [], (made, _item, row) => {
      made.push(BsonArray.of(arrays.map((items, column) => items[row] ?? fill[column] ?? null)));
    });
    return BsonArray.of(rows);
  });
}

function pairOf(item: BsonArray): readonly [string, Value] {
  const [key, value] = item.items();
  if (item.length !== 2) throw refuse(40397, `$arrayToObject requires an array of size 2 arrays,found array of size: ${item.length}`);
  if (typeof key !== 'string') {
    throw refuse(40395, `$arrayToObject requires an array of key-value pairs, where the key must be of type string. Found key type: ${nameOf(key)}`);
  }
  if (key.includes('\0')) throw refuse(4940400, 'Key field cannot contain an embedded null byte');
  return [key, value ?? null];
}

function fieldOf(item: Document): readonly [string, Value] {
  const fields = item.fields;
  if (fields.length !== 2) {
    throw refuse(40392, `$arrayToObject requires an object keys of 'k' and 'v'. Found incorrect number of keys:${fields.length}`);
  }
  const key = item.get('k');
  const value = item.get('v');
  if (key === undefined || value === undefined) {
    throw refuse(40393, `$arrayToObject requires an object with keys 'k' and 'v'. Missing either or both keys from: ${describeMaybe(item)}`);
  }
  if (typeof key !== 'string') {
    throw refuse(40394, `$arrayToObject requires an object with keys 'k' and 'v', where the value of 'k' must be of type string. Found type: ${nameOf(key)}`);
  }
  if (key.includes('\0')) throw refuse(4940401, 'Key field cannot contain an embedded null byte');
  return [key, value];
}

function entryOf(item: Value, arrays: boolean): readonly [string, Value] {
  const mixed = 'requires a consistent input format. Elements must all be arrays or all be objects.';
  if (item instanceof BsonArray) {
    if (arrays) return pairOf(item);
    throw refuse(40391, `$arrayToObject ${mixed} Object was detected, now found: ${nameOf(item)}`);
  }
  if (item instanceof Document && !arrays) return fieldOf(item);
  if (arrays) throw refuse(40396, `$arrayToObject ${mixed} Array was detected, now found: ${nameOf(item)}`);
  throw refuse(40391, `$arrayToObject ${mixed} Object was detected, now found: ${nameOf(item)}`);
}

function arrayToObject(array: Maybe): Maybe {
  if (isNullish(array)) return null;
  if (!(array instanceof BsonArray)) throw refuse(40386, `$arrayToObject requires an array input, found: ${nameOf(array)}`);
  const first = array.at(0);
  if (first === undefined) return Document.empty;
  if (!(first instanceof BsonArray) && !(first instanceof Document)) {
    throw refuse(40398, `Unrecognised input type format for $arrayToObject: ${nameOf(first)}`);
  }
  const entries = overElements(array, () => new Map<string, Value>(), (made, item) => {
    made.set(...entryOf(item, first instanceof BsonArray));
  });
  return Document.fromEntries(entries);
}

function objectToArray(object: Maybe): Maybe {
  if (isNullish(object)) return null;
  if (!(object instanceof Document)) throw refuse(40390, `$objectToArray requires a document input, found: ${nameOf(object)}`);
  return atOneGo(object.fields.length, () => BsonArray.of(object.fields.map(([k, v]) => Document.fromEntries([['k', k], ['v', v]]))));
}

/** The operators, by name. */
export const arrayLoopOperators: OperatorTable = {
  $map: compileMap,
  $filter: compileFilter,
  $reduce: compileReduce,
  $zip: compileZip,
  $arrayToObject: unary(arrayToObject),
  $objectToArray: unary(objectToArray),
};
