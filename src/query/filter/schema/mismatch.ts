// Why a value does not satisfy a `$jsonSchema`, keyword by keyword, in the shape of `errInfo.details` of error 121. Made only when a document
// was refused, so it compiles what it asks again, one keyword at a time. Follows the manual's page "Schema Validation".

import { BsonArray, Document, equalValues, typeNameOf, typeOf } from '../../../bson/index.ts';
import type { Value } from '../../../bson/index.ts';
import { compilePattern } from '../../regex.ts';
import { compileSchema } from './schema.ts';

type Fields = (readonly [string, Value])[];

/** Keywords that only mean something beside others. */
const companions: Readonly<Partial<Record<string, readonly string[]>>> = {
  minimum: ['exclusiveMinimum'],
  maximum: ['exclusiveMaximum'],
  additionalProperties: ['properties', 'patternProperties'],
  additionalItems: ['items'],
};
const withoutOwn: ReadonlySet<string> = new Set(['exclusiveMinimum', 'exclusiveMaximum', 'title', 'description']);

function satisfies(schema: Document, value: Value): boolean {
  const { bytes, start } = Document.of({ v: value }).raw;
  const test = compileSchema(schema);
  // The one element of a document: length, type byte, name `v` and its end.
  return test(bytes, bytes[start + 4] as number, start + 7);
}

/** The schema of one keyword with what it needs beside it. */
function alone(schema: Document, keyword: string): Document {
  const beside = companions[keyword] ?? [];
  return Document.fromEntries(schema.fields.filter(([name]) => name === keyword || beside.includes(name)).map(([name, operand]) => [name, withoutRules(name, keyword, operand)]));
}

/** Beside `additionalProperties` only the names of the others count, not their schemas. */
function withoutRules(name: string, keyword: string, operand: Value): Value {
  if (keyword !== 'additionalProperties' || name === keyword || !(operand instanceof Document)) return operand;
  return Document.fromEntries(operand.keys().map((property) => [property, Document.empty]));
}

/** One entry for each keyword that the value fails. */
export function schemaRulesNotSatisfied(schema: Document, value: Value): Document[] {
  const found: Document[] = [];
  for (const [keyword, operand] of schema.fields) {
    if (withoutOwn.has(keyword) || satisfies(alone(schema, keyword), value)) continue;
    const describe = containers.get(keyword);
    const fields = describe === undefined ? scalarFailure(schema, keyword, value) : describe(operand, value, schema);
    found.push(Document.fromEntries([['operatorName', keyword], ...fields]));
  }
  return found;
}

/** What the schema says of itself. */
export function annotations(schema: Document): Fields {
  return schema.fields.filter(([name]) => name === 'title' || name === 'description');
}

const reasons: ReadonlyMap<string, string> = new Map([
  ['bsonType', 'type did not match'],
  ['type', 'type did not match'],
  ['minimum', 'comparison failed'],
  ['maximum', 'comparison failed'],
  ['minLength', 'specified string length was not satisfied'],
  ['maxLength', 'specified string length was not satisfied'],
  ['pattern', 'regular expression did not match'],
  ['enum', 'value was not found in enum'],
  ['minItems', 'array did not match specified length'],
  ['maxItems', 'array did not match specified length'],
  ['multipleOf', 'considered value is not a multiple of the specified value'],
  ['minProperties', 'specified number of properties was not satisfied'],
  ['maxProperties', 'specified number of properties was not satisfied'],
]);

function scalarFailure(schema: Document, keyword: string, value: Value): Fields {
  const fields: [string, Value][] = [
    ['specifiedAs', alone(schema, keyword)],
    ['reason', reasons.get(keyword) ?? 'the keyword was not satisfied'],
  ];
  if (keyword === 'minProperties' || keyword === 'maxProperties') fields.push(['numberOfProperties', value instanceof Document ? value.fields.length : 0]);
  else fields.push(['consideredValue', value]);
  if (keyword === 'bsonType' || keyword === 'type') fields.push(['consideredType', typeNameOf(typeOf(value)) ?? 'unknown']);
  return fields;
}

type Describe = (operand: Value, value: Value, schema: Document) => Fields;

function failingProperties(rules: Document, value: Value, namesOf: (rule: string, document: Document) => readonly string[]): Document[] {
  if (!(value instanceof Document)) return [];
  const found: Document[] = [];
  for (const [rule, schema] of rules.fields) {
    if (!(schema instanceof Document)) continue;
    for (const name of namesOf(rule, value)) {
      const inner = value.get(name);
      if (inner === undefined || satisfies(schema, inner)) continue;
      const fields: Fields = [['propertyName', name], ...annotations(schema), ['details', BsonArray.of(schemaRulesNotSatisfied(schema, inner))]];
      found.push(Document.fromEntries(fields));
    }
  }
  return found;
}

const properties: Describe = (operand, value) => {
  const rules = operand instanceof Document ? operand : Document.empty;
  return [['propertiesNotSatisfied', BsonArray.of(failingProperties(rules, value, (name) => [name]))]];
};

const patternProperties: Describe = (operand, value) => {
  const rules = operand instanceof Document ? operand : Document.empty;
  const namesOf = (rule: string, document: Document): readonly string[] => {
    const pattern = compilePattern(rule, '');
    return document.keys().filter((name) => pattern.test(name));
  };
  return [['details', BsonArray.of(failingProperties(rules, value, namesOf))]];
};

const additionalProperties: Describe = (_operand, value, schema) => {
  const named = schema.get('properties');
  const patterns = schema.get('patternProperties');
  const known = new Set(named instanceof Document ? named.keys() : []);
  const matched = (patterns instanceof Document ? patterns.keys() : []).map((pattern) => compilePattern(pattern, ''));
  const extra = value instanceof Document ? value.keys().filter((name) => !known.has(name) && !matched.some((pattern) => pattern.test(name))) : [];
  return [
    ['specifiedAs', Document.of({ additionalProperties: schema.get('additionalProperties') })],
    ['additionalProperties', BsonArray.of(extra)],
  ];
};

const required: Describe = (operand, value) => {
  const names = operand instanceof BsonArray ? operand.items() : [];
  const missing = names.filter((name) => typeof name === 'string' && value instanceof Document && !value.has(name));
  return [
    ['specifiedAs', Document.of({ required: operand })],
    ['missingProperties', BsonArray.of(missing)],
  ];
};

const items: Describe = (operand, value) => {
  const elements = value instanceof BsonArray ? value.items() : [];
  const schemaAt = (index: number): Value | undefined => (operand instanceof BsonArray ? operand.at(index) : operand);
  const index = elements.findIndex((element, at) => {
    const schema = schemaAt(at);
    return schema instanceof Document && !satisfies(schema, element);
  });
  const schema = schemaAt(index);
  const details = schema instanceof Document ? schemaRulesNotSatisfied(schema, elements[index] ?? null) : [];
  return [
    ['reason', 'At least one item did not match the sub-schema'],
    ['itemIndex', index],
    ['details', BsonArray.of(details)],
  ];
};

const uniqueItems: Describe = (operand, value) => {
  const elements = value instanceof BsonArray ? value.items() : [];
  const duplicate = elements.find((element, index) => elements.findIndex((other) => equalValues(other, element)) < index);
  return [
    ['specifiedAs', Document.of({ uniqueItems: operand })],
    ['reason', 'found a duplicate item'],
    ['consideredValue', value],
    ['duplicatedValue', duplicate ?? null],
  ];
};

function branches(operand: Value): { readonly index: number; readonly schema: Document }[] {
  const schemas = operand instanceof BsonArray ? operand.items() : [];
  return schemas.flatMap((schema, index) => (schema instanceof Document ? [{ index, schema }] : []));
}

const combined: Describe = (operand, value) => {
  const failing = branches(operand).filter(({ schema }) => !satisfies(schema, value));
  const details = failing.map(({ index, schema }) => Document.of({ index, details: BsonArray.of(schemaRulesNotSatisfied(schema, value)) }));
  return [['schemasNotSatisfied', BsonArray.of(details)]];
};

const oneOf: Describe = (operand, value, schema) => {
  const matching = branches(operand).filter((branch) => satisfies(branch.schema, value));
  if (matching.length === 0) return combined(operand, value, schema);
  return [
    ['specifiedAs', Document.of({ oneOf: operand })],
    ['reason', 'more than one subschema matched'],
    ['matchingSchemaIndexes', BsonArray.of(matching.map(({ index }) => index))],
  ];
};

const not: Describe = (operand, value) => [
  ['specifiedAs', Document.of({ not: operand })],
  ['reason', 'child expression matched'],
  ['consideredValue', value],
];

const dependencies: Describe = (operand, value) => {
  const failing: Document[] = [];
  for (const [name, rule] of operand instanceof Document ? operand.fields : []) {
    if (!(value instanceof Document) || !value.has(name)) continue;
    const missing = rule instanceof BsonArray ? rule.items().filter((other) => typeof other === 'string' && !value.has(other)) : [];
    if (missing.length > 0) failing.push(Document.of({ conditionalProperty: name, missingProperties: BsonArray.of(missing) }));
    else if (rule instanceof Document && !satisfies(rule, value)) {
      failing.push(Document.of({ conditionalProperty: name, details: BsonArray.of(schemaRulesNotSatisfied(rule, value)) }));
    }
  }
  return [['failingDependencies', BsonArray.of(failing)]];
};

const containers: ReadonlyMap<string, Describe> = new Map([
  ['properties', properties],
  ['patternProperties', patternProperties],
  ['additionalProperties', additionalProperties],
  ['required', required],
  ['items', items],
  ['uniqueItems', uniqueItems],
  ['allOf', combined],
  ['anyOf', combined],
  ['oneOf', oneOf],
  ['not', not],
  ['dependencies', dependencies],
]);
