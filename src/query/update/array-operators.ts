// Update operators of arrays but `$push`: `$addToSet`, `$pop`, `$pull` and `$pullAll`. Follows the manual's section "Array Update
// Operators"; the texts of refusals are MongoDB's.

import { must } from '../../base/assert.ts';
import { overItems } from '../../base/long-lists.ts';
import { looped } from '../../base/long-work.ts';
import {
  BsonArray,
  bsonType,
  BsonWriter,
  comparerOf,
  describeField,
  describeValue,
  Document,
  elementValue,
  firstElement,
  isNumber,
  item,
  Regex,
  typeNameOf,
  valueEnd,
  wholeNumber,
} from '../../bson/index.ts';
import type { TextOrder, Value } from '../../bson/index.ts';
import { nameOf } from '../expression/define.ts';
import { compileElementTest } from '../filter/compile.ts';
import { compileFilter } from '../filter/filter.ts';
import type { QueryOptions } from '../filter/filter.ts';
import { anyOfTest, compareTest } from '../filter/compare-test.ts';
import { integerFault } from '../filter/operand.ts';
import { isCondition, parseCondition } from '../filter/parse.ts';
import type { ElementTest } from '../filter/path.ts';
import { refuse } from '../refuse.ts';
import { wrapValue } from './array-filter.ts';
import { keep } from './operation.ts';
import type { OperationParser } from './operation.ts';
import { RawValue } from './raw-value.ts';

interface Filtered {
  readonly writer: BsonWriter;
  kept: number;
  dropped: boolean;
}

/** The array with those elements only that pass; the same one if all do. */
function filterArray(current: RawValue, passes: (element: RawValue) => boolean): RawValue {
  const { bytes, start, end } = current;
  const begin = (): Filtered => ({ writer: new BsonWriter(end - start + 8).startArray(''), kept: 0, dropped: false });
  const filter = (state: Filtered, type: number, value: number, element: number): false => {
    const next = valueEnd(bytes, type, value);
    if (!passes(new RawValue(bytes, type, value, next))) {
      // Up to here the elements keep their names.
      if (!state.dropped) state.writer.copyElements(bytes, start + 4, element);
      state.dropped = true;
    } else {
      if (state.dropped) state.writer.writeRange(item(state.kept), type, bytes, value, next);
      state.kept++;
    }
    return false;
  };
  const filtered = end - start < LONG_BYTES ? walked(current, begin(), filter) : walkedInParts(current, begin, filter);
  if (!filtered.dropped) return current;
  const whole = filtered.writer.end().finish();
  return new RawValue(whole, bsonType.array, 6, whole.length - 1);
}

/** Arrays of fewer bytes are changed in one go. */
const LONG_BYTES = 16384;

type Step = (state: Filtered, type: number, value: number, element: number) => false;

function walked({ bytes, start }: RawValue, state: Filtered, step: Step): Filtered {
  for (let at = start + 4; bytes[at] !== 0; ) {
    const type = bytes[at] as number;
    const value = elementValue(bytes, at);
    step(state, type, value, at);
    at = valueEnd(bytes, type, value);
  }
  return state;
}

/** What was filtered is kept where a long array is left for a while. */
function walkedInParts({ bytes, start }: RawValue, begin: () => Filtered, step: Step): Filtered {
  const whole = looped(begin, (state) => {
    firstElement(bytes, start, (_bytes, type, value, { element }) => step(state, type, value, element));
    return true;
  });
  return must(whole, 'a walk is begun');
}

/** Appends values to an array without decoding it; its raw bytes. */
export function appendToArray(current: RawValue, values: readonly Value[]): RawValue {
  const writer = new BsonWriter(current.end - current.start + 64).startArray('');
  let length = 0;
  let at = current.start + 4;
  const { bytes } = current;
  for (;;) {
    const type = bytes[at] as number;
    if (type === 0) break;
    at = valueEnd(bytes, type, elementValue(bytes, at));
    length++;
  }
  writer.copyElements(bytes, current.start + 4, at);
  for (const value of values) writer.writeElement(item(length++), value);
  const whole = writer.end().finish();
  return new RawValue(whole, bsonType.array, 6, whole.length - 1);
}

function refuseEach(operator: string, type: Value): never {
  throw refuse(14, `The argument to $each in ${operator} must be an array but it was of type ${nameOf(type)}`);
}

/** `$addToSet`. */
export const parseAddToSet: OperationParser = (operand, _path, collation) => {
  let given: readonly Value[] = [operand];
  if (operand instanceof Document && operand.first?.[0] === '$each') {
    const each = operand.first[1];
    if (!(each instanceof BsonArray)) return refuseEach('$addToSet', each);
    if (operand.fields.length > 1) {
      throw refuse(2, `Found unexpected fields after $each in $addToSet: ${describeValue(operand)}`);
    }
    given = each.items();
  }
  const fresh = distinct(given, collation).map((value) => ({ value, test: compareTest('eq', value, collation) }));
  return {
    existing: (current, _scope, name) => {
      if (!current.isArray) {
        const type = typeNameOf(current.type) ?? 'minKey';
        throw refuse(2, `Cannot apply $addToSet to non-array field. Field named '${name}' has non-array type ${type}`);
      }
      const added = overItems(fresh, (): Value[] => [], (values, { value, test }) => {
        if (!holds(current, test)) values.push(value);
      });
      return added.length === 0 ? keep : appendToArray(current, added);
    },
    missing: () => BsonArray.of(fresh.map(({ value }) => value)),
  };
};

/** The values, each once. */
function distinct(values: readonly Value[], order: TextOrder | undefined): Value[] {
  const compare = comparerOf(order);
  return values.filter((value, index) => !values.slice(0, index).some((other) => compare(other, value) === 0));
}

/** Whether an element of a raw array passes. */
function holds({ bytes, start }: RawValue, test: ElementTest): boolean {
  return firstElement(bytes, start, test) >= 0;
}

/** `$pop`. */
export const parsePop: OperationParser = (operand, path) => {
  const shown = describeField(path, operand);
  const fault = integerFault(operand);
  if (fault !== undefined) throw refuse(9, `${fault}: ${shown}`);
  const direction = isNumber(operand) ? wholeNumber(operand) : undefined;
  if (direction !== 1n && direction !== -1n) throw refuse(9, `$pop expects 1 or -1, found: ${describeValue(operand)}`);
  return {
    existing: (current) => {
      if (!current.isArray) {
        const type = typeNameOf(current.type) ?? 'minKey';
        throw refuse(14, `Path '${path}' contains an element of non-array type '${type}'`);
      }
      const length = BsonArray.fromBytes(current.bytes, current.start).length;
      if (length === 0) return keep;
      const dropped = direction === 1n ? length - 1 : 0;
      let index = 0;
      return filterArray(current, () => index++ !== dropped);
    },
    missing: () => keep,
  };
};

const EMPTY_NAME = new Uint8Array(0);

/** `$pull`: a value, a condition on elements, or a filter of elements that are documents. */
export function pullParser(options: QueryOptions): OperationParser {
  return (operand) => cullingOperation(pullTest(operand, options));
}

function pullTest(operand: Value, options: QueryOptions): (element: RawValue) => boolean {
  if (operand instanceof Regex || isCondition(operand)) {
    const condition = operand instanceof Regex ? Document.of({ $regex: operand }) : operand;
    const test = compileElementTest(parseCondition(condition, options));
    const filter = compileFilter(Document.fromEntries([['', operand]]), options, 'elemMatch');
    // An element that is an array also counts by its own elements, as a field's value would.
    return (element) =>
      element.isArray ? filter.matchesRaw(wrapValue(EMPTY_NAME, element), 0) : test(element.bytes, element.type, element.start);
  }
  if (operand instanceof Document) {
    const filter = compileFilter(operand, options, 'elemMatch');
    return (element) => element.type === bsonType.object && filter.matchesRaw(element.bytes, element.start);
  }
  return equalityTest(compareTest('eq', operand, options.collation));
}

function equalityTest(test: ElementTest): (element: RawValue) => boolean {
  return ({ bytes, type, start }) => test(bytes, type, start);
}

/** `$pullAll`: values. */
export const parsePullAll: OperationParser = (operand, _path, collation) => {
  if (!(operand instanceof BsonArray)) {
    throw refuse(2, `$pullAll requires an array argument but was given a ${nameOf(operand)}`);
  }
  return cullingOperation(equalityTest(anyOfTest(operand.items(), collation)));
};

function cullingOperation(isPulled: (element: RawValue) => boolean): ReturnType<OperationParser> {
  return {
    existing: (current) => {
      if (!current.isArray) throw refuse(2, 'Cannot apply $pull to a non-array value');
      return filterArray(current, (element) => !isPulled(element));
    },
    missing: () => keep,
  };
}
