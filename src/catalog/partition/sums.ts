// What several dictionaries come to together.

import type { Totals } from '../../engine/index.ts';
import type { StorageFigures } from '../types.ts';

/** Rows and bytes of several dictionaries together. */
export function sumOfTotals(all: readonly Totals[]): Totals {
  return all.reduce((sum, { rows, bytes }) => ({ rows: sum.rows + rows, bytes: sum.bytes + bytes }), { rows: 0, bytes: 0 });
}

/** The figures of several dictionaries together; the height is that of the highest. */
export function sumOfFigures(all: readonly StorageFigures[]): StorageFigures {
  const none: StorageFigures = { rows: 0, bytes: 0, diskBytes: 0, rawBytes: 0, height: 0, leaves: 0 };
  return all.reduce(
    (sum, figures) => ({
      rows: sum.rows + figures.rows,
      bytes: sum.bytes + figures.bytes,
      diskBytes: sum.diskBytes + figures.diskBytes,
      rawBytes: sum.rawBytes + figures.rawBytes,
      height: Math.max(sum.height, figures.height),
      leaves: sum.leaves + figures.leaves,
      options: sum.options ?? figures.options,
    }),
    none,
  );
}
