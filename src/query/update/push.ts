// `$push` with its modifiers `$each`, `$position`, `$sort` and `$slice`. Follows the manual's page "$push"; the texts of refusals are
// MongoDB's.

import { compareBytes } from '../../base/bytes.ts';
import { atOneGo, mappedItems } from '../../base/long-lists.ts';
import { sortedOf } from '../../base/long-sort.ts';
import { BsonArray, comparerOf, Document, isNumber, parsePath, typeNameOf, wholeNumber } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import type { Collation } from '../../collation/index.ts';
import { nameOf } from '../expression/define.ts';
import { refuse } from '../refuse.ts';
import { sortKeyOf } from '../sort.ts';
import type { SortPart } from '../sort.ts';
import { appendToArray } from './array-operators.ts';
import { keep } from './operation.ts';
import type { OperationParser, Outcome } from './operation.ts';
import type { RawValue } from './raw-value.ts';

/** Puts values in order, or leaves them so. */
type Sorter = (values: readonly Value[]) => readonly Value[];

/** So many bytes are decoded in about the time of one step of a loop. */
const BYTES_PER_STEP = 64;

interface Modifiers {
  readonly collation: Collation | undefined;
  values: readonly Value[];
  position: number | undefined;
  slice: number | undefined;
  sort: Sorter | undefined;
}

/** `$push`. */
export const parsePush: OperationParser = (operand, _path, collation) => {
  const modifiers: Modifiers = { collation, values: [operand], position: undefined, slice: undefined, sort: undefined };
  if (operand instanceof Document && operand.has('$each')) {
    for (const [name, value] of operand.fields) {
      const rule = clauses.get(name);
      if (rule === undefined) throw refuse(2, `Unrecognized clause in $push: ${name}`);
      rule(value, modifiers);
    }
  }
  return {
    existing: (current, scope, name) => pushTo(current, modifiers, () => refuseNoArray(current, name, scope.idText)),
    missing: () => BsonArray.of(arrange([], modifiers)),
  };
};

function refuseNoArray(current: RawValue, name: string, idText: string): never {
  const type = typeNameOf(current.type) ?? 'minKey';
  throw refuse(2, `The field '${name}' must be an array but is of type ${type} in document {${idText}}`);
}

function pushTo(current: RawValue, modifiers: Modifiers, refuseType: () => never): Outcome {
  if (!current.isArray) return refuseType();
  const { values, position, slice, sort } = modifiers;
  const appends = position === undefined && slice === undefined && sort === undefined;
  if (appends) return values.length === 0 ? keep : appendToArray(current, values);
  const { bytes, start, end } = current;
  const before = atOneGo((end - start) / BYTES_PER_STEP, () => BsonArray.fromBytes(bytes, start).items());
  return BsonArray.of(arrange(before, modifiers));
}

/** The elements after pushing: put in, then sorted, then cut. */
function arrange(before: readonly Value[], { values, position, slice, sort }: Modifiers): readonly Value[] {
  const length = before.length;
  let at = length;
  if (position !== undefined) at = position < 0 ? Math.max(length + position, 0) : Math.min(position, length);
  let all: readonly Value[] = before.slice(0, at).concat(values, before.slice(at));
  if (sort !== undefined) all = sort(all);
  if (slice === undefined) return all;
  return slice >= 0 ? all.slice(0, slice) : all.slice(slice);
}

/** A whole number within what an array's index can be; undefined if it is none. */
function integerClause(value: Value): number | undefined {
  const whole = isNumber(value) ? wholeNumber(value) : undefined;
  if (whole === undefined) return undefined;
  const bound = 0x7fffffffn;
  return Number(whole > bound ? bound : whole < -bound ? -bound : whole);
}

const clauses: ReadonlyMap<string, (value: Value, modifiers: Modifiers) => void> = new Map([
  [
    '$each',
    (value: Value, modifiers: Modifiers): void => {
      if (!(value instanceof BsonArray)) {
        throw refuse(2, `The argument to $each in $push must be an array but it was of type: ${nameOf(value)}`);
      }
      modifiers.values = value.items();
    },
  ],
  [
    '$position',
    (value: Value, modifiers: Modifiers): void => {
      const position = integerClause(value);
      if (position === undefined) {
        throw refuse(2, `The value for $position must be an integer value, not of type: ${nameOf(value)}`);
      }
      modifiers.position = position;
    },
  ],
  [
    '$slice',
    (value: Value, modifiers: Modifiers): void => {
      const slice = integerClause(value);
      if (slice === undefined) {
        throw refuse(2, `The value for $slice must be an integer value but was given type: ${nameOf(value)}`);
      }
      modifiers.slice = slice;
    },
  ],
  [
    '$sort',
    (value: Value, modifiers: Modifiers): void => {
      modifiers.sort = parseSortClause(value, modifiers.collation);
    },
  ],
]);

function parseSortClause(value: Value, collation: Collation | undefined): Sorter {
  if (isNumber(value)) {
    const direction = sortDirection(value);
    const compare = comparerOf(collation);
    return (values) => sortedOf(values, (a, b) => direction * compare(a, b));
  }
  if (!(value instanceof Document)) {
    throw refuse(2, 'The $sort is invalid: use 1/-1 to sort the whole element, or {field:1/-1} to sort embedded fields');
  }
  if (value.isEmpty) throw refuse(2, 'The $sort pattern is empty when it should be a set of fields.');
  const parts = value.fields.map(([name, direction]): SortPart => {
    if (name === '') throw refuse(2, 'The $sort field cannot be empty');
    if (name.split('.').includes('')) throw refuse(2, `The $sort field is a dotted field but has an empty part: ${name}`);
    return { path: parsePath(name), direction: sortDirection(direction) };
  });
  const key = sortKeyOf(parts, collation);
  return (values) => {
    const keyed = mappedItems(values, (each) => ({ each, key: key.keyOf(each instanceof Document ? each : Document.fromEntries([['', each]])) }));
    return mappedItems(sortedOf(keyed, (a, b) => compareBytes(a.key, b.key)), ({ each }) => each);
  };
}

function sortDirection(value: Value): 1 | -1 {
  const whole = isNumber(value) ? wholeNumber(value) : undefined;
  if (whole === 1n) return 1;
  if (whole === -1n) return -1;
  throw refuse(2, 'The $sort element value must be either 1 or -1');
}
