// NumberSum: the total of many numbers as `$sum`, `$avg` and `$add` give it. Everything but decimals is added as a pair of doubles
// (a sum and what rounding took from it, after Knuth and Dekker), so that neither order nor size of the parts loses int64 digits;
// decimals are added apart. The type of the total is the widest that was added; integers that no longer fit become doubles.

import { addDecimals, divideDecimals, doubleToExactDecimal } from './decimal.ts';
import { Decimal128, decimalZero } from './decimal128.ts';
import { fitsInt64, narrowInteger, numberWidth, widthOf } from './number.ts';
import type { NumberWidth } from './number.ts';
import { Double } from './scalar.ts';
import type { NumberValue } from './scalar-codec.ts';

/** A running total. */
export class NumberSum {
  #width: NumberWidth = numberWidth.int;
  #sum = 0;
  #rest = 0;
  /** The plain sum: what counts once an infinity or NaN was added. */
  #special = 0;
  #decimals: Decimal128 = decimalZero;
  #count = 0;

  /** How many numbers were added. */
  get count(): number {
    return this.#count;
  }

  add(value: NumberValue): void {
    const width = widthOf(value);
    if (width > this.#width) this.#width = width;
    this.#count++;
    if (typeof value === 'number') this.#addDouble(value);
    else if (typeof value === 'bigint') this.#addLong(value);
    else if (value instanceof Double) this.#addDouble(value.value);
    else this.#decimals = addDecimals(this.#decimals, value);
  }

  /** The total; int32 0 if nothing was added. */
  total(): NumberValue {
    if (this.#width === numberWidth.decimal) return addDecimals(this.#decimals, this.#asDecimal());
    if (this.#width !== numberWidth.double) {
      const whole = this.#whole();
      if (whole !== undefined) return this.#width === numberWidth.int ? narrowInteger(whole) : whole;
    }
    return new Double(this.#asDouble());
  }

  /** The mean: a decimal if one was added, else a double; undefined if nothing was. */
  average(): NumberValue | undefined {
    if (this.#count === 0) return undefined;
    if (this.#width === numberWidth.decimal) {
      return divideDecimals(addDecimals(this.#decimals, this.#asDecimal()), Decimal128.fromBigInt(BigInt(this.#count)));
    }
    return new Double(this.#asDouble() / this.#count);
  }

  #addLong(value: bigint): void {
    // A double holds 53 bits: two halves are exact.
    const low = Number(value & 0xffffffffn);
    this.#addDouble(Number(value >> 32n) * 4294967296);
    this.#addDouble(low);
  }

  #addDouble(value: number): void {
    this.#special += value;
    const sum = this.#sum + value;
    const part = sum - this.#sum;
    const lost = this.#sum - (sum - part) + (value - part) + this.#rest;
    this.#sum = sum + lost;
    this.#rest = lost - (this.#sum - sum);
  }

  #asDouble(): number {
    return Number.isFinite(this.#sum) ? this.#sum + this.#rest : this.#special;
  }

  #asDecimal(): Decimal128 {
    if (!Number.isFinite(this.#sum)) return doubleToExactDecimal(this.#special);
    return addDecimals(doubleToExactDecimal(this.#sum), doubleToExactDecimal(this.#rest));
  }

  #whole(): bigint | undefined {
    if (!Number.isInteger(this.#sum) || !Number.isInteger(this.#rest)) return undefined;
    const whole = BigInt(this.#sum) + BigInt(this.#rest);
    return fitsInt64(whole) ? whole : undefined;
  }
}
