// Preferred numbers: series between powers of ten (or of two) that `$bucketAuto` rounds its boundaries to. Renard and 1-2-5 series as in
// ISO 3, E series as in IEC 60063. Follows the manual's page "$bucketAuto (aggregation)", section "Granularity".

import { Decimal128, Double, isNumber, toDouble } from '../bson/index.ts';
import type { Value } from '../bson/index.ts';
import { nameOf, refuse } from '../query/index.ts';

/** A rule of rounding. */
export interface Granularity {
  /** Refuses a value that cannot be rounded. */
  check(value: Value): void;
  /** The least number of the series above the value; 0 stays. */
  roundUp(value: Value): Value;
  /** The greatest number of the series below the value; 0 stays. */
  roundDown(value: Value): Value;
}

const R80 =
  '100 103 106 109 112 115 118 122 125 128 132 136 140 145 150 155 160 165 170 175 180 185 190 195 200 206 212 218 224 230 236 243 250 258 265 272 280 290 300 307 ' +
  '315 325 335 345 355 365 375 387 400 412 425 437 450 462 475 487 500 515 530 545 560 580 600 615 630 650 670 690 710 730 750 775 800 825 850 875 900 925 950 975';
const E24 = '10 11 12 13 15 16 18 20 22 24 27 30 33 36 39 43 47 51 56 62 68 75 82 91';

function numbers(text: string): number[] {
  return text.split(' ').map(Number);
}

/** Every n-th number. */
function every(series: readonly number[], step: number): number[] {
  return series.filter((_, index) => index % step === 0);
}

/** The E series of three digits: powers of the n-th root of ten, rounded; 920 is by decree. */
function fineSeries(count: number): number[] {
  return Array.from({ length: count }, (_, index) => {
    const rounded = Math.round(1000 * 10 ** (index / count)) / 10;
    const whole = Math.round(rounded);
    return whole === 919 ? 920 : whole;
  });
}

const SERIES: ReadonlyMap<string, readonly number[]> = new Map<string, readonly number[]>([
  ['R5', [10, 16, 25, 40, 63]],
  ['R10', [100, 125, 160, 200, 250, 315, 400, 500, 630, 800]],
  ['R20', every(numbers(R80), 4)],
  ['R40', every(numbers(R80), 2)],
  ['R80', numbers(R80)],
  ['1-2-5', [10, 20, 50]],
  ['E6', every(numbers(E24), 4)],
  ['E12', every(numbers(E24), 2)],
  ['E24', numbers(E24)],
  ['E48', fineSeries(48)],
  ['E96', fineSeries(96)],
  ['E192', fineSeries(192)],
]);

function sizeOf(value: Value): number {
  if (!isNumber(value)) throw refuse(40258, `$bucketAuto can specify a granularity with numeric boundaries only, but found a value with type: ${nameOf(value)}`);
  const number = toDouble(value);
  if (Number.isNaN(number)) throw refuse(40259, '$bucketAuto can specify a granularity with numeric boundaries only, but found a NaN');
  if (number < 0) throw refuse(40260, '$bucketAuto can specify a granularity with non-negative numbers only, but found a negative number');
  return number;
}

/** A number of the type that rounding gives: decimals stay decimals. */
function numberLike(value: Value, number: number): Value {
  if (value instanceof Decimal128) return Decimal128.parse(String(number)) ?? new Double(number);
  return new Double(number);
}

function scaleOf(series: readonly number[], number: number): number {
  const first = series[0] ?? 1;
  let scale = 1;
  while (number >= first * scale * 10) scale *= 10;
  while (number < first * scale) scale /= 10;
  return scale;
}

function above(series: readonly number[], number: number): number {
  const scale = scaleOf(series, number);
  const next = series.find((member) => member * scale > number);
  return next === undefined ? (series[0] ?? 1) * scale * 10 : next * scale;
}

function below(series: readonly number[], number: number): number {
  const scale = scaleOf(series, number);
  const before = series.findLast((member) => member * scale < number);
  return before === undefined ? (series.at(-1) ?? 1) * (scale / 10) : before * scale;
}

function rounding(up: (number: number) => number, down: (number: number) => number): Granularity {
  const round = (value: Value, to: (number: number) => number): Value => {
    const number = sizeOf(value);
    return number === 0 || !Number.isFinite(number) ? value : numberLike(value, to(number));
  };
  return {
    check: (value) => void sizeOf(value),
    roundUp: (value) => round(value, up),
    roundDown: (value) => round(value, down),
  };
}

/** The rule of a name, or undefined. */
export function granularityOf(name: string): Granularity | undefined {
  if (name === 'POWERSOF2') {
    return rounding(
      (number) => 2 ** (Math.floor(Math.log2(number)) + 1),
      (number) => 2 ** (Math.ceil(Math.log2(number)) - 1),
    );
  }
  const series = SERIES.get(name);
  if (series === undefined) return undefined;
  return rounding(
    (number) => above(series, number),
    (number) => below(series, number),
  );
}
