// Random BSON values for property tests: every type, and numbers chosen where encodings and comparisons go wrong.

import fc from 'fast-check';
import {
  Binary,
  BsonArray,
  BsonSymbol,
  bsonUndefined,
  Code,
  CodeWithScope,
  DateTime,
  DbPointer,
  Decimal128,
  Document,
  Double,
  maxKey,
  minKey,
  ObjectId,
  Regex,
  Timestamp,
} from '../../src/bson/index.ts';
import type { NumberValue, Value } from '../../src/bson/index.ts';

const edgeDoubles = [
  0, -0, 1, -1, 0.1, -0.1, 0.5, 1.5, 5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, Infinity, -Infinity, NaN,
  9007199254740991, 9007199254740992, 9007199254740994, 9223372036854775808, -9223372036854775808, 9223372036854774784,
  18446744073709551616, 0.9999999999999999, 1.0000000000000002, 4503599627370495.5, 2147483647, 2147483648, -2147483649, 127, 128, 255,
];
const edgeLongs = [
  0n, 1n, -1n, 127n, 128n, 2147483647n, 2147483648n, -2147483649n, 9007199254740991n, 9007199254740992n, 9007199254740993n,
  -9007199254740993n, 9223372036854775807n, -9223372036854775808n, 9223372036854774784n, 9223372036854774783n,
];
const edgeDecimals = [
  '0', '-0', '0E-6176', '0E+6111', '1', '1.0', '1.00', '100', '1E+2', '0.1', '0.10', '0.1000000000000000055511151231257827', '0.5',
  '9007199254740993', '9007199254740993.0', '9223372036854775807.5', '9223372036854775808', '9223372036854775808.1', '1E-6176',
  '9.999999999999999999999999999999999E+6144', '-9.999999999999999999999999999999999E+6144', '1E+308', '1.797693134862315708E+308',
  '1.7976931348623158E+308', '1.8E+308', '4.940656458412465441765687928682213E-324', '2E-324', '0.9999999999999999999999999999999999',
  '0.99999999999999999999', '19.99', '19.98999999999999844', 'Infinity', '-Infinity', 'NaN', '18446744073709551616', '1E+6111',
];

const double: fc.Arbitrary<number> = fc.oneof(
  fc.constantFrom(...edgeDoubles),
  fc.double(),
  fc.integer({ min: -1000, max: 1000 }).map((n) => n / 8),
  fc.integer().map((n) => n / 100),
);
const long: fc.Arbitrary<bigint> = fc.oneof(fc.constantFrom(...edgeLongs), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }));

function parse(text: string): Decimal128 {
  const value = Decimal128.parse(text);
  if (value === undefined) throw new TypeError(text);
  return value;
}

/** Decimals: edges, any coefficient and exponent, and values next to doubles and int64s. */
export const anyDecimal: fc.Arbitrary<Decimal128> = fc.oneof(
  fc.constantFrom(...edgeDecimals).map(parse),
  fc
    .tuple(fc.boolean(), fc.bigInt({ min: 0n, max: 10n ** 34n - 1n }), fc.integer({ min: -6176, max: 6111 }))
    .map(([negative, coefficient, exponent]) => Decimal128.of(negative, coefficient, exponent)),
  fc
    .tuple(fc.boolean(), fc.bigInt({ min: 0n, max: 100000n }), fc.integer({ min: -8, max: 4 }))
    .map(([negative, coefficient, exponent]) => Decimal128.of(negative, coefficient, exponent)),
  fc
    .tuple(fc.boolean(), fc.bigInt({ min: 0n, max: 10n ** 34n - 1n }), fc.integer({ min: -36, max: -10 }))
    .map(([negative, coefficient, exponent]) => Decimal128.of(negative, coefficient, exponent)),
  double.map((value) => parse(Number.isFinite(value) ? String(value) : 'NaN')),
  long.map((value) => Decimal128.fromBigInt(value)),
);

/** Numbers of all four types. */
export const anyNumber: fc.Arbitrary<NumberValue> = fc.oneof(
  fc.integer(),
  fc.constantFrom(0, 1, -1, 127, 128, 2147483647, -2147483648),
  double.map((value) => new Double(value)),
  long,
  anyDecimal,
);

const text: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.constantFrom('', 'a', 'ab', '\u0001', 'a\u0001', 'a\0\u0001', 'a\0', 'a\0b', '\0', '\uffff', '\u{10000}', 'a\u00ff', 'é'),
);
const name: fc.Arbitrary<string> = text.map((value) => value.replaceAll('\0', ''));
const bytes: fc.Arbitrary<Uint8Array> = fc.uint8Array({ maxLength: 6 });
const id: fc.Arbitrary<Uint8Array> = fc.uint8Array({ minLength: 12, maxLength: 12 });
const uint32: fc.Arbitrary<number> = fc.nat({ max: 0xffffffff });

const scalar: fc.Arbitrary<Value> = fc.oneof(
  { arbitrary: anyNumber, weight: 6 },
  { arbitrary: text, weight: 3 },
  fc.constantFrom<Value>(null, true, false, minKey, maxKey, bsonUndefined),
  text.map((value) => new BsonSymbol(value)),
  fc.tuple(bytes, fc.constantFrom(0, 1, 2, 5, 128, 255)).map(([value, subtype]) => new Binary(value, subtype)),
  id.map((value) => new ObjectId(value)),
  long.map((value) => new DateTime(value)),
  fc.tuple(uint32, uint32).map(([seconds, increment]) => new Timestamp(seconds, increment)),
  fc.tuple(name, name).map(([pattern, flags]) => new Regex(pattern, flags)),
  fc.tuple(text, id).map(([namespace, value]) => new DbPointer(namespace, value)),
  text.map((value) => new Code(value)),
);

const tree = fc.letrec<{ value: Value; document: Document }>((tie) => ({
  document: fc.array(fc.tuple(fc.oneof(name, fc.constantFrom('a', 'b', '1')), tie('value')), { maxLength: 3 }).map((entries) => Document.fromEntries(entries)),
  value: fc.oneof(
    { maxDepth: 3 },
    { arbitrary: scalar, weight: 8 },
    { arbitrary: tie('document'), weight: 2 },
    { arbitrary: fc.array(tie('value'), { maxLength: 3 }).map((items) => BsonArray.of(items)), weight: 2 },
    { arbitrary: fc.tuple(text, tie('document')).map(([code, scope]) => new CodeWithScope(code, scope)), weight: 1 },
  ),
}));

/** Values of every type, nested a few levels. */
export const anyValue: fc.Arbitrary<Value> = tree.value;
/** Documents of such values; names may repeat. */
export const anyDocument: fc.Arbitrary<Document> = tree.document;
