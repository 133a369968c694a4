import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as driver from 'bson';
import fc from 'fast-check';
import { addNumbers, compareNumbers, Decimal128, divideNumbers, multiplyNumbers, subtractNumbers } from '../../src/bson/index.ts';
import type { NumberValue } from '../../src/bson/index.ts';
import { anyDecimal } from '../support/bson-values.ts';

/** A finite decimal as numerator over a power of ten that serves all of them. */
const scale = 6176;

function exact(value: NumberValue): bigint {
  assert.ok(value instanceof Decimal128);
  return (value.negative ? -value.coefficient : value.coefficient) * 10n ** BigInt(value.exponent + scale);
}

/** Half of the last place of a result with all its digits, on the scale of `exact`, doubled. */
function lastPlace(value: NumberValue): bigint {
  assert.ok(value instanceof Decimal128);
  return 10n ** BigInt(value.exponent + scale);
}

function abs(value: bigint): bigint {
  return value < 0n ? -value : value;
}

const finite = anyDecimal.filter((value) => value.isFinite);

describe('decimal arithmetic', () => {
  it('adds and subtracts to within half of the last place', () => {
    fc.assert(
      fc.property(finite, finite, fc.boolean(), (a, b, minus) => {
        const result = minus ? subtractNumbers(a, b) : addNumbers(a, b);
        assert.ok(result instanceof Decimal128);
        if (!result.isFinite) return;
        const sum = exact(a) + (minus ? -exact(b) : exact(b));
        const fault = abs(exact(result) - sum) * 2n;
        assert.ok(fault <= lastPlace(result));
        if (fault !== 0n) assert.equal(result.coefficient.toString().length, 34);
        if (fault === lastPlace(result)) assert.equal(result.coefficient % 2n, 0n);
      }),
      { numRuns: 1000 },
    );
  });

  it('multiplies and divides to within half of the last place', () => {
    const small = finite.filter((value) => value.exponent > -400 && value.exponent < 400 && value.coefficient !== 0n);
    fc.assert(
      fc.property(small, small, (a, b) => {
        const product = multiplyNumbers(a, b);
        assert.ok(product instanceof Decimal128);
        const fault = abs(exact(product) * 10n ** BigInt(scale) - exact(a) * exact(b)) * 2n;
        assert.ok(fault <= lastPlace(product) * 10n ** BigInt(scale));
        const quotient = divideNumbers(a, b);
        const rest = abs(exact(quotient) * exact(b) - exact(a) * 10n ** BigInt(scale)) * 2n;
        assert.ok(rest <= lastPlace(quotient) * abs(exact(b)));
      }),
      { numRuns: 500 },
    );
  });

  it('writes and reads text as the official codec does', () => {
    fc.assert(
      fc.property(anyDecimal, (value) => {
        const theirs = new driver.Decimal128(value.bytes);
        assert.equal(value.toString(), theirs.toString());
        const read = Decimal128.parseExact(value.toString());
        assert.ok(read !== undefined);
        assert.deepEqual(read.bytes, Uint8Array.from(driver.Decimal128.fromString(value.toString()).bytes));
        assert.equal(compareNumbers(read, value), 0);
      }),
      { numRuns: 3000 },
    );
  });
});
