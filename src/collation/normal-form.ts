// Canonical decomposition (Unicode's form NFD) over frozen data, so that a newer Node does not move keys: decompose, then order combining marks
// by class, those of one class as they came.

import { lateModule } from '../base/late-module.ts';
import type * as packed from './data.ts';
import { unpackNormalForms } from './unpack.ts';
import type { NormalForms } from './unpack.ts';

const data = lateModule<typeof packed>(import.meta.url, './data.js');

let forms: NormalForms | undefined;

/** The rank of a combining mark's class; 0: no mark, or one that never moves. */
export function markRank(codePoint: number): number {
  if (codePoint < 0x300) return 0;
  forms ??= unpackNormalForms(data().normalForms);
  return forms.ranks.get(codePoint) ?? 0;
}

const hangulBase = 0xac00;
const hangulEnd = 0xd7a4;

/** The three or two conjoining letters of a Hangul syllable: leading, vowel, trailing (-1: none), each from 0. */
export function hangulLetters(syllable: number): readonly [number, number, number] {
  const index = syllable - hangulBase;
  return [Math.floor(index / 588), Math.floor(index / 28) % 21, (index % 28) - 1];
}

/** The decomposed form of some code points; the same array where nothing is to do. */
export function decompose(points: number[]): number[] {
  if (points.every((point) => point < 0xc0)) return points;
  forms ??= unpackNormalForms(data().normalForms);
  const whole: number[] = [];
  for (const point of points) {
    const parts = point < 0xc0 ? undefined : forms.decompositions.get(point);
    if (parts !== undefined) whole.push(...parts);
    else if (point >= hangulBase && point < hangulEnd) {
      const [leading, vowel, trailing] = hangulLetters(point);
      whole.push(0x1100 + leading, 0x1161 + vowel);
      if (trailing >= 0) whole.push(0x11a8 + trailing);
    } else whole.push(point);
  }
  orderMarks(whole);
  return whole;
}

function orderMarks(points: number[]): void {
  let start = -1;
  for (let i = 0; i <= points.length; i++) {
    const isMark = i < points.length && markRank(points[i] as number) > 0;
    if (isMark && start < 0) start = i;
    if (isMark || start < 0) continue;
    if (i - start > 1) {
      const sorted = points.slice(start, i).sort((a, b) => markRank(a) - markRank(b));
      for (let k = 0; k < sorted.length; k++) points[start + k] = sorted[k] as number;
    }
    start = -1;
  }
}
