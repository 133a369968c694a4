// Keywords on types, numbers and strings, and those that join schemas. Follows the manual's page "$jsonSchema".

import { decodeUtf8 } from '../../../base/text.ts';
import { bsonType, decodeValue, describeValue, isNaNNumber, isNumber, isZero, modNumbers, readInt32, toDecimal, typeCodeOf } from '../../../bson/index.ts';
import type { NumberValue, Value } from '../../../bson/index.ts';
import { refuse } from '../../refuse.ts';
import { compilePattern } from '../../regex.ts';
import { compareTest } from '../compare-test.ts';
import type { CompareOperator } from '../node.ts';
import type { ElementTest } from '../path.ts';
import { readNumber } from '../read-number.ts';
import { typeTest } from '../value-test.ts';
import type { KeywordRule, KeywordTable, KeywordUse } from './keyword.ts';
import { arrayOperand, booleanOperand, countOperand, objectOperand, stringOperand } from './operand.ts';
import { equalUnordered } from './unordered.ts';

const numberCodes: readonly number[] = [1, 16, 18, 19];

/** The types of JSON, by the name that `type` knows. */
const jsonTypes: Readonly<Record<string, readonly number[]>> = {
  array: [4],
  boolean: [8],
  null: [10],
  number: numberCodes,
  object: [3],
  string: [2],
};

function typeCodes(keyword: string, name: Value): readonly number[] {
  if (typeof name !== 'string') throw refuse(14, `$jsonSchema keyword '${keyword}' array elements must be strings`);
  if (name === 'integer') throw refuse(9, `$jsonSchema type '${name}' is not currently supported.`);
  if (keyword === 'type') {
    const codes = Object.hasOwn(jsonTypes, name) ? jsonTypes[name] : undefined;
    if (codes === undefined) throw refuse(2, `Unknown type name alias: ${name}`);
    return codes;
  }
  if (name === 'number') return numberCodes;
  const code = typeCodeOf(name);
  if (code === undefined) throw refuse(2, `Unknown type name alias: ${name}`);
  return [code];
}

const typeKeyword: KeywordRule = ({ keyword, operand, schema }) => {
  if (schema.has('type') && schema.has('bsonType')) {
    throw refuse(9, "Cannot specify both $jsonSchema keywords 'type' and 'bsonType'");
  }
  if (typeof operand === 'string') return typeTest(new Set(typeCodes(keyword, operand)));
  if (typeof operand !== 'object' || operand === null || !('items' in operand)) {
    throw refuse(14, `$jsonSchema keyword '${keyword}' must be either a string or an array of strings`);
  }
  const names = arrayOperand(keyword, operand, 9);
  return typeTest(new Set(names.flatMap((name) => typeCodes(keyword, name))));
};

function numberOperand({ keyword, operand }: KeywordUse): NumberValue {
  if (!isNumber(operand)) throw refuse(14, `$jsonSchema keyword '${keyword}' must be a number`);
  return operand;
}

/** A bound of numbers; what is no number passes. */
function bound(exclusiveKeyword: string, inclusive: CompareOperator, exclusive: CompareOperator): KeywordRule {
  return (use) => {
    const limit = numberOperand(use);
    const strict = use.schema.get(exclusiveKeyword);
    const test = compareTest(strict === true ? exclusive : inclusive, limit);
    return (bytes, type, at) => !isNumberType(type) || test(bytes, type, at);
  };
}

function exclusive(partner: string): KeywordRule {
  return ({ keyword, operand, schema }) => {
    booleanOperand(keyword, operand);
    if (!schema.has(partner)) throw refuse(9, `$jsonSchema keyword '${partner}' must be a present if ${keyword} is present`);
    return undefined;
  };
}

function isNumberType(type: number): boolean {
  return type === bsonType.int || type === bsonType.double || type === bsonType.long || type === bsonType.decimal;
}

const multipleOf: KeywordRule = (use) => {
  const divisor = numberOperand(use);
  const positive = !isZero(divisor) && !isNaNNumber(divisor) && !describeValue(divisor).startsWith('-');
  if (!positive) throw refuse(9, `$jsonSchema keyword 'multipleOf' must have a positive value`);
  const decimal = toDecimal(divisor);
  return (bytes, type, at) => {
    const value = readNumber(bytes, type, at);
    return value === undefined || isZero(modNumbers(toDecimal(value), decimal));
  };
};

/** A test of strings; what is none passes. */
function ofStrings(test: (text: string) => boolean): ElementTest {
  return (bytes, type, at) => type !== bsonType.string || test(decodeUtf8(bytes, at + 4, at + 3 + readInt32(bytes, at)));
}

function codePoints(text: string): number {
  let count = 0;
  for (let i = 0; i < text.length; i++) if ((text.charCodeAt(i) & 0xfc00) !== 0xdc00) count++;
  return count;
}

const pattern: KeywordRule = ({ keyword, operand }) => ofStrings(compilePattern(stringOperand(keyword, operand), '').test);

const enumeration: KeywordRule = ({ keyword, operand }) => {
  const values = arrayOperand(keyword, operand, 9);
  values.forEach((value, index) => {
    if (values.slice(0, index).some((other) => equalUnordered(value, other))) {
      throw refuse(9, `$jsonSchema keyword 'enum' array cannot contain duplicate values.`);
    }
  });
  return (bytes, type, at) => {
    if (type === 0) return true;
    const value = decodeValue(bytes, type, at);
    return values.some((each) => equalUnordered(each, value));
  };
};

/** A keyword over several schemas: how many of them must hold. */
function several(accept: (held: number, all: number) => boolean): KeywordRule {
  return ({ keyword, operand, compile }) => {
    const tests = arrayOperand(keyword, operand, 2).map((schema) => compile(objectOperand(keyword, schema)));
    return (bytes, type, at) => accept(tests.filter((test) => test(bytes, type, at)).length, tests.length);
  };
}

const negation: KeywordRule = ({ keyword, operand, compile }) => {
  const test = compile(objectOperand(keyword, operand));
  return (bytes, type, at) => !test(bytes, type, at);
};

function remark({ keyword, operand }: KeywordUse): undefined {
  stringOperand(keyword, operand);
}

/** The keywords, by name. */
export const scalarKeywords: KeywordTable = {
  type: typeKeyword,
  bsonType: typeKeyword,
  enum: enumeration,
  minimum: bound('exclusiveMinimum', 'gte', 'gt'),
  maximum: bound('exclusiveMaximum', 'lte', 'lt'),
  exclusiveMinimum: exclusive('minimum'),
  exclusiveMaximum: exclusive('maximum'),
  multipleOf,
  minLength: ({ keyword, operand }) => {
    const least = countOperand(keyword, operand);
    return ofStrings((text) => codePoints(text) >= least);
  },
  maxLength: ({ keyword, operand }) => {
    const most = countOperand(keyword, operand);
    return ofStrings((text) => codePoints(text) <= most);
  },
  pattern,
  allOf: several((held, all) => held === all),
  anyOf: several((held) => held > 0),
  oneOf: several((held) => held === 1),
  not: negation,
  title: remark,
  description: remark,
};
