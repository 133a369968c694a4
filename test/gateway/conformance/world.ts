// What is planted for the conformance list: files in every state that applications, old drivers and accidents leave in a bucket. Names say what is
// special; `film` is the ordinary one.

import { Binary, BsonArray, BsonSymbol, bsonUndefined, DateTime, Decimal128, Document, Double, ObjectId } from '../../../src/bson/index.ts';
import type { Value } from '../../../src/bson/index.ts';
import { patternBytes } from '../../support/file-store.ts';
import type { PlantedFile, StoreForTest } from '../../support/file-store.ts';

export const filmLength = 600_003;
export const evenChunk = 1000;
export const chunkyLength = 10_007;
/** 2024-01-02T03:04:05.678Z, what plants are dated. */
export const planted: { readonly date: string; readonly before: string; readonly after: string } = {
  date: 'Tue, 02 Jan 2024 03:04:05 GMT', before: 'Tue, 02 Jan 2024 03:04:04 GMT', after: 'Tue, 02 Jan 2024 03:04:06 GMT',
};

const chunky = patternBytes(chunkyLength, 3);
const field = (document: Document, name: string, value: Value | undefined): Document =>
  Document.fromEntries(document.fields.flatMap(([key, old]): [string, Value][] => (key !== name ? [[key, old]] : value === undefined ? [] : [[key, value]])));

type Chunks = (usual: readonly Document[]) => readonly Document[];
const at = (n: number, name: string, value: Value | undefined): Chunks => (usual) => usual.map((one, i) => (i === n ? field(one, name, value) : one));
const without = (...numbers: readonly number[]): Chunks => (usual) => usual.filter((_, i) => !numbers.includes(i));
const eachN = (number: (n: number) => Value): Chunks => (usual) => usual.map((one, n) => field(one, 'n', number(n)));

/** Files in chunks of 1000 bytes whose chunks are not as they should be, and what is at fault where. */
export const broken: readonly (readonly [name: string, chunks: Chunks, n: number])[] = [
  ['no chunks', () => [], 0],
  ['first missing', without(0), 0],
  ['second missing', without(1), 1],
  ['middle missing', without(5), 5],
  ['last missing', without(10), 10],
  ['all but the first missing', (usual) => usual.slice(0, 1), 1],
  ['first short', at(0, 'data', new Binary(patternBytes(999))), 0],
  ['first long', at(0, 'data', new Binary(patternBytes(1001))), 0],
  ['middle short', at(5, 'data', new Binary(patternBytes(1))), 5],
  ['middle long', at(5, 'data', new Binary(patternBytes(2000))), 5],
  ['last short', at(10, 'data', new Binary(patternBytes(6))), 10],
  ['last long', at(10, 'data', new Binary(patternBytes(8))), 10],
  ['last full', at(10, 'data', new Binary(patternBytes(1000))), 10],
  ['first empty', at(0, 'data', new Binary(new Uint8Array(0))), 0],
  ['data is text', at(0, 'data', 'text'), 0],
  ['data is null', at(0, 'data', null), 0],
  ['data is missing', at(0, 'data', undefined), 0],
  ['data is an array', at(0, 'data', BsonArray.of([1, 2, 3])), 0],
  ['n is text', at(0, 'n', '0'), 0],
  ['n is missing', at(0, 'n', undefined), 0],
  ['n is a fraction', at(1, 'n', new Double(0.5)), 1],
  ['n is negative', at(0, 'n', -1), 0],
  ['n begins at one', eachN((n) => n + 1), 0],
  ['n has a gap', eachN((n) => (n > 4 ? n + 1 : n)), 5],
  ['uneven', (usual) => usual.map((one, n) => field(one, 'data', new Binary(patternBytes(n % 2 === 0 ? 900 : 1100)))), 0],
  ['chunks of twice the size', (usual) => usual.slice(0, 6).map((one) => field(one, 'data', new Binary(patternBytes(2000)))), 0],
  ['chunks of another file', (usual) => usual.map((one) => field(one, 'files_id', 'elsewhere')), 0],
];

/** File documents that do not tell how to read the file. */
export const brokenDocuments: readonly (readonly [name: string, fields: Readonly<Record<string, Value | undefined>>])[] = [
  ['no length', { length: undefined }], ['length null', { length: null }], ['length text', { length: '10007' }], ['length negative', { length: -1 }], ['length fraction', { length: new Double(1.5) }],
  ['length NaN', { length: new Double(Number.NaN) }], ['length infinite', { length: new Double(Number.POSITIVE_INFINITY) }], ['length huge', { length: 2n ** 62n }], ['length an array', { length: BsonArray.of([1]) }],
  ['no chunk size', { chunkSize: undefined }], ['chunk size zero', { chunkSize: 0 }], ['chunk size negative', { chunkSize: -1000 }], ['chunk size text', { chunkSize: '1000' }], ['chunk size huge', { chunkSize: 2 ** 30 }],
];

/** Documents that are odd and do not hinder reading. */
export const oddDocuments: readonly (readonly [name: string, plant: Partial<PlantedFile>])[] = [
  ['double sizes', { fields: { length: new Double(chunkyLength), chunkSize: new Double(evenChunk) } }],
  ['long sizes', { fields: { length: BigInt(chunkyLength), chunkSize: BigInt(evenChunk) } }],
  ['int sizes', { fields: { length: chunkyLength, chunkSize: evenChunk } }],
  ['decimal sizes', { fields: { length: Decimal128.parse(String(chunkyLength))! } }],
  ['double n', { chunks: eachN((n) => new Double(n)) }],
  ['long n', { chunks: eachN(BigInt) }],
  ['chunks in reverse', { chunks: (usual) => [...usual].reverse() }],
  ['old binary', { chunks: (usual) => usual.map((one, n) => field(one, 'data', new Binary(chunky.slice(n * 1000, n * 1000 + 1000), 2))) }],
  ['user binary', { chunks: (usual) => usual.map((one, n) => field(one, 'data', new Binary(chunky.slice(n * 1000, n * 1000 + 1000), 128))) }],
  ['more fields', { fields: { md5: 'd41d8cd98f00b204e9800998ecf8427e', aliases: BsonArray.of(['x']), extra: Document.of({ a: 1 }) }, chunks: (usual) => usual.map((one) => Document.fromEntries([...one.fields, ['more', 'x']])) }],
  ['extra chunk', { chunks: (usual) => [...usual, Document.of({ _id: 'extra', files_id: usual[0]!.get('files_id')!, n: 11, data: new Binary(patternBytes(5)) })] }],
  ['date missing', { fields: { uploadDate: undefined } }],
  ['date text', { fields: { uploadDate: 'yesterday' } }],
  ['date before 1970', { fields: { uploadDate: new DateTime(-86_400_000) } }],
  ['date beyond calendars', { fields: { uploadDate: new DateTime(9e15) } }],
  ['metadata text', { fields: { metadata: 'text' } }],
  ['metadata null', { fields: { metadata: null } }],
  ['metadata hostile', { fields: { metadata: Document.of({ contentType: 'text/html\r\nX-Evil: 1', sha256: '<script>', __proto__x: 1, toString: 'x' }) } }],
  ['type a number', { fields: { contentType: 5 } }],
  ['type undefined', { fields: { contentType: bsonUndefined } }],
];

/** Ids of every kind, and how a path names them. */
export const ids: readonly (readonly [id: Value, path: string])[] = [
  [ObjectId.from('0123456789abcdef01234567'), '0123456789abcdef01234567'],
  ['0123456789abcdef01234567', 's:0123456789abcdef01234567'],
  ['plain', 's:plain'], ['plain2', 'plain2'], ['with/slash and ü', 's:with/slash%20and%20%C3%BC'], ['i:7', 's:i:7'],
  [7, 'i:7'], [-7, 'i:-7'], [2n ** 60n, 'i:1152921504606846976'], [new Double(9), 'i:9'],
  [new Binary(patternBytes(16), 4), `u:${Buffer.from(patternBytes(16)).toString('hex')}`],
  [new Double(1.5), 'j:1.5'], [Document.of({ a: 1 }), 'j:%7B%22a%22:%7B%22$numberInt%22:%221%22%7D%7D'], [new DateTime(5), 'j:%7B%22$date%22:%7B%22$numberLong%22:%225%22%7D%7D'], [true, 'j:true'],
];

/** Names that servers get wrong, the path that asks for each, and the disposition it is sent with. */
export const names: readonly (readonly [name: string, path: string, disposition: string])[] = [
  ['a b.mp4', 'a%20b.mp4', 'inline; filename="a b.mp4"'],
  ['dir/sub/film.mp4', 'dir/sub/film.mp4', 'inline; filename="film.mp4"'],
  ['dir/sub/film2.mp4', 'dir%2Fsub%2Ffilm2.mp4', 'inline; filename="film2.mp4"'],
  ['日本語 movie 🎬.mp4', '%E6%97%A5%E6%9C%AC%E8%AA%9E%20movie%20%F0%9F%8E%AC.mp4', "inline; filename=\"___ movie _.mp4\"; filename*=UTF-8''%E6%97%A5%E6%9C%AC%E8%AA%9E%20movie%20%F0%9F%8E%AC.mp4"],
  ['q"uote\\back.mp4', 'q%22uote%5Cback.mp4', "inline; filename=\"q\\\"uote\\\\back.mp4\"; filename*=UTF-8''q%22uote%5Cback.mp4"],
  ['100%.mp4', '100%25.mp4', "inline; filename=\"100%.mp4\"; filename*=UTF-8''100%25.mp4"],
  ['a+b&c=d;e.mp4', 'a+b&c=d;e.mp4', 'inline; filename="a+b&c=d;e.mp4"'],
  ['what?#.mp4', 'what%3F%23.mp4', 'inline; filename="what?#.mp4"'],
  ["it's (1)*.mp4", "it's%20(1)*.mp4", "inline; filename=\"it's (1)*.mp4\""],
  ['line\r\nbreak\t.mp4', 'line%0D%0Abreak%09.mp4', 'inline; filename="linebreak.mp4"'],
  ['..', '..', 'attachment; filename=".."'],
  ['../../etc/passwd', '..%2F..%2Fetc%2Fpasswd', 'attachment; filename="passwd"'],
  [' ', '%20', 'attachment; filename=" "'],
  ['öffentlich.mp4', '%C3%B6ffentlich.mp4', "inline; filename=\"_ffentlich.mp4\"; filename*=UTF-8''%C3%B6ffentlich.mp4"],
  ['שלום.mp4', '%D7%A9%D7%9C%D7%95%D7%9D.mp4', "inline; filename=\"____.mp4\"; filename*=UTF-8''%D7%A9%D7%9C%D7%95%D7%9D.mp4"],
];

/** Stored type, name, and what is sent: type, whether it is shown in place, whether it has a sandbox. */
export const types: readonly (readonly [stored: string | undefined, name: string, sent: string, how: 'inline' | 'attachment', sandbox: boolean])[] = [
  ['video/mp4', 't.bin', 'video/mp4', 'inline', false], [undefined, 't.webm', 'video/webm', 'inline', false], [undefined, 't.mov', 'video/quicktime', 'inline', false], ['video/x-m4v', 't.m4v', 'video/mp4', 'inline', false],
  ['application/octet-stream', 'u.mp4', 'video/mp4', 'inline', false], [undefined, 't.jpg', 'image/jpeg', 'inline', false], [undefined, 't.pdf', 'application/pdf', 'inline', false],
  ['text/plain; charset=iso-8859-1', 't.txt', 'text/plain; charset=iso-8859-1', 'inline', false], [undefined, 't.vtt', 'text/vtt; charset=utf-8', 'inline', false],
  ['text/html', 't.html', 'text/html; charset=utf-8', 'attachment', true], [undefined, 'u.html', 'text/html; charset=utf-8', 'attachment', true], ['image/svg+xml', 't.png', 'image/svg+xml', 'attachment', true],
  ['application/xhtml+xml', 't.xhtml', 'application/xhtml+xml', 'attachment', true], [undefined, 't.js', 'text/javascript; charset=utf-8', 'attachment', true], ['text/css', 't.css', 'text/css; charset=utf-8', 'attachment', true],
  ['multipart/x-mixed-replace', 't.mjpg', 'multipart/x-mixed-replace', 'attachment', true], ['application/zip', 't.zip', 'application/zip', 'attachment', false], ['made/up', 't.made', 'application/octet-stream', 'attachment', false],
  ['text/html\r\nX-Evil: 1', 'v.mp4', 'video/mp4', 'inline', false], ['../../etc', 'w.mp4', 'video/mp4', 'inline', false], ['', 'x.mp4', 'video/mp4', 'inline', false], [undefined, 'noextension', 'application/octet-stream', 'attachment', false],
];

/** Everything, in a store. The bytes of each file by its name. */
export async function plantWorld(opened: StoreForTest): Promise<ReadonlyMap<string, Uint8Array>> {
  const contents = new Map<string, Uint8Array>();
  const put = async (filename: string, bytes: Uint8Array, more: Partial<PlantedFile> = {}): Promise<void> => {
    contents.set(filename, bytes);
    await opened.plant({ filename, bytes, ...more });
  };
  await opened.insert('fs.chunks', [Document.of({ _id: 'nobody', files_id: 'nobody', n: 0, data: new Binary(patternBytes(3)) })]);
  await put('film.mp4', patternBytes(filmLength), { id: ObjectId.from('aaaaaaaaaaaaaaaaaaaaaaaa') });
  for (const [name, length] of [['empty.mp4', 0], ['one.mp4', 1], ['two.mp4', 2], ['small.mp4', 37_000], ['even.mp4', 5000]] as const) await put(name, patternBytes(length, length + 1), { chunkSize: evenChunk });
  await put('chunky.mp4', chunky, { chunkSize: evenChunk });
  await put('one chunk.mp4', patternBytes(8193, 9), { chunkSize: 8193 });
  await put('empty with a chunk.mp4', new Uint8Array(0), { id: 'empty', chunks: () => [Document.of({ _id: 'empty', files_id: 'empty', n: 0, data: new Binary(new Uint8Array(0)) })] });
  for (const [revision, day] of [[0, 1], [1, 2], [2, 3]] as const) await put(`revision ${revision}`, patternBytes(10 + revision, 20 + revision), { filename: 'revised.mp4', fields: { uploadDate: new DateTime(Date.UTC(2020, 0, day)) } });
  for (const revision of [0, 1]) await put(`twin ${revision}`, patternBytes(100, 30 + revision), { filename: 'twin.mp4', id: `twin${revision}`, fields: { uploadDate: new DateTime(Date.UTC(2020, 0, 1, 0, 0, 0, revision * 100)) } });
  await put('future.mp4', patternBytes(10, 40), { fields: { uploadDate: new DateTime(Date.UTC(2200, 0, 1)) } });
  for (const [name, chunks] of broken) await put(`broken ${name}`, chunky, { chunkSize: evenChunk, chunks });
  for (const [name, fields] of brokenDocuments) await put(`document ${name}`, chunky, { chunkSize: evenChunk, fields });
  for (const [name, more] of oddDocuments) await put(`odd ${name}`, chunky, { chunkSize: evenChunk, ...more });
  await put('odd name', chunky.slice(0, 7), { id: 'odd name', filename: new BsonSymbol('odd name') });
  await put('no name', chunky.slice(0, 7), { id: 'no name', filename: undefined });
  for (const [i, [id]] of ids.entries()) await put(`id ${i}`, patternBytes(50, 50 + i), { id });
  for (const [i, [name]] of names.entries()) await put(name, patternBytes(60, 100 + i));
  for (const [contentType, name] of types) await put(name, patternBytes(20, 7), { fields: { contentType } });
  await opened.createIndexes();
  const twice = (n: number): Chunks => (usual) => [...usual, field(usual[n]!, '_id', `twice ${n}`)];
  for (const n of [0, 5, 10]) await opened.plant({ filename: `twice ${n}`, bytes: chunky, chunkSize: evenChunk, chunks: twice(n) }, 'bare');
  await opened.plant({ filename: 'whole', bytes: chunky, chunkSize: evenChunk }, 'bare');
  return contents;
}

