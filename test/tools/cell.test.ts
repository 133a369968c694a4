import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Binary, DateTime, Decimal128, Double } from '../../src/bson/index.ts';
import { inferCell, parseTypedColumn } from '../../src/tools/import/cell.ts';

void test('without a stated type only what loses nothing becomes a number', () => {
  assert.equal(inferCell('42'), 42);
  assert.equal(inferCell('-7'), -7);
  assert.equal(inferCell('0'), 0);
  assert.equal(inferCell('2147483648'), 2147483648n);
  assert.equal(inferCell('-9223372036854775808'), -9223372036854775808n);
  assert.deepEqual(inferCell('1.5'), new Double(1.5));
  assert.deepEqual(inferCell('1.5e-7'), new Double(1.5e-7));
});

void test('leading zeros, signs, long numbers, exponents and words stay the text they are', () => {
  for (const text of ['007', '+49', '-0', '1e5', '12E34', '9223372036854775808', '12345678901234567890123', '0.1234567890123456789', '1.', '.5', '1,5', ' 1', '0x10', 'NaN', 'Infinity', 'true', '']) {
    assert.equal(inferCell(text), text);
  }
});

const cell = (column: string, text: string): unknown => parseTypedColumn(column)?.type(text);

void test('a header can state the types of mongoimport', () => {
  assert.equal(parseTypedColumn('a.b.int32()')?.name, 'a.b');
  assert.equal(cell('n.int32()', '007'), 7);
  assert.equal(cell('n.int64()', '7'), 7n);
  assert.deepEqual(cell('n.double()', '7'), new Double(7));
  assert.deepEqual(cell('n.decimal()', '1.10'), Decimal128.parse('1.10'));
  assert.equal(cell('s.string()', '007'), '007');
  assert.equal(cell('b.boolean()', 'true'), true);
  assert.deepEqual(cell('b.binary(hex)', '00ff'), new Binary(Uint8Array.of(0, 255), 0));
  assert.deepEqual(cell('b.binary(base64)', 'AP8='), new Binary(Uint8Array.of(0, 255), 0));
  assert.equal(cell('a.auto()', '12'), 12);
});

void test('dates are read in the layout that the header states', () => {
  const ms = Date.UTC(2013, 4, 17, 10, 22, 33);
  assert.deepEqual(cell('d.date(2006-01-02 15:04:05)', '2013-05-17 10:22:33'), new DateTime(ms));
  assert.deepEqual(cell('d.date_ms(yyyy-MM-dd HH:mm:ss)', '2013-05-17 10:22:33'), new DateTime(ms));
  assert.deepEqual(cell('d.date_oracle(YYYY-MM-DD HH24:MI:SS)', '2013-05-17 10:22:33'), new DateTime(ms));
  assert.deepEqual(cell('d.date_go(Jan 2, 2006 3:04PM -0700)', 'May 17, 2013 12:22PM +0200'), new DateTime(Date.UTC(2013, 4, 17, 10, 22)));
});

void test('a field that is not of its type is a fault that shows it', () => {
  assert.deepEqual(cell('n.int32()', '2147483648'), { fault: '"2147483648" is not of type int32' });
  assert.deepEqual(cell('d.date(2006-01-02)', '2013-02-30'), { fault: '"2013-02-30" is not of type date(2006-01-02)' });
  assert.deepEqual(cell('b.binary(hex)', '0'), { fault: '"0" is not of type binary(hex)' });
});

void test('a header without a type, or with an unknown one, is not taken for one', () => {
  for (const column of ['n', 'n.float()', 'n.int32', 'n.int32(5)', 'd.date()', 'b.binary(latin1)']) assert.equal(parseTypedColumn(column), undefined);
});
