// Free space against a bitmap: nothing given out twice, nothing lost, best fit, and the heaps inside never miss an extent.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Space } from '../../../src/engine/block/space.ts';

type Action =
  | { readonly kind: 'take'; readonly units: number }
  | { readonly kind: 'apart'; readonly units: number; readonly from: number; readonly distance: number }
  | { readonly kind: 'free'; readonly which: number }
  | { readonly kind: 'grow'; readonly units: number }
  | { readonly kind: 'cut'; readonly units: number };

const units = fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 40 }));

const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('take' as const), units }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('apart' as const), units, from: fc.nat(150), distance: fc.nat(20) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('free' as const), which: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('grow' as const), units }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cut' as const), units }) },
);

/** Units as an array of flags, and the pieces that are out. */
class Model {
  readonly free: boolean[];
  readonly pieces: { start: number; units: number }[] = [];

  constructor(end: number) {
    this.free = new Array<boolean>(end).fill(false);
    this.pieces.push({ start: 0, units: end });
  }

  extents(): { start: number; units: number }[] {
    const found: { start: number; units: number }[] = [];
    this.free.forEach((isFree, at) => {
      const last = found.at(-1);
      if (!isFree) return;
      if (last !== undefined && last.start + last.units === at) last.units++;
      else found.push({ start: at, units: 1 });
    });
    return found;
  }

  /** Marks a piece as given out; it must have been free. */
  give(start: number, length: number): void {
    for (let at = start; at < start + length; at++) {
      assert.equal(this.free[at], true, 'what is given out was free');
      this.free[at] = false;
    }
    this.pieces.push({ start, units: length });
  }
}

function apply(space: Space, model: Model, step: Action): void {
  if (step.kind === 'take') {
    const fitting = model.extents().filter((extent) => extent.units >= step.units);
    const best = fitting.sort((a, b) => a.units - b.units || a.start - b.start)[0];
    const at = space.take(step.units);
    assert.equal(at, best?.start ?? -1);
    if (at >= 0) model.give(at, step.units);
  } else if (step.kind === 'apart') {
    const { from, distance } = step;
    const at = space.takeApart(step.units, from, distance);
    if (at < 0) return;
    assert.ok(at + step.units + distance <= from || at >= from + step.units + distance, 'far enough');
    model.give(at, step.units);
  } else if (step.kind === 'free') {
    if (model.pieces.length === 0) return;
    const [piece] = model.pieces.splice(step.which % model.pieces.length, 1);
    space.free(piece!.start, piece!.units);
    model.free.fill(true, piece!.start, piece!.start + piece!.units);
  } else if (step.kind === 'grow') {
    assert.equal(space.grow(step.units), model.free.length);
    model.pieces.push({ start: model.free.length, units: step.units });
    for (let i = 0; i < step.units; i++) model.free.push(false);
  } else if (step.units <= space.tailUnits) {
    space.cut(step.units);
    model.free.length -= step.units;
  }
}

test('free space is what a bitmap says, and a request gets the best fit', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 120 }), fc.array(action, { maxLength: 200, size: 'max' }), (end, steps) => {
      const space = new Space(end);
      const model = new Model(end);
      for (const step of steps) {
        apply(space, model, step);
        assert.equal(space.end, model.free.length);
        assert.equal(space.freeUnits, model.free.filter((isFree) => isFree).length);
        const last = model.extents().at(-1);
        assert.equal(space.tailUnits, last !== undefined && last.start + last.units === space.end ? last.units : 0);
      }
      assert.deepEqual(space.freeExtents(), model.extents());
    }),
    { numRuns: 300 },
  );
});

test('a copy finds a place at its distance inside one large free extent', () => {
  const space = new Space(100);
  space.free(0, 100);
  const first = space.take(3);
  const second = space.takeApart(3, first, 16);
  assert.equal(first, 0);
  assert.equal(second, 19);
  assert.deepEqual(space.freeExtents(), [
    { start: 3, units: 16 },
    { start: 22, units: 78 },
  ]);
});

test('space that is freed twice is a bug that is noticed', () => {
  const space = new Space(10);
  space.free(2, 3);
  assert.throws(() => { space.free(2, 3); });
  assert.throws(() => { space.free(9, 2); });
});
