// Work that is broken off and taken up again: the same result, every round done once to its end, and always some way further.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { mappedItems, overItems } from '../../src/base/long-lists.ts';
import { sortedOf } from '../../src/base/long-sort.ts';
import { BrokenOff, looped, Progress, runPiece, spend } from '../../src/base/long-work.ts';

/** Runs work in pieces that are over at every look; the result, and how many pieces it took. */
function inPieces<T>(work: () => T, piecesMax = 100_000): { readonly result: T; readonly pieces: number } {
  const progress = new Progress();
  for (let pieces = 1; pieces <= piecesMax; pieces++) {
    try {
      return { result: runPiece(work, progress, { sliceIsOver: true }), pieces };
    } catch (error) {
      if (!(error instanceof BrokenOff)) throw error;
    }
  }
  throw new assert.AssertionError({ message: 'the work does not end' });
}

const range = (length: number): number[] => Array.from({ length }, (_, i) => i);

describe('work in pieces', () => {
  it('is done at once where nobody takes it up again', () => {
    assert.deepEqual(mappedItems(range(5000), (i) => i * 2).length, 5000);
  });

  it('gives what it gives at once, loops in loops too', () => {
    const sum = (outer: number, inner: number): number =>
      overItems(range(outer), () => ({ sum: 0 }), (state, i) => {
        const part = overItems(range(inner), () => ({ sum: 0 }), (own, k) => { own.sum += i * k; }).sum;
        state.sum += part;
      }).sum;
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 80 }), fc.integer({ min: 0, max: 120 }), (outer, inner) => {
        assert.equal(inPieces(() => sum(outer, inner)).result, sum(outer, inner));
      }),
      { numRuns: 40 },
    );
  });

  it('does each round to its end once', () => {
    const rounds: number[] = [];
    const { pieces } = inPieces(() =>
      overItems(range(3000), () => ({}), (_, i) => {
        spend(10);
        rounds.push(i);
      }),
    );
    assert.deepEqual(rounds, range(3000));
    assert.ok(pieces > 20, `${String(pieces)} pieces`);
  });

  it('gets further with every piece, however much stands before the place where it goes on', () => {
    // A hundred loops of 900 units each, none of which is worth keeping by itself.
    const { pieces } = inPieces(() => range(100).map(() => mappedItems(range(900), (i) => i).length), 1000);
    assert.ok(pieces > 50 && pieces < 400, `${String(pieces)} pieces`);
  });

  it('lets an error of the work through', () => {
    const failing = (): unknown => mappedItems(range(5000), (i) => { if (i === 4000) throw new RangeError('4000'); return i; });
    assert.throws(() => inPieces(failing), RangeError);
  });

  it('sorts as a sort at once does, what is equal as it came', () => {
    const items = fc.array(fc.record({ key: fc.integer({ min: 0, max: 50 }), order: fc.nat() }), { minLength: 0, maxLength: 3000, size: 'max' });
    fc.assert(
      fc.property(items, (list) => {
        const numbered = list.map((item, order) => ({ ...item, order }));
        const compare = (a: { key: number }, b: { key: number }): number => a.key - b.key;
        assert.deepEqual(inPieces(() => sortedOf(numbered, compare)).result, numbered.toSorted(compare));
      }),
      { numRuns: 30 },
    );
  });

  it('keeps what a loop gave for the work behind it', () => {
    let made = 0;
    const work = (): number => {
      const first = looped(() => { made += 1; return { value: 7 }; }, () => { spend(2000); return true; });
      return mappedItems(range(4000), (i) => i).length + (first?.value ?? 0);
    };
    assert.equal(inPieces(work).result, 4007);
    assert.equal(made, 1);
  });
});
