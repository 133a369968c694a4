// Keywords on arrays and objects. Follows the manual's page "$jsonSchema".

import { BsonArray, bsonType, Document, FieldName, findField } from '../../../bson/index.ts';
import type { Value } from '../../../bson/index.ts';
import { refuse } from '../../refuse.ts';
import { compilePattern } from '../../regex.ts';
import type { ElementTest } from '../path.ts';
import { elementCount, everyElement } from './elements.ts';
import type { KeywordRule, KeywordTable, KeywordUse, SchemaCompiler } from './keyword.ts';
import { booleanOperand, countOperand, namesOperand, objectOperand } from './operand.ts';
import { equalUnordered } from './unordered.ts';

/** A test of the values of one type; others pass. */
function of(wanted: number, test: (bytes: Uint8Array, at: number) => boolean): ElementTest {
  return (bytes, type, at) => type !== wanted || test(bytes, at);
}

/** `true`, `false` or a schema. */
function booleanOrSchema({ keyword, operand, compile }: KeywordUse): ElementTest {
  if (typeof operand === 'boolean') return () => operand;
  if (!(operand instanceof Document)) throw refuse(14, `$jsonSchema keyword '${keyword}' must be either an object or a boolean`);
  return compile(operand);
}

const items: KeywordRule = ({ keyword, operand, compile }) => {
  if (operand instanceof BsonArray) {
    const tests = operand.items().map((schema) => compile(objectOperand(keyword, schema)));
    return of(bsonType.array, (bytes, start) => {
      let index = 0;
      return everyElement(bytes, start, (_name, type, at) => tests[index++]?.(bytes, type, at) ?? true);
    });
  }
  if (!(operand instanceof Document)) throw refuse(14, `$jsonSchema keyword 'items' must be an array or an object`);
  const test = compile(operand);
  return of(bsonType.array, (bytes, start) => everyElement(bytes, start, (_name, type, at) => test(bytes, type, at)));
};

/** Elements behind those that an array of `items` speaks of. */
const additionalItems: KeywordRule = (use) => {
  const test = booleanOrSchema(use);
  const known = use.schema.get('items');
  if (!(known instanceof BsonArray)) return undefined;
  const from = known.length;
  return of(bsonType.array, (bytes, start) => {
    let index = 0;
    return everyElement(bytes, start, (_name, type, at) => index++ < from || test(bytes, type, at));
  });
};

const uniqueItems: KeywordRule = ({ keyword, operand }) => {
  if (!booleanOperand(keyword, operand)) return undefined;
  return of(bsonType.array, (bytes, start) => {
    const values = BsonArray.fromBytes(bytes, start).items();
    return values.every((value, index) => !values.slice(0, index).some((other) => equalUnordered(value, other)));
  });
};

interface Property {
  readonly name: FieldName;
  readonly test: ElementTest;
}

const properties: KeywordRule = ({ keyword, operand, compile }) => {
  const known = objectOperand(keyword, operand).fields.map(([name, schema]): Property => {
    if (!(schema instanceof Document)) throw refuse(14, `Nested schema for $jsonSchema property '${name}' must be an object`);
    return { name: new FieldName(name), test: compile(schema) };
  });
  return of(bsonType.object, (bytes, start) =>
    known.every(({ name, test }) => {
      const element = findField(bytes, start, name);
      return element < 0 || test(bytes, bytes[element] ?? 0, element + name.bytes.length + 2);
    }),
  );
};

interface PatternProperty {
  readonly matches: (name: string) => boolean;
  readonly test: ElementTest;
}

function patternsOf(operand: Value, compile: SchemaCompiler): readonly PatternProperty[] {
  return objectOperand('patternProperties', operand).fields.map(([source, schema]): PatternProperty => {
    if (!(schema instanceof Document)) {
      throw refuse(14, `$jsonSchema keyword 'patternProperties' must be an object containing only schemas: '${source}'`);
    }
    return { matches: compileName(source), test: compile(schema) };
  });
}

function compileName(source: string): (name: string) => boolean {
  try {
    return compilePattern(source, '').test;
  } catch (error) {
    throw refuse(2, `Invalid regular expression in $jsonSchema keyword 'patternProperties': ${source}`, error);
  }
}

const patternProperties: KeywordRule = ({ operand, compile }) => {
  const patterns = patternsOf(operand, compile);
  return of(bsonType.object, (bytes, start) =>
    everyElement(bytes, start, (name, type, at) => patterns.every(({ matches, test }) => !matches(name) || test(bytes, type, at))),
  );
};

/** Fields that neither `properties` nor `patternProperties` speak of. */
const additionalProperties: KeywordRule = (use) => {
  const test = booleanOrSchema(use);
  const named = use.schema.get('properties');
  const known = new Set(named instanceof Document ? named.keys() : []);
  const patterns = use.schema.get('patternProperties');
  const matchers = patterns instanceof Document ? patterns.keys().map(compileName) : [];
  return of(bsonType.object, (bytes, start) =>
    everyElement(bytes, start, (name, type, at) => known.has(name) || matchers.some((matches) => matches(name)) || test(bytes, type, at)),
  );
};

function hasAll(names: readonly string[]): (bytes: Uint8Array, start: number) => boolean {
  const fields = names.map((name) => new FieldName(name));
  return (bytes, start) => fields.every((name) => findField(bytes, start, name) >= 0);
}

/** Fields that ask for others, or for a schema of the whole object. */
const dependencies: KeywordRule = ({ keyword, operand, compile }) => {
  const rules = objectOperand(keyword, operand).fields.map(([name, demand]) => {
    const field = new FieldName(name);
    if (demand instanceof Document) {
      const test = compile(demand);
      return { field, holds: (bytes: Uint8Array, start: number) => test(bytes, bsonType.object, start) };
    }
    if (!(demand instanceof BsonArray)) throw refuse(14, `$jsonSchema keyword 'dependencies' must hold objects or arrays: '${name}'`);
    return { field, holds: hasAll(namesOperand(keyword, demand)) };
  });
  return of(bsonType.object, (bytes, start) =>
    rules.every(({ field, holds }) => findField(bytes, start, field) < 0 || holds(bytes, start)),
  );
};

function counted(type: number, accept: (count: number, limit: number) => boolean): KeywordRule {
  return ({ keyword, operand }) => {
    const limit = countOperand(keyword, operand);
    return of(type, (bytes, start) => accept(elementCount(bytes, start), limit));
  };
}

/** The keywords, by name. */
export const containerKeywords: KeywordTable = {
  items,
  additionalItems,
  uniqueItems,
  minItems: counted(bsonType.array, (count, limit) => count >= limit),
  maxItems: counted(bsonType.array, (count, limit) => count <= limit),
  properties,
  patternProperties,
  additionalProperties,
  required: ({ keyword, operand }) => of(bsonType.object, hasAll(namesOperand(keyword, operand))),
  dependencies,
  minProperties: counted(bsonType.object, (count, limit) => count >= limit),
  maxProperties: counted(bsonType.object, (count, limit) => count <= limit),
};
