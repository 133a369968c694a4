// Conditional requests: RFC 9110, sections 13 and 8.8, in the order of 13.2.2.

import { get } from './case.ts';
import type { Case, Expected } from './case.ts';
import type { Fields } from '../gateway-for-test.ts';
import { filmLength, planted } from './world.ts';

const film = '/files/film.mp4';
const { date, before, after } = planted;
const whole: Expected = { status: 200, fields: { 'content-length': String(filmLength), 'content-range': undefined }, body: ['film.mp4', 0, filmLength - 1] };
const part: Expected = { status: 206, fields: { 'content-range': `bytes 3-4/${filmLength}` }, body: ['film.mp4', 3, 4] };
const unmodified: Expected = { status: 304, fields: { etag: /^"[\w-]+"$/, 'last-modified': date, 'cache-control': 'private, no-cache', 'content-type': undefined, date: / GMT$/ }, body: '' };
const failed: Expected = { status: 412, body: { code: 'precondition_failed' } };
const own = '{film.mp4}';

const table: readonly (readonly [rule: string, name: string, fields: Fields, expected: Expected])[] = [
  ['13.1.1', 'If-Match names it', { 'If-Match': own }, whole],
  ['13.1.1', 'If-Match *', { 'If-Match': '*' }, whole],
  ['13.1.1', 'If-Match in a list', { 'If-Match': `"a", "b,c" ,${own}` }, whole],
  ['13.1.1', 'If-Match of another', { 'If-Match': '"a"' }, failed],
  ['13.1.1', 'If-Match compares strongly', { 'If-Match': `W/${own}` }, failed],
  ['13.1.1', 'If-Match that is no tag', { 'If-Match': 'abc' }, failed],
  ['13.1.1', 'If-Match of another is told before a range that cannot be', { 'If-Match': '"a"', Range: 'bytes=99999999-' }, failed],
  ['13.1.2', 'If-None-Match names it', { 'If-None-Match': own }, unmodified],
  ['13.1.2', 'If-None-Match compares weakly', { 'If-None-Match': `W/${own}` }, unmodified],
  ['13.1.2', 'If-None-Match *', { 'If-None-Match': '*' }, unmodified],
  ['13.1.2', 'If-None-Match in a list with empty elements', { 'If-None-Match': `,"x",, ${own}` }, unmodified],
  ['13.1.2', 'If-None-Match of another', { 'If-None-Match': '"x"' }, whole],
  ['13.1.2', 'If-None-Match without quotes names nothing', { 'If-None-Match': 'x' }, whole],
  ['13.1.2', 'If-None-Match is told before ranges', { 'If-None-Match': own, Range: 'bytes=3-4' }, unmodified],
  ['13.1.2', 'If-None-Match of another lets a range through', { 'If-None-Match': '"x"', Range: 'bytes=3-4' }, part],
  ['13.1.3', 'If-Modified-Since, equal', { 'If-Modified-Since': date }, unmodified],
  ['13.1.3', 'If-Modified-Since, later', { 'If-Modified-Since': after }, unmodified],
  ['13.1.3', 'If-Modified-Since, earlier', { 'If-Modified-Since': before }, whole],
  ['13.1.3', 'If-Modified-Since in the future', { 'If-Modified-Since': 'Tue, 02 Jan 2999 03:04:05 GMT' }, unmodified],
  ['13.1.3', 'If-Modified-Since that is no date', { 'If-Modified-Since': 'yesterday' }, whole],
  ['13.1.3', 'If-Modified-Since, ISO 8601 is no HTTP date', { 'If-Modified-Since': '2024-01-02T03:04:05Z' }, whole],
  ['5.6.7', 'If-Modified-Since in the form of RFC 850', { 'If-Modified-Since': 'Tuesday, 02-Jan-24 03:04:05 GMT' }, unmodified],
  ['5.6.7', 'If-Modified-Since in the form of asctime', { 'If-Modified-Since': 'Tue Jan  2 03:04:05 2024' }, unmodified],
  ['5.6.7', 'If-Modified-Since in another zone is no date', { 'If-Modified-Since': 'Tue, 02 Jan 2024 03:04:05 +0100' }, whole],
  ['13.1.4', 'If-Unmodified-Since, equal', { 'If-Unmodified-Since': date }, whole],
  ['13.1.4', 'If-Unmodified-Since, later', { 'If-Unmodified-Since': after }, whole],
  ['13.1.4', 'If-Unmodified-Since, earlier', { 'If-Unmodified-Since': before }, failed],
  ['13.1.4', 'If-Unmodified-Since that is no date', { 'If-Unmodified-Since': 'now' }, whole],
  ['13.2.2', 'If-Unmodified-Since only without If-Match', { 'If-Match': own, 'If-Unmodified-Since': before }, whole],
  ['13.2.2', 'If-Modified-Since only without If-None-Match', { 'If-None-Match': '"x"', 'If-Modified-Since': after }, whole],
  ['13.2.2', 'If-Match comes before If-None-Match', { 'If-Match': '"x"', 'If-None-Match': own }, failed],
  ['13.2.2', 'If-Unmodified-Since comes before If-None-Match', { 'If-Unmodified-Since': before, 'If-None-Match': own }, failed],
  ['13.2.2', 'If-Match that holds, then If-None-Match', { 'If-Match': own, 'If-None-Match': own }, unmodified],
  ['13.2.2', 'If-Match that holds, then the range', { 'If-Match': own, Range: 'bytes=3-4' }, part],
  ['13.2.2', 'everything at once', { 'If-Match': own, 'If-Unmodified-Since': before, 'If-None-Match': '"x"', 'If-Modified-Since': after, 'If-Range': own, Range: 'bytes=3-4' }, part],
  ['13.1.5', 'If-Range names it', { 'If-Range': own, Range: 'bytes=3-4' }, part],
  ['13.1.5', 'If-Range of another (P14)', { 'If-Range': '"x"', Range: 'bytes=3-4' }, whole],
  ['13.1.5', 'If-Range is strong', { 'If-Range': `W/${own}`, Range: 'bytes=3-4' }, whole],
  ['13.1.5', 'If-Range takes no *', { 'If-Range': '*', Range: 'bytes=3-4' }, whole],
  ['13.1.5', 'If-Range takes no list', { 'If-Range': `${own}, ${own}`, Range: 'bytes=3-4' }, whole],
  ['13.1.5', 'If-Range with the exact date', { 'If-Range': date, Range: 'bytes=3-4' }, part],
  ['13.1.5', 'If-Range with a later date', { 'If-Range': after, Range: 'bytes=3-4' }, whole],
  ['13.1.5', 'If-Range with an earlier date', { 'If-Range': before, Range: 'bytes=3-4' }, whole],
  ['13.1.5', 'If-Range of 1970 (P14)', { 'If-Range': 'Thu, 01 Jan 1970 00:00:00 GMT', Range: 'bytes=3-4' }, whole],
  ['13.1.5', 'If-Range that is nothing', { 'If-Range': 'x', Range: 'bytes=3-4' }, whole],
  ['13.1.5', 'If-Range without Range', { 'If-Range': own }, whole],
  ['13.1.5', 'If-Range that fails makes a range that cannot be the whole', { 'If-Range': '"x"', Range: 'bytes=99999999-' }, whole],
  ['14.2', 'a range that cannot be, under an If-Range that holds', { 'If-Range': own, Range: 'bytes=99999999-' }, { status: 416, fields: { 'content-range': `bytes */${filmLength}` } }],
];

const head = (name: string, fields: Fields, expected: Expected): Case => ({ rule: '13.2.1', name, method: 'HEAD', target: film, fields, expected });

/** All of them. */
export const conditionCases: readonly Case[] = [
  ...table.map(([rule, name, fields, expected]) => get(rule, name, { target: film, fields }, expected)),
  head('HEAD is conditional: If-None-Match', { 'If-None-Match': own }, unmodified),
  head('HEAD is conditional: If-Match', { 'If-Match': '"x"' }, { status: 412, body: '' }),
  head('HEAD is conditional: If-Modified-Since', { 'If-Modified-Since': date }, unmodified),
  get('8.8.2.1', 'a date in the future is told as now', { target: '/files/future.mp4' }, { status: 200, fields: { 'last-modified': /20[2-9]\d .* GMT$/ } }),
  get('8.8.2', 'a file without a date has no Last-Modified', { target: '/files/odd%20date%20missing' }, { status: 200, fields: { 'last-modified': undefined, etag: /^"/ } }),
  get('13.1.3', 'a file without a date ignores dates', { target: '/files/odd%20date%20missing', fields: { 'If-Modified-Since': date, 'If-Unmodified-Since': date } }, { status: 200 }),
  get('8.8.2', 'a date that is text is none', { target: '/files/odd%20date%20text' }, { status: 200, fields: { 'last-modified': undefined } }),
  get('8.8.2', 'a date before 1970 is none', { target: '/files/odd%20date%20before%201970' }, { status: 200, fields: { 'last-modified': undefined } }),
  get('8.8.2', 'a date that no calendar has is none', { target: '/files/odd%20date%20beyond%20calendars' }, { status: 200, fields: { 'last-modified': undefined } }),
  get('8.8.2.2', 'two revisions in one second: their date is no strong validator', { target: '/files/twin.mp4', fields: { 'If-Range': 'Wed, 01 Jan 2020 00:00:00 GMT', Range: 'bytes=3-4' } }, { status: 200, body: ['twin 1', 0, 99] }),
  get('8.8.3', 'the tag of one revision is not that of another', { target: '/files/twin.mp4?revision=0', fields: { 'If-None-Match': '{twin 1}' } }, { status: 200, body: ['twin 0', 0, 99] }),
  get('13.1.5', 'a resumed download never mixes revisions', { target: '/files/twin.mp4', fields: { 'If-Range': '{twin 0}', Range: 'bytes=50-' } }, { status: 200, body: ['twin 1', 0, 99] }),
  get('8.8.3', 'by id and by name the tag is the same', { target: '/b/fs/id/aaaaaaaaaaaaaaaaaaaaaaaa', fields: { 'If-None-Match': own } }, { status: 304, fields: { 'cache-control': 'private, max-age=31536000, immutable' }, body: '' }),
];
