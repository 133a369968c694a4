// Header fields by themselves: dates (RFC 9110, 5.6.7), conditions (13), names for saving (RFC 6266, RFC 8187), and the types files are sent with.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { contentDisposition } from '../../src/gateway/content-disposition.ts';
import { sentType } from '../../src/gateway/content-type.ts';
import { formatHttpDate, parseHttpDate } from '../../src/gateway/http-date.ts';
import { evaluateConditions, rangeApplies } from '../../src/gateway/precondition.ts';
import type { ConditionFields, Verdict } from '../../src/gateway/precondition.ts';

const nowMs = Date.UTC(2026, 10, 3, 12);
const day = Date.UTC(1994, 10, 6, 8, 49, 37);

describe('an HTTP date', () => {
  const valid: readonly (readonly [string, number])[] = [
    ['Sun, 06 Nov 1994 08:49:37 GMT', day],
    ['Sunday, 06-Nov-94 08:49:37 GMT', day],
    ['Sun Nov  6 08:49:37 1994', day],
    ['Sun Nov 16 08:49:37 1994', Date.UTC(1994, 10, 16, 8, 49, 37)],
    ['Thu, 29 Feb 2024 00:00:00 GMT', Date.UTC(2024, 1, 29)],
    ['Sat, 31 Dec 2016 23:59:60 GMT', Date.UTC(2017, 0, 1)],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
    ['Saturday, 01-Jan-77 00:00:00 GMT', Date.UTC(1977, 0, 1)],
    ['Wednesday, 01-Jan-76 00:00:00 GMT', Date.UTC(2076, 0, 1)],
  ];
  for (const [text, ms] of valid) test(`${text} is read`, () => assert.equal(parseHttpDate(text, nowMs), ms));

  const invalid = [
    '', 'yesterday', 'Sun, 06 Nov 1994 08:49:37', 'Sun, 06 Nov 1994 08:49:37 UTC', 'Sun, 6 Nov 1994 08:49:37 GMT', 'sun, 06 nov 1994 08:49:37 gmt', 'Sun, 31 Feb 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 24:00:00 GMT', 'Sun, 06 Nov 1994 08:60:00 GMT', '1994-11-06T08:49:37Z', '784111777', 'Sun, 06 Nov 1994 08:49:37 GMT extra', 'Thu, 29 Feb 2023 00:00:00 GMT',
  ];
  for (const text of invalid) test(`${JSON.stringify(text)} is none`, () => assert.equal(parseHttpDate(text, nowMs), undefined));

  test('is written as IMF-fixdate, cut to seconds', () => assert.equal(formatHttpDate(day + 999), 'Sun, 06 Nov 1994 08:49:37 GMT'));
});

describe('conditions', () => {
  const etag = '"abc"';
  const modified = formatHttpDate(day);
  const before = formatHttpDate(day - 1000);
  const after = formatHttpDate(day + 1000);
  const table: readonly (readonly [ConditionFields, Verdict, string])[] = [
    [{}, 'proceed', 'none'],
    [{ 'if-match': etag }, 'proceed', '13.1.1'],
    [{ 'if-match': '*' }, 'proceed', '13.1.1, any'],
    [{ 'if-match': '"x", "abc"' }, 'proceed', '13.1.1, a list'],
    [{ 'if-match': '"x","y"' }, 'failed', '13.1.1, none of a list'],
    [{ 'if-match': 'W/"abc"' }, 'failed', '13.1.1, compares strongly'],
    [{ 'if-match': 'abc' }, 'failed', '13.1.1, not a tag'],
    [{ 'if-match': '"x,\\"abc"' }, 'failed', '13.1.1, a comma inside a tag does not part it'],
    [{ 'if-none-match': etag }, 'not-modified', '13.1.2'],
    [{ 'if-none-match': 'W/"abc"' }, 'not-modified', '13.1.2, compares weakly'],
    [{ 'if-none-match': '*' }, 'not-modified', '13.1.2, any'],
    [{ 'if-none-match': ' , "y" ,, W/"abc"' }, 'not-modified', '13.1.2, a list with empty elements'],
    [{ 'if-none-match': '"y"' }, 'proceed', '13.1.2, another'],
    [{ 'if-modified-since': modified }, 'not-modified', '13.1.3, equal'],
    [{ 'if-modified-since': after }, 'not-modified', '13.1.3, later'],
    [{ 'if-modified-since': before }, 'proceed', '13.1.3, earlier'],
    [{ 'if-modified-since': 'never' }, 'proceed', '13.1.3, no date is ignored'],
    [{ 'if-unmodified-since': modified }, 'proceed', '13.1.4, equal'],
    [{ 'if-unmodified-since': before }, 'failed', '13.1.4, earlier'],
    [{ 'if-unmodified-since': 'never' }, 'proceed', '13.1.4, no date is ignored'],
    [{ 'if-match': etag, 'if-unmodified-since': before }, 'proceed', '13.2.2 step 2: only without If-Match'],
    [{ 'if-none-match': '"y"', 'if-modified-since': after }, 'proceed', '13.2.2 step 4: only without If-None-Match'],
    [{ 'if-match': '"x"', 'if-none-match': etag }, 'failed', '13.2.2: If-Match comes first'],
    [{ 'if-unmodified-since': before, 'if-none-match': etag }, 'failed', '13.2.2: If-Unmodified-Since comes before If-None-Match'],
    [{ 'if-match': etag, 'if-none-match': etag }, 'not-modified', '13.2.2: then If-None-Match'],
  ];
  const current = { etag, lastModifiedMs: day };
  for (const [fields, verdict, rule] of table) {
    test(`${JSON.stringify(fields)} is ${verdict} (${rule})`, () => assert.equal(evaluateConditions(fields, current, { reads: true, nowMs }), verdict));
  }

  test('of a write fail with 412 where a read is not modified, and know no If-Modified-Since', () => {
    assert.equal(evaluateConditions({ 'if-none-match': etag }, current, { reads: false, nowMs }), 'failed');
    assert.equal(evaluateConditions({ 'if-modified-since': after }, current, { reads: false, nowMs }), 'proceed');
  });

  test('on a file without a date ignore dates (13.1.3, 13.1.4)', () => {
    const undated = { etag, lastModifiedMs: undefined };
    for (const name of ['if-modified-since', 'if-unmodified-since']) assert.equal(evaluateConditions({ [name]: before }, undated, { reads: true, nowMs }), 'proceed');
  });

  test('on what is not there: If-Match fails, If-None-Match holds', () => {
    assert.equal(evaluateConditions({ 'if-match': '*' }, undefined, { reads: false, nowMs }), 'failed');
    assert.equal(evaluateConditions({ 'if-none-match': '*' }, undefined, { reads: false, nowMs }), 'proceed');
  });

  const ranges: readonly (readonly [string | undefined, boolean, string])[] = [
    [undefined, true, 'none'],
    [etag, true, 'the tag'],
    ['"other"', false, 'another tag'],
    ['W/"abc"', false, '13.1.5: a weak tag never matches'],
    [modified, true, 'the date'],
    [after, false, '13.1.5: a date matches exactly only'],
    [before, false, 'an earlier date'],
    ['Thu, 01 Jan 1970 00:00:00 GMT', false, 'report P14'],
    ['nonsense', false, 'neither tag nor date'],
    ['"abc", "abc"', false, 'a list is not a tag'],
  ];
  for (const [field, applies, rule] of ranges) {
    test(`If-Range ${JSON.stringify(field)} ${applies ? 'lets the range apply' : 'asks for the whole'} (${rule})`, () => {
      assert.equal(rangeApplies(field, current, { nowMs, dateIsStrong: true }), applies);
    });
  }

  test('If-Range with a date asks for the whole where the date does not tell files apart (8.8.2.2)', () => {
    assert.equal(rangeApplies(modified, current, { nowMs, dateIsStrong: false }), false);
    assert.equal(rangeApplies(modified, current, { nowMs: day + 999, dateIsStrong: true }), false);
    assert.equal(rangeApplies(etag, current, { nowMs: day, dateIsStrong: false }), true);
  });
});

describe('Content-Disposition', () => {
  const table: readonly (readonly [string | undefined, string])[] = [
    ['movie.mp4', 'inline; filename="movie.mp4"'],
    ['a/b/movie.mp4', 'inline; filename="movie.mp4"'],
    ['my movie.mp4', 'inline; filename="my movie.mp4"'],
    ['日本語 movie 🎬.mp4', `inline; filename="___ movie _.mp4"; filename*=UTF-8''%E6%97%A5%E6%9C%AC%E8%AA%9E%20movie%20%F0%9F%8E%AC.mp4`],
    ['q"uote\\back.bin', `inline; filename="q\\"uote\\\\back.bin"; filename*=UTF-8''q%22uote%5Cback.bin`],
    ["it's (1)*.mp4", 'inline; filename="it\'s (1)*.mp4"'],
    ["ü's (1)*.mp4", `inline; filename="_'s (1)*.mp4"; filename*=UTF-8''%C3%BC%27s%20%281%29%2A.mp4`],
    ['50%.mp4', `inline; filename="50%.mp4"; filename*=UTF-8''50%25.mp4`],
    ['a\r\nSet-Cookie: x=y.mp4', 'inline; filename="aSet-Cookie: x=y.mp4"'],
    ['\u0000\u001f\u007f\u0085', 'inline'],
    ['\ud800.mp4', `inline; filename="_.mp4"; filename*=UTF-8''%EF%BF%BD.mp4`],
    ['dir/', 'inline'],
    ['', 'inline'],
    [undefined, 'inline'],
  ];
  for (const [name, expected] of table) test(`of ${JSON.stringify(name)}`, () => assert.equal(contentDisposition('inline', name), expected));
});

describe('the type a file is sent with', () => {
  const table: readonly (readonly [string | undefined, string | undefined, string, 'shown' | 'saved' | 'sandboxed'])[] = [
    [undefined, 'a.mp4', 'video/mp4', 'shown'],
    ['video/mp4', 'a.bin', 'video/mp4', 'shown'],
    ['VIDEO/MP4; codecs="x"', undefined, 'video/mp4', 'shown'],
    ['application/octet-stream', 'a.webm', 'video/webm', 'shown'],
    ['nonsense', 'a.ogg', 'audio/ogg', 'shown'],
    ['video/x-m4v', 'a', 'video/mp4', 'shown'],
    ['text/plain', 'a', 'text/plain; charset=utf-8', 'shown'],
    ['text/plain; charset=ISO-8859-1', 'a', 'text/plain; charset=iso-8859-1', 'shown'],
    ['text/vtt', 'a', 'text/vtt; charset=utf-8', 'shown'],
    ['application/pdf', 'a', 'application/pdf', 'shown'],
    ['image/png', 'a', 'image/png', 'shown'],
    ['application/zip', 'a', 'application/zip', 'saved'],
    ['text/html', 'a.mp4', 'text/html; charset=utf-8', 'sandboxed'],
    [undefined, 'a.html', 'text/html; charset=utf-8', 'sandboxed'],
    [undefined, 'a.svg', 'image/svg+xml', 'sandboxed'],
    ['image/svg+xml', 'a.png', 'image/svg+xml', 'sandboxed'],
    ['application/xhtml+xml', 'a', 'application/xhtml+xml', 'sandboxed'],
    ['application/rdf+xml', 'a', 'application/rdf+xml', 'sandboxed'],
    ['text/javascript', 'a', 'text/javascript; charset=utf-8', 'sandboxed'],
    ['multipart/x-mixed-replace', 'a', 'multipart/x-mixed-replace', 'sandboxed'],
    ['application/x-unknown', 'a', 'application/octet-stream', 'saved'],
    ['video/mp4\r\nX: y', 'a', 'application/octet-stream', 'saved'],
    ['', 'noextension', 'application/octet-stream', 'saved'],
    [undefined, undefined, 'application/octet-stream', 'saved'],
  ];
  for (const [stored, name, type, how] of table) {
    test(`of ${JSON.stringify(stored)} and ${JSON.stringify(name)} is ${type}, ${how}`, () => {
      assert.deepEqual(sentType(stored, name), { type, inline: how === 'shown', active: how === 'sandboxed' });
    });
  }
});
