// Trigonometric and hyperbolic functions of Decimal128, computed in integers scaled by a power of ten and rounded once to 34 digits.
// Arguments so small that the function is the identity to 34 digits are answered with themselves. Series and reductions are the usual ones
// (Abramowitz and Stegun, chapter 4).

import { Decimal128, divideNumbers } from '../../bson/index.ts';

const PLACES = 80;
/** Below 10^-20 the odd functions differ from their argument beyond 34 digits. */
const TINY = -20;
/** Above 10^40 sums with 1 vanish. */
const HUGE = 40;

const nan = Decimal128.parse('NaN') ?? Decimal128.of(false, 0n, 0);
const infinity = Decimal128.parse('Infinity') ?? nan;
const negativeInfinity = Decimal128.parse('-Infinity') ?? nan;
const zero = Decimal128.of(false, 0n, 0);
const oneDecimal = Decimal128.of(false, 1n, 0);

function powerOfTen(n: number): bigint {
  return 10n ** BigInt(n);
}

/** Where the first digit of a finite number stands: 0 for ones, 1 for tens. */
function magnitudeOf(value: Decimal128): number {
  return value.exponent + String(value.coefficient).length - 1;
}

function isZero(value: Decimal128): boolean {
  return value.isFinite && value.coefficient === 0n;
}

/** The inverse tangent of 1/n for a small n. */
function arctangentOfInverse(n: bigint, one: bigint): bigint {
  let sum = 0n;
  let power = one / n;
  for (let k = 1n; power !== 0n; k += 2n) {
    sum += power / k;
    power = -(power / (n * n));
  }
  return sum;
}

let mostOfPi = { places: 0, value: 3n };

/** π to as many places, kept for the next one who asks for no more. */
function piOf(places: number): bigint {
  if (places > mostOfPi.places) {
    const extra = 10;
    const one = powerOfTen(places + extra);
    const value = 16n * arctangentOfInverse(5n, one) - 4n * arctangentOfInverse(239n, one);
    mostOfPi = { places, value: value / powerOfTen(extra) };
  }
  return mostOfPi.value / powerOfTen(mostOfPi.places - places);
}

/** Numbers as whole multiples of 10^-places. */
class Scaled {
  readonly places: number;
  readonly one: bigint;
  readonly pi: bigint;

  constructor(places: number) {
    this.places = places;
    this.one = powerOfTen(places);
    this.pi = piOf(places);
  }

  of(value: Decimal128): bigint {
    const shift = value.exponent + this.places;
    const size = shift >= 0 ? value.coefficient * powerOfTen(shift) : value.coefficient / powerOfTen(-shift);
    return value.negative ? -size : size;
  }

  decimal(value: bigint, shift = 0): Decimal128 {
    return Decimal128.round(value < 0n, value < 0n ? -value : value, shift - this.places);
  }

  times(left: bigint, right: bigint): bigint {
    return (left * right) / this.one;
  }

  over(left: bigint, right: bigint): bigint {
    return (left * this.one) / right;
  }

  root(value: bigint): bigint {
    const target = value * this.one;
    if (target <= 0n) return 0n;
    let root = 1n << BigInt((target.toString(2).length >> 1) + 1);
    for (;;) {
      const next = (root + target / root) >> 1n;
      if (next >= root) return root;
      root = next;
    }
  }

  /** The inverse tangent by its series, after two halvings of the angle. */
  arctangent(value: bigint): bigint {
    if (value < 0n) return -this.arctangent(-value);
    if (value > this.one) return this.pi / 2n - this.arctangent(this.over(this.one, value));
    const half = (x: bigint): bigint => this.over(x, this.one + this.root(this.one + this.times(x, x)));
    return 4n * this.#arctangentSeries(half(half(value)), -1n);
  }

  /** Sum of x^k / k over odd k, signs alternating where `sign` is -1. */
  #arctangentSeries(value: bigint, sign: 1n | -1n): bigint {
    const square = sign * this.times(value, value);
    let sum = 0n;
    let power = value;
    for (let k = 1n; power !== 0n; k += 2n) {
      sum += power / k;
      power = this.times(power, square);
    }
    return sum;
  }

  /** The natural logarithm of a positive value. */
  logarithm(value: bigint): bigint {
    if (value <= 0n) throw new RangeError('no logarithm of what is not positive');
    let x = value;
    let doublings = 0n;
    while (x > (this.one * 11n) / 10n || x < (this.one * 9n) / 10n) {
      x = this.root(x);
      doublings += 1n;
    }
    return (2n * this.#arctangentSeries(this.over(x - this.one, x + this.one), 1n)) << doublings;
  }

  /** e to a value of moderate size. */
  exponential(value: bigint): bigint {
    const halvings = 16n;
    const rest = value >> halvings;
    let sum = this.one;
    let term = this.one;
    for (let k = 1n; term !== 0n; k++) {
      term = this.times(term, rest) / k;
      sum += term;
    }
    for (let i = 0n; i < halvings; i++) sum = this.times(sum, sum);
    return sum;
  }

  /** The angle less whole turns, from -π to π. */
  withinTurn(value: bigint): bigint {
    const turn = 2n * this.pi;
    const rest = ((value % turn) + turn) % turn;
    return rest > this.pi ? rest - turn : rest;
  }

  /** Sine and cosine of an angle from -π to π. */
  sineAndCosine(value: bigint): { sine: bigint; cosine: bigint } {
    const square = -this.times(value, value);
    let sine = 0n;
    let cosine = 0n;
    let term = this.one;
    for (let k = 0n; term !== 0n; k += 2n) {
      cosine += term;
      sine += this.times(term, value) / (k + 1n);
      term = this.times(term, square) / ((k + 1n) * (k + 2n));
    }
    return { sine, cosine };
  }
}

const scaled = new Scaled(PLACES);

/** The angle less whole turns; the digits before the point are held too, so that taking turns away loses nothing. */
function angleOf(value: Decimal128): bigint {
  const size = Math.max(0, magnitudeOf(value));
  const wide = size === 0 ? scaled : new Scaled(PLACES + size);
  return wide.withinTurn(wide.of(value)) / powerOfTen(size);
}

type Rule = (value: Decimal128) => Decimal128;

/** An odd function: 0 and what is next to it stay as they are, an infinity gives `limit` with its sign. */
function odd(evaluate: Rule, limit: Decimal128): Rule {
  return (value) => {
    if (value.isNaN) return nan;
    if (!value.isFinite) return value.negative ? negated(limit) : limit;
    return isZero(value) || magnitudeOf(value) < TINY ? value : evaluate(value);
  };
}

function negated(value: Decimal128): Decimal128 {
  if (value.isNaN) return value;
  if (!value.isFinite) return value.negative ? infinity : negativeInfinity;
  return Decimal128.of(!value.negative, value.coefficient, value.exponent);
}

function angle(evaluate: (sine: bigint, cosine: bigint) => bigint): Rule {
  return (value) => {
    const { sine, cosine } = scaled.sineAndCosine(angleOf(value));
    return scaled.decimal(evaluate(sine, cosine));
  };
}

const halfPi = scaled.decimal(scaled.pi / 2n);

function arctangent(value: Decimal128): Decimal128 {
  return magnitudeOf(value) > HUGE ? withSign(halfPi, value.negative) : scaled.decimal(scaled.arctangent(scaled.of(value)));
}

function withSign(value: Decimal128, negative: boolean): Decimal128 {
  return negative === value.negative ? value : negated(value);
}

function arcsine(value: Decimal128): Decimal128 {
  const x = scaled.of(value);
  const rest = scaled.root(scaled.one - scaled.times(x, x));
  return rest === 0n ? withSign(halfPi, value.negative) : scaled.decimal(scaled.arctangent(scaled.over(x, rest)));
}

function arccosine(value: Decimal128): Decimal128 {
  if (value.isNaN) return nan;
  const x = scaled.of(value);
  if (x === scaled.one) return zero;
  if (x === -scaled.one) return scaled.decimal(scaled.pi);
  return scaled.decimal(2n * scaled.arctangent(scaled.root(scaled.over(scaled.one - x, scaled.one + x))));
}

/** Half of e^x, and of e^-x added (`sign` 1) or taken away. */
function hyperbolic(value: Decimal128, sign: 1n | -1n): Decimal128 {
  const size = scaled.of(withSign(value, false));
  if (magnitudeOf(value) > 5) return infinity;
  const ten = scaled.logarithm(10n * scaled.one);
  if (size > 50n * scaled.one) {
    const tens = size / ten;
    return scaled.decimal(scaled.exponential(size - tens * ten) / 2n, Number(tens));
  }
  const grown = scaled.exponential(size);
  return scaled.decimal((grown + sign * scaled.over(scaled.one, grown)) / 2n);
}

function hyperbolicTangent(value: Decimal128): Decimal128 {
  const x = scaled.of(withSign(value, false));
  if (magnitudeOf(value) > 2 || x > 50n * scaled.one) return withSign(oneDecimal, value.negative);
  const grown = scaled.exponential(2n * x);
  return withSign(scaled.decimal(scaled.over(grown - scaled.one, grown + scaled.one)), value.negative);
}

/** ln(x + sqrt(x² + shift)) of a positive x. */
function areaFunction(value: Decimal128, shift: 1n | -1n): Decimal128 {
  if (magnitudeOf(value) > HUGE) {
    const digits = Decimal128.of(false, value.coefficient, 0);
    const tens = BigInt(value.exponent) * scaled.logarithm(10n * scaled.one);
    return scaled.decimal(scaled.logarithm(2n * scaled.of(digits)) + tens);
  }
  const x = scaled.of(withSign(value, false));
  return scaled.decimal(scaled.logarithm(x + scaled.root(scaled.times(x, x) + shift * scaled.one)));
}

function inverseTangent(value: Decimal128): Decimal128 {
  const x = scaled.of(withSign(value, false));
  if (x === scaled.one) return withSign(infinity, value.negative);
  return withSign(scaled.decimal(scaled.logarithm(scaled.over(scaled.one + x, scaled.one - x)) / 2n), value.negative);
}

export type TrigonometryName =
  | '$sin'
  | '$cos'
  | '$tan'
  | '$asin'
  | '$acos'
  | '$atan'
  | '$sinh'
  | '$cosh'
  | '$tanh'
  | '$asinh'
  | '$acosh'
  | '$atanh';

/** The functions, by the operator's name. Arguments outside of a function's domain are the caller's to refuse. */
export const decimalTrigonometry: Readonly<Record<TrigonometryName, Rule>> = {
  $sin: odd(angle((sine) => sine), nan),
  $cos: (value) => (value.isFinite ? (isZero(value) ? oneDecimal : angle((_, cosine) => cosine)(value)) : nan),
  $tan: odd(angle((sine, cosine) => scaled.over(sine, cosine)), nan),
  $asin: odd(arcsine, nan),
  $acos: arccosine,
  $atan: odd(arctangent, halfPi),
  $sinh: odd((value) => withSign(hyperbolic(value, -1n), value.negative), infinity),
  $cosh: (value) => {
    if (value.isNaN) return nan;
    if (!value.isFinite) return infinity;
    return isZero(value) ? oneDecimal : hyperbolic(value, 1n);
  },
  $tanh: odd(hyperbolicTangent, oneDecimal),
  $asinh: odd((value) => withSign(areaFunction(value, 1n), value.negative), infinity),
  $acosh: (value) => (value.isFinite ? areaFunction(value, -1n) : value),
  $atanh: odd(inverseTangent, nan),
};

/** The angle of the point (x, y) where both are positive or 0, from 0 to π/2. */
function angleInQuarter(y: Decimal128, x: Decimal128): bigint {
  if (!y.isFinite) return x.isFinite ? scaled.pi / 2n : scaled.pi / 4n;
  if (!x.isFinite || isZero(y)) return 0n;
  const gap = isZero(x) ? HUGE + 1 : magnitudeOf(y) - magnitudeOf(x);
  if (gap > HUGE) return scaled.pi / 2n;
  if (gap < -PLACES) return 0n;
  const shift = y.exponent - x.exponent + PLACES;
  const top = y.coefficient * powerOfTen(Math.max(0, shift));
  return scaled.arctangent(top / (x.coefficient * powerOfTen(Math.max(0, -shift))));
}

/** The angle of the point (x, y), from -π to π. */
export function decimalArctangent2(y: Decimal128, x: Decimal128): Decimal128 {
  if (y.isNaN || x.isNaN) return nan;
  const ratio = !x.negative && y.isFinite && x.isFinite && !isZero(x) ? divideNumbers(y, x) : zero;
  if (ratio instanceof Decimal128 && ratio.isFinite && !isZero(ratio) && magnitudeOf(ratio) < TINY) return ratio;
  const size = angleInQuarter(y, x);
  return withSign(scaled.decimal(x.negative ? scaled.pi - size : size), y.negative);
}
