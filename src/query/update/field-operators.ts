// Update operators of single fields: `$set`, `$setOnInsert`, `$unset`, `$inc`, `$mul`, `$min`, `$max`, `$bit` and `$currentDate`. Follows
// the manual's section "Field Update Operators"; the texts of refusals are MongoDB's.

import { addChecked, comparerOf, Decimal128, describeField, describeValue, Document, Double, equalValues, isNumber, multiplyChecked, typeOf } from '../../bson/index.ts';
import type { NumberValue, Value } from '../../bson/index.ts';
import { nameOf } from '../expression/define.ts';
import { refuse } from '../refuse.ts';
import { keep, remove } from './operation.ts';
import type { Operation, OperationParser, OperationScope } from './operation.ts';
import { encodeValue } from './raw-value.ts';

/** `$set`. */
export const parseSet: OperationParser = (operand) => {
  const value = encodeValue(operand);
  return { existing: () => value, missing: () => value };
};

/** `$setOnInsert`: as `$set`, but only for a document that is about to be inserted. */
export const parseSetOnInsert: OperationParser = (operand) => {
  const value = encodeValue(operand);
  return {
    existing: (_current, scope) => (scope.inserting ? value : keep),
    missing: (scope) => (scope.inserting ? value : keep),
    ignoresBlockedPath: (scope) => !scope.inserting,
  };
};

/** `$unset`. */
export const parseUnset: OperationParser = () => ({
  existing: () => remove,
  missing: () => keep,
  ignoresBlockedPath: () => true,
});

interface ArithmeticRule {
  readonly name: string;
  readonly verb: string;
  readonly reckon: (current: NumberValue, operand: NumberValue) => NumberValue | undefined;
  readonly fresh: (operand: NumberValue) => NumberValue;
}

function arithmetic(rule: ArithmeticRule): OperationParser {
  return (operand, path) => {
    if (!isNumber(operand)) {
      throw refuse(14, `Cannot ${rule.verb} with non-numeric argument: {${describeField(path, operand)}}`);
    }
    return {
      existing: (current, scope, name) => {
        const value = current.decode();
        if (!isNumber(value)) refuseType(rule.name, 'numeric', value, { scope, name });
        const result = rule.reckon(value, operand);
        // -0.0 + 0.0 is another zero, but no change.
        if (result !== undefined && typeOf(result) === typeOf(value) && equalValues(result, value)) return keep;
        if (result === undefined) {
          const shown = `(${nameOf(value) === 'int' ? 'NumberInt' : 'NumberLong'})${describeValue(value)}`;
          throw refuse(
            2,
            `Failed to apply ${rule.name} operations to current value (${shown}) for document {${scope.idText}}`,
          );
        }
        return result;
      },
      missing: () => rule.fresh(operand),
    };
  };
}

function refuseType(operator: string, wanted: string, value: Value, where: { scope: OperationScope; name: string }): never {
  const text =
    operator === '$bit'
      ? `Cannot apply $bit to a value of non-integral type.{${where.scope.idText}} has the field ${where.name} of non-integer type`
      : `Cannot apply ${operator} to a value of non-${wanted} type. {${where.scope.idText}} has the field '${where.name}' of non-${wanted} type`;
  throw refuse(operator === '$bit' ? 2 : 14, `${text} ${nameOf(value)}`);
}

/** Zero of the number's type. */
function zeroLike(value: NumberValue): NumberValue {
  if (typeof value === 'number') return 0;
  if (typeof value === 'bigint') return 0n;
  return value instanceof Double ? new Double(0) : Decimal128.fromBigInt(0n);
}

/** `$inc`. */
export const parseInc: OperationParser = arithmetic({
  name: '$inc',
  verb: 'increment',
  reckon: addChecked,
  fresh: (operand) => operand,
});

/** `$mul`. */
export const parseMul: OperationParser = arithmetic({
  name: '$mul',
  verb: 'multiply',
  reckon: multiplyChecked,
  fresh: zeroLike,
});

function extreme(isBetter: (sign: number) => boolean): OperationParser {
  return (operand, _path, collation) => {
    const value = encodeValue(operand);
    const compare = comparerOf(collation);
    return {
      existing: (current) => (isBetter(compare(operand, current.decode())) ? value : keep),
      missing: () => value,
    };
  };
}

/** `$min`. */
export const parseMin: OperationParser = extreme((sign) => sign < 0);
/** `$max`. */
export const parseMax: OperationParser = extreme((sign) => sign > 0);

type Integer = number | bigint;

const bitRules: Readonly<Record<string, (a: bigint, b: bigint) => bigint>> = {
  and: (a, b) => a & b,
  or: (a, b) => a | b,
  xor: (a, b) => a ^ b,
};

interface BitStep {
  readonly rule: (a: bigint, b: bigint) => bigint;
  readonly operand: Integer;
}

function isInteger(value: Value): value is Integer {
  return typeof value === 'number' || typeof value === 'bigint';
}

function applyBits(start: Integer, steps: readonly BitStep[]): Integer {
  let value = start;
  for (const { rule, operand } of steps) {
    const result = rule(BigInt(value), BigInt(operand));
    value = typeof value === 'number' && typeof operand === 'number' ? Number(result) : result;
  }
  return value;
}

/** `$bit`. */
export const parseBit: OperationParser = (operand, path) => {
  const format = `{$bit: {field: {and/or/xor: #}}`;
  if (!(operand instanceof Document)) {
    throw refuse(
      2,
      `The $bit modifier is not compatible with a ${nameOf(operand)}. You must pass in an embedded document: ${format}`,
    );
  }
  const steps = operand.fields.map(([name, value]): BitStep => {
    const rule = Object.hasOwn(bitRules, name) ? bitRules[name] : undefined;
    if (rule === undefined) {
      const shown = `{${describeField(path, operand)}}`;
      throw refuse(2, `The $bit modifier only supports 'and', 'or', and 'xor', not '${name}' which is an unknown operator: ${shown}`);
    }
    if (!isInteger(value)) {
      const shown = `{${describeField(name, value)}}`;
      throw refuse(2, `The $bit modifier field must be an Integer(32/64 bit); a '${nameOf(value)}' is not supported here: ${shown}`);
    }
    return { rule, operand: value };
  });
  if (steps.length === 0) throw refuse(2, `You must pass in at least one bitwise operation. The format is: ${format}`);
  return {
    existing: (current, scope, name) => {
      const value = current.decode();
      if (!isInteger(value)) return refuseType('$bit', 'integral', value, { scope, name });
      return applyBits(value, steps);
    },
    missing: () => applyBits(0, steps),
  };
};

/** `$currentDate`. */
export const parseCurrentDate: OperationParser = (operand) => {
  const make = isDateType(operand)
    ? (scope: OperationScope): Value => scope.context.now
    : (scope: OperationScope): Value => scope.context.timestamp;
  const operation: Operation = { existing: (_current, scope) => make(scope), missing: make };
  return operation;
};

function isDateType(operand: Value): boolean {
  if (typeof operand === 'boolean') return true;
  if (!(operand instanceof Document)) {
    throw refuse(
      2,
      `${nameOf(operand)} is not valid type for $currentDate. Please use a boolean ('true') or a $type expression ({$type: 'timestamp/date'}).`,
    );
  }
  let found: string | undefined;
  for (const [name, value] of operand.fields) {
    if (name !== '$type') throw refuse(2, `Unrecognized $currentDate option: ${name}`);
    if (value === 'date' || value === 'timestamp') found = value;
    else found = undefined;
  }
  if (found === undefined) {
    throw refuse(2, "The '$type' string field is required to be 'date' or 'timestamp': {$currentDate: {field : {$type: 'date'}}}");
  }
  return found === 'date';
}
