// The shape of a filter: what is asked of which path, values by their types. Conditions keep the order in which they are written; several of
// them are an `$and`, however that was said. Follows the manual's page "Query Shapes".

import { BsonArray, Document, isNumber, Regex, type Value } from '../../bson/index.ts';
import { isTruthy } from '../number-fields.ts';
import { expressionShape } from './expression-shape.ts';
import { placeholder, structureShape } from './placeholder.ts';

/** The shape of a filter. */
export function filterShape(filter: Document): Document {
  const clauses = filter.fields.flatMap(([name, value]) => (name.startsWith('$') ? wholeClause(name, value) : pathClauses(name, value)));
  const [only] = clauses;
  if (only === undefined || clauses.length === 1) return only ?? Document.empty;
  return clause('$and', BsonArray.of(clauses));
}

function clause(name: string, value: Value): Document {
  return Document.fromEntries([[name, value]]);
}

function withField(document: Document, name: string, value: Value): Document {
  return Document.fromEntries([...document.fields, [name, value]]);
}

type WholeRule = (value: Value) => Value;

const filtersIn: WholeRule = (value) => BsonArray.of((value instanceof BsonArray ? value.items() : []).map((item) => (item instanceof Document ? filterShape(item) : placeholder(item))));

const literalsIn: WholeRule = (value) =>
  value instanceof Document ? Document.fromEntries(value.fields.map(([name, inner]) => [name, placeholder(inner)])) : placeholder(value);

const WHOLE: ReadonlyMap<string, WholeRule> = new Map<string, WholeRule>([
  ['$and', filtersIn],
  ['$or', filtersIn],
  ['$nor', filtersIn],
  ['$expr', expressionShape],
  ['$jsonSchema', structureShape],
  ['$text', literalsIn],
]);

/** Operators that stand at the top of a filter. A comment is no part of a shape. */
function wholeClause(name: string, value: Value): Document[] {
  if (name === '$comment') return [];
  return [clause(name, (WHOLE.get(name) ?? placeholder)(value))];
}

function holdsOperators(value: Value): value is Document {
  const name = value instanceof Document ? value.first?.[0] : undefined;
  return name?.startsWith('$') === true && name !== '$ref' && name !== '$id' && name !== '$db';
}

function pathClauses(path: string, value: Value): Document[] {
  if (value instanceof Regex) return [clause(path, regexShape(value))];
  if (!holdsOperators(value)) return [clause(path, clause('$eq', placeholder(value)))];
  const options = value.get('$options');
  return value.fields.flatMap(([name, operand]) => {
    if (name === '$options' || name === '$comment') return [];
    if (name === '$all') return allClauses(path, operand);
    const shape = clause(name, operandShape(name, operand));
    return [clause(path, name === '$regex' && options !== undefined ? withField(shape, '$options', placeholder(options)) : shape)];
  });
}

function regexShape(regex: Regex): Document {
  const shape = clause('$regex', '?string');
  return regex.flags === '' ? shape : withField(shape, '$options', '?string');
}

/** `$all` asks for each of its elements. */
function allClauses(path: string, operand: Value): Document[] {
  const items = operand instanceof BsonArray ? operand.items() : [];
  return [clause('$and', BsonArray.of(items.flatMap((item) => pathClauses(path, item))))];
}

type OperandRule = (operand: Value) => Value;

const OPERANDS: ReadonlyMap<string, OperandRule> = new Map<string, OperandRule>([
  ['$exists', (operand) => (typeof operand === 'boolean' ? operand : isNumber(operand) ? isTruthy(operand) : operand !== null)],
  ['$type', (operand) => (operand instanceof BsonArray ? operand : BsonArray.of([operand]))],
  ['$mod', (operand) => (operand instanceof BsonArray ? BsonArray.of(operand.items().map(placeholder)) : placeholder(operand))],
  ['$not', (operand) => (operand instanceof Regex ? regexShape(operand) : operatorsShape(operand))],
  ['$elemMatch', (operand) => (holdsOperators(operand) && !WHOLE.has(operand.first?.[0] ?? '') ? operatorsShape(operand) : conditionShape(operand))],
]);

function operandShape(name: string, operand: Value): Value {
  return (OPERANDS.get(name) ?? placeholder)(operand);
}

function operatorsShape(value: Value): Value {
  if (!(value instanceof Document)) return placeholder(value);
  return Document.fromEntries(value.fields.map(([name, operand]) => [name, operandShape(name, operand)]));
}

function conditionShape(value: Value): Value {
  return value instanceof Document ? filterShape(value) : placeholder(value);
}
