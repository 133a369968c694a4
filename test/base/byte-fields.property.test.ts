// ByteWriter and ByteReader: what is written is read back, and no damage makes a reader do anything but throw its error.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ByteReader } from '../../src/base/byte-reader.ts';
import { ByteWriter } from '../../src/base/byte-writer.ts';
import { AssertionError, EngineError } from '../../src/base/errors.ts';
import { varintLength } from '../../src/base/varint.ts';

type Field = { kind: 'u8' | 'u16' | 'u32' | 'i32' | 'u64' | 'varint' | 'f64'; value: number } | { kind: 'bytes'; value: Uint8Array };

const safe = fc.oneof(fc.maxSafeNat(), fc.nat(300), fc.constantFrom(0, 127, 128, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 49, 2 ** 53 - 1));

const field: fc.Arbitrary<Field> = fc.oneof(
  fc.record({ kind: fc.constant('u8' as const), value: fc.nat(0xff) }),
  fc.record({ kind: fc.constant('u16' as const), value: fc.nat(0xffff) }),
  fc.record({ kind: fc.constant('u32' as const), value: fc.nat(0xffffffff) }),
  fc.record({ kind: fc.constant('i32' as const), value: fc.integer() }),
  fc.record({ kind: fc.constantFrom('u64' as const, 'varint' as const), value: safe }),
  fc.record({ kind: fc.constant('f64' as const), value: fc.double() }),
  fc.record({ kind: fc.constant('bytes' as const), value: fc.uint8Array({ maxLength: 40 }) }),
);

function write(writer: ByteWriter, { kind, value }: Field): void {
  if (kind === 'bytes') {
    writer.varint(value.length);
    writer.append(value);
  } else writer[kind](value);
}

function read(reader: ByteReader, kind: Field['kind']): number | Uint8Array {
  return kind === 'bytes' ? reader.copy(reader.varint()) : reader[kind]();
}

test('fields are read back as they were written, at any position', () => {
  fc.assert(
    fc.property(fc.array(field), fc.nat(20), (fields, lead) => {
      const writer = new ByteWriter(1);
      writer.extend(lead);
      for (const item of fields) write(writer, item);
      const reader = new ByteReader(writer.copy(), { start: lead });
      for (const { kind, value } of fields) assert.deepEqual(read(reader, kind), value);
      reader.expectEnd();
    }),
  );
});

test('a varint takes the bytes that varintLength says', () => {
  fc.assert(
    fc.property(safe, (value) => {
      const writer = new ByteWriter();
      writer.varint(value);
      assert.equal(writer.length, varintLength(value));
    }),
  );
});

test('reading fields from damaged bytes gives values in range or the error of the reader, with its place', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), fc.array(field), (bytes, fields) => {
      const reader = new ByteReader(bytes, {}, { code: 'format', place: { file: 'f', offset: 1000 } });
      try {
        for (const { kind } of fields) {
          const value = read(reader, kind);
          if (typeof value === 'number' && kind !== 'f64') assert.ok(Number.isSafeInteger(value));
          assert.ok(reader.position <= bytes.length);
        }
      } catch (error) {
        assert.ok(error instanceof EngineError);
        assert.equal(error.code, 'format');
        assert.equal(error.place.file, 'f');
        assert.ok(Number(error.place.offset) >= 1000 && Number(error.place.offset) <= 1060);
      }
    }),
  );
});

test('numbers beyond 2^53 are refused, in both encodings', () => {
  const refused = (read: (reader: ByteReader) => number, ...bytes: number[]): void => {
    assert.throws(() => read(new ByteReader(Uint8Array.from(bytes))), EngineError);
  };
  refused((reader) => reader.u64(), 0, 0, 0, 0, 0, 0, 0x20, 0);
  refused((reader) => reader.u64(), 255, 255, 255, 255, 255, 255, 255, 255);
  refused((reader) => reader.varint(), 255, 255, 255, 255, 255, 255, 255, 31);
  refused((reader) => reader.varint(), 128, 128, 128, 128, 128, 128, 128, 128, 1);
});

test('a length that is negative, fractional or beyond the end is refused', () => {
  for (const length of [-1, 5, NaN, Infinity]) assert.throws(() => new ByteReader(new Uint8Array(4)).view(length), EngineError);
  assert.throws(() => new ByteReader(new Uint8Array(4), { start: 2, end: 9 }), EngineError);
  assert.throws(() => new ByteReader(new Uint8Array(4)).seek(5), EngineError);
});

test('a writer pads with zeros, patches what it wrote, and starts anew after reset', () => {
  const writer = new ByteWriter(4);
  writer.u32(0xffffffff);
  writer.u8(0xff);
  writer.pad(8);
  writer.patchU32(0, 7);
  assert.deepEqual(writer.copy(), Uint8Array.of(7, 0, 0, 0, 0xff, 0, 0, 0));
  writer.pad(8);
  assert.equal(writer.length, 8);
  writer.reset();
  writer.u16(1);
  writer.append(Uint8Array.of(1, 2, 3, 4), 1, 3);
  assert.deepEqual(writer.bytes(), Uint8Array.of(1, 0, 2, 3));
});

test('a number that a field cannot hold is a bug of the writer', () => {
  for (const value of [-1, 0.5, 2 ** 53, NaN]) {
    assert.throws(() => new ByteWriter().varint(value), AssertionError);
    assert.throws(() => new ByteWriter().u64(value), AssertionError);
  }
  const writer = new ByteWriter();
  writer.u32(1);
  for (const at of [-1, 1, 4]) assert.throws(() => writer.patchU32(at, 0), AssertionError);
});
