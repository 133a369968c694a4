// Range requests: RFC 9110, sections 14 and 15.3.7, and what servers are known to get wrong (P1 .. P14 of the public reports; the seed's script).

import { get } from './case.ts';
import type { Case, Expected, Stretch } from './case.ts';
import { chunkyLength, evenChunk, filmLength, planted } from './world.ts';

const N = filmLength;
const C = chunkyLength;
const film = '/files/film.mp4';

function part(file: string, length: number, [first, last]: readonly [number, number]): Expected {
  return { status: 206, fields: { 'content-range': `bytes ${first}-${last}/${length}`, 'content-length': String(last - first + 1), 'accept-ranges': 'bytes', 'transfer-encoding': undefined }, body: [file, first, last] };
}

const whole = (file: string, length: number): Expected => ({ status: 200, fields: { 'content-range': undefined, 'content-length': String(length), 'accept-ranges': 'bytes' }, body: [file, 0, length - 1] });
const none = (length: number): Expected => ({ status: 416, fields: { 'content-range': `bytes */${length}`, etag: undefined }, body: { code: 'range_not_satisfiable' } });

const big = '9'.repeat(400);
const singles: readonly (readonly [rule: string, header: string, why: string, first: number, last: number])[] = [
  ['14.1.2', 'bytes=0-', 'all, open: what Chrome asks first', 0, N - 1], ['14.1.2', 'bytes=0-0', 'the first byte', 0, 0], ['14.1.2', 'bytes=0-1', 'the probe of Safari (P3)', 0, 1],
  ['14.1.2', 'bytes=0-100', 'the end is inside (P4)', 0, 100], ['14.1.2', `bytes=0-${N - 1}`, 'exactly all is still 206', 0, N - 1], ['14.1.2', `bytes=0-${N}`, 'an end one beyond is clamped', 0, N - 1],
  ['14.1.2', 'bytes=5-99999999', 'an end far beyond is clamped', 5, N - 1], ['14.1.2', `bytes=5-${big}`, 'an end of 400 digits is clamped', 5, N - 1], ['14.1.2', `bytes=${N - 1}-`, 'the last byte, open', N - 1, N - 1],
  ['14.1.2', `bytes=${N - 1}-${N - 1}`, 'the last byte', N - 1, N - 1], ['14.1.2', `bytes=${N - 1}-${big}`, 'the last byte, clamped', N - 1, N - 1], ['14.1.2', 'bytes=-1', 'the last byte, as a suffix', N - 1, N - 1],
  ['14.1.2', 'bytes=-5', 'five bytes, not six', N - 5, N - 1], ['14.1.2', `bytes=-${N}`, 'a suffix of all', 0, N - 1], ['14.1.2', `bytes=-${N + 1}`, 'a suffix longer than the file is the whole, as 206', 0, N - 1],
  ['14.1.2', `bytes=-${big}`, 'a suffix of 400 digits', 0, N - 1], ['14.1.2', 'bytes=-9223372036854775808', 'a suffix of 2^63', 0, N - 1], ['14.1.2', 'bytes=00000000005-0000000006', 'zeros before a number', 5, 6],
  ['14.1.2', 'bytes=26104-', 'a start inside a chunk (P6)', 26_104, N - 1], ['14.1.2', 'bytes=8000-8099', 'a bounded range in the middle', 8000, 8099], ['14.1.2', 'bytes=4294967295-4294967296,3-4', 'one of two can be satisfied', 3, 4],
  ['14.1', 'BYTES=1-2', 'units are case-insensitive', 1, 2], ['14.1', 'Bytes=1-2', 'units are case-insensitive', 1, 2],
  ['14.2', 'bytes=261119-261120', 'over the end of a chunk', 261_119, 261_120], ['14.2', 'bytes=261120-522239', 'exactly the second chunk', 261_120, 522_239],
  ['5.6.1.2', 'bytes=,1-2', 'an empty element before', 1, 2], ['5.6.1.2', 'bytes=1-2,', 'an empty element behind', 1, 2], ['5.6.1.2', 'bytes=, ,\t1-2 , ,', 'empty elements and blanks', 1, 2],
];

const ignored: readonly (readonly [header: string, why: string])[] = [
  ['bytes', 'no set'], ['bytes=', 'an empty set'], ['bytes=abc', 'letters'], ['bytes=-', 'neither end'], ['bytes=--5', 'two dashes'], ['bytes=5--6', 'two dashes'], ['bytes=5-2', 'the end before the start'],
  ['bytes=0-5-9', 'three numbers'], ['bytes=0x0-0x5', 'hexadecimal'], ['bytes=+0-5', 'a sign'], ['bytes=0.0-5', 'a point'], ['bytes=1e2-', 'an exponent'], ['bytes=0 -5', 'a blank inside'], ['bytes =0-5', 'a blank before ='],
  ['bytes=0-5;q=1', 'a parameter'], ['bytes=٠-٥', 'digits of another script'], ['bytes 0-5', 'no ='], ['bytes:0-5', 'a colon'], ['seconds=0-1', 'another unit'], ['none=0-1', 'another unit'], ['lines=1-2', 'another unit'],
  ['0-5', 'no unit'], ['=0-5', 'no unit'], ['bytes=0-1,abc', 'one of two is none'], ['bytes=0-1,5-2', 'one of two is reversed'], [',bytes=0-1', 'a comma before'], ['bytes=0-1 bytes=2-3', 'two of them'], ['', 'nothing'],
];

const chunky: readonly (readonly [number, number])[] = [[0, 0], [999, 999], [1000, 1000], [999, 1000], [0, 999], [0, 1000], [1000, 1999], [1001, 1998], [9999, 10_000], [10_000, C - 1], [10_006, 10_006], [1, C - 1], [4242, 8484]];
const edges: readonly (readonly [file: string, length: number, header: string, range: readonly [number, number]])[] = [
  ['one.mp4', 1, 'bytes=0-', [0, 0]], ['one.mp4', 1, 'bytes=0-0', [0, 0]], ['one.mp4', 1, 'bytes=0-1', [0, 0]], ['one.mp4', 1, 'bytes=-1', [0, 0]], ['one.mp4', 1, 'bytes=-9', [0, 0]],
  ['two.mp4', 2, 'bytes=0-1', [0, 1]], ['two.mp4', 2, 'bytes=1-', [1, 1]], ['even.mp4', 5 * evenChunk, 'bytes=4999-', [4999, 4999]], ['even.mp4', 5 * evenChunk, 'bytes=-1000', [4000, 4999]],
  ['one chunk.mp4', 8193, 'bytes=0-', [0, 8192]], ['one chunk.mp4', 8193, 'bytes=-9001', [0, 8192]], ['one chunk.mp4', 8193, 'bytes=8192-', [8192, 8192]], ['small.mp4', 37_000, 'bytes=0-', [0, 36_999]],
];

function several(rule: string, why: string, header: string, parts: readonly Stretch[]): Case {
  return get(rule, why, { target: film, fields: { Range: header } }, { status: 206, fields: { 'content-range': undefined, 'content-type': /^multipart\/byteranges; boundary=[\w-]{16,70}$/, 'accept-ranges': 'bytes' }, body: { parts } });
}

const f = (first: number, last: number): Stretch => ['film.mp4', first, last];
const fifty = Array.from({ length: 50 }, (_, i) => [i * 10, i * 10 + 1] as const);
const multiples: readonly Case[] = [
  several('14.6', 'two ranges', 'bytes=0-1,5-6', [f(0, 1), f(5, 6)]),
  several('15.3.7.2', 'ranges in the order asked', 'bytes=590000-590009, 0-1, -3', [f(590_000, 590_009), f(0, 1), f(N - 3, N - 1)]),
  several('15.3.7.2', 'ranges side by side are not joined', 'bytes=0-1,2-3', [f(0, 1), f(2, 3)]),
  several('14.2', 'one overlap', 'bytes=0-10,5-15', [f(0, 10), f(5, 15)]),
  several('14.2', 'the same twice', 'bytes=0-10,0-10', [f(0, 10), f(0, 10)]),
  several('14.2', 'those that can be satisfied', `bytes=0-1,${N}-,7-8`, [f(0, 1), f(7, 8)]),
  several('14.2', 'fifty ranges', `bytes=${fifty.map(([a, b]) => `${a}-${b}`).join(',')}`, fifty.map(([a, b]) => f(a, b))),
  several('14.2', 'halves that make the whole', 'bytes=300000-,0-299999', [f(300_000, N - 1), f(0, 299_999)]),
  several('14.2', 'across chunks', 'bytes=261119-261120,522239-522240', [f(261_119, 261_120), f(522_239, 522_240)]),
  get('14.2', 'fifty-one ranges are too many (CVE-2011-3192)', { target: film, fields: { Range: `bytes=${[...fifty, [900, 901]].map(([a, b]) => `${String(a)}-${String(b)}`).join(',')}` } }, whole('film.mp4', N)),
  get('14.2', 'two overlaps', { target: film, fields: { Range: 'bytes=0-10,5-15,7-20' } }, whole('film.mp4', N)),
  get('14.2', 'more bytes than the file has', { target: film, fields: { Range: 'bytes=0-,0-0' } }, whole('film.mp4', N)),
  get('14.2', 'several ranges, none of which there is', { target: film, fields: { Range: `bytes=${N}-,${N + 5}-${N + 9},-0` } }, none(N)),
];

const unsatisfiable = [`bytes=${N}-`, `bytes=${N}-${N}`, `bytes=${N}-${N + 100}`, 'bytes=-0', 'bytes=-000', `bytes=${big}-`, 'bytes=9223372036854775808-', 'bytes=18446744073709551616-18446744073709551617', `bytes=${big}-${big}0`];
const quote = (file: string): string => `/files/${encodeURIComponent(file)}`;

/** All of them. */
export const rangeCases: readonly Case[] = [
  get('9.3.1', 'no Range: the whole with all that players need (P1)', { target: film }, {
    ...whole('film.mp4', N),
    fields: { ...whole('film.mp4', N).fields, 'content-type': 'video/mp4', 'x-content-type-options': 'nosniff', 'x-accel-buffering': 'no', etag: /^"[\w-]+"$/, 'last-modified': planted.date, date: / GMT$/, 'content-encoding': undefined, 'transfer-encoding': undefined },
  }),
  get('15.3.7', '206 has all that 200 has, and only its own length', { target: film, fields: { Range: 'bytes=5-9' } }, {
    status: 206, body: ['film.mp4', 5, 9],
    fields: { 'content-length': '5', 'content-range': `bytes 5-9/${N}`, 'accept-ranges': 'bytes', 'content-type': 'video/mp4', 'x-content-type-options': 'nosniff', 'x-accel-buffering': 'no', etag: /^"[\w-]+"$/, 'last-modified': planted.date, date: / GMT$/, 'cache-control': 'private, no-cache', 'content-encoding': undefined, 'transfer-encoding': undefined, vary: undefined },
  }),
  ...singles.map(([rule, header, why, first, last]) => get(rule, `${why}: ${header.slice(0, 40)}`, { target: film, fields: { Range: header } }, part('film.mp4', N, [first, last]))),
  ...ignored.map(([header, why]) => get('14.2', `ignored, ${why}: ${JSON.stringify(header)}`, { target: film, fields: { Range: header } }, whole('film.mp4', N))),
  ...unsatisfiable.map((header) => get('15.5.17', `cannot be satisfied: ${header.slice(0, 40)}`, { target: film, fields: { Range: header } }, none(N))),
  ...chunky.map((range) => get('14.1.2', `chunks of ${evenChunk} bytes, ${range.join(' to ')}`, { target: '/files/chunky.mp4', fields: { Range: `bytes=${range.join('-')}` } }, part('chunky.mp4', C, range))),
  ...edges.map(([file, length, header, range]) => get('14.1.2', `${file}, ${header}`, { target: quote(file), fields: { Range: header } }, part(file, length, range))),
  get('14.1.2', 'beyond a file of one byte', { target: '/files/one.mp4', fields: { Range: 'bytes=1-' } }, none(1)),
  ...['bytes=0-', 'bytes=0-0', 'bytes=-1', 'bytes=-0', 'bytes=5-'].map((header) => get('14.2', `an empty file has no ranges: ${header}`, { target: '/files/empty.mp4', fields: { Range: header } }, { status: 200, fields: { 'content-length': '0', 'content-range': undefined }, body: '' })),
  ...multiples,
  ...['bytes=0-0', `bytes=${N}-`, 'bytes=0-1,3-4'].map((header): Case => ({ rule: '14.2', name: `Range is for GET only: HEAD ${header.slice(0, 30)}`, method: 'HEAD', target: film, fields: { Range: header }, expected: { status: 200, fields: { 'content-length': String(N), 'content-range': undefined }, body: '' } })),
];
