import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  absNumber,
  addChecked,
  addNumbers,
  ceilNumber,
  compareNumbers,
  Decimal128,
  divideNumbers,
  Double,
  expNumber,
  floorNumber,
  lnNumber,
  log10Number,
  logNumber,
  modNumbers,
  multiplyChecked,
  multiplyNumbers,
  negateNumber,
  NumberSum,
  powNumbers,
  roundNumber,
  sqrtNumber,
  subtractNumbers,
  toDecimal,
  toInt32,
  toInt64,
  wholeNumber,
} from '../../src/bson/index.ts';
import type { NumberValue } from '../../src/bson/index.ts';

const longMax = 9223372036854775807n;

function dec(text: string): Decimal128 {
  const value = Decimal128.parse(text);
  assert.ok(value !== undefined, text);
  return value;
}

/** Type and value in one text, so that tables can be read: `int 1`, `long 1`, `double 1`, `decimal 1.0`. */
function show(value: NumberValue | undefined): string {
  if (value === undefined) return 'none';
  if (typeof value === 'number') return `int ${value}`;
  if (typeof value === 'bigint') return `long ${String(value)}`;
  if (value instanceof Double) return `double ${Object.is(value.value, -0) ? '-0' : String(value.value)}`;
  return `decimal ${value.toString()}`;
}

const results: [string, NumberValue | undefined, string][] = [
  ['int + int is int', addNumbers(1, 2), 'int 3'],
  ['int + int that overflows is long', addNumbers(2147483647, 1), 'long 2147483648'],
  ['int + long is long', addNumbers(1, 2n), 'long 3'],
  ['long + long that overflows is double in aggregation', addNumbers(longMax, 1), 'double 9223372036854776000'],
  ['long + long that overflows is nothing in an update', addChecked(longMax, 1n), 'none'],
  ['int + double is double', addNumbers(1, new Double(2)), 'double 3'],
  ['long + decimal is decimal', addNumbers(1n, dec('2.50')), 'decimal 3.50'],
  ['a double meets a decimal with 15 digits', multiplyNumbers(new Double(0.1), dec('1')), 'decimal 0.100000000000000'],
  ['int - int that overflows is long', subtractNumbers(-2147483648, 1), 'long -2147483649'],
  ['int * int that overflows is long', multiplyNumbers(65536, 65536), 'long 4294967296'],
  ['a large product of ints is exact', multiplyNumbers(-2147483648, -2147483648), 'long 4611686018427387904'],
  ['the square of the largest int is exact', multiplyNumbers(2147483647, 2147483647), 'long 4611686014132420609'],
  ['0 * -1 of ints is int 0', multiplyNumbers(0, -1), 'int 0'],
  ['long * long that overflows is nothing in an update', multiplyChecked(longMax, 2), 'none'],
  ['int / int is double', divideNumbers(7, 2), 'double 3.5'],
  ['whole quotients are double too', divideNumbers(8, 2), 'double 4'],
  ['decimal / int is decimal', divideNumbers(dec('1'), 3), 'decimal 0.3333333333333333333333333333333333'],
  ['int % int is int, with the sign of the first', modNumbers(-7, 3), 'int -1'],
  ['a rest of zero has no sign', modNumbers(-6, 3), 'int 0'],
  ['long % int is long', modNumbers(7n, 3), 'long 1'],
  ['double % int is double', modNumbers(new Double(7.5), 2), 'double 1.5'],
  ['decimal % int is decimal', modNumbers(dec('7.5'), 2), 'decimal 1.5'],
  ['the least int has a long magnitude', absNumber(-2147483648), 'long 2147483648'],
  ['the least long has none', absNumber(-9223372036854775808n), 'none'],
  ['the magnitude of a long', absNumber(-5n), 'long 5'],
  ['the magnitude of a decimal', absNumber(dec('-1.50')), 'decimal 1.50'],
  ['the negative of the least int is long', negateNumber(-2147483648), 'long 2147483648'],
  ['the negative of the least long is double', negateNumber(-9223372036854775808n), 'double 9223372036854776000'],
  ['the negative of zero is zero', negateNumber(0), 'int 0'],
  ['round is half to even', roundNumber(new Double(2.5), 0, 'half-even'), 'double 2'],
  ['round at two places', roundNumber(new Double(19.25), 1, 'half-even'), 'double 19.2'],
  ['round of a double that is not what it looks like', roundNumber(new Double(1.005), 2, 'half-even'), 'double 1'],
  ['round of an int at places behind the point changes nothing', roundNumber(7, 3, 'half-even'), 'int 7'],
  ['round of an int before the point', roundNumber(1250, -2, 'half-even'), 'int 1200'],
  ['round of an int may overflow to long', roundNumber(2147483647, -1, 'half-even'), 'long 2147483650'],
  ['round of a long may overflow to nothing', roundNumber(longMax, -1, 'half-even'), 'none'],
  ['round of a decimal fills up with zeros', roundNumber(dec('5'), 2, 'half-even'), 'decimal 5.00'],
  ['round of a decimal', roundNumber(dec('-2.345'), 2, 'half-even'), 'decimal -2.34'],
  ['trunc', roundNumber(new Double(-2.9), 0, 'truncate'), 'double -2'],
  ['floor of a decimal', floorNumber(dec('-1.5')), 'decimal -2'],
  ['ceil of a decimal', ceilNumber(dec('-0.5')), 'decimal -0'],
  ['floor of a long', floorNumber(5n), 'long 5'],
  ['sqrt of an int is double', sqrtNumber(16), 'double 4'],
  ['sqrt of a decimal', sqrtNumber(dec('2')), 'decimal 1.414213562373095048801688724209698'],
  ['sqrt of a square is exact', sqrtNumber(dec('0.0625')), 'decimal 0.25'],
  ['pow of ints is int', powNumbers(2, 10), 'int 1024'],
  ['pow of ints that overflows is long', powNumbers(2, 32), 'long 4294967296'],
  ['pow beyond long is double', powNumbers(10, 30), 'double 1e+30'],
  ['pow of a long is long', powNumbers(2n, 3), 'long 8'],
  ['pow with a negative exponent is double', powNumbers(2, -1), 'double 0.5'],
  ['pow of a decimal has all digits', powNumbers(dec('1.1'), 2), 'decimal 1.210000000000000000000000000000000'],
  ['pow of a decimal with a negative exponent', powNumbers(dec('10'), -2), 'decimal 0.01000000000000000000000000000000000'],
  ['pow of a decimal with a fraction', powNumbers(dec('2'), dec('0.5')), 'decimal 1.414213562373095048801688724209698'],
  ['pow of the largest decimal is beyond the range', powNumbers(dec('-9.999999999999999999999999999999999E+6144'), 1), 'decimal -Infinity'],
  ['pow of NaN is NaN', powNumbers(dec('NaN'), 2), 'decimal NaN'],
  ['pow to NaN is NaN', powNumbers(dec('2'), dec('NaN')), 'decimal NaN'],
  ['pow to zero is 1, of NaN too', powNumbers(dec('NaN'), 0), 'decimal 1'],
  ['pow of a negative decimal with a fraction is NaN', powNumbers(dec('-2'), dec('0.5')), 'decimal NaN'],
  ['pow of a negative decimal to a large odd exponent', powNumbers(dec('-1.001'), 1001), 'decimal -2.719640856168128349840471210069525'],
  ['pow of a small decimal to a large negative exponent', powNumbers(dec('10'), -6150), 'decimal 1.00000000000000000000000000E-6150'],
  ['pow of a decimal that is too large', powNumbers(dec('10'), 6200), 'decimal Infinity'],
  ['pow of a half to infinity', powNumbers(dec('0.5'), dec('Infinity')), 'decimal 0E-6176'],
  ['exp of a negative decimal', expNumber(dec('-1')), 'decimal 0.3678794411714423215955237701614609'],
  ['exp of a large decimal', expNumber(dec('1E+10')), 'decimal Infinity'],
  ['ln just below 1', lnNumber(dec('0.9999999999999999999999999999999999')), 'decimal -1.000000000000000000000000000000000E-34'],
  ['ln of zero', lnNumber(dec('0')), 'decimal -Infinity'],
  ['log10 of a decimal', log10Number(dec('2')), 'decimal 0.3010299956639811952137388947244930'],
  ['exp of a decimal', expNumber(dec('1')), 'decimal 2.718281828459045235360287471352662'],
  ['ln of a decimal', lnNumber(dec('10')), 'decimal 2.302585092994045684017991454684364'],
  ['ln of one is zero', lnNumber(dec('1.0')), 'decimal 0'],
  ['exp of next to nothing is one', expNumber(dec('1E-6176')), 'decimal 1'],
  ['log of NaN is a double', logNumber(dec('NaN'), 10), 'double NaN'],
  ['log10 of a power of ten is exact', log10Number(dec('0.001')), 'decimal -3'],
];

describe('numbers', () => {
  for (const [what, result, expected] of results) {
    it(`calculate: ${what}`, () => {
      assert.equal(show(result), expected);
    });
  }

  it('become decimals with 15 digits when they are doubles', () => {
    const texts: [number, string][] = [
      [2.5, '2.50000000000000'],
      [0.1, '0.100000000000000'],
      [1e-7, '1.00000000000000E-7'],
      [123456789012345678, '1.23456789012346E+17'],
      [0, '0'],
      [-0, '-0'],
      [Number.NEGATIVE_INFINITY, '-Infinity'],
      [100000000000000.5, '100000000000000'],
      [0.9999999999999999, '1.00000000000000'],
      [5e-324, '4.94065645841247E-324'],
    ];
    for (const [value, text] of texts) assert.equal(toDecimal(new Double(value)).toString(), text);
  });

  it('are cut to integers only where they fit', () => {
    assert.equal(toInt32(new Double(2147483647)), 2147483647);
    assert.equal(toInt32(new Double(2147483647.5)), undefined);
    assert.equal(toInt32(new Double(-0.5)), 0);
    assert.equal(toInt32(dec('2147483647.5')), 2147483647);
    assert.equal(toInt32(2147483648n), undefined);
    assert.equal(toInt64(new Double(9223372036854775807)), undefined);
    assert.equal(toInt64(new Double(-9223372036854775808)), -9223372036854775808n);
    assert.equal(toInt64(dec('1E+30')), undefined);
    assert.equal(toInt64(new Double(Number.NaN)), undefined);
    assert.equal(wholeNumber(dec('2.0')), 2n);
    assert.equal(wholeNumber(dec('2.5')), undefined);
  });

  it('compare by exact value across types', () => {
    assert.ok(compareNumbers(9007199254740993n, new Double(9007199254740992)) > 0);
    assert.ok(compareNumbers(longMax, new Double(9223372036854775807)) < 0);
    assert.ok(compareNumbers(dec('0.1'), new Double(0.1)) < 0);
    assert.equal(compareNumbers(dec('0.5'), new Double(0.5)), 0);
    assert.equal(compareNumbers(dec('1.00'), 1), 0);
    assert.equal(compareNumbers(new Double(-0), 0), 0);
    assert.equal(compareNumbers(new Double(Number.NaN), dec('NaN')), 0);
    assert.ok(compareNumbers(dec('NaN'), new Double(Number.NEGATIVE_INFINITY)) < 0);
  });
});

function sumOf(...values: NumberValue[]): NumberSum {
  const sum = new NumberSum();
  for (const value of values) sum.add(value);
  return sum;
}

describe('a decimal at the ends of its range', () => {
  const texts: [string, string][] = [
    ['1E+6144', '1.000000000000000000000000000000000E+6144'],
    ['10E+6144', 'Infinity'],
    ['9.9999999999999999999999999999999999E+6144', 'Infinity'],
    ['1E-6176', '1E-6176'],
    ['1E-6177', '0E-6176'],
    ['5E-6177', '0E-6176'],
    ['6E-6177', '1E-6176'],
    ['0E+7000', '0E+6111'],
    ['12345678901234567890123456789012345', '1.234567890123456789012345678901234E+34'],
    ['12345678901234567890123456789012355', '1.234567890123456789012345678901236E+34'],
    ['99999999999999999999999999999999995', '1.000000000000000000000000000000000E+35'],
  ];
  for (const [text, rounded] of texts) {
    it(`takes ${text} as ${rounded}`, () => {
      assert.equal(dec(text).toString(), rounded);
    });
  }
});

describe('NumberSum', () => {
  it('has the widest type of its parts', () => {
    assert.equal(show(sumOf().total()), 'int 0');
    assert.equal(show(sumOf(1, 2).total()), 'int 3');
    assert.equal(show(sumOf(2147483647, 1).total()), 'long 2147483648');
    assert.equal(show(sumOf(1, 2n).total()), 'long 3');
    assert.equal(show(sumOf(longMax, 1n).total()), 'double 9223372036854776000');
    assert.equal(show(sumOf(1, new Double(2)).total()), 'double 3');
    assert.equal(show(sumOf(1, dec('2.50')).total()), 'decimal 3.50');
  });

  it('loses nothing to the order of its parts', () => {
    assert.equal(show(sumOf(new Double(1e16), new Double(1), new Double(-1e16)).total()), 'double 1');
    assert.equal(show(sumOf(longMax, 1n, -5n).total()), 'long 9223372036854775803');
    assert.equal(show(sumOf(new Double(0.1), new Double(0.2), new Double(0.3)).total()), 'double 0.6');
  });

  it('keeps infinities and NaN', () => {
    assert.equal(show(sumOf(new Double(Infinity), 1).total()), 'double Infinity');
    assert.equal(show(sumOf(new Double(Infinity), new Double(-Infinity)).total()), 'double NaN');
  });

  it('has a mean: a double, or a decimal if a part is one', () => {
    assert.equal(show(sumOf(1, 2).average()), 'double 1.5');
    assert.equal(show(sumOf(dec('1'), dec('2')).average()), 'decimal 1.5');
    assert.equal(show(sumOf().average()), 'none');
  });
});
