// `$rename`: the value under the old path is taken from the document as it was, set under the new one and unset under the old. Neither
// path may lead through an array. Follows the manual's page "$rename"; the texts of refusals are MongoDB's.

import { bsonType, describeField, elementValue, FieldName, findField, valueEnd } from '../../bson/index.ts';
import type { Document, Value } from '../../bson/index.ts';
import { refuse } from '../refuse.ts';
import { keep, remove } from './operation.ts';
import type { Operation } from './operation.ts';
import { parseUpdatePath } from './path.ts';
import type { UpdatePath } from './path.ts';
import { RawValue } from './raw-value.ts';

/** One renaming. */
export interface Renaming {
  readonly from: UpdatePath;
  readonly to: UpdatePath;
  /** What happens under the old path and under the new one. */
  readonly taking: Operation;
  readonly setting: Operation;
  /** The value to be moved, or undefined where there is none. `idText` is for texts. */
  readonly read: (doc: Document, idText: string) => RawValue | undefined;
}

/** Parses one field of `$rename`. */
export function parseRename(path: string, operand: Value): Renaming {
  if (typeof operand !== 'string') {
    throw refuse(2, `The 'to' field for $rename must be a string: ${describeField(path, operand)}`);
  }
  const from = parseUpdatePath(path);
  const to = parseUpdatePath(operand);
  const shown = describeField(path, operand);
  if (path === operand) throw refuse(2, `The source and target field for $rename must differ: ${shown}`);
  if (operand.startsWith(`${path}.`) || path.startsWith(`${operand}.`)) {
    throw refuse(2, `The source and target field for $rename must not be on the same path: ${shown}`);
  }
  refuseDynamic(from, 'source');
  refuseDynamic(to, 'destination');
  const fromNames = path.split('.').map((name) => new FieldName(name));
  const toNames = operand.split('.').map((name) => new FieldName(name));
  return {
    from,
    to,
    taking: {
      existing: (_current, scope) => (scope.moved.has(path) ? remove : keep),
      missing: () => keep,
      ignoresBlockedPath: () => true,
    },
    setting: {
      existing: (_current, scope) => scope.moved.get(path) ?? keep,
      missing: (scope) => scope.moved.get(path) ?? keep,
      ignoresBlockedPath: (scope) => !scope.moved.has(path),
    },
    read: (doc, idText) => {
      const value = follow(doc, fromNames, (array) => refuseArray('source', path, array, idText));
      if (value !== undefined) follow(doc, toNames, (array) => refuseArray('destination', operand, array, idText));
      return value;
    },
  };
}

function refuseDynamic(path: UpdatePath, role: string): void {
  if (path.parts.every((part) => part.kind === 'name')) return;
  throw refuse(2, `The ${role} field for $rename may not be dynamic: ${path.text}`);
}

function refuseArray(role: string, path: string, array: string, idText: string): never {
  throw refuse(
    2,
    `The ${role} field cannot be an array element, '${path}' in doc with ${idText} has an array field called '${array}'`,
  );
}

/** The value at the path, through documents only. */
function follow(doc: Document, names: readonly FieldName[], onArray: (name: string) => never): RawValue | undefined {
  const { bytes } = doc;
  let { start } = doc;
  for (const [index, name] of names.entries()) {
    const element = findField(bytes, start, name);
    if (element < 0) return undefined;
    const type = bytes[element] ?? 0;
    const value = elementValue(bytes, element);
    if (index === names.length - 1) return new RawValue(bytes, type, value, valueEnd(bytes, type, value));
    if (type === bsonType.array) return onArray(name.text);
    if (type !== bsonType.object) return undefined;
    start = value;
  }
  return undefined;
}
