// The operators of `$setWindowFields`: the accumulators over windows, and those that speak of a document's place in its partition.
// Follows the manual's page "$setWindowFields (aggregation)", section "Window Operators".

import { Document, isNumber, toDouble } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { accumulators, nameOf, refuse } from '../../query/index.ts';
import type { AccumulatorFactory, Compiler, Expression } from '../../query/index.ts';
import { compileCovariance } from './covariance.ts';
import { compileWindow } from './frame.ts';
import { compileCarry, compileLinearFill } from './gaps.ts';
import { compileMovingAverage } from './moving-average.ts';
import { compileDerivative, compileIntegral } from './rate.ts';
import type { Frames, WindowFunction, WindowOrder } from './frame.ts';

/** So many documents are taken in at once. */
const STEP_DOCUMENTS = 512;

/** An accumulator over the window of each document. A window that only grows is never gone through again. */
function overWindows(factory: AccumulatorFactory, frames: Frames): WindowFunction {
  return function* (partition) {
    const frameOf = frames(partition);
    let state = factory.create(Document.empty);
    let result: Value | undefined;
    let from = 0;
    let to = 0;
    for (let index = 0; index < partition.documents.length; index++) {
      const frame = frameOf(index);
      if (frame.from !== from || frame.to < to) {
        state = factory.create(Document.empty);
        from = frame.from;
        to = from;
        result = undefined;
      }
      for (; to < frame.to; to++) {
        const document = partition.documents[to];
        if (document !== undefined) state.add(document);
        if ((to - from) % STEP_DOCUMENTS === STEP_DOCUMENTS - 1) yield undefined;
        result = undefined;
      }
      result ??= state.result() ?? null;
      yield result;
    }
  };
}

type Rank = (place: { readonly number: number; readonly first: number; readonly group: number }) => number;

/** `number` counts documents, `first` is the number of the first one that ties with this, `group` counts what does not tie. */
const ranks: ReadonlyMap<string, Rank> = new Map<string, Rank>([
  ['$documentNumber', ({ number }) => number],
  ['$rank', ({ first }) => first],
  ['$denseRank', ({ group }) => group],
]);

function compileRank(name: string, rank: Rank, specification: Document, { sortBy }: WindowOrder): WindowFunction {
  const argument = specification.get(name);
  if (!(argument instanceof Document) || !argument.isEmpty) throw refuse(5371603, `${name} must be specified with '{}' as the value`);
  if (specification.fields.length > 1) throw refuse(5371601, `${name} does not accept arguments`);
  const parts = sortBy?.fields.length ?? 0;
  if (parts === 0 || (parts > 1 && name !== '$documentNumber')) {
    throw refuse(5371602, `${name} must be specified with a top level sortBy expression with exactly one element`);
  }
  return function* (partition) {
    let first = 1;
    let group = 0;
    for (let index = 0; index < partition.documents.length; index++) {
      if (index === 0 || !partition.tiesWithLast(index)) {
        first = index + 1;
        group += 1;
      }
      yield rank({ number: index + 1, first, group });
    }
  };
}

function compileShift(specification: Document, compiler: Compiler, { sortBy }: WindowOrder): WindowFunction {
  const argument = specification.get('$shift');
  if (sortBy === undefined) throw refuse(9, `'$shift' requires a sortBy`);
  if (specification.fields.length > 1) throw refuse(9, `'$shift' does not accept a 'window' field`);
  if (!(argument instanceof Document)) throw refuse(9, `Argument to $shift must be an object`);
  const unknown = argument.keys().find((name) => name !== 'output' && name !== 'by' && name !== 'default');
  if (unknown !== undefined) throw refuse(9, `Unknown argument in $shift: ${unknown}`);
  const output = argument.get('output');
  const distance = argument.get('by') ?? null;
  const by = isNumber(distance) ? toDouble(distance) : NaN;
  if (output === undefined || !Number.isInteger(by)) throw refuse(9, `$shift requires 'output' and an integer 'by'`);
  const input = compiler.compile(output);
  const otherwise = compiler.compile(argument.get('default') ?? null);
  if (otherwise.form.kind !== 'constant') throw refuse(9, `'$shift:default' expression must yield a constant value.`);
  return function* ({ documents }) {
    for (let index = 0; index < documents.length; index++) {
      const document = documents[index + by];
      yield (document === undefined ? otherwise.evaluate(Document.empty) : input.evaluate(document)) ?? null;
    }
  };
}

/** The deviation over a window that loses documents: null where a number is not finite, int32 0 of one number alone. */
function movingDeviation(factory: AccumulatorFactory, input: Expression): AccumulatorFactory {
  return {
    create: (group) => {
      const state = factory.create(group);
      let notFinite = false;
      let count = 0;
      return {
        bytes: 0,
        add: (root) => {
          const value = input.evaluate(root);
          if (value === undefined || !isNumber(value)) return;
          count += 1;
          notFinite ||= !Number.isFinite(toDouble(value));
          state.add(root);
        },
        result: () => {
          const result = notFinite ? null : (state.result() ?? null);
          return count === 1 && result !== null ? 0 : result;
        },
      };
    },
  };
}

/** Operators that read their whole specification themselves. */
const ofTheirOwn: ReadonlyMap<string, (specification: Document, compiler: Compiler, order: WindowOrder) => WindowFunction> = new Map([
  ['$shift', compileShift],
  ['$locf', compileCarry],
  ['$linearFill', compileLinearFill],
  ['$expMovingAvg', compileMovingAverage],
  [
    '$derivative',
    (specification: Document, compiler: Compiler, order: WindowOrder) =>
      compileDerivative(specification, compiler, { order, frames: compileWindow(specification.get('window'), order).frames }),
  ],
  [
    '$integral',
    (specification: Document, compiler: Compiler, order: WindowOrder) =>
      overWindows(compileIntegral(specification, compiler, order), compileWindow(specification.get('window'), order).frames),
  ],
]);

/** Every window operator, by name. */
export const windowOperators: readonly string[] = [
  ...ranks.keys(),
  ...ofTheirOwn.keys(),
  '$covariancePop',
  '$covarianceSamp',
  ...[...accumulators.keys()].filter((name) => name !== '$mergeObjects'),
];

function accumulatorOf(name: string, argument: Value, compiler: Compiler): AccumulatorFactory | undefined {
  if (name === '$covariancePop') return compileCovariance(argument, compiler, 0);
  if (name === '$covarianceSamp') return compileCovariance(argument, compiler, 1);
  return name === '$mergeObjects' ? undefined : accumulators.get(name)?.(argument, compiler, name);
}

/** Compiles what one output field is to hold. */
export function compileWindowFunction(field: string, value: Value, compiler: Compiler, order: WindowOrder): WindowFunction {
  if (!(value instanceof Document)) throw refuse(9, `The field '${field}' must be an object, but found ${nameOf(value)}`);
  const names = value.keys();
  const name = names.find((key) => key.startsWith('$'));
  if (name === undefined) throw refuse(9, `Expected a $-prefixed window function, got ${names[0] ?? 'nothing'}`);
  const rank = ranks.get(name);
  if (rank !== undefined) return compileRank(name, rank, value, order);
  const own = ofTheirOwn.get(name);
  if (own !== undefined) return own(value, compiler, order);
  const unknown = names.find((key) => key !== name && key !== 'window');
  if (unknown !== undefined) throw refuse(9, `Window function found an unknown argument: ${unknown}`);
  const factory = accumulatorOf(name, value.get(name) ?? null, compiler);
  if (factory === undefined) throw refuse(9, `Unrecognized window function, ${name}`);
  const window = compileWindow(value.get('window'), order);
  const isMovingDeviation = window.loses && (name === '$stdDevPop' || name === '$stdDevSamp');
  const argument = value.get(name) ?? null;
  return overWindows(isMovingDeviation ? movingDeviation(factory, compiler.compile(argument)) : factory, window.frames);
}
