import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { CsvReader, fieldBytes } from '../../src/tools/import/csv-records.ts';

interface Read {
  readonly fields: string[];
  readonly line: number;
  readonly fault: string | undefined;
}

/** Reads a text cut into chunks of so many bytes. */
function read(text: string, chunkBytes = 1 << 20, delimiter = ','): Read[] {
  const reader = new CsvReader(delimiter.charCodeAt(0), delimiter === ',');
  const bytes = new TextEncoder().encode(text);
  const records: Read[] = [];
  const take = (): void => {
    while (reader.next()) {
      const { record } = reader;
      const fields = Array.from({ length: record.fields }, (_, i) => new TextDecoder().decode(fieldBytes(record, i)));
      records.push({ fields, line: record.line, fault: record.fault });
    }
  };
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    reader.push(bytes.slice(at, at + chunkBytes));
    take();
  }
  reader.push(undefined);
  take();
  return records;
}

const fieldsOf = (text: string): string[][] => read(text).map(({ fields }) => fields);

void test('fields are between commas, records between line ends, the last line end may be missing (RFC 4180, 2.1, 2.2)', () => {
  assert.deepEqual(fieldsOf('aaa,bbb,ccc\r\nzzz,yyy,xxx'), [['aaa', 'bbb', 'ccc'], ['zzz', 'yyy', 'xxx']]);
  assert.deepEqual(fieldsOf('a,,c\n,\n'), [['a', '', 'c'], ['', '']]);
});

void test('a quoted field holds commas, line ends and doubled quotes (RFC 4180, 2.5 to 2.7)', () => {
  assert.deepEqual(fieldsOf('"aaa","b\r\nbb","c""c"\nzzz,"1,2",x'), [['aaa', 'b\r\nbb', 'c"c'], ['zzz', '1,2', 'x']]);
});

void test('each record knows the line it begins at, line ends inside quotes counted', () => {
  assert.deepEqual(read('h\n"a\nb"\n\nc\n').map(({ line, fields }) => [line, fields[0]]), [[1, 'h'], [2, 'a\nb'], [5, 'c']]);
});

void test('a byte order mark is not part of the first name', () => {
  assert.deepEqual(fieldsOf('\ufeffid,name\n1,x\n'), [['id', 'name'], ['1', 'x']]);
});

void test('what goes on behind a closing quote, and a quote that is never closed, is a fault of that record', () => {
  assert.deepEqual(read('"a"b,c\nd,e\n').map(({ fault }) => fault), ['a quoted field goes on behind its closing quote', undefined]);
  assert.deepEqual(read('a\n"b\nc').map(({ line, fault }) => [line, fault]), [[1, undefined], [2, 'a quote is never closed']]);
});

void test('in TSV quotes are like any other character', () => {
  assert.deepEqual(read('a"b\t"c"\n', 100, '\t').map(({ fields }) => fields), [['a"b', '"c"']]);
});

void test('records come out the same however the file is cut into chunks', () => {
  const field = fc.oneof(fc.string({ maxLength: 6 }), fc.constantFrom('a"b', 'x,y', 'l\nm', 'r\r\ns', '', '"'));
  const line = fc.array(field, { minLength: 2, maxLength: 4 });
  fc.assert(
    fc.property(fc.array(line, { minLength: 1, maxLength: 8 }), fc.integer({ min: 1, max: 9 }), fc.constantFrom('\n', '\r\n'), (rows, chunk, end) => {
      const text = rows.map((row) => row.map((value) => `"${value.replaceAll('"', '""')}"`).join(',')).join(end) + end;
      assert.deepEqual(read(text, chunk).map(({ fields, fault }) => ({ fields, fault })), rows.map((fields) => ({ fields, fault: undefined })));
    }),
  );
});
