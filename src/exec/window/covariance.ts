// The covariance of pairs of numbers, for `$covariancePop` and `$covarianceSamp`. Follows the manual's pages of both.

import { addNumbers, BsonArray, Decimal128, divideNumbers, Double, isNumber, multiplyNumbers, subtractNumbers, toDouble } from '../../bson/index.ts';
import type { Document, NumberValue, Value } from '../../bson/index.ts';
import type { Accumulator, AccumulatorFactory, Compiler } from '../../query/index.ts';

function isFiniteNumber(value: NumberValue): boolean {
  return Number.isFinite(toDouble(value)) || (value instanceof Decimal128 && value.isFinite);
}

/**
 * Welford's way, of two variables, with the means taken from sums. What is not a pair of numbers does not count; a pair that is not finite
 * makes the result the sum of all such numbers, if at least two other pairs are there.
 */
class Covariance implements Accumulator {
  readonly bytes = 0;
  readonly #pairOf: (root: Document) => Value | undefined;
  readonly #less: number;
  #count = 0;
  #sumX: NumberValue = 0;
  #sumY: NumberValue = 0;
  #products: NumberValue = 0;
  #notFinite: number | undefined;

  constructor(pairOf: (root: Document) => Value | undefined, less: number) {
    this.#pairOf = pairOf;
    this.#less = less;
  }

  add(root: Document): void {
    const pair = this.#pairOf(root);
    if (!(pair instanceof BsonArray) || pair.length !== 2) return;
    const [x, y] = pair.items();
    if (!isNumber(x) || !isNumber(y)) return;
    if (isFiniteNumber(x) && isFiniteNumber(y)) this.#addFinite(x, y);
    else this.#notFinite = (this.#notFinite ?? 0) + toDouble(x) + toDouble(y);
  }

  result(): Value {
    const divisor = this.#count - this.#less;
    if (divisor <= 0) return null;
    if (this.#count === 1) return new Double(0);
    return this.#notFinite === undefined ? divideNumbers(this.#products, new Double(divisor)) : new Double(this.#notFinite);
  }

  #addFinite(x: NumberValue, y: NumberValue): void {
    const distance = this.#count === 0 ? 0 : subtractNumbers(x, divideNumbers(this.#sumX, new Double(this.#count)));
    this.#count += 1;
    this.#sumX = addNumbers(this.#sumX, x);
    this.#sumY = addNumbers(this.#sumY, y);
    if (this.#count === 1) return;
    const meanY = divideNumbers(this.#sumY, new Double(this.#count));
    this.#products = addNumbers(this.#products, multiplyNumbers(distance, subtractNumbers(y, meanY)));
  }
}

/** The covariance of all there is (`less` 0) or of a sample of it (1). */
export function compileCovariance(argument: Value, compiler: Compiler, less: 0 | 1): AccumulatorFactory {
  const input = compiler.compile(argument);
  return { create: () => new Covariance((root) => input.evaluate(root), less) };
}
