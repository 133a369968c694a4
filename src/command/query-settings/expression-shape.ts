// The shape of an expression: operators, field paths and variables as they are, literals by their types. Follows the manual's page "Query
// Shapes".

import { BsonArray, Document, type Value } from '../../bson/index.ts';
import { placeholder } from './placeholder.ts';

/** Operators whose argument is a literal, whatever it looks like. */
const LITERALS: ReadonlySet<string> = new Set(['$literal', '$const']);

/** Names that an operator gives to something of its own. */
const NAMING: ReadonlySet<string> = new Set(['as']);

/** The shape of one expression. */
export function expressionShape(value: Value): Value {
  if (typeof value === 'string') return value.startsWith('$') ? value : placeholder(value);
  if (value instanceof BsonArray) return isConstant(value) ? placeholder(value) : elements(value);
  return value instanceof Document ? documentShape(value) : placeholder(value);
}

function documentShape(document: Document): Value {
  const fields = document.fields.map(([name, value]): [string, Value] => {
    if (LITERALS.has(name)) return [name, placeholder(value)];
    if (NAMING.has(name) && typeof value === 'string') return [name, value];
    // The operands of an operator are many expressions, not one array.
    if (name.startsWith('$') && value instanceof BsonArray) return [name, elements(value)];
    return [name, expressionShape(value)];
  });
  return Document.fromEntries(fields);
}

function elements(array: BsonArray): BsonArray {
  return BsonArray.of(array.items().map(expressionShape));
}

function isConstant(value: Value): boolean {
  if (typeof value === 'string') return !value.startsWith('$');
  if (value instanceof BsonArray) return value.items().every(isConstant);
  return !(value instanceof Document) || value.fields.every(([name, inner]) => !name.startsWith('$') && isConstant(inner));
}

/** The shape of a document of expressions by name (`let`, `$addFields`). */
export function expressionsShape(value: Value): Value {
  if (!(value instanceof Document)) return expressionShape(value);
  return Document.fromEntries(value.fields.map(([name, inner]) => [name, expressionShape(inner)]));
}
