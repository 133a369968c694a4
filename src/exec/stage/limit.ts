// `$limit` and `$skip`: the first documents only, or all but the first. Follows the manual's pages "$limit" and "$skip".

import { describeValue, isNumber, wholeNumber } from '../../bson/index.ts';
import type { Value } from '../../bson/index.ts';
import { refuse } from '../../query/index.ts';
import type { BatchSource } from '../../session/index.ts';
import type { Stage, StageRule } from '../stage.ts';

function countOf(specification: Value, code: number, name: string): number {
  const text = `invalid argument to ${name} stage: Expected a non-negative number in: ${name}: ${describeValue(specification)}`;
  const whole = isNumber(specification) ? wholeNumber(specification) : undefined;
  if (whole === undefined || whole < 0n || whole >= 2n ** 63n) throw refuse(code, text);
  return Number(whole);
}

function limited(source: BatchSource, count: number): BatchSource {
  let left = count;
  return {
    async next(context) {
      if (left <= 0) return undefined;
      const batch = await source.next(context);
      if (batch === undefined) return undefined;
      const taken = batch.length > left ? batch.slice(0, left) : batch;
      left -= taken.length;
      if (left === 0) source.close();
      return taken;
    },
    close: () => source.close(),
  };
}

function skipped(source: BatchSource, count: number): BatchSource {
  let left = count;
  return {
    async next(context) {
      const batch = await source.next(context);
      if (batch === undefined || left === 0) return batch;
      const passed = Math.min(left, batch.length);
      left -= passed;
      await context.turn();
      return batch.slice(passed);
    },
    close: () => source.close(),
  };
}

/** The stage that keeps the first `count` documents. */
function limitStage(count: number, specification: Value): Stage {
  return {
    name: '$limit',
    specification,
    open: (source) => limited(source, count),
    takeover: { kind: 'limit', count },
    needs: () => 'some',
  };
}

/** How `$limit` is compiled. */
export const limitRule: StageRule = {
  name: '$limit',
  parse: (specification) => {
    const count = countOf(specification, 5107201, '$limit');
    if (count === 0) throw refuse(15958, 'the limit must be positive');
    return limitStage(count, specification);
  },
};

/** How `$skip` is compiled. */
export const skipRule: StageRule = {
  name: '$skip',
  parse: (specification) => {
    const count = countOf(specification, 5107200, '$skip');
    return {
      name: '$skip',
      specification,
      open: (source) => skipped(source, count),
      takeover: { kind: 'skip', count },
      needs: () => 'some',
    };
  },
};
