// Field paths as expressions read them: documents step by name, arrays map over their documents, anything else is missing. A number in a
// path is a field name here, never an index into an array (unlike in filters). Follows the manual's page "Field Paths".

import { atOneGo } from '../../base/long-lists.ts';
import { BsonArray, Document } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { refuse } from '../refuse.ts';

const PATH_COMPONENTS_MAX = 200;
/** The fields of a DBRef are the only ones with a dollar that a path may name, below the first. */
const REFERENCE_FIELDS: ReadonlySet<string> = new Set(['$ref', '$id', '$db']);

/** Refuses a name that cannot be one component of a path. */
export function validateFieldName(name: string): void {
  if (name === '') throw refuse(15998, 'FieldPath field names may not be empty strings.');
  if (name.startsWith('$')) {
    throw refuse(16410, `FieldPath field names may not start with '$'. Consider using $getField or $setField.`);
  }
  if (name.includes('\0')) throw refuse(16411, `FieldPath field names may not contain '\\0'.`);
  if (name.includes('.')) {
    throw refuse(16412, `FieldPath field names may not contain '.'. Consider using $getField or $setField.`);
  }
}

/** The components of a dotted path; refuses what is not one. */
export function splitPath(path: string): string[] {
  if (path === '') throw refuse(40352, 'FieldPath cannot be constructed with empty string');
  if (path.endsWith('.')) throw refuse(40353, `FieldPath must not end with a '.'.`);
  const components = path.split('.');
  if (components.length > PATH_COMPONENTS_MAX) throw refuse(15, 'FieldPath is too long');
  for (const component of components) if (!REFERENCE_FIELDS.has(component)) validateFieldName(component);
  return components;
}

/** A reader of the value at these components below a value. */
export function compilePathOf(components: readonly string[]): (value: Value | undefined) => Value | undefined {
  const [only, second] = components;
  const read = (value: Value | undefined): Value | undefined =>
    only !== undefined && second === undefined && value instanceof Document ? value.get(only) : readAt(value, components, 0);
  return (value) => {
    const bytes = value instanceof Document ? value.bytesToRead : 0;
    return bytes < LONG_BYTES ? read(value) : atOneGo(bytes / BYTES_PER_STEP, () => read(value));
  };
}

/** What was found in a longer document is kept for as long as the same work goes on. */
const LONG_BYTES = 32768;
/** So many bytes are looked through in about the time of one step of a loop. */
const BYTES_PER_STEP = 64;

function readAt(value: Value | undefined, components: readonly string[], index: number): Value | undefined {
  const name = components[index];
  if (name === undefined) return value;
  if (value instanceof Document) return readAt(value.get(name), components, index + 1);
  if (!(value instanceof BsonArray)) return undefined;
  const found: Value[] = [];
  for (const item of value.items()) {
    if (!(item instanceof Document)) continue;
    const inner = readAt(item, components, index);
    if (inner !== undefined) found.push(inner);
  }
  return BsonArray.of(found);
}

/** Refuses a name that cannot be a variable's: `write` where one is defined, `read` where one is used. */
export function validateVariableName(name: string, use: 'read' | 'write'): void {
  if (name === '') throw refuse(9, 'empty variable names are not allowed');
  if (use === 'write' && name === 'CURRENT') return;
  const kind = use === 'write' ? 'a user variable name' : 'a variable name';
  const first = use === 'write' ? /^[a-z\u0080-\u{10ffff}]/u : /^[A-Za-z\u0080-\u{10ffff}]/u;
  if (!first.test(name)) throw refuse(9, `'${name}' starts with an invalid character for ${kind}`);
  const wrong = /[^A-Za-z0-9_\u0080-\u{10ffff}]/u.exec(name)?.[0];
  if (wrong !== undefined) throw refuse(9, `'${name}' contains an invalid character for a variable name: '${wrong}'`);
}
